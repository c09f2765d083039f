"""Conversions of whole stacks of time derivatives: of velocities and of joint torques.

With v' = A(q) v of `dtau.conventions.twists`, C(k, m) the binomials and (R, p) the pose of a root's
body in the world, whose twist is (v, w) in body axes, linear first:

    v'^(k) = sum C(k, m) A^(m) v^(k-m)              tau^(k) = sum C(k, m) (A^(m))^T tau'^(k-m)
    R^(k+1) = sum C(k, m) R^(k-m) [w^(m)]x          p^(k+1) = sum C(k, m) R^(k-m) v^(m)

A^(k) needs v up to its derivative of order k - 1 only, so that the first line can be solved order
by order, for v^(k) and for tau'^(k), with A of order 0. With A the adjoint of the pose
(`spatial_twist`) its derivatives are those that [HO-FBS] has.
"""

from __future__ import annotations

from math import comb

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtau.checks import real_numbers
from dtau.conventions.maps import Maps
from dtau.conventions.twists import TwistMap, skew

Array = NDArray[np.float64]

_quiet = np.errstate(invalid="ignore", over="ignore", divide="ignore")  # for states with NaN


class StackMaps(Maps):
    """The maps of stacks of time derivatives between dtau and a convention."""

    @_quiet
    def time_derivatives_from_dtau(self, q: ArrayLike, v_derivatives: ArrayLike) -> Array:
        """Convert the velocity and its time derivatives from dtau's to this convention.

        Parameters
        ----------
        q : array_like (..., model.nq)
            Configuration, in dtau's convention.
        v_derivatives : array_like (..., rows, nv)
            The velocity and its time derivatives of order 1 to rows - 1 in dtau's convention,
            component by component: what `dtau.inverse_dynamics_time_derivatives` takes.

        Returns
        -------
        ndarray (..., rows, nv)
            The same of the velocity in this convention. Rows 0 and 1 are ``v`` and ``a`` of
            `from_dtau`.

        Raises
        ------
        ValueError
            If a shape does not fit, there is no row, or a quaternion is further than 1e-6 from
            unit norm.
        TypeError
            If an array is complex or holds objects.

        Examples
        --------
        >>> import dtau, numpy as np
        >>> model = dtau.robots.quadruped()
        >>> q, v, a = dtau.random_state(model, np.random.default_rng(0))
        >>> spatial = dtau.conventions.spatial_twist(model)
        >>> stack = spatial.time_derivatives_from_dtau(q, [v, a, np.zeros(model.nv)])
        >>> stack.shape
        (3, 18)
        >>> bool(np.allclose(stack[1], spatial.from_dtau(q, v, a).a))
        True
        """
        rows = self._rows("v_derivatives", v_derivatives)
        q, (v,) = self._read(q, True, v_derivatives=(v_derivatives, (rows, self.nv)))
        series = _Series(self._twists, q)
        twist, out = self._twists.take(v), v.copy()
        for k in range(rows):
            self._twists.put(out[..., k, :], series.product(k, twist))
            series.extend(twist, k)
        return out[..., self._order]

    @_quiet
    def time_derivatives_to_dtau(self, q: ArrayLike, v_derivatives: ArrayLike) -> Array:
        """Convert the velocity and its time derivatives from this convention to dtau's.

        Parameters
        ----------
        q : array_like (..., nq)
            Configuration, in this convention.
        v_derivatives : array_like (..., rows, nv)
            The velocity and its time derivatives in this convention, component by component.

        Returns
        -------
        ndarray (..., rows, nv)
            What `dtau.inverse_dynamics_time_derivatives` takes.

        Raises
        ------
        ValueError, TypeError
            As `time_derivatives_from_dtau`.

        Examples
        --------
        >>> import dtau, numpy as np
        >>> model = dtau.robots.quadruped()
        >>> q, v, a = dtau.random_state(model, np.random.default_rng(0))
        >>> spatial = dtau.conventions.spatial_twist(model)
        >>> stack = spatial.time_derivatives_from_dtau(q, [v, a])
        >>> bool(np.allclose(spatial.time_derivatives_to_dtau(q, stack), [v, a]))
        True
        """
        rows = self._rows("v_derivatives", v_derivatives)
        q, (given,) = self._read(q, False, v_derivatives=(v_derivatives, (rows, self.nv)))
        out = given[..., self._places]
        self._solve_velocities(_Series(self._twists, q), out)
        return out

    @_quiet
    def torque_time_derivatives_from_dtau(
        self, q: ArrayLike, v_derivatives: ArrayLike, tau_derivatives: ArrayLike
    ) -> Array:
        """Convert joint torques and their time derivatives from dtau's to this convention.

        Parameters
        ----------
        q : array_like (..., model.nq)
            Configuration, in dtau's convention.
        v_derivatives : array_like (..., rows, nv)
            The velocity and its time derivatives, in dtau's convention: at least one row, and at
            most one fewer than the torques.
        tau_derivatives : array_like (..., r + 1, nv)
            The joint torque and its time derivatives of order 1 to r, in dtau's convention.

        Returns
        -------
        ndarray (..., r + 1, nv)
            The same of the torque in this convention, component by component.

        Raises
        ------
        ValueError, TypeError
            As `time_derivatives_from_dtau`; also if there are too few rows of the velocity.

        Examples
        --------
        >>> import dtau, numpy as np
        >>> model = dtau.robots.quadruped()
        >>> q, v, a = dtau.random_state(model, np.random.default_rng(0))
        >>> stack = [v, a, np.zeros(model.nv)]
        >>> tau = dtau.inverse_dynamics_time_derivatives(model, q, stack)
        >>> spatial = dtau.conventions.spatial_twist(model)
        >>> wrench = spatial.torque_time_derivatives_from_dtau(q, stack, tau)[:, :6]
        >>> bool(np.allclose(wrench[0], spatial.torque_from_dtau(q, tau[0])[:6]))
        True
        """
        q, v, tau = self._read_torques(q, v_derivatives, tau_derivatives, of_dtau=True)
        series = _Series(self._twists, q)
        twist = self._twists.take(v)
        for k in range(min(v.shape[-2], tau.shape[-2] - 1)):
            series.extend(twist, k)
        out = tau.copy()
        self._solve(np.swapaxes(series.inverse, -1, -2), series.transposed(), out)
        return out[..., self._order]

    @_quiet
    def torque_time_derivatives_to_dtau(
        self, q: ArrayLike, v_derivatives: ArrayLike, tau_derivatives: ArrayLike
    ) -> Array:
        """Convert joint torques and their time derivatives from this convention to dtau's.

        Parameters
        ----------
        q : array_like (..., nq)
            Configuration, in this convention.
        v_derivatives : array_like (..., rows, nv)
            The velocity and its time derivatives, in this convention: at least one row, and at
            most one fewer than the torques. Forward dynamics, where they are not known yet, takes
            an order at a time: docs/conventions.md shows how.
        tau_derivatives : array_like (..., r + 1, nv)
            The joint torque and its time derivatives of order 1 to r, in this convention.

        Returns
        -------
        ndarray (..., r + 1, nv)
            What `dtau.forward_dynamics_time_derivatives` takes.

        Raises
        ------
        ValueError, TypeError
            As `torque_time_derivatives_from_dtau`.

        Examples
        --------
        >>> import dtau, numpy as np
        >>> model = dtau.robots.quadruped()
        >>> q, v, a = dtau.random_state(model, np.random.default_rng(0))
        >>> order = dtau.conventions.angular_first(model)
        >>> order.torque_time_derivatives_to_dtau(q, [v, a], np.eye(2, 18))[:, 3:6]
        array([[1., 0., 0.],
               [0., 1., 0.]])
        """
        q, v, tau = self._read_torques(q, v_derivatives, tau_derivatives, of_dtau=False)
        series = _Series(self._twists, q)
        self._solve_velocities(series, v[..., : tau.shape[-2] - 1, self._places])
        given = tau[..., self._places]
        force, out, transposed = self._twists.take(given), given.copy(), series.transposed()
        for k in range(tau.shape[-2]):
            self._twists.put(out[..., k, :], _leibniz(transposed, force, k))
        return out

    def _rows(self, argument: str, value: ArrayLike, least: int = 1) -> int:
        """Return the length of a stack, of which there have to be so many rows."""
        shape = real_numbers(argument, value).shape
        if len(shape) < 2 or shape[-2] < least:
            raise ValueError(
                f"{argument} has shape {shape}, "
                f"expected (..., rows, {self.nv}) with rows at least {least}"
            )
        return int(shape[-2])

    def _read_torques(
        self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, of_dtau: bool
    ) -> tuple[Array, Array, Array]:
        orders = self._rows("tau_derivatives", tau)
        rows = self._rows("v_derivatives", v, max(1, orders - 1))
        stacks = {
            "v_derivatives": (v, (rows, self.nv)),
            "tau_derivatives": (tau, (orders, self.nv)),
        }
        q, (v, tau) = self._read(q, of_dtau, **stacks)
        return q, v, tau

    def _solve_velocities(self, series: _Series, stack: Array) -> None:
        """Turn v', v'', ... into v, v', ... in place, and extend the series along them."""
        for k in range(stack.shape[-2]):
            twist = self._twists.take(stack)
            known = series.product(k, twist, start=1)
            rest = (twist[..., k, :, :] - known)[..., np.newaxis]
            self._twists.put(stack[..., k, :], (series.inverse @ rest)[..., 0])
            series.extend(self._twists.take(stack), k)

    def _solve(self, inverse: Array, maps: list[Array], stack: Array) -> None:
        """Solve sum C(k, m) maps[m] x^(k-m) = stack^(k) for x, in place."""
        for k in range(stack.shape[-2]):
            parts = self._twists.take(stack)
            rest = (parts[..., k, :, :] - _leibniz(maps, parts, k, start=1))[..., np.newaxis]
            self._twists.put(stack[..., k, :], (inverse @ rest)[..., 0])


