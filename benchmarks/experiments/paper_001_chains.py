"""[IDSVA-SO] figure 3: second derivatives on chains of growing size, serial and branched.

    python -m benchmarks paper_001_chains

The package's tensors (dense, and packed: the entries that are not zero) in turns with

    complex step   of the same core's first derivatives, compiled on the spot: the paper's reference
    differences    central ones of the package's first derivatives, 4 N states in one batch
    first          the package's first derivatives themselves, alone

and with CasADi's automatic differentiation of first derivatives, in processes with a limit of time
and memory, from small chains on until it ends them:

    plain        by its virtual machine, as the paper has it
    eliminated   the same with common subexpressions eliminated
    compiled     that as C code, which the paper lacks, by the C compiler with -O3 (large
                 expressions: -O1)

The chains are `dtau.robots.chain` of revolute joints on a fixed base. CasADi computes what the
packed tensors hold. Every result is compared before it is timed.
"""

from __future__ import annotations

from collections.abc import Iterator
from time import thread_time

import numpy as np

from benchmarks import declare
from benchmarks.baselines.library import COMPLEX, of_scalars
from benchmarks.calls import fitting, operations
from benchmarks.checks import UnavailableError, require_close, require_packed
from benchmarks.complex_step import ComplexStep
from benchmarks.declare import Asked, Bench, Column, Layout, Row, efforts
from benchmarks.experiment import Claim, Curve, Plot
from benchmarks.experiments import second_contenders
from benchmarks.experiments.second_contenders import SECOND, Differences, chain, kind, tensors
from benchmarks.harness import exponent
from benchmarks.limits import Limit
from benchmarks.optional import optional
from benchmarks.peers.casadi_growth import COLUMNS, followed, ways_here
from benchmarks.robots import depth
from dtau.cli.timing import Call, Contender

BODIES = {False: (3, 5, 10, 15, 20, 30, 40, 70, 100), True: (2, 5)}  # by quick
BODIES_C = {False: (3, 10), True: (2,)}  # of CasADi's C code, which takes long to compile
BRANCHING = (1, 2)
WAYS = ("plain", "eliminated", "compiled")
LIMIT = {False: Limit(30.0, 4.0), True: Limit(5.0, 4.0)}
LIMIT_C = {False: Limit(60.0, 4.0), True: Limit(5.0, 4.0)}  # of compiled code
BATCH_BYTES = 2**28  # of the dense results of a batch, at most: 8 states of 100 bodies
BATCH = 64
LONE_STATES = 4
EXACT, DIFFERENCES = 1e-12, 1e-6  # of the largest element
SCATTER = 0.1  # of fitted exponents
FEW = 5  # bodies, of which [IDSVA-SO] claims nothing
ASKED = 1.5  # times faster than CasADi, of serial chains with more
CROSSOVER = 70  # bodies of branched chains, from which CasADi is faster in the paper
NO_CROSSOVER = (
    "dtau is compiled, and its pattern of a branched chain leaves out zeros, as CasADi's graph does"
)


PAPER = {1: "1.5 to 3x (the paper's, both in CasADi's virtual machine)"}
PAPER[2] = "more than 1x below 70 bodies (the paper's)"
PACKED = {"layout": "pattern"}
SLOW = {
    "complex step": "complex step of first derivatives (the paper: accurate but slow)",
    "differences": "central differences of first derivatives in a batch",
}


def subjects(bench: Bench) -> list[tuple[int, int | str]]:
    """Kinds of chains, with bodies or with a way of CasADi's."""
    quick = bench.quick
    found: list[tuple[int, int | str]] = [(b, n) for b in BRANCHING for n in BODIES[quick]]
    if optional("casadi") is None:
        bench.note("CasADi is not installed (python -m pip install casadi): it was left out.")
        return found
    ways = ways_here(WAYS, bench.note)
    bench.note(
        f"A way of CasADi's is followed for {LIMIT[quick]} a kind of chain, compiled code for "
        f"{LIMIT_C[quick]}, in a process of its own."
    )
    if quick:
        return [*found, *((1, way) for way in ways), (2, "eliminated")]
    return [*found, *((b, way) for b in BRANCHING for way in ways)]


