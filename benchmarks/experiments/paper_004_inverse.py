"""[IDSVA], figures 2, 3 and 4: partial derivatives of inverse dynamics over the number of bodies.

    python -m benchmarks paper_004_inverse

IDSVA as the core has it, in ground coordinates, against RNEACR and against itself in body
coordinates: chains and trees of revolute joints, one state after the other and in lanes, by every
compiler. Without the mass matrix, which the paper's contenders do not give either.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.baselines import curves
from benchmarks.baselines.curves import AXES, WAYS, WORDS, Key, Study, faster, line
from benchmarks.baselines.library import INVERSE, Way
from benchmarks.experiment import Claim, Curve, Experiment, Findings, Plot, Watch
from dtau.cli.timing import Effort

LABELS = {f: curves.LABELS[f] for f in INVERSE}
FEW = 60  # bodies up to which arithmetic decides, in lanes too, and not moving the matrices
LITTLE = "few bodies leave little to turn; the paper's range of N is not legible"
EFFORT = {False: Effort(9, 0.01), True: Effort(3, 0.002)}  # by quick


def run(quick: bool, watch: Watch) -> Findings:
    """Measure."""
    found = curves.study(tuple(LABELS), quick, EFFORT[quick], watch)
    tables = [curves.table("inverse", found.times, LABELS, way) for way in WAYS if found.keys(way)]
    return Findings(
        tables=[*tables, curves.operations_table(found.counts, LABELS)],
        plots=[plot for way in WAYS for plot in plots(found, way)],
        claims=[*(claim for way in WAYS for claim in claims(found, way)), *growth(found)],
        notes=[
            *found.notes,
            "The text of the paper at hand lacks its numbers of bodies and some of its factors; "
            "claims state what is legible.",
            "Results are complete matrices: of large trees nearly all is zeros, and times grow as "
            "what writing those takes, N^2.",
            "The paper's figures 4 and 5 compare with Pinocchio 2.6. Its later versions have IDSVA "
            "themselves: `paper_004_pinocchio` compares with these.",
        ],
        data=curves.medians(found.times) | {"operations": found.counts},
    )


def plots(found: Study, way: Way) -> list[Plot]:
    """The paper's figures 2 and 3, for chains, and 4, for trees."""
    keys = found.keys(way)
    chains = [key for key in keys if key.branching == 1]
    first = keys[0].compiler
    trees = [key for key in keys if key.compiler == first]

    def of(functions: tuple[str, ...], keys: list[Key]) -> list[Curve]:
        branching = keys is trees
        return [
            line(
                found.times,
                key,
                f,
                f"{LABELS[f]}, {f'branching {key.branching}' if branching else key.compiler}",
                f != "idsva" if branching else key.compiler != first,
            )
            for f in functions
            for key in keys
        ]

    title, both = WORDS[way], ("idsva", "rneacr")
    ground = f"IDSVA in body and in ground coordinates, {title}"
    name = "paper_004_figure"
    return [
        Plot(f"{name}_2_{way}", f"IDSVA and RNEACR, {title}", *AXES, of(both, chains)),
        Plot(f"{name}_3_{way}", ground, *AXES, of(("idsva", "idsva_body"), chains)),
        Plot(f"{name}_4_{way}", f"Trees, by {first}, {title}", *AXES, of(both, trees)),
    ]


def claims(found: Study, way: Way) -> Iterator[Claim]:
    """What the paper says of chains, and of trees."""
    for key in found.keys(way):
        if key.branching > 1:
            text = f"IDSVA is faster than the chain rule, RNEACR, for trees (figure 4; {key})"
            yield faster(found.times, key, "idsva", "rneacr", text)
            continue
        text = f"IDSVA is faster than RNEACR for chains (figure 2; {key})"
        yield faster(found.times, key, "idsva", "rneacr", text)
        body = curves.ratios(found.times, key, "idsva_body", "idsva")
        holds = all(s.median >= 1.3 for n, s in body.items() if n <= FEW)
        yield Claim(
            f"ground coordinates are faster than body coordinates (figure 3; {key})",
            f"1.3x to 1.9x, by Fortran; decided up to {FEW} bodies",
            curves.told(body),
            holds,
            "" if holds else LITTLE,
        )


def growth(found: Study) -> Iterator[Claim]:
    """O(N d): exponents of the number of bodies, of operations and of times, chains and trees."""
    for branching in found.counts:
        exact, words = curves.powers(found, branching, LABELS)
        asked = "2 for a chain" if branching == 1 else "little more than 1"
        held = None
        if exact:
            held = exact["idsva"] > 1.7 if branching == 1 else exact["idsva"] < 1.3
        text = f"O(N d): exponents of the number of bodies, branching {branching}"
        yield Claim(text, asked, words, held)


EXPERIMENT = Experiment(
    "paper_004_inverse",
    "Partial derivatives of inverse dynamics: IDSVA, RNEACR, body coordinates",
    "[IDSVA] figures 2, 3, 4",
    run,
)
