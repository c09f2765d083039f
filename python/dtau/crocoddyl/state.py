"""The states of a model as crocoddyl's solvers use them, and their cost: `State`."""

from __future__ import annotations

from typing import Any

import crocoddyl
import numpy as np
from numpy.typing import ArrayLike

import dtau
from dtau.model.model import Model
from dtau.support.arrays import Array
from dtau.support.checks import real_array, require


class State(crocoddyl.StateAbstract):
    """States x = [q, v] in dtau's convention, on its manifold, for problems without Pinocchio.

    A displacement is ``[xi, dv]``: the tangent displacement of `dtau.integrate` and the change of
    the velocity. Costs of states (`ResidualModelState`) and controls are possible; costs of
    crocoddyl that read Pinocchio's data need a ``crocoddyl.StateMultibody`` instead, see `Robot`.

    Parameters
    ----------
    model : Model

    Attributes
    ----------
    model : Model

    Examples
    --------
    >>> import dtau, dtau.crocoddyl, numpy as np
    >>> state = dtau.crocoddyl.State(dtau.robots.quadruped())
    >>> state.nx, state.ndx
    (37, 36)
    >>> x, dx = state.rand(), 0.1 * np.ones(36)
    >>> bool(np.allclose(state.diff(x, state.integrate(x, dx)), dx))
    True
    """

    def __init__(self, model: Model) -> None:
        require("model", model, Model)
        crocoddyl.StateAbstract.__init__(self, model.nq + model.nv, 2 * model.nv)
        self.model = model
        self._random = np.random.default_rng(0)

    def zero(self) -> Array:
        """Return the neutral configuration at rest."""
        return np.concatenate([dtau.neutral(self.model), np.zeros(self.model.nv)])

    def rand(self) -> Array:
        """Return a random state."""
        q, v, _ = dtau.random_state(self.model, self._random)
        return np.concatenate([q, v])

    def diff(self, x0: Array, x1: Array) -> Array:
        """Return the displacement from ``x0`` to ``x1``."""
        n = self.model.nq
        return np.concatenate([dtau.difference(self.model, x0[:n], x1[:n]), x1[n:] - x0[n:]])

    def integrate(self, x: Array, dx: Array) -> Array:
        """Return the state at the displacement ``dx`` from ``x``."""
        n, nv = self.model.nq, self.model.nv
        return np.concatenate([dtau.integrate(self.model, x[:n], dx[:nv]), x[n:] + dx[nv:]])

    def Jdiff(self, x0: Array, x1: Array, firstsecond: Any = crocoddyl.Jcomponent.both) -> Any:  # noqa: N802
        """Return the Jacobians of `diff` by displacements of ``x0`` and of ``x1``, or one."""
        n = self.model.nq
        by_first, by_second = dtau.difference_jacobians(self.model, x0[:n], x1[:n])
        return self._chosen(by_first, -1.0, by_second, 1.0, firstsecond)

    def Jintegrate(self, x: Array, dx: Array, firstsecond: Any = crocoddyl.Jcomponent.both) -> Any:  # noqa: N802
        """Return the Jacobians of `integrate` by displacements of ``x`` and by ``dx``, or one."""
        by_first, by_second = self._integrate_jacobians(x, dx)
        return self._chosen(by_first, 1.0, by_second, 1.0, firstsecond)

    def JintegrateTransport(self, x: Array, dx: Array, Jin: Array, firstsecond: Any) -> Array:  # noqa: N802, N803
        """Return a Jacobian of `integrate` times ``Jin``."""
        by_first, by_second = self._integrate_jacobians(x, dx)
        chosen = by_first if firstsecond == crocoddyl.Jcomponent.first else by_second
        nv = self.model.nv
        return np.concatenate([chosen @ Jin[:nv], Jin[nv:]])

    def _integrate_jacobians(self, x: Array, dx: Array) -> Any:
        n, nv = self.model.nq, self.model.nv
        return dtau.integrate_jacobians(self.model, x[:n], dx[:nv])

    def _chosen(
        self, first: Array, first_v: float, second: Array, second_v: float, which: Any
    ) -> Any:
        """Return Jacobians by both displacements, with velocities' Jacobians, or one of them."""
        both = [self._with_velocities(first, first_v), self._with_velocities(second, second_v)]
        if which == crocoddyl.Jcomponent.both:
            return both
        return both[which == crocoddyl.Jcomponent.second]

    def _with_velocities(self, jacobian: Array, of_velocity: float) -> Array:
        nv = self.model.nv
        whole = np.zeros((2 * nv, 2 * nv))
        whole[:nv, :nv] = jacobian
        np.fill_diagonal(whole[nv:, nv:], of_velocity)
        return whole


class ResidualModelState(crocoddyl.ResidualModelAbstract):
    """The displacement of the state from a reference, with its exact Jacobian.

    crocoddyl's class of this name takes the Jacobian for the identity, unless the state is a
    ``crocoddyl.StateMultibody``. That is wrong for free, spherical and planar joints.

    Parameters
    ----------
    state : State
    xref : array_like (nx,)
        The reference.
    nu : int
        Number of controls.

    Attributes
    ----------
    reference : ndarray (nx,)

    Examples
    --------
    >>> import crocoddyl, dtau, dtau.crocoddyl
    >>> state = dtau.crocoddyl.State(dtau.robots.quadruped())
    >>> tracking = dtau.crocoddyl.ResidualModelState(state, state.zero(), 12)
    >>> costs = crocoddyl.CostModelSum(state, 12)
    >>> costs.addCost("posture", crocoddyl.CostModelResidual(state, tracking), 1.0)
    """

    def __init__(self, state: State, xref: ArrayLike, nu: int) -> None:
        require("state", state, State)
        crocoddyl.ResidualModelAbstract.__init__(self, state, state.ndx, nu, True, True, False)
        self.reference = real_array("xref", xref, (state.nx,))

    def calc(self, data: Any, x: Array, u: Array | None = None) -> None:
        """Compute the displacement."""
        data.r = self.state.diff(self.reference, x)

    def calcDiff(self, data: Any, x: Array, u: Array | None = None) -> None:  # noqa: N802
        """Compute its Jacobian."""
        data.Rx = self.state.Jdiff(self.reference, x, crocoddyl.Jcomponent.second)
