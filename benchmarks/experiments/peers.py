"""All that other packages have too: how long it takes there, and whether it is the same.

    python -m benchmarks peers

The functions of `peers.cases` by Pinocchio (its Python package and its headers), CasADi (its
virtual machine and its C code), MuJoCo, adam and frax, one state a call and in batches; then what
it takes to install, import and load with each package.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict

import dtau
from benchmarks.experiment import Experiment, Findings, Table, Watch
from benchmarks.harness import number
from benchmarks.peers import cases, packages
from benchmarks.peers.cases import Case
from benchmarks.peers.opened import Peers
from benchmarks.peers.rows import LONE, Mode, Row, measured, word

ROBOTS = ("panda", "hyq", "talos")
QUICK_ROBOTS = ("hyq",)
QUICK_FUNCTIONS = (
    *("inverse_dynamics", "forward_dynamics", "mass_matrix", "inverse_dynamics_derivatives"),
    *("forward_dynamics_derivatives", "frame_jacobians", "center_of_mass", "step"),
)
MODES: tuple[Mode, ...] = (LONE, (256, 1), (256, 2), (4096, 1), (4096, 2))
QUICK_MODES: tuple[Mode, ...] = (LONE, (256, 1))
SHOWN: tuple[Mode, ...] = ((256, 1), (4096, 1), (4096, 2))  # in the table of batches
LEVEL = 0.1  # within this, two are level
LOOPS = ("headers", "CasADi's C")  # whose states one by one are a loop without Python


# Report


def tables(rows: list[Row], columns: list[str], missing: Mapping[str, str]) -> list[Table]:
    """Two a robot: one state a call, and batches."""
    out = []
    for robot in dict.fromkeys(row.robot for row in rows):
        mine = [row for row in rows if row.robot == robot]
        title = f"{robot}, {mine[0].nv} degrees of freedom: "
        lone = [
            [row.function, _micro(row, (LONE,)), _agreement(row)]
            + [missing.get(name) or _cell(row, name, (LONE,)) for name in columns]
            for row in mine
        ]
        head = ["function", "dtau, µs", "agree to", *columns]
        out.append(Table(title + "one state a call, peers as multiples of dtau's time", head, lone))
        shown = [mode for mode in SHOWN if any(mode in row.micro for row in mine)]
        batch = [
            [row.function, _micro(row, shown)]
            + [missing.get(name) or _cell(row, name, shown) for name in columns]
            for row in mine
        ]
        head = ["function", "dtau, µs a state", *columns]
        which = ", ".join(word(mode) for mode in shown)
        out.append(Table(f"{title}batches of {which}, peers as multiples", head, batch))
    return out


def _micro(row: Row, modes: Iterable[Mode]) -> str:
    return " / ".join(number(row.micro[mode]) if mode in row.micro else "-" for mode in modes)


def _cell(row: Row, name: str, modes: Iterable[Mode]) -> str:
    """Ratios, or why there are none."""
    found = [row.ratios.get(mode, {}).get(name) for mode in modes]
    if not any(found):
        return row.reasons.get(name) or "-"
    mark = "~" if name in row.differences else ""
    return " / ".join(f"{mark}{number(x.median)}x" if x else "-" for x in found)


def _agreement(row: Row) -> str:
    """The largest difference from a peer that takes no finite differences."""
    exact = [error for name, error in row.errors.items() if name not in row.differences]
    return f"{max(exact):.0e}" if exact else "-"


def standing(rows: list[Row]) -> Table:
    """Ahead, level or behind, a function a row: against the fastest peer on each robot."""
    cells = []
    for function in dict.fromkeys(row.function for row in rows):
        mine = [row for row in rows if row.function == function]
        said = [_verdict(mine, mode) for mode in MODES]
        if any(said):
            cells.append([function, *said])
    title = f"The package beside the fastest of its peers; level is within {LEVEL:.0%}"
    return Table(title, ["function", *map(word, MODES)], cells, left=1 + len(MODES))


def _verdict(rows: list[Row], mode: Mode) -> str:
    """On each robot, the time of the fastest peer by the package's."""
    found = []
    for row in rows:
        ratios = {
            name: x.median
            for name, x in row.ratios.get(mode, {}).items()
            if mode != LONE or not name.startswith(LOOPS)
        }
        if ratios:
            name = min(ratios, key=lambda name: ratios[name])
            found.append((ratios[name], f"{row.robot} {ratios[name]:.2f}x ({name})"))
    if not found:
        return ""
    words = {_word(ratio) for ratio, _ in found}
    return f"{' or '.join(sorted(words))}: {', '.join(text for _, text in found)}"


