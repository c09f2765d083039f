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

import importlib.util
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import thread_time
from typing import Any

import numpy as np

from benchmarks.calls import fitting, operations
from benchmarks.checks import UnavailableError, require_close, require_packed
from benchmarks.compilers import c_compiler
from benchmarks.complex_step import ComplexStep, library
from benchmarks.experiment import Claim, Curve, Experiment, Findings, Plot, Table, Watch
from benchmarks.experiments import second_contenders
from benchmarks.experiments.second_contenders import SECOND, Differences, Peer, chain, tensors
from benchmarks.harness import Timings, at_least, exponent, number, one_core, timed
from benchmarks.limits import Limit, within
from benchmarks.robots import depth
from dtau.cli.timing import Call, Contender, Effort

BODIES = {False: (3, 5, 10, 15, 20, 30, 40, 70, 100), True: (2, 5)}  # by quick
BODIES_C = {False: (3, 10), True: (2,)}  # of CasADi's C code, which takes long to compile
BRANCHING = (1, 2)
WAYS = ("plain", "eliminated", "compiled")
LIMIT = {False: Limit(30.0, 4.0), True: Limit(5.0, 4.0)}
LIMIT_C = {False: Limit(60.0, 4.0), True: Limit(5.0, 4.0)}  # of compiled code
BATCH_BYTES = 2**28  # of the dense results of a batch, at most: 8 states of 100 bodies
BATCH = 64
LONE_STATES = 4
EFFORT = {False: Effort(rounds=9, block=2e-3), True: Effort(rounds=3, block=1e-3)}
EXACT, DIFFERENCES = 1e-12, 1e-6  # of the largest element
SCATTER = 0.1  # of fitted exponents
FEW = 5  # bodies, of which [IDSVA-SO] claims nothing
ASKED = 1.5  # times faster than CasADi, of serial chains with more
CROSSOVER = 70  # bodies of branched chains, from which CasADi is faster in the paper
NO_CROSSOVER = (
    "dtau is compiled, and its pattern of a branched chain leaves out zeros, as CasADi's graph does"
)


@dataclass(frozen=True)
class Chain:
    """Seconds a state of the package and what works without CasADi, a number a round."""

    branching: int
    bodies: int
    depth: int
    operations: int  # of packed tensors
    found: Timings
    error: float  # of differences, of the largest element

    def ratio(self, name: str, by: str) -> float:
        """How many times as long."""
        return self.found.ratio(name, by).median

    def cells(self) -> list[str]:
        """As the table shows it."""
        cells = [_kind(self.branching), str(self.bodies), str(self.depth)]
        cells += [number(self.found.micro(name)) for name in ("dense", "packed", "dense batch")]
        cells.append(number(self.found.micro("packed batch")))
        cells += [number(self.found.micro("first")), f"{self.ratio('packed', 'first'):.2f}x"]
        for name in ("complex step", "differences"):
            if name in self.found.seconds:
                cells += [number(self.found.micro(name)), f"{self.ratio(name, 'dense'):.1f}x"]
            else:
                cells += ["", ""]
        return [*cells, f"{self.error:.0e}"]


def run(quick: bool, watch: Watch) -> Findings:
    """Time the chains, then go through CasADi's ways."""
    notes: list[str] = []
    has_casadi = importlib.util.find_spec("casadi") is not None
    chains = [(branching, bodies) for branching in BRANCHING for bodies in BODIES[quick]]
    watch.expect(len(chains) + 1)
    program = None
    try:
        if quick:
            raise UnavailableError("it takes its time to compile")
        program = library()
    except UnavailableError as reason:
        notes.append(f"Complex step was left out: {reason}.")
    watch.step("complex step compiled")
    found = []
    with one_core():
        for branching, bodies in chains:
            found.append(_measure(branching, bodies, program, EFFORT[quick]))
            watch.step(f"{_kind(branching)} chain of {bodies}")
    peers: list[Peer] = []
    if has_casadi:
        peers = _casadi(quick, watch, notes)
    else:
        notes.append("CasADi is not installed (python -m pip install casadi): it was left out.")

    counts = {(c.branching, c.bodies): c.operations for c in found}
    header = ["chain", "bodies", "depth", "dense", "packed", "dense", "packed", "first", "ratio"]
    header += ["complex", "ratio", "differences", "ratio", "error"]
    return Findings(
        tables=[
            Table(
                "Tensors of second derivatives, microseconds a state: dtau alone (dense, packed) "
                f"and in batches of up to {BATCH} (dense, packed); first derivatives alone, and "
                "the packed tensors by them; complex step, and central differences of first "
                "derivatives, by dtau's dense ones alone; error of the differences, of the "
                "largest element",
                header,
                [chain.cells() for chain in found],
            ),
            Table(
                "CasADi's automatic differentiation of first derivatives: nodes of its expression "
                "by dtau's multiplications and additions (packed); seconds to make and compile it; "
                "microseconds a state, called from Python beside dtau alone (packed), in a C loop "
                "beside dtau's batch; ratios with quartiles",
                Peer.COLUMNS,
                [peer.cells(counts[peer.branching, peer.bodies]) for peer in peers],
                left=2,
            ),
        ],
        plots=[_plot(found, peers, branching) for branching in BRANCHING],
        claims=[*_casadi_claims(peers, counts), _crossover(peers), *_claims(found)],
        notes=notes,
        data={
            "chains": [
                {"branching": c.branching, "bodies": c.bodies, "operations": c.operations}
                | {"microseconds": c.found.medians()}
                for c in found
            ],
            "casadi": [asdict(peer) for peer in peers],
        },
    )


