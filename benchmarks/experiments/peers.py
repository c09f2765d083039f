"""All that other packages have too: how long it takes there, and whether it is the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field

import numpy as np

import dtau
from benchmarks.experiment import Claim, Experiment, Findings, Table, Watch, WrongResultError
from benchmarks.harness import Contender, Effort, Spread, interleaved, number, one_core
from benchmarks.peers import cases, jax_peer, packages
from benchmarks.peers.cases import DIFFERENCES, Case, Function, Peer, Way
from benchmarks.peers.opened import Peers
from benchmarks.robots import Array, Robot

ROBOTS = ("panda", "hyq", "talos")
QUICK_ROBOTS = ("hyq",)
QUICK_FUNCTIONS = (
    *("inverse_dynamics", "forward_dynamics", "mass_matrix", "inverse_dynamics_derivatives"),
    *("forward_dynamics_derivatives", "frame_jacobians", "center_of_mass", "step"),
)
Mode = tuple[int, int]  # states in a call, 0 for one a call; threads
LONE: Mode = (0, 1)
MODES: tuple[Mode, ...] = (LONE, (256, 1), (256, 2), (4096, 1), (4096, 2))
QUICK_MODES: tuple[Mode, ...] = (LONE, (256, 1))
SHOWN: tuple[Mode, ...] = ((256, 1), (4096, 1), (4096, 2))  # in the table of batches
LEVEL = 0.1  # within this, two are level
LARGEST = 2**28  # bytes of results of a batch
SLOWEST = 0.7  # seconds; batches that take longer are left out
LOOPS = ("headers", "CasADi's C")  # whose states one by one are a loop without Python


@dataclass
class Row:
    """One function of one robot: ratios are of a peer's time by the package's."""

    robot: str
    nv: int
    function: str
    micro: dict[Mode, float] = field(default_factory=dict)  # the package's, a state
    ratios: dict[Mode, dict[str, Spread]] = field(default_factory=dict)
    errors: dict[str, float] = field(default_factory=dict)
    differences: list[str] = field(default_factory=list)  # peers that take finite differences
    reasons: dict[str, str] = field(default_factory=dict)  # why a peer's cells are empty
    facts: dict[str, dict[str, float]] = field(default_factory=dict)

    def to_json(self) -> dict[str, object]:
        """With modes as words."""
        return asdict(self) | {
            "micro": {word(mode): x for mode, x in self.micro.items()},
            "ratios": {
                word(mode): {name: asdict(x) for name, x in found.items()}
                for mode, found in self.ratios.items()
            },
        }


def word(mode: Mode) -> str:
    """A mode in words."""
    if mode == LONE:
        return "one state a call"
    return f"{mode[0]} states" + (" on two threads" if mode[1] == 2 else "")


# Measurements


def measured(
    function: Function, robot: Robot, at: Mapping[str, Array], peers: list[Peer], quick: bool
) -> Row:
    """Check a function's results and time it beside all peers that have it."""
    case = Case(function, robot, at)
    row = Row(robot.label, robot.model.nv, function.name)
    if case.check_alone() > 0.0:
        raise WrongResultError(f"{robot.label}, {function.name}: one state differs from a batch")
    ways = {}
    for peer in peers:
        if quick and function.order and peer.name == "CasADi":
            continue  # takes seconds to differentiate
        way = _way(peer, case)
        if isinstance(way, str):
            row.reasons[peer.name] = way
            continue
        row.errors[peer.name] = way.error
        row.facts[peer.name] = way.facts
        if way.differences:
            row.differences.append(peer.name)
        allowed = DIFFERENCES if way.differences else case.tolerance()
        if not way.error <= allowed:
            raise WrongResultError(
                f"{robot.label}, {function.name}: {peer.name} differs by {way.error:.1e} of the "
                f"largest element, allowed {allowed:.0e}"
            )
        ways[peer.name] = way
    if ways:
        for mode in QUICK_MODES if quick else MODES:
            if mode[0] * case.bytes() <= LARGEST:
                _time(row, case, ways, peers, mode, quick)
    return row


def _way(peer: Peer, case: Case) -> Way | str:
    """A peer's way, or why there is none."""
    try:
        return peer.way(case)
    except jax_peer.ChildError as reason:
        return str(reason)


def _time(
    row: Row, case: Case, ways: Mapping[str, Way], peers: list[Peer], mode: Mode, quick: bool
) -> None:
    """One mode: all in turns, and the ratios within the rounds."""
    count, threads = mode
    contenders: dict[str, Contender] = {
        "dtau": case.lone() if mode == LONE else case.batch(count, threads)
    }
    for name, way in ways.items():
        known = row.ratios.get((256, 1), {}).get(name)
        if count > 256 and known and known.median * row.micro[256, 1] * 1e-6 * count > SLOWEST:
            continue
        try:
            found = None if mode == LONE else way.batch(count, threads)
        except jax_peer.ChildError as reason:
            row.reasons[name] = str(reason)
            continue
        if found is None and threads == 1:
            found = way.each
        if found is not None:
            contenders[name] = found
    _keep(peers, threads)
    effort = Effort(5, 1e-3) if quick else Effort(9 if count <= 256 else 5, 2e-3)
    if threads == 1:
        with one_core():
            seconds = interleaved(contenders, effort, lambda: None)
    else:
        seconds = interleaved(contenders, effort, lambda: None)
    ours = seconds.pop("dtau")
    row.micro[mode] = 1e6 * float(np.median(ours))
    row.ratios[mode] = {name: Spread.of(x / ours) for name, x in seconds.items()}


def _keep(peers: Iterable[Peer], threads: int) -> None:
    """Keep the peers' processes on as many cores."""
    for peer in peers:
        if isinstance(peer, jax_peer.Jax):
            peer.keep_on(threads)


# What is said of it


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


def claims(rows: list[Row]) -> list[Claim]:
    """Ahead, level or behind, a function a row: against the fastest peer on each robot."""
    out = []
    for function in dict.fromkeys(row.function for row in rows):
        mine = [row for row in rows if row.function == function]
        said = [
            f"{word(mode)}: {text}" for mode in MODES if (text := _verdict(mine, mode)) is not None
        ]
        if said:
            text = f"{function}: the package beside the fastest of its peers"
            out.append(Claim(text, "nothing; level is within 10 %", "; ".join(said), None))
    return out


def _verdict(rows: list[Row], mode: Mode) -> str | None:
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
        return None
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
    "from Python, whose price is in that comparison; claims leave those out there. "
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
    functions = [f for f in cases.FUNCTIONS if not quick or f.name in QUICK_FUNCTIONS]
    watch.expect(len(keys) * len(functions) + 1)
    rows = []
    for key in keys:
        robot = cases.robot(key)
        at = cases.states(robot, 256 if quick else 4096)
        with peers.opened(robot) as opened:
            for function in functions:
                rows.append(measured(function, robot, at, opened, quick))
                watch.step(f"{robot.label}, {function.name}")
    found = packages.measured(quick, [cases.robot(key) for key in keys], notes)
    watch.step("packages")
    return Findings(
        tables=[*tables(rows, peers.columns(), peers.missing), packages.table(found)],
        claims=claims(rows),
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