def measure(bench: Bench, branching: int, subject: int | str) -> list[Row]:
    if isinstance(subject, int):
        return [{"way": "", "branching": branching} | ours(bench, branching, subject)]
    compiled, quick = subject == "compiled", bench.quick
    limit = (LIMIT_C if compiled else LIMIT)[quick]
    label, last = f"CasADi, {subject}, {kind(branching)} chains", "{bodies} bodies were the most"
    given = branching, (BODIES_C if compiled else BODIES)[quick], subject, BATCH
    rows = followed(bench, limit, label, last, second_contenders.measured, *given)
    for row in rows:
        packed = Call(SECOND, (call := chain(row["bodies"], branching, 1)).model, call.at, PACKED)
        row["by ours"] = row["nodes"] / sum(operations(packed))
    return rows


def ours(bench: Bench, branching: int, bodies: int) -> Row:
    """Check and time what works without CasADi."""
    dense = fitting(chain(bodies, branching, BATCH), BATCH, BATCH_BYTES)
    packed = Call(SECOND, dense.model, dense.arrays, PACKED)
    first = Call("inverse_dynamics_derivatives", dense.model, dense.arrays)
    states = tuple(x[:LONE_STATES] for x in dense.arrays.values())
    label = f"{kind(branching)} chain of {bodies}"
    want = tensors(dense.model, *states)
    differences = Differences(dense.model, *states)
    got = differences.tensors()
    for x, y in zip(got, want, strict=True):
        require_close(x, y[-1], DIFFERENCES, f"{label}: differences")
    error = max(np.abs(x - y[-1]).max() / np.abs(y).max() for x, y in zip(got, want, strict=True))
    few = slice(LONE_STATES)
    require_packed(dense.model, packed.part(few)(), dense.part(few)(), label)
    contenders = {
        "dense": dense.alone(LONE_STATES, into=True),
        "packed": packed.alone(LONE_STATES, into=True),
        "dense batch": dense.batch(),
        "packed batch": packed.batch(),
        "first": first.alone(LONE_STATES, into=True),
        "differences": Contender(differences.run, len(states[0])),
    }
    try:
        if bench.quick:
            raise UnavailableError("it takes its time to compile")
        step = ComplexStep(of_scalars("Complex", COMPLEX), dense.model, *states)
        for x, y in zip(step.tensors(), want, strict=True):
            require_close(x, y, EXACT, f"{label}: complex step")
        contenders["complex step"] = Contender(step.run, len(states[0]))
    except UnavailableError as reason:
        bench.note(f"Complex step was left out: {reason}.")
    found = bench.timed(contenders)
    row = {"chain": kind(branching), "bodies": bodies, "depth": depth(dense.model)}
    row |= found.medians() | {"error": f"{error:.0e}"}
    row["by first"] = found.ratio("packed", "first")
    return row | {f"{x} ratio": found.ratio(x, "dense").median for x in SLOW if x in contenders}


# Claims


def _casadi_claims(rows: list[Row]) -> Iterator[Claim]:
    """The paper's comparison, by operations and by time, and C code beside it."""
    for branching, paper in PAPER.items():
        for way in WAYS:
            where = {"branching": branching, "way": way}
            of = [row for found in declare.selected(rows, where) for row in found]
            of = [row for row in of if row["bodies"] > FEW or way == "compiled"]
            if not of:
                continue
            least = ASKED if (branching, way) == (1, "plain") else 1.0
            sizes = " to ".join(str(n) for n in dict.fromkeys((of[0]["bodies"], of[-1]["bodies"])))
            chains = f"{kind(branching)} chains of {sizes} bodies"
            texts = {"called ratio": f"less time than CasADi, {way}, one state"}
            if way == "compiled":
                texts["looped ratio"] = "less time than CasADi's C code in a loop of C, a batch"
            else:
                fewer = f"fewer operations than CasADi's expression, {way}"
                texts = {"by ours": fewer} | texts
            asked = paper if way == "plain" else "more than 1x"
            for key, text in texts.items():
                yield from Asked(f"{chains}: {text}", key, least=least, asked=asked).claims(of)


def _crossover(rows: list[Row]) -> Claim:
    """The number of bodies from which CasADi is faster on branched chains, both in one machine."""
    of = [row for row in rows if (row["branching"], row["way"]) == (2, "plain")]
    text = "branched by 2 chains: CasADi's virtual machine is faster than dtau from so many bodies"
    asked = f"{CROSSOVER}, where the paper's algorithm runs in that machine too"
    if not of or of[-1]["bodies"] < CROSSOVER:
        most = f"{of[-1]['bodies']} bodies were the most" if of else "no branched chain was made"
        return Claim(text, asked, f"{most} within the limits", None)
    overtaken = [row["bodies"] for row in of if row["called ratio"].median < 1.0]
    if overtaken:
        return Claim(text, asked, str(overtaken[0]), overtaken[0] == CROSSOVER)
    return Claim(text, asked, f"none to {of[-1]['bodies']}", False, NO_CROSSOVER)


