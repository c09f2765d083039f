"""[IDSVA], section V-A: errors of analytic derivatives against complex step over the dofs.

    python -m benchmarks paper_004_accuracy

For chains of revolute joints, against complex step of the package's articulated-body and
Newton-Euler algorithms: the root mean square of the relative errors of all elements, as in the
paper, and the largest error by the largest element. The median of several states; slopes are those
of the logarithms.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np

import dtau
from benchmarks import declare
from benchmarks.baselines import curves
from benchmarks.baselines.curves import check, states
from benchmarks.baselines.library import FORWARD, INVERSE, Library, Tree, compiled, of_scalars
from benchmarks.checks import Array
from benchmarks.declare import Bench, Row
from benchmarks.experiment import Claim, Curve, Plot, Table
from benchmarks.harness import exponent

SIZES = (2, 4, 8, 15, 30, 60, 125, 250)
STEP = 1e-30
LABELS = {f: curves.LABELS[f] for f in INVERSE + FORWARD} | {"idsva": "IDSVA"}
MEASURES = {
    "rms": "root mean square over the elements of relative errors",
    "largest": "largest by the largest element",
}


@cache
def libraries() -> tuple[Library, Library]:
    """The baselines, of floating-point and of complex numbers."""
    return compiled(("g++",))[0][0], of_scalars("Complex")


def condition(model: dtau.Model, q: Array) -> float:
    """Of the mass matrix, at the median state."""
    return float(np.median(np.linalg.cond(dtau.mass_matrix(model, q))))


def measure(bench: Bench, bodies: int) -> Iterator[Row]:
    """Errors of a chain by function: root mean squares, and the largest ones."""
    model, count = dtau.robots.chain(bodies), 3 if bench.quick else 8
    given = states(model, count)
    row: Row = {"bodies": bodies, "condition": condition(model, given["q"])}
    row |= {"rms": {}, "largest": {}}
    fast, steps = (library.tree(model) for library in libraries())
    for functions, value, third in (
        (INVERSE, "inverse_dynamics", "a"),
        (FORWARD, "forward_dynamics", "tau"),
    ):
        arrays = given["q"], given["v"], given[third]
        want = [complex_step(steps, value, *(x[k] for x in arrays)) for k in range(count)]
        for f in functions:
            got = fast(f, *arrays)
            check(f, model, given, got, f"{f}, {bodies} bodies")
            pairs = [(np.stack([m[k] for m in got[:2]]), want[k]) for k in range(count)]
            row["rms"][f] = float(np.median([rms(*pair) for pair in pairs]))
            row["largest"][f] = float(np.median([worst(*pair) for pair in pairs]))
    yield row


def complex_step(tree: Tree, function: str, *state: Array) -> Array:
    """Derivatives by q and by v at one state of revolute joints: (2, nv, nv)."""
    n = tree.model.nv
    found = []
    for variable in range(2):
        arrays = [np.tile(x.astype(complex), (n, 1)) for x in state]
        arrays[variable] = arrays[variable] + 1j * STEP * np.eye(n)
        (values,) = tree(function, *arrays, way="alone")
        found.append(values.imag.T / STEP)
    return np.stack(found)


def rms(got: Array, want: Array) -> float:
    """Root mean square of the relative errors, but of elements that vanish to rounding."""
    there = np.abs(want) > 1e-13 * np.abs(want).max()
    relative = (got[there] - want[there]) / want[there]
    return float(np.sqrt(np.mean(relative**2)))


def worst(got: Array, want: Array) -> float:
    """The largest error, by the largest element of the matrix that it is in."""
    error, size = (np.abs(x).max(axis=(1, 2)) for x in (got - want, want))
    return float(np.max(error / size))


def tables(rows: list[Row]) -> Iterator[Table]:
    """Errors by degrees of freedom, and their slopes."""
    sizes, conditions = ([row[x] for row in rows] for x in ("bodies", "condition"))
    for measure, what in MEASURES.items():
        found = [errors(rows, f, measure) for f in LABELS]
        cells = [
            [str(n), f"{conditions[i]:.0e}", *(f"{x[i]:.1e}" for x in found)]
            for i, n in enumerate(sizes)
        ]
        cells.append(["slope", *(f"{exponent(sizes, x):.1f}" for x in (conditions, *found))])
        header = ["dofs", "condition of M", *LABELS.values()]
        yield Table(f"Errors against complex step, {what}", header, cells)


def errors(rows: list[Row], function: str, measure: str = "rms") -> list[float]:
    return [row[measure][function] for row in rows]


def plots(rows: list[Row]) -> Iterator[Plot]:
    sizes = [row["bodies"] for row in rows]
    for name, what, measure in (
        ("paper_004_accuracy", "root mean square over the elements", "rms"),
        ("paper_004_accuracy_largest", "the largest", "largest"),
    ):
        title = f"Errors of analytic derivatives against complex step, chains: {what}"
        lines = [
            Curve(LABELS[f], sizes, errors(rows, f, measure), dashed=f in INVERSE) for f in LABELS
        ]
        yield Plot(name, title, "degrees of freedom", "relative error", lines)


def claims(rows: list[Row]) -> Iterator[Claim]:
    sizes = [row["bodies"] for row in rows]
    straight = {f: correlation(sizes, errors(rows, f)) for f in FORWARD}
    lines = (
        f"{LABELS[f]} {exponent(sizes, errors(rows, f)):.1f} (r {r:.2f})"
        for f, r in straight.items()
    )
    last, largest = rows[-1]["rms"], rows[-1]["largest"]
    at = f"at {sizes[-1]} degrees of freedom"
    yield Claim(
        "errors of forward derivatives grow linearly with the dofs on a log-log scale",
        "a straight line; its slope is not legible",
        "slopes: " + ", ".join(lines),
        all(r > 0.9 for r in straight.values()),
    )
    yield Claim(
        f"FDSVA and FDCR, both with DMM, err alike {at}",
        "alike: by at most a factor of 3",
        f"FDSVA {last['fdsva_dmm']:.1e}, FDCR {last['fdcr_dmm']:.1e}",
        1.0 / 3.0 < last["fdsva_dmm"] / last["fdcr_dmm"] < 3.0,
    )
    yield Claim(
        f"ABACR errs less than these {at}",
        "two numbers, not legible",
        f"ABACR {last['abacr']:.1e}",
        last["abacr"] < min(last["fdsva_dmm"], last["fdcr_dmm"]),
    )
    yield Claim(
        f"the core's way, LTDL, errs as little as AZA {at}",
        "at most 3x; this package's choice, not the paper's claim",
        f"{last['fdsva_ltdl'] / last['fdsva_aza']:.1f}x; by the largest element "
        f"{largest['fdsva_ltdl'] / largest['fdsva_aza']:.1f}x",
        last["fdsva_ltdl"] < 3.0 * last["fdsva_aza"],
    )


def correlation(sizes: list[int], values: list[float]) -> float:
    """How straight the line of the logarithms is."""
    return float(np.corrcoef(np.log(sizes), np.log(values))[0, 1])


EXPERIMENT = declare.experiment(
    "paper_004_accuracy",
    "Errors of analytic derivatives against complex step over the degrees of freedom",
    "[IDSVA] section V-A",
    lambda bench: (2, 8, 30) if bench.quick else SIZES,
    measure,
    tables=[tables],
    plots=plots,
    claims=[claims],
    notes=[
        "Complex step has the rounding errors of the algorithm that it is applied to; ABACR is "
        "the derivative of that same algorithm.",
        "What solves with the mass matrix as such loses digits with its condition, in small "
        "elements most of all; the articulated-body recursion loses fewer.",
    ],
)
