"""How results leave vector lanes for memory: which stores suit this core, and from which size on.

    python -m benchmarks stores

Derivatives of inverse dynamics, from 8 to 1024 states, so that results lie inside and outside of
the caches. Bare stores write arrays of the same sizes without any dynamics
(`benchmarks/stores.cpp`): in blocks, in blocks that ask for lines ahead ("prefetched"), in whole
lines, and streamed. The function itself is timed with each way of `DTAU_STORES`. Results of all
ways have the same bits.
"""

from __future__ import annotations

import ctypes
import tempfile
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from math import inf, log, sqrt
from pathlib import Path
from time import thread_time

import numpy as np

import dtau
from benchmarks import declare
from benchmarks.checks import WrongResultError
from benchmarks.compilers import cxx_compiler, run
from benchmarks.declare import Asked, Bench, Layout, Row, at_most, efforts, ratio
from benchmarks.experiment import Table
from dtau import _core
from dtau.cli.timing import Call, Contender, random_inputs

FUNCTION = "inverse_dynamics_derivatives"
COUNTS = (8, 16, 64, 256, 1024)
BARE = ("nothing", "blocks", "prefetched", "lines", "streamed")  # in the order of stores.cpp
WAYS = {"blocks": "blocks", "lines": "lines", "streamed": "blocks:0"}
MOST = 1.2  # the choice in use, by the best way

ROOT = Path(__file__).parents[2]
FLAGS = (
    *("-std=c++20", "-O3", "-march=native", "-ffp-contract=off", "-fno-tree-slp-vectorize"),
    *("-shared", "-fPIC", "-Iinclude", "-Isrc"),
)


@cache
def program() -> ctypes.CDLL:
    """The compiled bare stores."""
    compiler = cxx_compiler("g++", "clang++")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "stores.so"
        run([compiler, *FLAGS, "benchmarks/stores.cpp", "-o", str(path)], folder=ROOT)
        made = ctypes.CDLL(str(path))
    integer, size = ctypes.c_int, ctypes.c_ssize_t
    made.leave.argtypes = (integer, size, integer, size, ctypes.c_void_p, size)
    made.leave.restype = None
    return made


def bare(bench: Bench, count: int, size: int, matrices: int) -> Row:
    """Gigabytes a second of stores without dynamics."""
    leave, out = program().leave, np.ones((matrices, count, size))

    def contender(way: int) -> Contender:
        given = (way, size, matrices, count, out.ctypes.data)
        return Contender(lambda passes: leave(*given, passes), count)

    found = bench.timed({name: contender(way) for way, name in enumerate(BARE)})
    gigabytes = 1e-9 * out.nbytes / count
    return {
        f"bare {name}": gigabytes / (1e-6 * found.more(name, BARE[0]).median) for name in BARE[1:]
    }


def with_stores(call: Call, text: str) -> Contender:
    """A batch whose results leave in this way."""
    batch = call.batch()

    def timed(passes: int) -> None:
        _core.use_stores(text)
        batch.run(passes)

    return Contender(timed, call.count)


def check(call: Call, what: str) -> None:
    """Compare results of all ways."""
    results = []
    for text in WAYS.values():
        _core.use_stores(text)
        results.append(call())
    if not all(
        np.array_equal(x, y) for one in results for x, y in zip(one, results[0], strict=True)
    ):
        raise WrongResultError(f"{what}: stores in different ways give other bits")


def measure(bench: Bench, label: str, model: dtau.Model) -> Iterator[Row]:
    used = _core.stores()
    at = random_inputs(model, [FUNCTION], max(COUNTS))
    try:
        for count in COUNTS:
            call = Call(FUNCTION, model, {name: x[:count] for name, x in at.items()})
            check(call, f"{label}, {count} states")
            results = call()
            row: Row = {"robot": label, "states": count, "bytes": sum(x.nbytes for x in results)}
            row["kB"] = f"{1e-3 * row['bytes']:,.0f}"
            row |= bare(bench, count, results[0][0].size, len(results))
            texts = WAYS | {"used": used}
            found = bench.timed({name: with_stores(call, text) for name, text in texts.items()})
            row |= found.medians()
            yield row | {"ratio": found.ratio("used", min(WAYS, key=found.micro))}
    finally:
        _core.use_stores(used)


def suited(rows: list[Row]) -> Iterator[Table]:
    """The ordinary stores and the limit that take the least time, as a geometric mean."""
    sizes = sorted({row["bytes"] for row in rows})
    steps = [0.0, *sizes, inf]

    def cost(way: str, most: float) -> float:
        return sum(log(row[way if row["bytes"] <= most else "streamed"]) for row in rows)

    _, way, last = min((cost(x, y), x, y) for x in ("blocks", "lines") for y in steps[:-1])
    after = dict(pairwise(steps))[last]
    most = "" if after == inf else f":{sqrt(max(last, 1.0) * after):.0f}"
    cells = [way, f"{last / 1e6:.2g}", f"{after / 1e6:.2g}", way + most, _core.stores()]
    header = ["ordinary stores", "MB, still", "MB, streamed", "DTAU_STORES", "in use"]
    yield Table("What suits this core: the least time over all robots and counts", header, [cells])


BANDWIDTHS = [(name, f"bare {name}") for name in BARE[1:]]

EXPERIMENT = declare.experiment(
    "stores",
    "Stores out of vector lanes",
    "the ways of DTAU_STORES",
    declare.models(("panda", "g1", "talos"), ("hyq",)),
    measure,
    effort=efforts((15, 5), (2e-3, 1e-3)),
    tables=[
        Layout("Bare stores, GB/s", ["robot", "states", "kB", *BANDWIDTHS], left=1),
        Layout(
            "Derivatives of inverse dynamics, microseconds a state; the choice in use by the best",
            ["robot", "states", "kB", *WAYS, ("in use", "used"), ratio(), at_most(MOST)],
            left=1,
        ),
        suited,
    ],
    claims=[Asked("the stores in use are as fast as the best way", most=MOST)],
    clock=thread_time,
)
