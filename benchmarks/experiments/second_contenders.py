"""What second derivatives of chains are timed against: differences, and CasADi in a process."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

import dtau
from benchmarks.checks import Array, require_close
from benchmarks.declare import Row
from benchmarks.peers.casadi_growth import LONE_STATES, beside
from dtau.cli.timing import Call, Effort, random_inputs

SECOND = "inverse_dynamics_second_derivatives"
AGREEMENT = 1e-11  # of the largest element, of CasADi's results
STEP = 1e-5  # of differences, rad and rad/s


def chain(bodies: int, branching: int, count: int) -> Call:
    """Tensors of a chain of revolute joints at random states."""
    model = dtau.robots.chain(bodies, branching=branching)
    return Call(SECOND, model, random_inputs(model, [SECOND], count))


def tensors(model: dtau.Model, q: Array, v: Array, a: Array) -> list[Array]:
    """d2tau/dqdq, dvdv, dvdq, dM/dq, [i, j, k]: output i, by the first along j, then k."""
    second = dtau.inverse_dynamics_second_derivatives(model, q, v, a)
    return [second[0], second[2], np.swapaxes(second[1], -1, -2), second[3]]


class Differences:
    """Central differences of first derivatives by q and v, all of a state in one batch."""

    def __init__(self, model: dtau.Model, q: Array, v: Array, a: Array) -> None:
        n = model.nv
        self._model, self._states, self._n = model, list(zip(q, v, a, strict=True)), n
        self._q, self._v = np.empty((2, 4, n, n))
        self._steps = STEP * np.eye(n)
        self._out = tuple(np.empty((4 * n, n, n)) for _ in range(3))
        self._tensors = [np.empty((n, n, n)) for _ in range(4)]

    def run(self, passes: int) -> None:
        """Evaluate at all states; the tensors are those of the last."""
        n, by_q, by_v, mass = self._n, *(x.reshape(4, self._n, self._n, self._n) for x in self._out)
        for _ in range(passes):
            for q, v, a in self._states:
                self._q[:], self._v[:] = q, v
                self._q[0] += self._steps
                self._q[1] -= self._steps
                self._v[2] += self._steps
                self._v[3] -= self._steps
                dtau.inverse_dynamics_derivatives(
                    self._model,
                    self._q.reshape(-1, n),
                    self._v.reshape(-1, n),
                    a,
                    out=self._out,
                    threads=1,
                )
                for tensor, (plus, minus) in zip(
                    self._tensors, (by_q[:2], by_v[2:], by_v[:2], mass[:2]), strict=True
                ):
                    np.subtract(plus, minus, out=tensor)
                    tensor *= 0.5 / STEP

    def tensors(self) -> list[Array]:
        """Tensors of the last state, as `tensors`."""
        self.run(1)
        return [np.moveaxis(tensor, 0, -1) for tensor in self._tensors]


def kind(branching: int) -> str:
    return "serial" if branching == 1 else f"branched by {branching}"


# CasADi


def measured(
    branching: int, sizes: Sequence[int], way: str, count: int, effort: Effort, folder: Path
) -> Iterator[Row]:
    """Make, check and time growing chains by CasADi; runs in the process with the limit."""
    from benchmarks.peers.casadi_second import SecondDerivatives, inputs

    for bodies in sizes:
        call = chain(bodies, branching, count)
        start = perf_counter()
        made = SecondDerivatives(call.model, eliminate=way != "plain")
        seconds = perf_counter() - start
        packed = Call(SECOND, call.model, call.at, {"layout": "pattern"})
        x, check = inputs(*call.arrays.values()), partial(_agree, made, call)
        found = beside(made.function, way, x, packed, check, effort, folder, seconds)
        row = {"branching": branching, "bodies": bodies, "way": way, "chain": kind(branching)}
        yield row | {"entries": made.function.nnz_out(0)} | found


def _agree(made: Any, call: Call, got: Array, what: str) -> None:
    """Refuse to time what differs, at the first states."""
    got = got[:LONE_STATES]
    want = tensors(call.model, *(x[: len(got)] for x in call.arrays.values()))
    for x, y in zip(made.dense(got), want, strict=True):
        what = f"CasADi, second derivatives, {what}, {call.model.nbodies} bodies"
        require_close(x, y, AGREEMENT, what)
