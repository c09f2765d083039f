"""[IDSVA], section V-A: errors of analytic derivatives against complex step over the dofs.

For chains of revolute joints: the root mean square of the relative errors of all elements, against
complex step of the package's articulated-body and Newton-Euler algorithms. The median of several
states; the slope is that of the errors over the degrees of freedom, both in logarithms.
"""

from __future__ import annotations

import numpy as np

import dtau
from benchmarks.baselines.curves import Array, check, states
from benchmarks.baselines.library import FORWARD, INVERSE, Tree, UnavailableError, compiled, exact
from benchmarks.experiment import Claim, Curve, Experiment, Findings, Plot, Table, Watch

SIZES = (2, 4, 8, 16, 32, 64, 128, 256)
STEP = 1e-30
LABELS = {
    "idsva": "IDSVA",
    "idsva_body": "IDSVA, body coordinates",
    "rneacr": "RNEACR",
    "fdsva_ltdl": "FDSVA, LTDL",
    "fdsva_aza": "FDSVA, AZA",
    "fdsva_dmm": "FDSVA, DMM",
    "fdcr_aza": "FDCR, AZA",
    "fdcr_dmm": "FDCR, DMM",
    "abacr": "ABACR",
}


def run(quick: bool, watch: Watch) -> Findings:
    """Compare."""
    sizes, count = ((2, 8, 32), 3) if quick else (SIZES, 8)
    watch.expect(len(sizes) + 1, "compiling the baselines")
    try:
        libraries, _ = compiled(("g++",))
        complex_numbers = exact()
    except UnavailableError as reason:
        return Findings(notes=[f"The baselines are left out: {reason}"])
    watch.step("baselines")
    errors: dict[str, list[float]] = {f: [] for f in LABELS}
    conditions = []
    for bodies in sizes:
        model = dtau.robots.chain(bodies)
        given = states(model, count)
        matrices = dtau.mass_matrix(model, given["q"])
        conditions.append(float(np.median(np.linalg.cond(matrices))))
        fast, steps = libraries[0].tree(model), complex_numbers.tree(model)
        for functions, value, third in (
            (INVERSE, "inverse_dynamics", "a"),
            (FORWARD, "forward_dynamics", "tau"),
        ):
            arrays = given["q"], given["v"], given[third]
            want = [complex_step(steps, value, *(x[k] for x in arrays)) for k in range(count)]
            for f in functions:
                got = fast(f, *arrays)
                check(f, model, given, got, f"{f}, {bodies} bodies")
                found = [rms(np.stack([m[k] for m in got[:2]]), want[k]) for k in range(count)]
                errors[f].append(float(np.median(found)))
        watch.step(f"{bodies} dofs")
    return findings(sizes, errors, conditions)


def complex_step(tree: Tree, function: str, *state: Array) -> Array:
    """Derivatives by q and by v at one state of revolute joints: (2, nv, nv)."""
    n = tree.model.nv
    found = []
    for variable in range(2):
        arrays = [np.tile(x.astype(complex), (n, 1)) for x in state]
        arrays[variable] = arrays[variable] + 1j * STEP * np.eye(n)
        (values,) = tree(function, *arrays, way="complex")  # type: ignore[arg-type]
        found.append(values.imag.T / STEP)
    return np.stack(found)


def rms(got: Array, want: Array) -> float:
    """Root mean square of the relative errors of the elements that are not zero."""
    there = want != 0.0
    relative = (got[there] - want[there]) / want[there]
    return float(np.sqrt(np.mean(relative**2)))


def findings(
    sizes: tuple[int, ...], errors: dict[str, list[float]], conditions: list[float]
) -> Findings:
    """Table, curves, and slopes."""
    slopes = {f: fit(sizes, x) for f, x in errors.items()}
    cells = [
        [str(n), f"{conditions[i]:.0e}", *(f"{errors[f][i]:.1e}" for f in LABELS)]
        for i, n in enumerate(sizes)
    ]
    cells.append(["slope", f"{fit(sizes, conditions):.1f}", *(f"{x:.1f}" for x in slopes.values())])
    last = {f: x[-1] for f, x in errors.items()}
    largest = max(last["fdsva_ltdl"], last["fdcr_aza"])
    smallest = min(last["fdsva_ltdl"], last["fdcr_aza"])
    straight = {f: correlation(sizes, x) for f, x in errors.items() if f in FORWARD}
    return Findings(
        tables=[
            Table(
                "Relative errors against complex step, root mean square over the elements",
                ["dofs", "condition of M", *LABELS.values()],
                cells,
            )
        ],
        plots=[
            Plot(
                "paper_004_accuracy",
                "Errors of analytic derivatives against complex step, chains",
                "degrees of freedom",
                "relative error, root mean square",
                [Curve(LABELS[f], sizes, x, dashed=f in INVERSE) for f, x in errors.items()],
            )
        ],
        claims=[
            Claim(
                "errors grow linearly with the degrees of freedom on a log-log scale",
                "a straight line; its slope is not legible",
                ", ".join(
                    f"{LABELS[f]}: slope {slopes[f]:.1f}, r {r:.2f}" for f, r in straight.items()
                ),
                all(r > 0.9 for r in straight.values()),
            ),
            Claim(
                f"FDSVA and FDCR err alike, at {sizes[-1]} degrees of freedom",
                "alike",
                f"FDSVA {last['fdsva_ltdl']:.1e}, FDCR {last['fdcr_aza']:.1e}",
                largest < 3.0 * smallest,
            ),
            Claim(
                f"ABACR errs otherwise than these, at {sizes[-1]} degrees of freedom",
                "two numbers, not legible",
                f"ABACR {last['abacr']:.1e}",
                None,
            ),
        ],
        notes=[
            "Complex step has rounding errors of its own, of the algorithm that it is applied to: "
            "those of forward dynamics grow with the condition of M, as all errors here do.",
        ],
        data={"sizes": sizes, "errors": errors, "slopes": slopes, "conditions": conditions},
    )


def fit(sizes: tuple[int, ...], values: list[float]) -> float:
    """The slope of the logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


def correlation(sizes: tuple[int, ...], values: list[float]) -> float:
    """How straight the line of the logarithms is."""
    return float(np.corrcoef(np.log(sizes), np.log(values))[0, 1])


EXPERIMENT = Experiment(
    "paper_004_accuracy",
    "Errors of analytic derivatives against complex step over the degrees of freedom",
    "[IDSVA] section V-A",
    run,
)