def _claims(rows: list[Row]) -> Iterator[Claim]:
    """Complex step is slow, the cost grows as N d^2, and by that of first derivatives as d."""
    for of in declare.selected(rows, {"way": ""}, "branching"):
        chains = f"{of[0]['chain']} chains"
        for name, words in SLOW.items():
            text = f"{chains}: less time than {words}, dense tensors, one state"
            there = [row for row in of if f"{name} ratio" in row]
            asked = Asked(text, f"{name} ratio", least=1.0, asked="more than 1x")
            yield from asked.claims(there)
        ratios = [row["by first"].median for row in of]
        words = ", ".join(f"{r:.2f}x at {row['bodies']}" for r, row in zip(ratios, of, strict=True))
        text = f"{chains}: the ratio of second to first derivatives grows with N (figure 4), packed"
        yield Claim(text, "larger for the longest", words, ratios[-1] > ratios[0])
        if len(of) > 2:
            size = [row["bodies"] * row["depth"] ** 2 for row in of]
            ways = ("packed", "packed batch")
            powers = {name: exponent(size, [row[name] for row in of]) for name in ways}
            yield Claim(
                f"{chains}: the time grows at most as N d^2, N bodies and d on the longest path",
                f"a power of 1 of it (fitted; {SCATTER:g} more is scatter)",
                ", ".join(f"{name}: {power:.2f}" for name, power in powers.items()),
                max(powers.values()) <= 1.0 + SCATTER,
            )


def _plots(rows: list[Row]) -> Iterator[Plot]:
    for of in declare.selected(rows, {"way": ""}, "branching"):
        branching, x = of[0]["branching"], [row["bodies"] for row in of]
        curves = [
            Curve(label, x, [row[name] for row in of], dashed="batch" in name)
            for name, label in (
                ("dense", "dtau, dense"),
                ("packed", "dtau, packed"),
                ("packed batch", "dtau, packed, batch"),
                ("differences", "central differences"),
                ("complex step", "complex step"),
            )
            if name in of[0]
        ]
        for way in WAYS:
            for peers in declare.selected(rows, {"branching": branching, "way": way}):
                for name, place in (("called", "from Python"), ("looped", "in a C loop")):
                    if name in peers[0]:
                        label, bodies = f"CasADi, {way}, {place}", [x["bodies"] for x in peers]
                        curves.append(Curve(label, bodies, [x[name] for x in peers]))
        title = f"Second derivatives of inverse dynamics, {kind(branching)} chains"
        name = f"paper_001_chains_{branching}"
        yield Plot(name, title, "bodies", "microseconds a state", curves)


def _times(key: str) -> Column:
    return Column(["ratio"], lambda row: [f"{row[key]:.1f}x" if key in row else ""])


EXPERIMENT = declare.experiment(
    "paper_001_chains",
    "Second derivatives on growing chains",
    "[IDSVA-SO] figure 3",
    subjects,
    measure,
    effort=efforts((9, 3), (2e-3, 1e-3)),
    tables=[
        Layout(
            "Tensors of second derivatives, microseconds a state: dtau alone (dense, packed) "
            f"and in batches of up to {BATCH} (dense, packed); first derivatives alone, and "
            "the packed tensors by them; complex step, and central differences of first "
            "derivatives, by dtau's dense ones alone; error of the differences, of the "
            "largest element",
            [
                *("chain", "bodies", "depth", "dense", "packed", ("dense", "dense batch")),
                *(("packed", "packed batch"), "first", ("ratio", "by first")),
                *(("complex", "complex step"), _times("complex step ratio")),
                *("differences", _times("differences ratio"), "error"),
            ],
            where={"way": ""},
        ),
        lambda rows: Layout(
            "CasADi's automatic differentiation of first derivatives: nodes of its expression "
            "by dtau's multiplications and additions (packed); seconds to make and compile it; "
            "microseconds a state, called from Python beside dtau alone (packed), in a C loop "
            "beside dtau's batch; ratios with quartiles",
            [
                *("chain", ("CasADi", "way"), "bodies", "entries", "nodes"),
                *(Column(["by ours"], lambda row: [f"{row['by ours']:.2f}x"]), *COLUMNS),
            ],
            left=2,
        ).tables([row for row in rows if row["way"]]),
    ],
    plots=_plots,
    claims=[_casadi_claims, lambda rows: [_crossover(rows)], _claims],
    clock=thread_time,
)
