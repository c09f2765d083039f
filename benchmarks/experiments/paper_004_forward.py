"""[IDSVA], figures 2, 6, 7 and table III: partial derivatives of forward dynamics over the bodies.

    python -m benchmarks paper_004_forward

FDSVA with the three ways to eq. 5 (LTDL, which the core has; DMM; AZA), FDCR with the paper's two,
and ABACR: chains and trees of revolute joints, one state after the other and in lanes, by every
compiler. All give da/dtau too. M^-1 alone is timed by LTDL and by AZA. For the crossover of DMM and
AZA the baselines are also compiled without AVX.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.baselines import curves
from benchmarks.baselines.curves import AXES, SIZES, WAYS, WORDS, Key, Study, Times, faster, line
from benchmarks.baselines.library import FORWARD, INVERTED, WITHOUT_AVX, Way, compiled
from benchmarks.experiment import Claim, Experiment, Findings, Plot, Table, Watch
from dtau.cli.timing import Effort

LABELS = {f: curves.LABELS[f] for f in FORWARD + INVERTED}
# Table III: compiler, whether with AVX, bodies from which AZA is the faster one
PAPER = {("g++", False): 50, ("g++", True): 450, ("clang++", False): 80, ("clang++", True): 350}
ALIKE = 1.5  # a factor between numbers of bodies that are called the same
EARLIER = "AZA runs in ground coordinates here, in blocks of columns; the paper's column by column"
LATER = "the product of matrices is blocked in registers here, and stays level longer"
FEW = 60  # bodies of a large robot
SOLVED = ("fdsva_dmm", "fdsva_aza", "fdsva_ltdl")
CHOICES = {"": ("fdsva_ltdl", "fdsva_aza"), ", M^-1": ("inverse_ltdl", "inverse_aza")}
EFFORT = {False: Effort(7, 0.008), True: Effort(3, 0.002)}  # by quick


def run(quick: bool, watch: Watch) -> Findings:
    """Measure."""
    found = curves.study(tuple(LABELS), quick, EFFORT[quick], watch)
    times, sizes, without = found.times, SIZES[quick], Times()
    if not quick:
        watch.expect(len(sizes) + 1, "compiling the baselines without AVX")
        older, _ = compiled(flags=WITHOUT_AVX)
        watch.step("baselines without AVX")
        without = curves.measure(
            older, SOLVED + INVERTED, sizes, (1,), EFFORT[quick], watch.step, ("alone",)
        )
    return Findings(
        tables=[
            *(curves.table("forward", times, LABELS, way) for way in WAYS),
            crossovers(times, without, sizes),
            curves.operations_table(found.counts, LABELS),
        ],
        plots=[plot for way in WAYS for plot in plots(found, way)],
        claims=[*claims(times), *table_3(times, without), growth(found)],
        notes=[
            *found.notes,
            "AZA, DMM and the inverse of M run in ground coordinates and in blocks of columns; the "
            "paper's run in body coordinates, column by column.",
            "The crossover depends on how well the product of matrices is written: the paper's is "
            "Eigen's, this one is blocked in registers and leaves out zeros of branches.",
        ],
        data=curves.medians(times)
        | {"operations": found.counts}
        | {f"{key}, no AVX": x for key, x in curves.medians(without).items()},
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
                    _switched(avx),
                    str(paper) if key.branching == 1 and key.way == "alone" else "",
                    *(
                        curves.said(curves.crossover(found, key, small, large), sizes)
                        for small, large in (
                            ("fdsva_dmm", "fdsva_aza"),
                            ("fdsva_ltdl", "fdsva_aza"),
                            ("fdsva_ltdl", "fdsva_dmm"),
                            INVERTED,
                        )
                    ),
                ]
            )
    header = ["", "AVX", "paper: AZA", "AZA before DMM", "AZA before LTDL", "DMM before LTDL"]
    header.append("M^-1: AZA before LTDL")
    return Table("Bodies from which one way to eq. 5 is faster than another", header, cells)


def _switched(avx: bool) -> str:
    return "on" if avx else "off"


def plots(study: Study, way: Way) -> list[Plot]:
    """The paper's figures 2 and 7, for chains, and 6, for trees."""
    times, keys = study.times, study.keys(way)
    first, title = keys[0].compiler, WORDS[way]
    chains = [key for key in keys if key.branching == 1]
    trees = [key for key in keys if key.compiler == first]
    names = ("fdsva_ltdl", "fdsva_aza", "fdcr_aza", "abacr")
    return [
        Plot(
            f"paper_004_figure_2_forward_{way}",
            f"FDSVA, FDCR and ABACR, chains, by {first}, {title}",
            *AXES,
            [line(times, chains[0], f, LABELS[f]) for f in names],
        ),
        Plot(
            f"paper_004_figure_6_{way}",
            f"FDSVA and FDCR, trees, by {first}, {title}",
            *AXES,
            [
                line(times, key, f, f"{LABELS[f]}, branching {key.branching}", f == "fdcr_aza")
                for f in ("fdsva_ltdl", "fdcr_aza")
                for key in trees
            ],
        ),
        Plot(
            f"paper_004_figure_7_{way}",
            f"Ways to eq. 5, chains, {title}",
            *AXES,
            [
                line(times, key, f, f"{LABELS[f]}, {key.compiler}", key.compiler != first)
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
        for what, (ltdl, aza) in CHOICES.items():
            found = curves.ratios(times, key, aza, ltdl)
            yield Claim(
                f"the core's way, LTDL, is at least level with AZA ({key}{what})",
                f"at least 1x up to {FEW} bodies; this package's choice, not the paper's claim",
                f"AZA by LTDL: {curves.told(found)}",
                all(s.median >= 1.0 for n, s in found.items() if n <= FEW),
            )


def chain_claims(times: Times, key: Key) -> Iterator[Claim]:
    """FDSVA, FDCR and ABACR; DMM and AZA."""
    for solve in ("aza", "dmm"):
        way = f"both with {solve.upper()} (figure 2; {key})"
        text = f"FDSVA is faster than FDCR for all N, {way}"
        yield faster(times, key, f"fdsva_{solve}", f"fdcr_{solve}", text)
    text = f"the chain rule costs more on the articulated-body algorithm: ABACR by FDCR ({key})"
    yield faster(times, key, "fdcr_aza", "abacr", text)
    found = curves.ratios(times, key, "fdsva_dmm", "fdsva_aza")
    if len(found) < 4:
        return
    bodies = curves.crossover(times, key, "fdsva_dmm", "fdsva_aza")
    yield Claim(
        f"AZA is faster than DMM for long chains (figure 7; {key})",
        "from some number of bodies on",
        f"from {curves.said(bodies, tuple(found))}; DMM by AZA: {curves.told(found)}",
        bodies <= max(found),
    )


def table_3(times: Times, without: Times) -> Iterator[Claim]:
    """The numbers of bodies of table III, one state after the other."""
    for avx, found in ((True, times), (False, without)):
        for key, by_size in found.items():
            paper = PAPER.get((key.compiler.split("-")[0], avx))
            if key.branching > 1 or key.way != "alone" or paper is None:
                continue
            text = f"AZA overtakes DMM at the bodies of table III ({key}, AVX {_switched(avx)})"
            asked = f"{paper}, within a factor of {ALIKE:g}"
            if len(by_size) < 4:
                yield Claim(text, asked, "these chains are too short to tell", None)
                continue
            bodies = curves.crossover(found, key, "fdsva_dmm", "fdsva_aza")
            same = paper / ALIKE <= bodies <= paper * ALIKE
            why = EARLIER if bodies < paper else LATER
            measured = curves.said(bodies, tuple(by_size))
            yield Claim(text, asked, measured, same, "" if same else why)


def growth(study: Study) -> Claim:
    """Exponents of the number of bodies for chains: of operations, and of times."""
    exact, words = curves.powers(study, 1, {f: LABELS[f] for f in SOLVED})
    return Claim(
        "AZA keeps O(N^2) for a chain where DMM is O(N^3): exponents of the number of bodies",
        "AZA 2, DMM 3",
        words,
        exact["fdsva_aza"] < 2.25 and exact["fdsva_dmm"] > 2.5 if exact else None,
    )


EXPERIMENT = Experiment(
    "paper_004_forward",
    "Partial derivatives of forward dynamics: FDSVA by LTDL, AZA and DMM, FDCR, ABACR",
    "[IDSVA] figures 2, 6, 7, table III",
    run,
)