def _word(ratio: float) -> str:
    if ratio > 1.0 + LEVEL:
        return "ahead"
    return "level" if ratio >= 1.0 - LEVEL else "behind"


NOTES = (
    "A multiple is a peer's time by the package's in the same round, the median of the rounds: "
    "more than 1, and the package is faster. A dash: the peer has no such function, no way to use "
    "two threads, or would take too long for a batch.",
    "Pinocchio's Python functions and MuJoCo's are called for one state after the other, in "
    "batches too, but for rneaInParallel, abaInParallel and MuJoCo's rollouts. Pinocchio's headers "
    "and CasADi's C loop over the states without Python, also beside lone calls of the package "
    "from Python, whose price is in that comparison; the last table leaves those out there. "
    "What is called one state after the other goes over 32 states again and again, and Pinocchio "
    "keeps the last result only, where the package and CasADi write all results of a batch.",
    "~: by finite differences, central, whose results may differ by 1e-3. MuJoCo has no contacts, "
    "limits or constraints here; its calls do all that mj_inverse, mj_forward and mj_step do, "
    "which is more than the function of the row.",
    "CasADi differentiates recursions written as a user would (benchmarks/peers/casadi_model.py), "
    "and shares common subexpressions. Functions on JAX are jitted, batches by vmap, in a child "
    "process that waits for each result; compiling them may take a minute a robot, and compiled "
    "ones are kept on the disk. Too large: CasADi's expressions, or C code for a compiler.",
    "HyQ's links of 1e-6 kg weigh 2e-6 kg here, with inertias that are positive definite: "
    "MuJoCo refuses singular ones, and its side of this comparison takes 1e-6 kg for none.",
    "JaxSim is missing: it reads models by Gazebo's `gz sdf`, which no Python package brings.",
)


def run(quick: bool, watch: Watch) -> Findings:
    """All functions of all robots, and what it takes to have a package at all."""
    notes = list(NOTES)
    peers = Peers(quick, notes)
    keys = QUICK_ROBOTS if quick else ROBOTS
    functions = [f for f in cases.FUNCTIONS if not quick or f in QUICK_FUNCTIONS]
    modes = QUICK_MODES if quick else MODES
    watch.expect(len(keys) * len(functions) + 1)
    rows = []
    for key in keys:
        robot = cases.robot(key)
        at = cases.states(robot, 256 if quick else 4096)
        with peers.opened(robot) as opened:
            for function in functions:
                rows.append(measured(Case(function, robot, at), opened, modes, quick))
                watch.step(f"{robot.label}, {function}")
    found = packages.measured(quick, [cases.robot(key) for key in keys], notes)
    watch.step("packages")
    return Findings(
        tables=[
            *tables(rows, peers.columns(), peers.missing),
            packages.table(found),
            standing(rows),
        ],
        notes=notes,
        data={
            "rows": [row.to_json() for row in rows],
            "packages": [asdict(package) for package in found],
            "dtau": dtau.__version__,
        },
    )


EXPERIMENT = Experiment(
    name="peers",
    title="Other packages beside this one",
    source="Pinocchio, CasADi, MuJoCo, adam and frax, for every function that they have",
    run=run,
)
