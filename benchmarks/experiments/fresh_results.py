"""What new arrays for results cost beside those that are given (`out=`): at most 1.2 times as much.

    python -m benchmarks fresh_results

    dropped        f(model, ...): the results go before the next call
    replaced       d = f(model, ...): they go when the next ones are there; by arrays that are given
                   in turns, for these share the caches as well
    nothing kept   replaced, after `dtau.set_result_cache_limit(0)`

In batches whose results take 1 kB to 64 MB in all. Results of all ways have the same bits.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import dtau
from benchmarks import declare
from benchmarks.checks import WrongResultError
from benchmarks.declare import Asked, Bench, Layout, Row, at_most, efforts, ratio
from dtau.cli.timing import Call, Contender, given, loop, random_inputs

MOST = 1.2
SIZES = tuple(1000 * 4**k for k in range(9))  # bytes, to 65.5 MB
QUICK_SIZES = SIZES[::4]
FUNCTIONS = ("inverse_dynamics", "inverse_dynamics_derivatives", "forward_dynamics_derivatives")


def check(call: Call, what: str) -> None:
    """Compare results that take memory of others, full of NaN, with those that are given."""
    into = call()
    out = tuple(np.full_like(x, np.nan) for x in into)
    call(out=given(out))
    for x in into:
        x.fill(np.nan)
    del into, x
    if not all(map(np.array_equal, call(), out)):
        raise WrongResultError(f"{what}: new results differ from those that were given")


def contender(call: Call, statement: str, **names: Any) -> Contender:
    """All states in one call of one thread, as the statement says it with `f(...)`."""
    text = statement.replace("f(...", f"f({call.words}, threads=1")
    return Contender(loop(text, **call.arrays, **call.names, **names), call.count)


def measured(bench: Bench, call: Call) -> Row:
    results = call()
    out, other = given(results), given(call())
    into = contender(call, "f(..., out=out)", out=out)
    in_turns = contender(call, "f(..., out=out); out, d = d, out", out=out, d=other)
    dropped, replaced = contender(call, "f(...)"), contender(call, "d = f(...)", d=None)
    replaced.run(3)  # first calls take fresh memory, and would count as typical ones
    known = {"into": into, "in turns": in_turns}
    kept = bench.timed(known | {"dropped": dropped, "replaced": replaced})
    limit = dtau.set_result_cache_limit(0)
    try:
        bare = bench.timed({"in turns": in_turns, "replaced": replaced})
    finally:
        dtau.set_result_cache_limit(limit)
    ways = {"dropped": kept.ratio("dropped", "into")}
    ways["replaced"] = kept.ratio("replaced", "in turns")
    return ways | {
        "function": call.name,
        "kB": f"{1e-3 * sum(x.nbytes for x in results):,.0f}",
        "states": call.count,
        "into": call.count * kept.micro("into"),
        "nothing kept": bare.ratio("replaced", "in turns"),
        "worst": max(x.median for x in ways.values()),
    }


def measure(bench: Bench, label: str, model: dtau.Model) -> Iterator[Row]:
    """The functions at as many states as have results of each size, if any do."""
    for function in FUNCTIONS:
        lone = Call(function, model, random_inputs(model, [function], 1))
        each = sum(x.nbytes for x in lone())
        for size in QUICK_SIZES if bench.quick else SIZES:
            if each <= size:
                call = Call(function, model, random_inputs(model, [function], size // each))
                check(call, f"{label}, {function}")
                yield {"robot": label} | measured(bench, call)


EXPERIMENT = declare.experiment(
    "fresh_results",
    "New results beside those that are given",
    "what the system takes to hand out memory",
    declare.models(("panda", "hyq", "g1", "talos"), ("hyq",)),
    measure,
    effort=efforts((41, 7), (4e-3, 2e-3)),
    tables=[
        Layout(
            "New results by results with out=: microseconds a call, and ratios",
            [
                *("robot", "function", "kB", "states", ("with out=", "into")),
                *(ratio("dropped", "dropped"), ratio("replaced", "replaced"), "nothing kept"),
                at_most(MOST, "worst"),
            ],
            left=2,
        )
    ],
    claims=[
        Asked(f"calls without out=, results {x}, by calls with it, 1 kB to 64 MB", x, most=MOST)
        for x in ("dropped", "replaced")
    ],
)
