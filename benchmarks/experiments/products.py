"""Products with first derivatives, in calls of the functions that they are products of.

    python -m benchmarks products

`_jvp` and `_vjp` of inverse and forward dynamics on robots and on chains to 100 joints, beside the
functions themselves and their full derivatives ("matrices"), one state a call and in batches. A
ratio of 2.0 says that a product takes as long as two calls of its function. Products are checked
against the full derivatives first: to 1e-12 of the largest element, and a little more where the
mass matrix is ill-conditioned.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

import dtau
from benchmarks import declare
from benchmarks.checks import Array, require_close, same_bits, solved
from benchmarks.declare import Asked, Bench, Layout, Row, Shown, at_most, efforts, models, ratio
from benchmarks.experiment import Curve, Plot
from benchmarks.robots import KNOWN
from dtau.cli.timing import Call, random_inputs

MOST = 3.0  # what a product may cost, in calls of its function
TOLERANCE = 1e-12  # of the largest element
CHAINS = (10, 30, 100)  # revolute joints
BATCH = 256
PROBLEMS = ("inverse_dynamics", "forward_dynamics")
PRODUCTS = ("_jvp", "_vjp")


def check(label: str, problem: str, calls: dict[str, Call]) -> None:
    """Compare both products with the full derivatives."""
    by = calls["_derivatives"]()
    tolerance = TOLERANCE
    if problem == "forward_dynamics":
        tolerance = solved(TOLERANCE, calls[""].model, calls[""].arrays["q"])
    directions = list(calls["_jvp"].arrays.values())[3:]
    lam = calls["_vjp"].arrays["lam"]
    pairs = zip(by, directions, strict=True)
    wanted: dict[str, list[Array]] = {
        "_jvp": [sum(np.einsum("zij,zj->zi", m, dx) for m, dx in pairs)],
        "_vjp": [np.einsum("zij,zi->zj", m, lam) for m in by],
    }
    for suffix, want in wanted.items():
        what = f"{label}, {problem}{suffix}"
        for x, y in zip(same_bits(calls[suffix], what, 1), want, strict=True):
            require_close(x, y, tolerance, f"{what} and the full derivatives")


def beside_function(bench: Bench, calls: dict[str, Call], **words: str | int) -> Iterator[Row]:
    """Time calls by their suffixes; a row for each product and way."""
    found = bench.both(calls)
    for suffix in PRODUCTS:
        for way in ("alone", "batch"):
            row = words | {"way": way, "product": f"{words['problem']}{suffix}"}
            row["function"] = found.micro((way, ""))
            row["microseconds"] = found.micro((way, suffix))
            row["ratio"] = found.ratio((way, suffix), (way, ""))
            if "_derivatives" in calls:
                row["matrices"] = found.ratio((way, "_derivatives"), (way, ""))
            yield row


def layouts(columns: Sequence[Shown], left: int) -> list[Layout]:
    return [
        Layout(f"{title}, microseconds a state", columns, left, {"way": way})
        for way, title in (
            ("alone", "One state a call"),
            ("batch", f"Batches of {BATCH} states with out="),
        )
    ]


def limits(of: str) -> list[Asked]:
    return [
        Asked(
            f"a product costs at most {MOST:g} calls of its {of}, {states}",
            most=MOST,
            where={"way": way},
            asked=f"at most {MOST:g}x on all robots",
        )
        for way, states in (("alone", "one state"), ("batch", "batches"))
    ]


def subjects(bench: Bench) -> list[tuple[str, dtau.Model]]:
    chains = CHAINS[:1] if bench.quick else CHAINS
    grown = [(f"chain of {n}", dtau.robots.chain(n)) for n in chains]
    return [*models(KNOWN, ("panda", "g1"))(bench), *grown]


def measure(bench: Bench, label: str, model: dtau.Model) -> Iterator[Row]:
    suffixes = ("", "_derivatives", *PRODUCTS)
    at = random_inputs(model, [of + s for of in PROBLEMS for s in suffixes], BATCH)
    for of in PROBLEMS:
        calls = {s: Call(of + s, model, at) for s in suffixes}
        check(label, of, calls)
        yield from beside_function(bench, calls, robot=label, problem=of)


def plots(rows: list[Row]) -> Iterator[Plot]:
    """The ratios of batches, a place a robot; bars: full derivatives."""
    (batches,) = declare.selected(rows, {"way": "batch"})
    title = "Products and full derivatives, in calls of their function (batches)"
    plot = declare.over_robots("products", title, "times of the function", batches, "product")
    bars = []
    for found in declare.selected(batches, {}, "problem"):
        mine = [row for row in found if row["product"].endswith("_vjp")]
        places = [float(plot.ticks.index(row["robot"])) for row in mine]
        name = f"{mine[0]['problem']}_derivatives"
        bars.append(Curve(name, places, [row["matrices"].median for row in mine], dashed=True))
    yield replace(plot, curves=[*plot.curves, *bars])


EXPERIMENT = declare.experiment(
    "products",
    "Products with first derivatives",
    "in calls of their own functions",
    subjects,
    measure,
    effort=efforts((101, 9), (1e-3, 1e-3)),
    tables=layouts(
        [
            *("robot", "product", "function", ("product", "microseconds")),
            *(ratio(), at_most(MOST), "matrices"),
        ],
        left=2,
    ),
    claims=limits("function"),
    plots=plots,
)
