"""Time derivatives of dynamics at random states: what is timed, and whether it is right.

Right means: inverse dynamics of order 0 and 1 agrees with the functions of first derivatives;
forward and hybrid dynamics leave no residual in inverse dynamics; the terms of the closed form add
up to inverse dynamics at every order, by Leibniz' rule; a lone state gives the bits of a batch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import comb
from typing import Any

import numpy as np

import dtau
from benchmarks.calls import LONE_STATES, alone, batch, together
from benchmarks.experiment import Array, WrongResultError, require_close
from benchmarks.harness import Contender

TREES = {7: (2, 3), 21: (5, 4), 101: (5, 20)}  # bodies: arms, links of each
RESIDUAL = 1e-10
AGREEMENT = 1e-12  # of inverse dynamics, relative to the largest torque of the order
LEIBNIZ = 1e-11  # of the closed form, relative to the largest term
BATCH_BYTES = 2**26  # of the results of a batch, at most

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "inverse": dtau.inverse_dynamics_time_derivatives,
    "forward": dtau.forward_dynamics_time_derivatives,
    "hybrid": dtau.hybrid_dynamics_time_derivatives,
    "mass matrix": dtau.mass_matrix_time_derivatives,
    "Coriolis matrix": dtau.coriolis_matrix_time_derivatives,
    "bias": dtau.bias_torque_time_derivatives,
    "gravity": dtau.gravity_torque_time_derivatives,
}
DYNAMICS = ("inverse", "forward", "hybrid")
MATRICES = ("mass matrix", "Coriolis matrix")


def tree(bodies: int) -> dtau.Model:
    """A tree of [HO-FBS]: a free base with arms of revolute joints."""
    return dtau.robots.aerial_manipulator(*TREES[bodies])


@dataclass(frozen=True)
class Case:
    """A function at random states along trajectories of one order."""

    model: dtau.Model
    function: str
    order: int
    q: Array
    v_derivatives: Array
    arrays: tuple[Array, ...]
    options: dict[str, Any] = field(default_factory=dict)

    @staticmethod
    def of(model: dtau.Model, function: str, order: int, count: int) -> Case:
        """Draw configurations, velocities and their derivatives; torques follow from them."""
        rows = (order + 1) * model.nv ** (2 if function in MATRICES else 1)
        count = max(1, min(count, BATCH_BYTES // (8 * rows)))
        rng = np.random.default_rng(order)
        q, *_ = dtau.random_state(model, rng, shape=(count,))
        v = rng.uniform(-1.0, 1.0, (count, order + 2, model.nv))
        arrays: tuple[Array, ...] = (q, v)
        options: dict[str, Any] = {}
        if function in ("forward", "hybrid"):
            tau = dtau.inverse_dynamics_time_derivatives(model, q, v)
            arrays = (q, v[:, 0].copy(), tau)
        if function == "hybrid":
            arrays = (q, v[:, 0].copy(), v[:, 1:].copy(), tau)
            options = {"prescribed": prescribed(model)}
        elif function not in DYNAMICS:
            options = {"order": order}
        return Case(model, function, order, q, v, arrays, options)

    def __call__(self, *arrays: Array, **options: Any) -> tuple[Array, ...]:
        """The results at the states, or at others."""
        f = FUNCTIONS[self.function]
        return together(f(self.model, *(arrays or self.arrays), **self.options, **options))

    def alone(self, states: int = LONE_STATES) -> Contender:
        """The first states, one call each."""
        return alone(
            FUNCTIONS[self.function], self.model, self.arrays, states=states, **self.options
        )

    def batch(self) -> Contender:
        """All states in one call with out=."""
        return batch(FUNCTIONS[self.function], self.model, self.arrays, **self.options)

    def check(self) -> Array:
        """Compare what can be compared without another program; return the (first) result."""
        given = tuple(np.full_like(result, np.nan) for result in self())
        self(out=given if len(given) > 1 else given[0], threads=1)
        lone = self(*(array[0] for array in self.arrays))
        if not all(np.array_equal(x, y[0]) for x, y in zip(lone, given, strict=True)):
            raise WrongResultError(f"{self.label}: one state gives other bits than many")
        if self.function == "inverse":
            self._check_first_orders(given[0])
        elif self.function in DYNAMICS:
            self.check_residual(given[0], given[1] if len(given) > 1 else self.arrays[2])
            if self.function == "hybrid":
                self._check_given(*given)
        else:
            self._check_closed_form(given[0])
        return given[0]

    @property
    def label(self) -> str:
        """The case in words."""
        kind = " dynamics" if self.function in DYNAMICS else ""
        return f"{self.function}{kind}, {self.model.nbodies} bodies, order {self.order}"

    def _check_first_orders(self, tau: Array) -> None:
        """Inverse dynamics by the functions of values and first derivatives."""
        q, v = self.q, self.v_derivatives
        want = [dtau.inverse_dynamics(self.model, q, v[:, 0], v[:, 1])]
        if self.order:
            rows = (v[:, 0], v[:, 1], v[:, 0], v[:, 1], v[:, 2])
            want.append(dtau.inverse_dynamics_jvp(self.model, q, *rows))
        for k, torque in enumerate(want):
            require_close(tau[:, k], torque, AGREEMENT, f"{self.label}: torque of order {k}")

    def check_residual(self, a: Array, tau: Array, whose: str = "dtau") -> None:
        """The torques again from accelerations of the first states."""
        q, v = self.q[: len(a)], self.v_derivatives[: len(a), :1]
        again = dtau.inverse_dynamics_time_derivatives(
            self.model, q, np.concatenate([v, a], axis=1)
        )
        inertia = float(np.linalg.norm(dtau.mass_matrix(self.model, self.q[0]), ord=2))
        for k in range(self.order + 1):
            size = inertia * float(np.abs(a[:, k]).max())
            what = f"{whose}: {self.label}: residual of order {k}"
            require_close(again[:, k], tau[:, k], RESIDUAL, what, floor=size)

    def _check_given(self, a: Array, tau: Array) -> None:
        """Hybrid dynamics keeps what was given."""
        mask = self.options["prescribed"]
        for got, want, where in ((a, self.arrays[2], mask), (tau, self.arrays[3], ~mask)):
            if not np.array_equal(got[..., where], want[..., where]):
                raise WrongResultError(f"{self.label}: what was given came out as other bits")

    def _check_closed_form(self, term: Array) -> None:
        """Tau = M a + h and h = C v + g, differentiated, with the other terms of the first states.

        [HO-FBS] eq. 11.
        """
        count = min(2, len(term))
        q, v = self.q[:count], self.v_derivatives[:count]
        terms = {
            name: FUNCTIONS[name](self.model, q, v, order=self.order)
            for name in FUNCTIONS
            if name not in DYNAMICS and name != self.function
        } | {self.function: term[:count]}
        tau = dtau.inverse_dynamics_time_derivatives(self.model, q, v)
        for matrix, row, rest, total in (
            ("mass matrix", 1, "bias", tau),
            ("Coriolis matrix", 0, "gravity", terms["bias"]),
        ):
            for k in range(self.order + 1):
                parts = [
                    comb(k, j) * np.einsum("zij,zj->zi", terms[matrix][:, j], v[:, row + k - j])
                    for j in range(k + 1)
                ]
                parts.append(terms[rest][:, k])
                size = max(float(np.abs(part).max()) for part in parts)
                what = f"{self.label}: {matrix} and {rest} of order {k}"
                require_close(sum(parts), total[:, k], LEIBNIZ, what, floor=size)


def prescribed(model: dtau.Model) -> Any:
    """Every second joint's motion is given, not that of the base."""
    mask = np.zeros(model.nv, dtype=bool)
    mask[7::2] = True
    return mask
