"""[IDSVA], figures 2, 6, 7 and table III: partial derivatives of forward dynamics over the bodies.

FDSVA with the three ways to eq. 5 (LTDL, which the core has; DMM; AZA), FDCR with the paper's two,
and ABACR: chains and trees of revolute joints, one state after the other and in lanes, by every
compiler. All give da/dtau too. For the crossover of DMM and AZA the baselines are also compiled
without AVX.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from benchmarks.baselines.curves import (
    WAYS,
    Key,
    Operations,
    Times,
    crossover,
    curve,
    measure,
    medians,
    operations,
    operations_table,
    ratios,
    rows,
    said,
    slope,
    told,
)
from benchmarks.baselines.library import (
    FORWARD,
    WITHOUT_AVX,
    Way,
    compiled,
    exact,
)
from benchmarks.experiment import Claim, Experiment, Findings, Plot, Table, Watch
from benchmarks.harness import Effort

# Not powers of two: rows of matrices would fall on the same lines of the caches.
SIZES = (4, 8, 15, 30, 60, 125, 250, 500)
BRANCHINGS = (1, 2, 5)
LABELS = {
    "fdsva_ltdl": "FDSVA, LTDL",
    "fdsva_aza": "FDSVA, AZA",
    "fdsva_dmm": "FDSVA, DMM",
    "fdcr_aza": "FDCR, AZA",
    "fdcr_dmm": "FDCR, DMM",
    "abacr": "ABACR",
}
WORDS = {"alone": "one state after the other", "lanes": "in lanes"}
# Table III: compiler, whether with AVX, bodies from which AZA is the faster one
PAPER = {("g++", False): 50, ("g++", True): 450, ("clang++", False): 80, ("clang++", True): 350}
FEW = 60  # bodies of a large robot
SOLVED = ("fdsva_dmm", "fdsva_aza", "fdsva_ltdl")


def run(quick: bool, watch: Watch) -> Findings:
    """Measure."""
    sizes, branchings = ((8, 30), (1, 2)) if quick else (SIZES, BRANCHINGS)
    steps = len(sizes) * len(branchings) + 1
    watch.expect(steps if quick else steps + len(sizes) + 1, "compiling the baselines")
    libraries, notes = compiled(("g++",) if quick else ("g++", "clang++"))
    counting = exact()
    watch.step("baselines")
    effort = Effort(3, 0.002) if quick else Effort(7, 0.008)
    times = measure(libraries, FORWARD, sizes, branchings, effort, watch.step)
    counts = operations(counting, FORWARD, sizes, branchings)
    without: Times = {}
    if not quick:
        watch.step("compiling the baselines without AVX")
        older, _ = compiled(flags=WITHOUT_AVX)
        without = measure(older, SOLVED, sizes, (1,), effort, watch.step, ("alone",))
    header = ["compiler", "branching", "bodies", *LABELS.values()]
    return Findings(
        tables=[
            *(
                Table(
                    f"Partials of forward dynamics, us a state, {WORDS[way]}",
                    header,
                    rows(times, FORWARD, way),
                )
                for way in WAYS
            ),
            crossovers(times, without, sizes),
            operations_table(counts, LABELS),
        ],
        plots=[plot for way in WAYS for plot in plots(times, way)],
        claims=[*claims(times), growth(times, counts)],
        notes=[
            *notes,
            *(f"{library.compiler}: {library.version}." for library in libraries),
            "AZA, DMM and the inverse of M run in ground coordinates and in blocks of columns; the "
            "paper's run in body coordinates, column by column.",
            "The crossover depends on how well the product of matrices is written: the paper's is "
            "Eigen's, this one is blocked in registers and leaves out zeros of branches.",
        ],
        data=medians(times)
        | {"operations": counts}
        | {f"{key}, no AVX": x for key, x in medians(without).items()},
    )


def crossovers(times: Times, without: Times, sizes: tuple[int, ...]) -> Table:
    """Table III, with the core's own way beside it."""
    cells = []
    for avx, found in ((True, times), (False, without)):
        for key in found:
            paper = PAPER.get((key.compiler.split("-")[0], avx))
            cells.append(
                [
                    str(key),
                    "on" if avx else "off",
                    str(paper) if key.branching == 1 and key.way == "alone" else "",
                    said(crossover(found, key, "fdsva_dmm", "fdsva_aza"), sizes),
                    said(crossover(found, key, "fdsva_ltdl", "fdsva_aza"), sizes),
                    said(crossover(found, key, "fdsva_ltdl", "fdsva_dmm"), sizes),
                ]
            )
    header = ["", "AVX", "paper: AZA", "AZA before DMM", "AZA before LTDL", "DMM before LTDL"]
    return Table("Bodies from which one way to eq. 5 is faster than another", header, cells)


