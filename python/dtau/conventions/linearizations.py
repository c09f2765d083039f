"""How a linearization changes with the form of velocities, v' = A(q) v.

With A called X here, a perturbation z = [xi, dv] becomes z' = T z: a displacement turns into X xi,
and v' varies by X (dv - W(v) xi), as W(v) xi is how v changes while v' stays. Hence

    T = (   X    0 )        A' = (T A + dT/dt) T^-1,   B' = T B,   in continuous time
        ( -X W   X )        A' = T+ A T^-1,            B' = T+ B,  over a step

with T+ at the state after the step, and with dX/dt = X Omega(v). Inputs, and the wrench of a free
root, stay along body axes. The kinematics of the perturbation of a free root become, in the axes of
each convention, with its own velocity (v, w) and displacement (p, r):

    body (dtau's)    dp/dt = dv - w x p - v x r     dr/dt = dw - w x r
    mixed            dp/dt = dv                     dr/dt = dw + w x r
    spatial          dp/dt = dv + w x p + v x r     dr/dt = dw + w x r
    MuJoCo           dp/dt = dv                     dr/dt = dw - w x r
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtau.checks import require
from dtau.conventions.maps import Maps
from dtau.conventions.twists import TwistMap
from dtau.results import DiscreteLinearization, Linearization

Array = NDArray[np.float64]


class StateMap(NamedTuple):
    """T at a state, its inverse and what it is made of; all (..., 2 nv, 2 nv) or (..., nv, nv)."""

    matrix: Array
    inverse: Array
    forward: Array  # X
    v_by_q: Array  # W(v)


def _state_map(twists: TwistMap, q: Array, v: Array) -> StateMap:
    nv = v.shape[-1]
    blocks, inverse_blocks = twists.matrices(q)
    forward = np.eye(nv) + twists.embedded(blocks - np.eye(6), nv)
    inverse = np.eye(nv) + twists.embedded(inverse_blocks - np.eye(6), nv)
    v_by_q = twists.embedded(twists.shift(v), nv)
    return StateMap(
        _lower(forward, -forward @ v_by_q), _lower(inverse, v_by_q @ inverse), forward, v_by_q
    )


def _lower(diagonal: Array, below: Array) -> Array:
    """Return the matrix (diagonal, 0; below, diagonal)."""
    return np.block([[diagonal, np.zeros_like(diagonal)], [below, diagonal]])


class LinearizationMaps(Maps):
    """The conversions of linearizations from dtau's convention to this one."""

    def linearization_from_dtau(
        self, q: ArrayLike, v: ArrayLike, lin: Linearization
    ) -> Linearization:
        """Convert a linearization in continuous time to this convention.

        Parameters
        ----------
        q : array_like (..., model.nq)
            Configuration, in dtau's convention.
        v : array_like (..., nv)
            Velocity there, in dtau's convention.
        lin : Linearization
            What `dtau.linearize` gives.

        Returns
        -------
        Linearization
            ``A`` and ``B`` for z = [displacement, variation of the velocity], both in this
            convention, and the acceleration ``a`` in it. Columns of ``B`` are the same inputs, in
            the same order; inputs, and the wrench of a free root, stay along body axes. See
            `dtau.conventions.linearizations` for the kinematics of the perturbation.

        Raises
        ------
        ValueError
            If a shape does not fit, or a quaternion is further than 1e-6 from unit norm.
        TypeError
            If ``lin`` is of another class, or an array is complex or holds objects.

        Examples
        --------
        The error of the base along world axes: its position only integrates its velocity.

        >>> import dtau, numpy as np
        >>> model = dtau.robots.quadruped()
        >>> q, v, tau = dtau.random_state(model, np.random.default_rng(0))
        >>> lin = dtau.linearize(model, q, v, tau)
        >>> mixed = dtau.conventions.mixed_twist(model).linearization_from_dtau(q, v, lin)
        >>> bool(np.allclose(mixed.A[:3], np.eye(3, 36, k=18)))
        True
        """
        require("lin", lin, Linearization)
        size, inputs = 2 * self.nv, np.shape(lin.B)[-1:]
        q, (v, by_z, by_u, a) = self._read(
            q,
            True,
            v=(v, (self.nv,)),
            **{
                "lin.A": (lin.A, (size, size)),
                "lin.B": (lin.B, (size, *inputs)),
                "lin.a": (lin.a, (self.nv,)),
            },
        )
        by = _state_map(self._twists, q, v)
        rate = by.forward @ self._twists.embedded(self._twists.turning(v), self.nv)
        a_by_q = self._twists.embedded(self._twists.shift(a), self.nv)
        map_rate = _lower(rate, -rate @ by.v_by_q - by.forward @ a_by_q)
        blocks, _ = self._twists.matrices(q)
        a = self._twists.apply(blocks, a + self._twists.rate(v))
        both = self._both
        return Linearization(
            ((by.matrix @ by_z + map_rate) @ by.inverse)[..., both[:, np.newaxis], both],
            (by.matrix @ by_u)[..., both, :],
            a[..., self._order],
        )

    def discrete_linearization_from_dtau(
        self, q: ArrayLike, v: ArrayLike, lin: DiscreteLinearization
    ) -> DiscreteLinearization:
        """Convert the linearization of a time step to this convention.

        Parameters
        ----------
        q, v
            The state before the step, as in `linearization_from_dtau`.
        lin : DiscreteLinearization
            What `dtau.linearize_discrete` gives.

        Returns
        -------
        DiscreteLinearization
            ``A`` and ``B``, and the state ``q``, ``v`` after the step, all in this convention.

        Raises
        ------
        ValueError, TypeError
            As `linearization_from_dtau`.

        Examples
        --------
        >>> import dtau, numpy as np
        >>> model = dtau.robots.quadruped()
        >>> q, v, tau = dtau.random_state(model, np.random.default_rng(0))
        >>> lin = dtau.linearize_discrete(model, q, v, tau, 0.01, "rk4")
        >>> spatial = dtau.conventions.spatial_twist(model)
        >>> spatial.discrete_linearization_from_dtau(q, v, lin).A.shape
        (36, 36)
        """
        require("lin", lin, DiscreteLinearization)
        size, inputs = 2 * self.nv, np.shape(lin.B)[-1:]
        q, (v, by_z, by_u, q_after, v_after) = self._read(
            q,
            True,
            v=(v, (self.nv,)),
            **{
                "lin.A": (lin.A, (size, size)),
                "lin.B": (lin.B, (size, *inputs)),
                "lin.q": (lin.q, (self.model.nq,)),
                "lin.v": (lin.v, (self.nv,)),
            },
        )
        before = _state_map(self._twists, q, v)
        after = _state_map(self._twists, q_after, v_after)
        blocks, _ = self._twists.matrices(q_after)
        both = self._both
        return DiscreteLinearization(
            (after.matrix @ by_z @ before.inverse)[..., both[:, np.newaxis], both],
            (after.matrix @ by_u)[..., both, :],
            self._coordinates.from_dtau(q_after),
            self._twists.apply(blocks, v_after)[..., self._order],
        )

    @property
    def _both(self) -> NDArray[np.intp]:
        """Index in dtau of each entry of z there."""
        return np.concatenate([self._order, self.nv + self._order])
