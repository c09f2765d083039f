"""[IDSVA], figures 2, 3 and 4: partial derivatives of inverse dynamics over the number of bodies.

IDSVA as the core has it, in ground coordinates, against RNEACR and against itself in body
coordinates: chains and trees of revolute joints, one state after the other and in lanes, by every
compiler. Without the mass matrix, which the paper's contenders do not give either.
"""

from __future__ import annotations

import math

from benchmarks.baselines.curves import (
    WAYS,
    Key,
    Operations,
    Times,
    curve,
    measure,
    medians,
    operations,
    operations_table,
    ratios,
    rows,
    slope,
    told,
)
from benchmarks.baselines.library import INVERSE, Way, compiled, exact
from benchmarks.experiment import Claim, Curve, Experiment, Findings, Plot, Table, Watch
from benchmarks.harness import Effort

# Not powers of two: rows of matrices would fall on the same lines of the caches.
SIZES = (4, 8, 15, 30, 60, 125, 250, 500)
BRANCHINGS = (1, 2, 5)
LABELS = {
    "idsva": "IDSVA, ground coordinates",
    "idsva_body": "IDSVA, body coordinates",
    "rneacr": "RNEACR",
}
FEW = 60  # bodies up to which arithmetic decides, in lanes too, and not moving the matrices
WORDS = {"alone": "one state after the other", "lanes": "in lanes"}


def run(quick: bool, watch: Watch) -> Findings:
    """Measure."""
    sizes, branchings = ((8, 30), (1, 2)) if quick else (SIZES, BRANCHINGS)
    watch.expect(len(sizes) * len(branchings) + 1, "compiling the baselines")
    libraries, notes = compiled(("g++",) if quick else ("g++", "clang++"))
    counting = exact()
    watch.step("baselines")
    effort = Effort(3, 0.002) if quick else Effort(9, 0.01)
    times = measure(libraries, INVERSE, sizes, branchings, effort, watch.step)
    counts = operations(counting, INVERSE, sizes, branchings)
    header = ["compiler", "branching", "bodies", *LABELS.values()]
    return Findings(
        tables=[
            Table(f"Partials of inverse dynamics, us a state, {WORDS[way]}", header, cells, left=1)
            for way in WAYS
            if (cells := rows(times, INVERSE, way))
        ]
        + [operations_table(counts, LABELS)],
        plots=[plot for way in WAYS for plot in plots(times, way)],
        claims=[claim for way in WAYS for claim in claims(times, way)] + growth(times, counts),
        notes=[
            *notes,
            *(f"{library.compiler}: {library.version}." for library in libraries),
            "The text of the paper at hand lacks its numbers of bodies and some of its factors; "
            "claims state what is legible.",
            "Results are complete matrices: of large trees nearly all is zeros, and times grow as "
            "what writing those takes, N^2.",
            "The paper's figures 4 and 5 compare with Pinocchio 2.6. Its later versions have IDSVA "
            "themselves: the experiment of first derivatives compares with these.",
        ],
        data=medians(times) | {"operations": counts},
    )


def plots(times: Times, way: Way) -> list[Plot]:
    """The paper's figures 2 and 3, for chains, and 4, for trees."""
    keys = [key for key in times if key.way == way]
    chains = [key for key in keys if key.branching == 1]
    first = keys[0].compiler

    def of(functions: tuple[str, ...], keys: list[Key], branching: bool) -> list[Curve]:
        return [
            curve(
                times,
                key,
                f,
                f"{LABELS[f]}, {f'branching {key.branching}' if branching else key.compiler}",
                f != "idsva" if branching else key.compiler != first,
            )
            for f in functions
            for key in keys
        ]

    axes = ("bodies", "us a state")
    both = ("idsva", "rneacr")
    trees = [key for key in keys if key.compiler == first]
    title = WORDS[way]
    return [
        Plot(
            f"paper_004_figure_2_{way}",
            f"IDSVA and RNEACR, {title}",
            *axes,
            of(both, chains, False),
        ),
        Plot(
            f"paper_004_figure_3_{way}",
            f"IDSVA in body and in ground coordinates, {title}",
            *axes,
            of(("idsva", "idsva_body"), chains, False),
        ),
        Plot(
            f"paper_004_figure_4_{way}", f"Trees, by {first}, {title}", *axes, of(both, trees, True)
        ),
    ]


def claims(times: Times, way: Way) -> list[Claim]:
    """What the paper says of chains."""
    found = []
    for key in times:
        if key.way != way:
            continue
        if key.branching == 1:
            chain = ratios(times, key, "rneacr", "idsva")
            found.append(
                Claim(
                    f"IDSVA is faster than RNEACR for chains (figure 2; {key})",
                    "more than 1x",
                    told(chain),
                    all(s.median > 1.0 for s in chain.values()),
                )
            )
            body = ratios(times, key, "idsva_body", "idsva")
            few = {n: s for n, s in body.items() if n <= FEW}
            found.append(
                Claim(
                    f"ground coordinates are faster than body coordinates (figure 3; {key})",
                    f"1.3x to 1.9x, by Fortran; decided up to {FEW} bodies",
                    told(body),
                    all(s.median >= 1.3 for s in few.values()),
                )
            )
    return found


def growth(times: Times, counts: Operations) -> list[Claim]:
    """O(N d): exponents of the number of bodies, of operations and of times, chains and trees."""
    found = []
    for branching, by_size in counts.items():
        (few, less), (many, more) = list(by_size.items())[-2:]
        exact = {f: math.log(more[f] / less[f]) / math.log(many / few) for f in INVERSE}
        key = next(key for key in times if key.branching == branching)
        timed = {f: slope(times, key, f, few) for f in INVERSE}
        right = exact["idsva"] > 1.7 if branching == 1 else exact["idsva"] < 1.3
        found.append(
            Claim(
                f"O(N d): exponents of the number of bodies, branching {branching}",
                "2 for a chain" if branching == 1 else "little more than 1",
                f"operations, from {few} to {many}: "
                + ", ".join(f"{LABELS[f]} {x:.2f}" for f, x in exact.items())
                + f"; times, {few} and more ({key}): "
                + ", ".join(f"{LABELS[f]} {x:.2f}" for f, x in timed.items()),
                right if many > 100 else None,
            )
        )
    return found


EXPERIMENT = Experiment(
    "paper_004_inverse",
    "Partial derivatives of inverse dynamics: IDSVA, RNEACR, body coordinates",
    "[IDSVA] figures 2, 3, 4",
    run,
)
