"""[HO-FBS] figure 4 (c): time derivatives by automatic differentiation, with 101 bodies.

    python -m benchmarks paper_002_casadi

CasADi goes about it in three ways, each in a process with a limit of time and memory, from order 0
on until the limit ends it:

    repeated    its directional derivative, again and again, by its virtual machine: the paper's way
    eliminated  the same with common subexpressions eliminated after every order
    compiled    that as C code by the C compiler, -O3 (large expressions: -O1), called from Python
                and in a loop of C; with 21 bodies too, where it comes further

Every result is compared with the package's before it is timed; CasADi and the package take turns.
"""

from __future__ import annotations

import importlib.util
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from time import perf_counter

import numpy as np

import dtau
from benchmarks.checks import Array, UnavailableError, require_close
from benchmarks.compilers import c_compiler
from benchmarks.experiment import Claim, Curve, Experiment, Findings, Plot, Table, Watch
from benchmarks.experiments.time_cases import AGREEMENT, Case, tree
from benchmarks.harness import one_core
from benchmarks.limits import Limit, within
from benchmarks.peers.casadi_growth import HEADER, Beside, beside
from dtau.cli.timing import Effort

WAYS = ("repeated", "eliminated", "compiled")
LIMIT = {False: Limit(30.0, 4.0), True: Limit(10.0, 4.0)}  # by quick
MOST = 8  # order; the paper's
STRAIGHT = "straight-line code of one robot has no loops and no zeros, and pays at low orders"
BATCH = 64
EFFORT = {False: Effort(rounds=9, block=2e-3), True: Effort(rounds=3, block=1e-3)}


@dataclass(frozen=True)
class Peer(Beside):
    """A function of all orders up to one by CasADi, beside the package's."""

    bodies: int
    function: str
    way: str
    order: int

    def cells(self) -> list[str]:
        """As the table shows it."""
        words = [str(self.bodies), self.function, self.way, str(self.order), str(self.nodes)]
        return [*words, *self.times()]


def run(quick: bool, watch: Watch) -> Findings:
    """Go through functions and ways, each as far as its limit lets it."""
    if not importlib.util.find_spec("casadi"):
        raise UnavailableError("CasADi is not installed: python -m pip install casadi")
    chains = [(101, f, w, MOST) for f in ("inverse", "forward") for w in WAYS]
    chains += [(21, f, "compiled", MOST) for f in ("inverse", "forward")]
    if quick:
        chains = [(21, "inverse", way, most) for way, most in zip(WAYS, (1, 1, 0), strict=True)]
        chains.append((21, "forward", "eliminated", 0))
    notes = [
        f"A way of CasADi's is followed for {LIMIT[quick]} a function, in a process of its own, "
        f"and to order {MOST} at most."
    ]
    if not c_compiler():
        chains = [chain for chain in chains if chain[2] != "compiled"]
        notes.append("No C compiler was found (set CC): CasADi's C code was left out.")
    watch.expect(len(chains))
    peers: list[Peer] = []
    for bodies, function, way, most in chains:
        with tempfile.TemporaryDirectory() as folder, one_core():
            arguments = (tree(bodies), function, way, most, EFFORT[quick], Path(folder))
            found, end = within(LIMIT[quick], measured, *arguments)
        peers += found
        if end:
            reached = f"order {found[-1].order} was the last" if found else "none was made"
            chain = f"{function} dynamics, {bodies} bodies, {way}"
            notes.append(f"{chain}: {reached} within {end}.")
        watch.step(f"{function} dynamics, {bodies} bodies, {way}")

    header = ["bodies", "dynamics", "CasADi", "order", "nodes", *HEADER]
    title = (
        "Dynamics of all orders up to one, microseconds a state: CasADi called from Python for "
        f"each state beside dtau alone; CasADi's C code in a C loop over {BATCH} states beside "
        "dtau's batch; nodes of the expression, seconds to make (and compile) it; ratios with "
        "quartiles"
    )
    return Findings(
        tables=[Table(title, header, [peer.cells() for peer in peers], left=3)],
        plots=[_plot(peers, function) for function in ("inverse", "forward")],
        claims=_claims(peers),
        notes=notes,
        data={"peers": [asdict(peer) for peer in peers]},
    )


