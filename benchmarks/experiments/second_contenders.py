"""What second derivatives of chains are timed against: differences, and CasADi in a process."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, ClassVar

import numpy as np

import dtau
from benchmarks.calls import alone, batch
from benchmarks.experiment import Array, require_close
from benchmarks.harness import Contender, Effort, Spread, interleaved, number
from benchmarks.revolute import RevoluteTree
from dtau import _testing

LONE_STATES = 4
AGREEMENT = 1e-11  # of the largest element, of CasADi's results
STEP = 1e-5  # of differences, rad and rad/s


def chain_states(bodies: int, branching: int, count: int) -> tuple[dtau.Model, tuple[Array, ...]]:
    """A chain of revolute joints, and states q, v, a."""
    model = dtau.robots.chain(bodies, branching=branching)
    return model, dtau.random_state(model, np.random.default_rng(0), shape=(count,))


def tensors(model: dtau.Model, q: Array, v: Array, a: Array) -> list[Array]:
    """d2tau/dqdq, dvdv, dvdq, dM/dq, [i, j, k]: output i, by the first along j, then k."""
    second = dtau.inverse_dynamics_second_derivatives(model, q, v, a)
    return [second[0], second[2], np.swapaxes(second[1], -1, -2), second[3]]


def operations(model: dtau.Model, q: Array, v: Array, a: Array) -> int:
    """Multiplications, additions and divisions of packed tensors."""
    _testing.counting.take()
    count = _testing.counting.inverse_dynamics_second_derivatives
    count(model, q, v, a, packed=True)
    return int(sum(_testing.counting.take()))


def depth(model: dtau.Model) -> int:
    """The number of bodies on the longest path."""
    depths: dict[int, int] = {-1: 0}
    for joint in model.joints:
        depths[joint.body] = depths[joint.parent] + 1
    return max(depths.values())


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


# CasADi


@dataclass(frozen=True)
class Peer:
    """Tensors of a chain by CasADi, beside the package's."""

    branching: int
    bodies: int
    way: str
    nodes: int
    entries: int  # that it computes
    seconds: float  # to make (and compile) it
    microseconds: dict[str, float]  # called, alone, looped, batch
    ratios: dict[str, tuple[float, float, float]]  # called to alone, looped to batch: quartiles

    HEADER: ClassVar = (
        *("chain", "CasADi", "bodies", "entries", "nodes", "by ours", "seconds"),
        *("called", "alone", "ratio", "looped", "batch", "ratio"),
    )

    def cells(self, operations: int) -> list[str]:
        """As the table shows it; by the package's operations."""
        kind = "serial" if self.branching == 1 else f"branched by {self.branching}"
        cells = [kind, self.way, str(self.bodies), str(self.entries), str(self.nodes)]
        cells.append(f"{self.nodes / operations:.2f}x")
        cells.append(f"{self.seconds:.1f}")
        for theirs, ours in (("called", "alone"), ("looped", "batch")):
            if theirs in self.microseconds:
                lower, median, upper = self.ratios[theirs]
                cells += [number(self.microseconds[name]) for name in (theirs, ours)]
                cells.append(f"{median:.3g}x ({lower:.3g} to {upper:.3g})")
            else:
                cells += [""] * 3
        return cells


def measured(
    branching: int, sizes: Sequence[int], way: str, count: int, effort: Effort, folder: Path
) -> Iterator[Peer]:
    """Make, check and time growing chains by CasADi; runs in the process with the limit."""
    import casadi

    from benchmarks.peers.casadi_code import Called, Looped, compiled
    from benchmarks.peers.casadi_second import SecondDerivatives, inputs

    second = dtau.inverse_dynamics_second_derivatives
    for bodies in sizes:
        model, states = chain_states(bodies, branching, count)
        start = perf_counter()
        made = SecondDerivatives(RevoluteTree.of(model), eliminate=way != "plain")
        x = inputs(*states)
        lone = tuple(state[:LONE_STATES] for state in states)
        want = tensors(model, *lone)
        contenders: dict[str, Contender] = {}
        function = made.function
        if way == "compiled":
            library = compiled(function, folder)
            looped = Looped(library, function, x)
            _agree(made.dense(looped.all()[:LONE_STATES]), want, f"C code, {bodies} bodies")
            contenders["looped"] = Contender(looped.run, count)
            contenders["batch"] = batch(second, model, states, packed=True)
            function = casadi.external(function.name(), str(library))
        seconds = perf_counter() - start
        called = Called(function, x[:LONE_STATES])
        _agree(made.dense(called.all()), want, f"{way}, {bodies} bodies")
        contenders["called"] = Contender(called.run, LONE_STATES)
        out = tuple(result[0].copy() for result in second(model, *lone, packed=True))
        contenders["alone"] = alone(second, model, lone, packed=True, out=out)
        rounds = interleaved(contenders, effort, lambda: None)
        spreads = {
            theirs: Spread.of(rounds[theirs] / rounds[ours])
            for theirs, ours in (("called", "alone"), ("looped", "batch"))
            if theirs in rounds
        }
        yield Peer(
            branching,
            bodies,
            way,
            made.function.n_nodes(),
            made.function.nnz_out(0),
            seconds,
            {name: 1e6 * float(np.median(s)) for name, s in rounds.items()},
            {name: (s.lower, s.median, s.upper) for name, s in spreads.items()},
        )


def _agree(got: list[Array], want: list[Any], what: str) -> None:
    """Refuse to time what differs."""
    for x, y in zip(got, want, strict=True):
        require_close(x, y, AGREEMENT, f"CasADi, second derivatives, {what}")
