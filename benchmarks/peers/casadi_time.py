"""Dynamics and their time derivatives by CasADi, in the two ways that one may go about it.

The expressions are those of `casadi_model` in x = [gravity in the base's axes, angles, v, a, jerk,
...], for forward dynamics [..., v, tau and its derivatives]. An order more is CasADi's directional
derivative along dx/dt. Repeated, that alone makes expressions that grow exponentially; with
common-subexpression elimination after every order they grow as the recursion itself does, and C
code of them, compiled, is the best that CasADi can do.
"""

from __future__ import annotations

from typing import Any

import casadi
import numpy as np

import dtau
from benchmarks.checks import Array
from benchmarks.peers.casadi_model import Expressions


class Derivatives:
    """Inverse or forward dynamics along a trajectory of a robot with a free root."""

    def __init__(self, model: dtau.Model, function: str, orders: int, *, eliminate: bool) -> None:
        self._eliminate, of = eliminate, Expressions(model)
        # v, a, jerk, ...; or v, tau and its derivatives
        more = [casadi.SX.sym(f"x{k}", model.nv) for k in range(orders + 1)]
        self._state, self._stack = [of.g, of.s], [of.v, *more]
        self._x = casadi.vertcat(*self._state, *self._stack)
        inverse = function == "inverse"
        value = of.inverse_dynamics if inverse else of.forward_dynamics
        self.outputs = [value(of.v, more[0])]
        if eliminate:
            self.outputs = casadi.cse(self.outputs)
        self._rate = casadi.vertcat(
            -casadi.cross(of.v[3:6], of.g),
            of.v[6:],
            more[0] if inverse else self.outputs[0],
            *more[1:],
            casadi.SX.zeros(model.nv),  # of what no expression holds yet
        )

    def differentiate(self) -> None:
        """Add an order."""
        self.outputs.append(casadi.jtimes(self.outputs[-1], self._x, self._rate))
        if self._eliminate:
            self.outputs = casadi.cse(self.outputs)

    def function(self) -> Any:
        """All orders so far, as a function of x without what only higher orders need."""
        x = casadi.vertcat(*self._state, *self._stack[: len(self.outputs) + 1])
        return casadi.Function("dynamics", [x], [casadi.vertcat(*self.outputs)])


def inputs(model: dtau.Model, q: Array, stack: Array) -> Array:
    """What the functions take, a row for each state; the stack as that of the expressions."""
    base = dtau.frame_placements(model, q, model.bodies[0]).rotation
    gravity = np.einsum("...ji,j->...i", base, model.gravity)
    return np.concatenate([gravity, q[:, 7:], stack.reshape(len(q), -1)], axis=1)