def measured(
    model: dtau.Model, function: str, way: str, most: int, effort: Effort, folder: Path
) -> Iterator[Peer]:
    """Make, check and time orders 0, 1, ... by CasADi; runs in the process with the limit."""
    from benchmarks.peers.casadi_time import Derivatives, inputs

    start = perf_counter()
    expression = Derivatives(model, function, most, eliminate=way != "repeated")
    making = perf_counter() - start  # all orders so far
    for order in range(most + 1):
        start = perf_counter()
        if order:
            expression.differentiate()
        made = expression.function()
        making += perf_counter() - start
        case = Case.of(model, function, order, BATCH)
        stack = case.v_derivatives
        if function == "forward":
            tau = case.call.arrays["tau_derivatives"]
            stack = np.concatenate([stack[:, :1], tau], axis=1)
        x = inputs(model, case.q, stack)
        check = partial(_agree, case)
        found = beside(made, way, x, case.call, check, effort, folder, making)
        yield Peer(**found, bodies=model.nbodies, function=function, way=way, order=order)


def _agree(case: Case, got: Array, name: str) -> None:
    """Refuse to time what is wrong: torques by the package's, accelerations by their residual."""
    want = case.check()[: len(got)]
    got = got.reshape(want.shape)
    if case.function == "forward":
        tau = case.call.arrays["tau_derivatives"][: len(got)]
        case.check_residual(got, tau, f"CasADi, {name}")
        return
    for k in range(case.order + 1):
        what = f"CasADi, {name}: {case.label}, row {k}"
        require_close(got[:, k], want[:, k], AGREEMENT, what)


def _claims(peers: Sequence[Peer]) -> list[Claim]:
    """The paper's, of the way that it went; and the same of the better ways."""
    claims = []
    texts = {
        "repeated": "differentiated repeatedly (the paper's way)",
        "eliminated": "with elimination after every order",
        "compiled": "with elimination, compiled C code, called from Python",
    }
    groups = list(dict.fromkeys((p.bodies, p.function, p.way) for p in peers))
    for bodies, function, way in groups:
        of = [p for p in peers if (p.bodies, p.function, p.way) == (bodies, function, way)]
        label = f"{function} dynamics, {bodies} bodies"
        if way == "repeated" and len(of) > 2:
            growth = [b.nodes / a.nodes for a, b in pairwise(of)]
            time = of[-1].microseconds["called"] / of[0].microseconds["called"]
            claims.append(
                Claim(
                    f"{label}: CasADi's repeated derivatives grow exponentially with the order",
                    "a factor of more than 2 an order",
                    f"nodes: {min(growth):.2f} to {max(growth):.2f}; time: "
                    f"{time ** (1.0 / of[-1].order):.2f} on average",
                    min(growth) > 2.0,
                )
            )
        claims.append(_faster(f"{label}: less time than CasADi {texts[way]}", of, "called"))
        if way == "compiled":
            text = f"{label}, batch: less time than CasADi's compiled C code in a loop of C"
            claims.append(_faster(text, of, "looped"))
    return claims


def _faster(text: str, of: Sequence[Peer], theirs: str) -> Claim:
    ratios = [peer.ratios[theirs][1] for peer in of]
    words = ", ".join(f"{r:.3g}x at order {p.order}" for r, p in zip(ratios, of, strict=True))
    holds = min(ratios) > 1.0
    return Claim(text, "more than 1x at every order", words, holds, "" if holds else STRAIGHT)


def _plot(peers: Sequence[Peer], function: str) -> Plot:
    curves = []
    ours: dict[tuple[int, str], dict[int, float]] = {}
    for bodies, way in dict.fromkeys((p.bodies, p.way) for p in peers if p.function == function):
        of = [p for p in peers if (p.bodies, p.function, p.way) == (bodies, function, way)]
        times = {
            "called": f"CasADi, {way}, {bodies} bodies",
            "looped": f"CasADi, {way}, in a C loop, {bodies} bodies",
        }
        for name, label in times.items():
            if name in of[0].microseconds:
                y = [p.microseconds[name] for p in of]
                curves.append(Curve(label, [p.order for p in of], y))
        for name in ("alone", "batch"):
            row = {p.order: p.microseconds[name] for p in of if name in p.microseconds}
            ours.setdefault((bodies, name), {}).update(row)
    for (bodies, name), row in ours.items():
        if row:
            x = sorted(row)
            y = [row[order] for order in x]
            curves.append(Curve(f"dtau, {name}, {bodies} bodies", x, y, dashed=True))
    title = f"{function.capitalize()} dynamics of all orders up to one, by CasADi and by dtau"
    units = ("order", "microseconds a state")
    return Plot(f"paper_002_casadi_{function}", title, *units, curves, (False, True))


EXPERIMENT = Experiment(
    "paper_002_casadi", "Time derivatives beside CasADi", "[HO-FBS] figure 4 (c)", run
)
