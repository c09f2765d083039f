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
from collections.abc import Iterator
from pathlib import Path
from time import process_time

from benchmarks import declare
from benchmarks.declare import Asked, Bench, Layout, Row, at_least, ratio
from benchmarks.experiment import Claim, Table
from benchmarks.experiments.first_order import EFFORT, FUNCTIONS
from benchmarks.peers import cpp_library
from benchmarks.peers.cases import Case, Peer
from benchmarks.peers.headers import Headers
from benchmarks.peers.headers import compiled as compiled_headers
from benchmarks.peers.pinocchio_peer import Compiled, Python
from benchmarks.peers.rows import checked
from benchmarks.robots import KNOWN, Robot, states

BATCH = 256
WAYS = {"alone": "one state a call", "batch": f"batches of {BATCH}"}
LEAST = {
    "alone": {name: 1.0 if name == "mass_matrix" else 1.2 for name in FUNCTIONS},
    "batch": dict.fromkeys(FUNCTIONS, 4.0),
}
QUICK = "quick runs do not compile Pinocchio's headers"


def subjects(bench: Bench) -> list[tuple[Robot, list[Headers], ctypes.CDLL]]:
    """Robots, with the headers and the calls of the library, compiled."""
    robots = declare.robots(KNOWN, ("panda", "hyq"))(bench)
    headers = [] if bench.quick else compiled_headers(1, bench.note)
    if not bench.quick and not headers:
        return []
    for x in headers:
        bench.note(f"{x.name}: {x.version}")
    calls = cpp_library.compiled()
    return [(robot, headers, calls) for robot in robots]


def measure(
    bench: Bench, robot: Robot, headers: list[Headers], calls: ctypes.CDLL
) -> Iterator[Row]:
    at = states(robot, BATCH)
    peers: list[Peer] = [Compiled(robot, [x], x.name) for x in headers] or [Python(robot)]
    names, here = [peer.name for peer in peers], cpp_library.compiler_of_library()
    main = next((x for x in names if x.startswith(here)), names[0])
    for function in FUNCTIONS:
        case = Case(function, robot, at)
        ways = checked(case, peers)
        with tempfile.TemporaryDirectory() as folder:
            library = cpp_library.Library(calls, case, Path(folder))
        contenders = {"alone": library.alone(), "batch": library.batch()}
        found = bench.timed(contenders | {name: way.each for name, way in ways.items()})
        for way in WAYS:
            row = {"robot": robot.label, "function": function, "way": way, "main": main}
            row |= {"peer": found.micro(main), "dtau": found.micro(way), "others": names}
            decided = bool(headers) and robot.key in KNOWN
            row["least"] = LEAST[way][function] if decided else None
            row |= {name: found.ratio(name, way) for name in ways}
            yield row | {"ratio": found.ratio(main, way)}
    for peer in peers:
        peer.close()


def tables(rows: list[Row]) -> Iterator[Table]:
    main = rows[0]["main"]
    others = [x for x in rows[0]["others"] if x != main]
    for way, words in WAYS.items():
        title = f"{words[0].upper()}{words[1:]}, microseconds a state; {main}: " + (
            "Pinocchio's Python call" if main == Python.name else "Pinocchio's headers by it"
        )
        title += "".join(f"; {x}: the ratio to the headers by it" for x in others)
        columns = ["robot", "function", (main, "peer"), "dtau", ratio(), *others]
        yield from Layout(title, [*columns, at_least("least")], 2, {"way": way}).tables(rows)


def claims(rows: list[Row]) -> Iterator[Claim]:
    """A claim for each function and way, on the known robots."""
    for way, words in WAYS.items():
        for function, least in LEAST[way].items():
            text = f"{function} in C++ is faster than Pinocchio's headers, {words}"
            asked = Asked(text, least="least", where={"way": way, "function": function})
            yield from list(asked.claims(rows)) or [
                Claim(text, f"at least {least:g}x", QUICK, None)
            ]


EXPERIMENT = declare.experiment(
    "cpp_library",
    "The C++ library beside Pinocchio's headers",
    "calls in C++, Pinocchio's headers compiled here",
    subjects,
    measure,
    effort=EFFORT,
    needs={"pinocchio": "pin"},
    tables=[tables],
    claims=[claims],
    clock=process_time,
)
