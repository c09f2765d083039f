"""Time derivatives of dynamics beside CasADi's: checked, timed, printed."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import numpy as np
from casadi_peer import Called, Compiled, ForwardDynamics, InverseDynamics, inputs
from harness import Array, Contender, Effort, Progress, number, table
from time_cases import AGREEMENT, FUNCTIONS, LONE_STATES, Case, medians

import dtau

TREE = (5, 4)  # arms, links of each
KINDS = {"inverse": InverseDynamics, "forward": ForwardDynamics}


@dataclass(frozen=True)
class Peer:
    """Microseconds a state of a function of all orders up to one."""

    function: str
    order: int
    repeated: float
    repeated_nodes: int
    compiled: float  # in a loop in C
    called: float  # the same from Python
    compiled_nodes: int
    seconds: float  # to differentiate and to compile
    alone: float
    batch: float


def beside_casadi(
    orders: dict[str, int], batch: int, effort: Effort, progress: Progress
) -> list[Peer]:
    """Check and time both ways of CasADi's, and ours."""
    model = dtau.robots.aerial_manipulator(*TREE)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for function in FUNCTIONS:
            for order in range(orders[function] + 1):
                progress.label = f"{function} dynamics of order {order} by CasADi, made"
                progress.show()
                case = Case.of(model, function, order, batch)
                into = Path(folder) / f"{function}{order}"
                into.mkdir()
                rows.append(_beside_casadi(case, batch, effort, progress, into))
    return rows


def _beside_casadi(
    case: Case, batch: int, effort: Effort, progress: Progress, folder: Path
) -> Peer:
    stack = case.v_derivatives
    if case.function == "forward":
        stack = np.concatenate([stack[:, :1], case.arrays[2]], axis=1)
    x = inputs(case.model, case.arrays[0], stack)
    functions = []
    for eliminate in (False, True):
        start = perf_counter()
        expression = KINDS[case.function](case.model, case.order, eliminate=eliminate)
        for _ in range(case.order):
            expression.differentiate()
        functions.append(expression.function())
        seconds = perf_counter() - start
    compiled = Compiled(functions[1], x, folder)
    lone = x[:LONE_STATES]
    repeated, called = (Called(f, lone) for f in (functions[0], compiled.function))
    out = case.check()
    for name, peer in {"repeated": repeated, "compiled": compiled, "called": called}.items():
        got = peer.all()
        _agree(name, case, got.reshape(len(got), *out.shape[1:]), out[: len(got)])
    progress.label = f"{case.function} dynamics of order {case.order} by CasADi"
    micro = medians(
        {
            "repeated": Contender(repeated.run, len(lone)),
            "compiled": Contender(compiled.run, batch),
            "called": Contender(called.run, len(lone)),
            "alone": case.contender(alone=LONE_STATES),
            "batch": case.contender(),
        },
        effort,
        progress.step,
    )
    return Peer(
        case.function,
        case.order,
        repeated_nodes=functions[0].n_nodes(),
        compiled_nodes=functions[1].n_nodes(),
        seconds=seconds + compiled.seconds,
        **micro,
    )


def _agree(name: str, case: Case, got: Array, want: Array) -> None:
    """Refuse to time what differs."""
    for k in range(case.order + 1):
        # Forward dynamics: errors of low orders feed the high ones.
        allowed = AGREEMENT if case.function == "inverse" else 10.0 ** (k + 1) * AGREEMENT
        error = np.abs(got[:, k] - want[:, k]).max() / np.abs(want[:, k]).max()
        if not error <= allowed:
            raise SystemExit(
                f"CasADi, {name}, {case.function} dynamics, order {k} of {case.order}: "
                f"differs by {error:.1e}"
            )


def print_casadi(rows: Sequence[Peer], batch: int) -> None:
    """Print both ways beside ours."""
    lines = [
        [
            r.function,
            str(r.order),
            str(r.repeated_nodes),
            number(r.repeated),
            str(r.compiled_nodes),
            f"{r.seconds:.1f}",
            number(r.called),
            number(r.alone),
            f"{r.called / r.alone:.2f}x",
            number(r.compiled),
            number(r.batch),
            f"{r.compiled / r.batch:.2f}x",
        ]
        for r in rows
    ]
    header = ["dynamics", "order", "nodes", "repeated", "nodes", "seconds"]
    header += ["called", "alone", "ratio", "looped", "batch", "ratio"]
    title = (
        "Dynamics of all orders up to one, 21 bodies, microseconds a state. CasADi:\n"
        "repeated differentiation in its interpreter; elimination and C code, the seconds to make\n"
        "it, called from Python for each state beside ours alone, and in a C loop of "
        f"{batch} states\nbeside our batch"
    )
    table(title, header, lines, left=1)
