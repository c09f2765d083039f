"""Time derivatives of dynamics at random states: what is timed, and whether it is right."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from harness import Array, Contender, Effort, interleaved, loop

import dtau

FUNCTIONS = ("inverse", "forward")
LONE_STATES = 64  # lone calls go round so many states
RESIDUAL = 1e-10
AGREEMENT = 1e-12  # of inverse dynamics, relative to the largest torque of the order


@dataclass(frozen=True)
class Case:
    """A function at random states along trajectories of one order."""

    model: dtau.Model
    function: str
    order: int
    v_derivatives: Array
    arrays: tuple[Array, ...]  # q, v_derivatives; or q, v, tau_derivatives

    @staticmethod
    def of(model: dtau.Model, function: str, order: int, count: int) -> Case:
        """Draw configurations, velocities and their derivatives; torques follow from them."""
        rng = np.random.default_rng(order)
        q, *_ = dtau.random_state(model, rng, shape=(count,))
        v = rng.uniform(-1.0, 1.0, (count, order + 2, model.nv))
        arrays: tuple[Array, ...] = (q, v)
        if function == "forward":
            tau = dtau.inverse_dynamics_time_derivatives(model, q, v)
            arrays = (q, v[:, 0].copy(), tau)
        return Case(model, function, order, v, arrays)

    def __call__(self, *arrays: Array, **options: Any) -> Array:
        """The result at the states, or at others."""
        f = getattr(dtau, f"{self.function}_dynamics_time_derivatives")
        result: Array = f(self.model, *(arrays or self.arrays), **options)
        return result

    def contender(self, *, alone: int = 0) -> Contender:
        """All states in one call with out=, or the first ones alone."""
        names = [f"x{i}" for i in range(len(self.arrays))]
        words = ", ".join(["model", *names])
        f = getattr(dtau, f"{self.function}_dynamics_time_derivatives")
        if alone:
            rows = ([row.copy() for row in array[:alone]] for array in self.arrays)
            states = list(zip(*rows, strict=True))
            statement = f"for {', '.join(names)} in states: f({words})"
            return Contender(loop(statement, f=f, model=self.model, states=states), len(states))
        given = dict(zip(names, self.arrays, strict=True))
        statement = f"f({words}, out=out, threads=1)"
        run = loop(statement, f=f, model=self.model, out=self(), **given)
        return Contender(run, len(self.arrays[0]))

    def check(self) -> Array:
        """Compare what can be compared without another program; return the result."""
        out = np.full((len(self.arrays[0]), self.order + 1, self.model.nv), np.nan)
        self(out=out, threads=1)
        if not np.array_equal(self(*(array[0] for array in self.arrays)), out[0]):
            self._fail("one state gives other bits than many")
        q, v = self.arrays[0], self.v_derivatives
        if self.function == "forward":
            stack = np.concatenate([v[:, :1], out], axis=1)
            again = dtau.inverse_dynamics_time_derivatives(self.model, q, stack)
            inertia = np.linalg.norm(dtau.mass_matrix(self.model, q[0]), ord=2)
            for k, tau in enumerate(np.moveaxis(self.arrays[2], 1, 0)):
                scale = max(np.abs(tau).max(), inertia * np.abs(out[:, k]).max())
                if not np.abs(again[:, k] - tau).max() <= RESIDUAL * scale:
                    self._fail(f"order {k} has a residual above {RESIDUAL:.0e}")
            return out
        self._compare(0, out, dtau.inverse_dynamics(self.model, q, v[:, 0], v[:, 1]))
        if self.order:
            rows = (v[:, 0], v[:, 1], v[:, 0], v[:, 1], v[:, 2])
            self._compare(1, out, dtau.inverse_dynamics_jvp(self.model, q, *rows))
        return out

    def _compare(self, k: int, out: Array, want: Array) -> None:
        error = np.abs(out[:, k] - want).max() / np.abs(want).max()
        if not error <= AGREEMENT:
            self._fail(f"order {k} is off by {error:.1e} of its largest element")

    def _fail(self, what: str) -> None:
        bodies = self.model.nbodies
        raise SystemExit(f"{self.function} dynamics, {bodies} bodies, order {self.order}: {what}")


def medians(
    contenders: dict[Any, Contender], effort: Effort, tick: Callable[[], None]
) -> dict[Any, float]:
    """Microseconds a state."""
    seconds = interleaved(contenders, effort, tick)
    return {name: 1e6 * float(np.median(s)) for name, s in seconds.items()}