def _measure(branching: int, bodies: int, program: Any, effort: Effort) -> Chain:
    """Check and time what works without CasADi."""
    dense = fitting(chain(bodies, branching, BATCH), BATCH, BATCH_BYTES)
    packed = Call(SECOND, dense.model, dense.arrays, {"layout": "pattern"})
    first = Call("inverse_dynamics_derivatives", dense.model, dense.arrays)
    states = tuple(x[:LONE_STATES] for x in dense.arrays.values())
    label = f"{_kind(branching)} chain of {bodies}"
    want = tensors(dense.model, *states)
    differences = Differences(dense.model, *states)
    got = differences.tensors()
    for x, y in zip(got, want, strict=True):
        require_close(x, y[-1], DIFFERENCES, f"{label}: differences")
    errors = (np.abs(x - y[-1]).max() / np.abs(y).max() for x, y in zip(got, want, strict=True))
    error = float(max(errors))
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
    if program is not None:
        step = ComplexStep(program, dense.model, *states)
        for x, y in zip(step.tensors(), want, strict=True):
            require_close(x, y, EXACT, f"{label}: complex step")
        contenders["complex step"] = Contender(step.run, len(states[0]))
    count = sum(operations(packed))
    found = timed(contenders, effort, clock=thread_time)
    return Chain(branching, bodies, depth(dense.model), count, found, error)


def _casadi(quick: bool, watch: Watch, notes: list[str]) -> list[Peer]:
    """Each way of CasADi's on growing chains, until the limit ends it."""
    notes.append(
        f"A way of CasADi's is followed for {LIMIT[quick]} a kind of chain, compiled code for "
        f"{LIMIT_C[quick]}, in a process of its own."
    )
    ways: Sequence[str] = WAYS
    if not c_compiler():
        ways = WAYS[:2]
        notes.append("No C compiler was found (set CC): CasADi's C code was left out.")
    runs = [(branching, way) for branching in BRANCHING for way in ways]
    if quick:
        runs = [*runs[: len(ways)], (2, "eliminated")]
    watch.expect(len(runs))
    peers: list[Peer] = []
    for branching, way in runs:
        limit = (LIMIT_C if way == "compiled" else LIMIT)[quick]
        sizes = (BODIES_C if way == "compiled" else BODIES)[quick]
        with tempfile.TemporaryDirectory() as folder, one_core():
            arguments = (branching, sizes, way, BATCH, EFFORT[quick], Path(folder))
            got, end = within(limit, second_contenders.measured, *arguments)
        peers += got
        if end:
            last = f"{got[-1].bodies} bodies were the most" if got else "none was made"
            notes.append(f"CasADi, {way}, {_kind(branching)} chains: {last} within {end}.")
        watch.step(f"CasADi, {way}, {_kind(branching)} chains")
    return peers


def _kind(branching: int) -> str:
    return "serial" if branching == 1 else f"branched by {branching}"


# Claims


def _casadi_claims(peers: Sequence[Peer], every: dict[tuple[int, int], int]) -> list[Claim]:
    """The paper's comparison, by operations and by time, and C code beside it."""
    claims = []
    for branching in BRANCHING:
        paper = "1.5 to 3x (the paper's, both in CasADi's virtual machine)"
        if branching > 1:
            paper = "more than 1x below 70 bodies (the paper's)"
        for way in WAYS:
            of = [p for p in peers if (p.branching, p.way) == (branching, way)]
            if way != "compiled":
                of = [p for p in of if p.bodies > FEW]
            if not of:
                continue
            least = ASKED if branching == 1 else 1.0
            asked = paper if way == "plain" else "more than 1x"
            least = least if way == "plain" else 1.0
            sizes = " to ".join(str(n) for n in dict.fromkeys((of[0].bodies, of[-1].bodies)))
            kind = f"{_kind(branching)} chains of {sizes} bodies"
            counts = [every[branching, p.bodies] for p in of]
            if way != "compiled":
                ratios = [p.nodes / count for p, count in zip(of, counts, strict=True)]
                text = f"{kind}: fewer operations than CasADi's expression, {way}"
                claims.append(at_least(text, least, ratios, asked))
            ratios = [p.ratios["called"][1] for p in of]
            text = f"{kind}: less time than CasADi, {way}, one state"
            claims.append(at_least(text, least, ratios, asked))
            if way == "compiled":
                ratios = [p.ratios["looped"][1] for p in of]
                text = f"{kind}: less time than CasADi's C code in a loop of C, a batch"
                claims.append(at_least(text, least, ratios, asked))
    return claims