class _Series:
    """A(q) of the roots along a trajectory: its time derivatives, one order at a time."""

    def __init__(self, twists: TwistMap, q: Array) -> None:
        self._twists = twists
        rotation, translation = twists.poses(q)
        self._rotation, self._translation = [rotation], [translation]
        forward, self.inverse = twists.matrices(q)
        self.maps = [forward]

    def extend(self, twist: Array, k: int) -> None:
        """Add the order k + 1; `twist`: stacks ``(..., rows, nroots, 6)``, known up to order k."""
        r, p = self._rotation, self._translation
        later = range(k + 1)
        turning = skew(twist[..., 3:])
        rotation = sum(comb(k, m) * (r[k - m] @ turning[..., m, :, :, :]) for m in later)
        moving = twist[..., :3, np.newaxis]
        velocity = sum(comb(k, m) * (r[k - m] @ moving[..., m, :, :, :]) for m in later)
        r.append(np.asarray(rotation))
        p.append(np.asarray(velocity)[..., 0])
        moved = sum(comb(k + 1, m) * (skew(p[m]) @ r[k + 1 - m]) for m in range(k + 2))
        self.maps.append(self._twists.blocks(r[-1], np.asarray(moved), np.zeros((3, 3))))

    def product(self, k: int, stack: Array, start: int = 0) -> Array:
        """The k-th derivative of A times a stack ``(..., rows, nroots, 6)``."""
        return _leibniz(self.maps, stack, k, start)

    def transposed(self) -> list[Array]:
        """A^T and its derivatives."""
        return [np.swapaxes(blocks, -1, -2) for blocks in self.maps]


def _leibniz(maps: list[Array], stack: Array, k: int, start: int = 0) -> Array:
    """Sum of C(k, m) maps[m] stack^(k-m) over m from `start` to k."""
    total = np.zeros_like(stack[..., k, :, :])
    for m in range(start, k + 1):
        total += comb(k, m) * (maps[m] @ stack[..., k - m, :, :, np.newaxis])[..., 0]
    return total
