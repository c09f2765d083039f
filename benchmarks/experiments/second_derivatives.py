"""Time second derivatives of dynamics against Pinocchio's headers and against first derivatives.

Pinocchio has the tensors of inverse dynamics in C++ only: its headers take part where clang++ or
g++ and Eigen's headers are at hand, compiled for this processor. That takes minutes a compiler,
once; --quick goes without. Nobody else has contractions and forward dynamics in double precision:
their time is given in first derivatives of the same dynamics.

Every function is checked first: lone states and batches give the same bits; packed tensors hold all
that differs from zero; tensors agree with Pinocchio's to 1e-9 of the largest element and with
central differences of first derivatives; contractions are tensors times lam. The contenders take
turns on one core, a block of a few milliseconds each a round; a ratio is of times in the same
round, its median over the rounds, and its quartiles. All results go into given arrays (out=), as
Pinocchio's do. Damping and armature are left out on both sides.

    python benchmarks/second_derivatives.py                              # all robots, and scaling
    python benchmarks/second_derivatives.py --quick --robot g1           # a rough answer for one
    python benchmarks/second_derivatives.py --urdf mine.urdf --root free # your own robot
    python benchmarks/second_derivatives.py --json new.json              # all numbers, to keep
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from benchmarks.harness import (
    Array,
    Effort,
    Progress,
    Spread,
    environment,
    interleaved,
    number,
    one_core,
    table,
)
from benchmarks.headers import OPTIMISATION, HeadersRobot, compiled, headers_robots
from benchmarks.robots import GENERATED, KNOWN, Robot, from_urdf, generated, known, pinocchio, urdf
from second_cases import CALLS, FILLED, Call, check, inputs, peers_loop

import dtau

CHECKED = 2  # states
LONE_STATES = 16  # lone calls go round so many states
EFFORT = {False: Effort(rounds=41, block=4e-3), True: Effort(rounds=9, block=2e-3)}  # by --quick
SMALL = 20  # degrees of freedom
FILL_SHARE = 0.6  # of the rate at which a constant fills the results
FILLS = 1.5  # what dense tensors may take over packed ones
CONTRACTIONS = {  # times of first derivatives: at most, and the aim
    "hessian": ("first", 2.5, 1.8),
    "forward hessian": ("forward first", 3.0, 2.0),
}
SCALED = ("first", "packed", "hessian", "forward hessian")
CHAINS = (10, 20, 40, 80)  # bodies
TREES = (10, 20, 40, 80)  # branches
BRANCH = 4  # bodies


@dataclass(frozen=True)
class Result:
    """Seconds a state of all contenders, a number a round."""

    robot: Robot
    entries: int  # of packed tensors, in each of the four
    states: dict[str, int]  # in the batches
    seconds: dict[str, Array]  # by "alone ...", "batch ...", "fill ...", and the compiler

    def micro(self, name: str) -> float:
        """Microseconds a state, the median."""
        return 1e6 * float(np.median(self.seconds[name]))

    def ratio(self, name: str, by: str) -> Spread:
        """How many times as long something takes."""
        return Spread.of(self.seconds[name] / self.seconds[by])

    @property
    def compilers(self) -> list[str]:
        """Whose headers took part, g++ last."""
        return [name for name in self.seconds if " " not in name]

    @property
    def gcc(self) -> str | None:
        """The compiler that goals are relative to, if it took part."""
        return next((name for name in self.compilers if name.startswith("g++")), None)


# Measurements


def measure(
    robot: Robot,
    batch: int,
    headers: Mapping[str, HeadersRobot],
    effort: Effort,
    tick: Callable[[], None],
) -> Result:
    """Check and time all functions on a robot."""
    check(robot, inputs(robot, CHECKED), headers)
    at = inputs(robot, max(batch, LONE_STATES))
    first = {name: x[:LONE_STATES] for name, x in at.items()}
    contenders, counts = {}, {}
    for name in CALLS:
        call = Call(robot.model, name, at).fits(batch)
        counts[name] = len(call.at["q"])
        contenders[f"alone {name}"] = Call(robot.model, name, first).alone()
        contenders[f"batch {name}"] = call.batch()
        if name in FILLED:
            contenders[f"fill {name}"] = call.fill()
            contenders[f"fill one {name}"] = call.of(slice(1)).fill()
    contenders |= {compiler: peers_loop(robot, first, peer) for compiler, peer in headers.items()}
    entries = dtau.packed_indices(robot.model).shape[1]
    return Result(robot, entries, counts, interleaved(contenders, effort, tick))


@dataclass(frozen=True)
class Growth:
    """What functions cost on models of growing size: a list by the function, an entry a model."""

    family: str
    bodies: list[int]
    micro: dict[str, list[float]]  # microseconds a state, in batches
    operations: dict[str, list[int]]
    most: dict[str, str]  # the exponent

    def exponent(self, costs: Sequence[float]) -> float:
        """The slope of the logarithm of a cost over that of the number of bodies."""
        return float(np.polyfit(np.log(self.bodies), np.log(costs), 1)[0])


def growths(effort: Effort, tick: Callable[[], None]) -> list[Growth]:
    """Time chains and trees of fixed depth, and count their operations."""
    chains = [list(range(-1, bodies - 1)) for bodies in CHAINS]
    trees = [
        [-1, *(0 if i % BRANCH == 0 else i for i in range(BRANCH * branches))] for branches in TREES
    ]
    found = []
    for family, parents, most in (
        ("chains (d = N)", chains, ("2: N d", "3: N d²", "2: N d", "3: N² d")),
        (f"trees of depth {BRANCH + 1}", trees, ("1: N d", "1: N d²", "1: N d", "2: N² d")),
    ):
        calls = {}
        for tree in parents:
            model = dtau.load(urdf(tree, "fixed"), root="fixed")
            at = _states(model, 64)
            calls |= {(len(tree), name): Call(model, name, at).fits(64) for name in SCALED}
        contenders = {f"{n} {name}": call.batch() for (n, name), call in calls.items()}
        seconds = interleaved(contenders, effort, tick)
        bodies = [len(tree) for tree in parents]
        micro = {x: [1e6 * float(np.median(seconds[f"{n} {x}"])) for n in bodies] for x in SCALED}
        operations = {x: [calls[n, x].operations() for n in bodies] for x in SCALED}
        found.append(
            Growth(family, bodies, micro, operations, dict(zip(SCALED, most, strict=True)))
        )
    return found


def _states(model: dtau.Model, count: int) -> dict[str, Array]:
    q, v, a = dtau.random_state(model, np.random.default_rng(0), shape=(count,))
    tau = dtau.inverse_dynamics(model, q, v, a)
    return {"q": q, "v": v, "a": a, "tau": tau, "lam": v[::-1].copy()}


# Tables


def verdict(met: bool, aimed: bool = False) -> str:
    """One word on how a number stands to its goal."""
    if not met:
        return "MISSED"
    return "aim" if aimed else "ok"


def times(spread: Spread) -> list[str]:
    """A ratio and its quartiles."""
    return [f"{spread.median:.2f}x", f"{spread.lower:.2f} - {spread.upper:.2f}"]


def packed_cells(r: Result, way: str, compilers: Sequence[str]) -> list[str]:
    """Packed tensors against the headers, alone or in a batch."""
    name = f"{way} packed"
    there = [c in r.compilers for c in compilers]
    row = [r.robot.label, str(r.robot.model.nv), f"{32e-3 * r.entries:.1f}"]
    row += [number(r.micro(c)) if x else "" for c, x in zip(compilers, there, strict=True)]
    row += [number(r.micro(name))]
    for c, x in zip(compilers, there, strict=True):
        row += times(r.ratio(c, name)) if x else ["", ""]
    share = r.ratio("fill packed", name).median if way == "batch" else 0.0
    if way == "batch":
        row += [str(r.states["packed"]), number(r.micro("fill packed")), f"{share:.0%}"]
    if r.gcc is None or not r.robot.key:
        return [*row, "", ""]
    faster = r.ratio(r.gcc, name).median
    if way == "alone":
        least, aim = (2.0 if r.robot.key == "chain50" else 2.5), 4.0
        return [*row, f"{least:g}x ({aim:g}x)", verdict(faster >= least, faster >= aim)]
    if r.robot.model.nv <= SMALL:
        return [*row, "8x", verdict(faster >= 8.0)]
    return [*row, f"4x or {FILL_SHARE:.0%}", verdict(faster >= 4.0 or share >= FILL_SHARE)]


def dense_cells(r: Result) -> list[str]:
    """Dense tensors of inverse dynamics against packed ones and the fill."""
    alone, batch = r.micro("alone dense"), r.micro("batch dense")
    most = r.micro("alone packed") + FILLS * r.micro("fill one dense")
    share = r.ratio("fill dense", "batch dense").median
    faster = r.ratio(r.gcc, "batch dense").median if r.gcc else 0.0
    return [
        r.robot.label,
        f"{32e-3 * r.robot.model.nv**3:.0f}",
        number(alone),
        number(most),
        verdict(alone <= most),
        number(batch),
        str(r.states["dense"]),
        number(r.micro("fill dense")),
        f"{share:.0%}",
        f"{faster:.2f}x" if r.gcc else "",
        f"{FILL_SHARE:.0%} or 8x",
        verdict(share >= FILL_SHARE or faster >= 8.0),
    ]


def contraction_cells(r: Result, name: str) -> list[str]:
    """A contraction against first derivatives of the same dynamics."""
    by, most, aim = CONTRACTIONS[name]
    row = [r.robot.label, name]
    for way in ("alone", "batch"):
        spread = r.ratio(f"{way} {name}", f"{way} {by}")
        row += [number(r.micro(f"{way} {by}")), number(r.micro(f"{way} {name}")), *times(spread)]
        row += [verdict(spread.median <= most, spread.median <= aim)]
    return [*row, f"{most:g}x ({aim:g}x)"]


def forward_cells(r: Result) -> list[str]:
    """The tensors of forward dynamics."""
    name = "forward dense"
    return [
        r.robot.label,
        number(r.micro(f"alone {name}")),
        number(r.micro(f"batch {name}")),
        str(r.states[name]),
        number(r.micro(f"fill {name}")),
        f"{r.ratio(f'fill {name}', f'batch {name}').median:.0%}",
        f"{r.ratio(f'batch {name}', 'batch dense').median:.1f}x",
        f"{r.ratio(f'batch {name}', 'batch forward hessian').median:.1f}x",
    ]


def print_results(results: Sequence[Result]) -> None:
    """Print all tables on robots."""
    compilers = list(dict.fromkeys(name for result in results for name in result.compilers))
    ratios = [cell for c in compilers for cell in (f"by {c}", "quartiles")]
    header = ["robot", "nv", "kB", *compilers, "dtau", *ratios]
    note = (
        "microseconds a state; kB: of all four; by ...: times as long as Pinocchio's headers take"
    )
    for way, title, columns in (
        ("alone", "Packed tensors of inverse dynamics, one state a call", []),
        ("batch", "Packed tensors of inverse dynamics, batches", ["states", "fill", "fill rate"]),
    ):
        rows = [packed_cells(r, way, compilers) for r in results]
        table(f"{title}\n{note}", [*header, *columns, "at least (aim)", ""], rows, left=1)
    header = ["robot", "kB", "alone", "at most", "", "batch", "states", "fill", "fill rate"]
    title = (
        "Dense tensors of inverse dynamics, microseconds a state; at most: packed, alone, plus "
        f"{FILLS:g} fills of one state"
    )
    gcc = "by g++"
    table(title, [*header, gcc, "at least", ""], [dense_cells(r) for r in results], left=1)
    one = ["first", "this", "ratio", "quartiles", ""]
    title = "Contractions with lam, one state a call and batches, microseconds a state\n"
    title += "ratio: times of the first derivatives of the same dynamics"
    rows = [contraction_cells(r, name) for name in CONTRACTIONS for r in results]
    table(title, ["robot", "function", *one, *one, "at most (aim)"], rows, left=2)
    header = ["robot", "alone", "batch", "states", "fill", "fill rate", "by inverse", "by hessian"]
    title = "Dense tensors of forward dynamics, microseconds a state, and times of inverse\n"
    title += "dynamics' and of the contraction's in batches"
    table(title, header, [forward_cells(r) for r in results], left=1)


def print_growths(found: Sequence[Growth]) -> None:
    """Print times and operations by the number of bodies, and exponents."""
    for growth in found:
        header = ["function", "", *(f"{n} bodies" for n in growth.bodies), "exponent", "at most"]
        rows = []
        for name in SCALED:
            for what, costs in (
                ("microseconds", growth.micro[name]),
                ("operations", growth.operations[name]),
            ):
                cells = (number(x) if what == "microseconds" else str(x) for x in costs)
                most = growth.most[name] if what == "operations" else ""
                rows.append([name, what, *cells, f"{growth.exponent(costs):.2f}", most])
        title = f"Scaling: {growth.family}, a state in batches\n"
        title += "(times have the zeros in them that fill matrices between unrelated branches)"
        table(title, header, rows, left=2)


# Command


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    source = parser.add_mutually_exclusive_group()
    source.add_argument(
        "--robot",
        action="append",
        choices=[*KNOWN, *GENERATED],
        help="one of these; may be given several times",
    )
    source.add_argument("--urdf", type=Path, metavar="FILE", help="a robot of your own")
    parser.add_argument(
        "--root", choices=("fixed", "free"), help="how the robot of --urdf hangs (default: fixed)"
    )
    parser.add_argument(
        "--batch", type=int, default=256, metavar="N", help="states in a batch (default: 256)"
    )
    parser.add_argument("--quick", action="store_true", help="fewer and shorter rounds")
    parser.add_argument(
        "--headers",
        action=argparse.BooleanOptionalAction,
        help="compare with Pinocchio's headers, compiled here (default: unless --quick)",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all times to a file")
    args = parser.parse_args()
    if args.batch < 1:
        parser.error(f"--batch: expected a positive number, got {args.batch}")
    if args.root and not args.urdf:
        parser.error("--root: only with --urdf")
    if args.headers is None:
        args.headers = not args.quick
    return args


def main() -> None:
    args = arguments()
    if args.urdf:
        robots = [from_urdf(args.urdf, args.root or "fixed")]
    else:
        names = args.robot or [*KNOWN, *GENERATED]
        robots = [known(name) if name in KNOWN else generated(name) for name in names]
    effort = EFFORT[args.quick]
    headers = compiled(order=2) if args.headers else []
    machine = environment(f"pinocchio {pinocchio.__version__}")
    if headers:
        names = ", ".join(f"{compiler.name} ({compiler.version})" for compiler in headers)
        machine["headers by"] = f"{names}, {' '.join(OPTIMISATION)}"
    for key, value in machine.items():
        print(f"{key:>16}: {value}")

    scaling = not (args.urdf or args.robot)
    progress = Progress(effort.rounds * (len(robots) + 2 * scaling))
    with one_core():
        results = []
        for robot in robots:
            progress.label = robot.label
            peers = headers_robots(headers, robot)
            results.append(measure(robot, args.batch, peers, effort, progress.step))
        progress.label = "scaling"
        growth = growths(effort, progress.step) if scaling else []
    progress.clear()
    print_results(results)
    print_growths(growth)
    if args.json:
        numbers = {
            "machine": machine,
            "microseconds": {
                r.robot.label: {name: r.micro(name) for name in r.seconds} for r in results
            },
            "states": {r.robot.label: r.states for r in results},
            "scaling": [asdict(family) for family in growth],
        }
        args.json.write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