def _crossover(peers: Sequence[Peer]) -> Claim:
    """The number of bodies from which CasADi is faster on branched chains, both in one machine."""
    of = [p for p in peers if (p.branching, p.way) == (2, "plain")]
    text = "branched by 2 chains: CasADi's virtual machine is faster than dtau from so many bodies"
    asked = f"{CROSSOVER}, where the paper's algorithm runs in that machine too"
    if not of or of[-1].bodies < CROSSOVER:
        most = f"{of[-1].bodies} bodies were the most" if of else "no branched chain was made"
        return Claim(text, asked, f"{most} within the limits", None)
    overtaken = [p.bodies for p in of if p.ratios["called"][1] < 1.0]
    if overtaken:
        return Claim(text, asked, str(overtaken[0]), overtaken[0] == CROSSOVER)
    return Claim(text, asked, f"none to {of[-1].bodies}", False, NO_CROSSOVER)


def _claims(found: Sequence[Chain]) -> list[Claim]:
    """Complex step is slow, the cost grows as N d^2, and by that of first derivatives as d."""
    claims = []
    for branching in BRANCHING:
        of = [c for c in found if c.branching == branching]
        kind = f"{_kind(branching)} chains"
        for name, words in (
            ("complex step", "complex step of first derivatives (the paper: accurate but slow)"),
            ("differences", "central differences of first derivatives in a batch"),
        ):
            ratios = [c.ratio(name, "dense") for c in of if name in c.found.seconds]
            if ratios:
                text = f"{kind}: less time than {words}, dense tensors, one state"
                claims.append(at_least(text, 1.0, ratios, "more than 1x"))
        ratios = [c.ratio("packed", "first") for c in of]
        words = ", ".join(f"{r:.2f}x at {c.bodies}" for r, c in zip(ratios, of, strict=True))
        text = f"{kind}: the ratio of second to first derivatives grows with N (figure 4), packed"
        claims.append(Claim(text, "larger for the longest", words, ratios[-1] > ratios[0]))
        if len(of) > 2:
            size = [c.bodies * c.depth**2 for c in of]
            powers = {
                name: exponent(size, [c.found.micro(name) for c in of])
                for name in ("packed", "packed batch")
            }
            words = ", ".join(f"{name}: {power:.2f}" for name, power in powers.items())
            claims.append(
                Claim(
                    f"{kind}: the time grows at most as N d^2, N bodies and d on the longest path",
                    f"a power of 1 of it (fitted; {SCATTER:g} more is scatter)",
                    words,
                    max(powers.values()) <= 1.0 + SCATTER,
                )
            )
    return claims


def _plot(found: Sequence[Chain], peers: Sequence[Peer], branching: int) -> Plot:
    of = [c for c in found if c.branching == branching]
    x = [c.bodies for c in of]
    curves = [
        Curve(label, x, [c.found.micro(name) for c in of], dashed="batch" in name)
        for name, label in (
            ("dense", "dtau, dense"),
            ("packed", "dtau, packed"),
            ("packed batch", "dtau, packed, batch"),
            ("differences", "central differences"),
            ("complex step", "complex step"),
        )
        if name in of[0].found.seconds
    ]
    for way in WAYS:
        row = [p for p in peers if (p.branching, p.way) == (branching, way)]
        for name, place in (("called", "from Python"), ("looped", "in a C loop")):
            if row and name in row[0].microseconds:
                times = [p.microseconds[name] for p in row]
                curves.append(Curve(f"CasADi, {way}, {place}", [p.bodies for p in row], times))
    title = f"Second derivatives of inverse dynamics, {_kind(branching)} chains"
    name = f"paper_001_chains_{branching}"
    return Plot(name, title, "bodies", "microseconds a state", curves)


EXPERIMENT = Experiment(
    "paper_001_chains", "Second derivatives on growing chains", "[IDSVA-SO] figure 3", run
)