def plots(times: Times, way: Way) -> list[Plot]:
    """The paper's figures 2 and 7, for chains, and 6, for trees."""
    keys = [key for key in times if key.way == way]
    first, axes, title = keys[0].compiler, ("bodies", "us a state"), WORDS[way]
    chains = [key for key in keys if key.branching == 1]
    trees = [key for key in keys if key.compiler == first]
    names = ("fdsva_ltdl", "fdsva_aza", "fdcr_aza", "abacr")
    return [
        Plot(
            f"paper_004_figure_2_forward_{way}",
            f"FDSVA, FDCR and ABACR, chains, by {first}, {title}",
            *axes,
            [curve(times, chains[0], f, LABELS[f]) for f in names],
        ),
        Plot(
            f"paper_004_figure_6_{way}",
            f"FDSVA and FDCR, trees, by {first}, {title}",
            *axes,
            [
                curve(times, key, f, f"{LABELS[f]}, branching {key.branching}", f == "fdcr_aza")
                for f in ("fdsva_ltdl", "fdcr_aza")
                for key in trees
            ],
        ),
        Plot(
            f"paper_004_figure_7_{way}",
            f"Ways to eq. 5, chains, {title}",
            *axes,
            [
                curve(times, key, f, f"{LABELS[f]}, {key.compiler}", key.compiler != first)
                for f in SOLVED
                for key in chains
            ],
        ),
    ]


def claims(times: Times) -> Iterator[Claim]:
    """What the paper says of chains, and of growth with the number of bodies."""
    for key in times:
        if key.branching == 1:
            yield from chain_claims(times, key)
    for key in times:
        found = ratios(times, key, "fdsva_aza", "fdsva_ltdl")
        yield Claim(
            f"the core's way, LTDL, is at least level with AZA ({key})",
            f"at least 1x up to {FEW} bodies; this package's choice, not the paper's claim",
            f"AZA by LTDL: {told(found)}",
            all(s.median >= 1.0 for n, s in found.items() if n <= FEW),
        )


def chain_claims(times: Times, key: Key) -> Iterator[Claim]:
    """FDSVA, FDCR and ABACR; DMM and AZA."""
    for solve in ("aza", "dmm"):
        found = ratios(times, key, f"fdcr_{solve}", f"fdsva_{solve}")
        yield Claim(
            f"FDSVA is faster than FDCR for all N, both with {solve.upper()} (figure 2; {key})",
            "more than 1x",
            told(found),
            all(s.median > 1.0 for s in found.values()),
        )
    found = ratios(times, key, "abacr", "fdcr_aza")
    yield Claim(
        f"the chain rule costs more on the articulated-body algorithm: ABACR by FDCR ({key})",
        "more than 1x",
        told(found),
        all(s.median > 1.0 for s in found.values()),
    )
    found = ratios(times, key, "fdsva_dmm", "fdsva_aza")
    if len(found) < 4:
        return
    avx = PAPER[key.compiler.split("-")[0], True]
    bodies = crossover(times, key, "fdsva_dmm", "fdsva_aza")
    yield Claim(
        f"AZA is faster than DMM for long chains (figure 7, table III; {key})",
        f"from {avx} bodies with AVX",
        f"from {said(bodies, tuple(found))}; DMM by AZA: {told(found)}",
        bodies <= max(found),
    )


def growth(times: Times, counts: Operations) -> Claim:
    """Exponents of the number of bodies for chains: of operations, and of times."""
    (few, less), (many, more) = list(counts[1].items())[-2:]
    exact = {f: math.log(more[f] / less[f]) / math.log(many / few) for f in SOLVED}
    key = next(iter(times))
    timed = {f: slope(times, key, f, few) for f in SOLVED}
    return Claim(
        "AZA keeps O(N^2) for a chain where DMM is O(N^3): exponents of the number of bodies",
        "AZA 2, DMM 3",
        f"operations, from {few} to {many}: "
        + ", ".join(f"{LABELS[f]} {x:.2f}" for f, x in exact.items())
        + f"; times, {few} and more ({key}): "
        + ", ".join(f"{LABELS[f]} {x:.2f}" for f, x in timed.items()),
        exact["fdsva_aza"] < 2.25 and exact["fdsva_dmm"] > 2.5 if many > 100 else None,
    )


EXPERIMENT = Experiment(
    "paper_004_forward",
    "Partial derivatives of forward dynamics: FDSVA by LTDL, AZA and DMM, FDCR, ABACR",
    "[IDSVA] figures 2, 6, 7, table III",
    run,
)
