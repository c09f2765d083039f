"""Calls of the C++ library beside Pinocchio's headers, both in loops in C++.

    python -m benchmarks cpp_library

Inverse and forward dynamics, the mass matrix and its inverse, and first derivatives of dynamics, on
robots from Panda to Talos: one state a call, and all states in one call on one thread. Pinocchio's
headers are compiled for this processor by g++ and by clang++, whichever are here, and compute state
by state. Results of the library have Python's bits, which are checked against Pinocchio's: to
1e-9 of the largest element. Times are seconds of the processor, and a ratio is Pinocchio's time by
dtau's. Claims are about the headers as the compiler of the library makes them.

Compiling the headers takes minutes, once. Quick runs compare with Pinocchio's Python calls instead,
and decide no claim.
"""

from __future__ import annotations

import ctypes
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any

from benchmarks.checks import UnavailableError
from benchmarks.experiment import Claim, Experiment, Findings, Table, Watch
from benchmarks.experiments.first_order import EFFORT, FUNCTIONS
from benchmarks.harness import Spread, Timings, at_least, number, one_core, timed, times, verdict
from benchmarks.peers import cpp_library
from benchmarks.peers.cases import Case, Peer
from benchmarks.peers.headers import Headers
from benchmarks.peers.headers import compiled as compiled_headers
from benchmarks.peers.pinocchio_peer import Compiled, Python
from benchmarks.peers.rows import Row as Told
from benchmarks.peers.rows import ways_of
from benchmarks.robots import KNOWN, Robot, chosen, pinocchio, states
from dtau.cli.timing import Effort

BATCH = 256
WAYS = {"alone": "one state a call", "batch": f"batches of {BATCH}"}
IN_BATCHES = 4.0
ALONE = {name: 1.0 if name == "mass_matrix" else 1.2 for name in FUNCTIONS}
QUICK = "quick runs do not compile Pinocchio's headers"


@dataclass(frozen=True)
class Row:
    """One function of one robot."""

    robot: str
    known: bool
    function: str
    peers: list[str]
    found: Timings

    def ratio(self, peer: str, way: str) -> Spread:
        """A peer's time by dtau's."""
        return self.found.ratio(peer, way)

    def cells(self, way: str, main: str, others: Sequence[str]) -> list[str]:
        """As the table of a way shows it."""
        ratio, least = self.ratio(main, way), goal(self.function, way)
        micro = [number(self.found.micro(name)) for name in (main, way)]
        more = [f"{self.ratio(x, way).median:.2f}x" if x in self.peers else "" for x in others]
        decided = main != Python.name and self.known
        met = [f"{least:g}", verdict(ratio.median >= least)] if decided else ["", ""]
        return [self.robot, self.function, *micro, *times(ratio), *more, *met]

    def to_json(self) -> dict[str, Any]:
        """Microseconds by contender."""
        words = {"robot": self.robot, "function": self.function}
        return words | {"microseconds": self.found.medians()}


def goal(function: str, way: str) -> float:
    """The least ratio that is asked for."""
    return ALONE[function] if way == "alone" else IN_BATCHES


def measured(
    case: Case, peers: Sequence[Peer], calls: ctypes.CDLL, effort: Effort, tick: Callable[[], None]
) -> Row:
    """Check and time a function."""
    robot = case.robot
    ways = ways_of(case, peers, Told(robot.label, robot.model.nv, case.function))
    with tempfile.TemporaryDirectory() as folder:
        library = cpp_library.Library(calls, case, Path(folder))
    contenders = {"alone": library.alone(), "batch": library.batch()}
    contenders |= {name: way.each for name, way in ways.items()}
    found = timed(contenders, effort, tick, process_time)
    return Row(robot.label, robot.key in KNOWN, case.function, list(ways), found)


def tables(rows: Sequence[Row], main: str) -> Iterator[Table]:
    """A table for each way."""
    others = [x for x in dict.fromkeys(x for row in rows for x in row.peers) if x != main]
    for way, words in WAYS.items():
        title = f"{words[0].upper()}{words[1:]}, microseconds a state; {main}: " + (
            "Pinocchio's Python call" if main == Python.name else "Pinocchio's headers by it"
        )
        title += "".join(f"; {x}: the ratio to the headers by it" for x in others)
        header = ["robot", "function", main, "dtau", "ratio", "quartiles", *others, "at least", ""]
        yield Table(title, header, [row.cells(way, main, others) for row in rows], left=2)


def claims(rows: Sequence[Row], main: str) -> Iterator[Claim]:
    """A claim for each function and way, on the known robots."""
    for way, words in WAYS.items():
        for function in FUNCTIONS:
            text = f"{function} in C++ is faster than Pinocchio's headers, {words}"
            least = goal(function, way)
            mine = [row for row in rows if row.function == function and row.known]
            if main == Python.name or not mine:
                yield Claim(text, f"at least {least:g}x", QUICK, None)
            else:
                yield at_least(text, least, [row.ratio(main, way).median for row in mine])


def peers_of(robot: Robot, headers: Sequence[Headers]) -> list[Peer]:
    """Pinocchio's headers by each compiler, or without them its Python calls."""
    compilers: list[Peer] = [Compiled(robot, [x], x.name) for x in headers]
    return compilers or [Python(robot)]


def run(quick: bool, watch: Watch) -> Findings:
    """Compile the calls and the headers, then measure on the known robots."""
    if pinocchio is None:
        raise UnavailableError("it compares with Pinocchio: python -m pip install pin")
    notes: list[str] = []
    robots = chosen(["panda", "hyq"] if quick else list(KNOWN), notes.append)
    headers: list[Headers] = []
    if not quick and not (headers := compiled_headers(1, notes.append)):
        raise UnavailableError("; ".join(notes))
    if not robots:
        raise UnavailableError("; ".join(notes))
    calls, effort = cpp_library.compiled(), EFFORT[quick]
    names = [x.name for x in headers]
    main = next((x for x in names if x.startswith(cpp_library.compiler_of_library())), None)
    main = main or (names or [Python.name])[0]
    notes += [f"{x.name}: {x.version}" for x in headers]
    watch.expect(len(robots) * len(FUNCTIONS) * effort.rounds, "first robot")
    rows = []
    with one_core():
        for robot in robots:
            at = states(robot, BATCH)
            peers = peers_of(robot, headers)
            for function in FUNCTIONS:
                case = Case(function, robot, at)
                rows.append(measured(case, peers, calls, effort, watch.step))
            for peer in peers:
                peer.close()
    return Findings(
        list(tables(rows, main)),
        [],
        list(claims(rows, main)),
        notes,
        {"rows": [row.to_json() for row in rows]},
    )


EXPERIMENT = Experiment(
    "cpp_library",
    "The C++ library beside Pinocchio's headers",
    "calls in C++, Pinocchio's headers compiled here",
    run,
)
