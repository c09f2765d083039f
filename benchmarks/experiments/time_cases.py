"""Time derivatives of dynamics at random states: what is timed, and whether it is right.

Right means: inverse dynamics of order 0 and 1 agrees with the functions of first derivatives;
forward and hybrid dynamics leave no residual in inverse dynamics; the terms of the closed form add
up to inverse dynamics at every order, by Leibniz' rule; a lone state gives the bits of a batch.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import comb
from typing import Any

import numpy as np

import dtau
from benchmarks.calls import fitting
from benchmarks.checks import Array, WrongResultError, require_close, same_bits
from dtau.cli.timing import Call, random_inputs

TREES = {7: (2, 3), 21: (5, 4), 101: (5, 20)}  # bodies: arms, links of each
RESIDUAL = 1e-10
AGREEMENT = 1e-12  # of inverse dynamics, relative to the largest torque of the order
LEIBNIZ = 1e-11  # of the closed form, relative to the largest term
BATCH_BYTES = 2**26  # of the results of a batch, at most

FUNCTIONS = {
    "inverse": "inverse_dynamics_time_derivatives",
    "forward": "forward_dynamics_time_derivatives",
    "hybrid": "hybrid_dynamics_time_derivatives",
    "mass matrix": "mass_matrix_time_derivatives",
    "Coriolis matrix": "coriolis_matrix_time_derivatives",
    "bias": "bias_torque_time_derivatives",
    "gravity": "gravity_torque_time_derivatives",
}
DYNAMICS = ("inverse", "forward", "hybrid")
MATRICES = ("mass matrix", "Coriolis matrix")


def tree(bodies: int) -> dtau.Model:
    """A tree of [HO-FBS]: a free base with arms of revolute joints."""
    return dtau.robots.aerial_manipulator(*TREES[bodies])


@dataclass(frozen=True)
class Case:
    """A function at states along trajectories of one order.

    The trajectories are given by q, v and the time derivatives of v: a row more than the order.
    """

    model: dtau.Model
    function: str
    order: int
    q: Array
    v_derivatives: Array

    @staticmethod
    def of(model: dtau.Model, function: str, order: int, count: int) -> Case:
        """Draw trajectories; torques follow from them."""
        names = [FUNCTIONS["inverse"]]
        at = random_inputs(model, names, count, order=order, seed=order)
        case = Case(model, function, order, at["q"], at["v_derivatives"])
        fits = slice(fitting(case.call, count, BATCH_BYTES).count)
        return Case(model, function, order, case.q[fits], case.v_derivatives[fits])

    @cached_property
    def call(self) -> Call:
        """The function at these states."""
        q, v = self.q, self.v_derivatives
        at, options = {"q": q, "v_derivatives": v}, dict[str, Any]()
        if self.function in ("forward", "hybrid"):
            tau = dtau.inverse_dynamics_time_derivatives(self.model, q, v)
            at = {"q": q, "v": v[:, 0].copy(), "tau_derivatives": tau}
        if self.function == "hybrid":
            at["a_derivatives"] = v[:, 1:].copy()
            options = {"prescribed": prescribed(self.model)}
        elif self.function not in DYNAMICS:
            options = {"order": self.order}
        return Call(FUNCTIONS[self.function], self.model, at, options)

    def check(self) -> Array:
        """Compare what can be compared without another program; return the (first) result."""
        results = same_bits(self.call, self.label, 1)
        if self.function == "inverse":
            self._check_first_orders(results[0])
        elif self.function in DYNAMICS:
            tau = self.call.arrays["tau_derivatives"] if len(results) == 1 else results[1]
            self.check_residual(results[0], tau)
            if self.function == "hybrid":
                self._check_given(*results)
        else:
            self._check_closed_form(results[0])
        return results[0]

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
        mask, x = self.call.options["prescribed"], self.call.arrays
        for got, want, where in ((a, x["a_derivatives"], mask), (tau, x["tau_derivatives"], ~mask)):
            if not np.array_equal(got[..., where], want[..., where]):
                raise WrongResultError(f"{self.label}: what was given came out as other bits")

    def _check_closed_form(self, term: Array) -> None:
        """Tau = M a + h and h = C v + g, differentiated, with the other terms of the first states.

        [HO-FBS] eq. 11.
        """
        count = min(2, len(term))
        q, v = self.q[:count], self.v_derivatives[:count]
        terms = {
            name: getattr(dtau, FUNCTIONS[name])(self.model, q, v, order=self.order)
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
