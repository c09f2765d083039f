"""The configuration manifold in CasADi's own scalars: `integrate`, `difference`, `tangent_map`.

Quaternions are normalized first, so that derivatives by the nq numbers of q are derivatives of
f(normalize(q)). Terms that are 0/0 at zero displacement use their series there, so that derivatives
of every order are right. [Sola]; joint by joint, as `dtau.functions.manifold`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import comb, factorial
from typing import Any

import casadi as ca

from dtau.model.joints import Free, Planar, Spherical
from dtau.model.links import Joint
from dtau.model.model import Model
from dtau.model.rotations import rotation_rows

_QUARTER = ca.DM([[0.0, -1.0], [1.0, 0.0]])  # a quarter of a turn
_TERMS = 12  # of series: 1e-17 with two derivatives, up to the thresholds below


def non_mimic_joints(model: Model) -> list[Joint]:
    """List the joints that have coordinates of their own."""
    return [joint for joint in model.joints if joint.mimic is None]


def rotation(x: Any) -> Any:
    """Return the rotation matrix of a unit quaternion (x, y, z, w)."""
    return ca.vertcat(*(ca.horzcat(*row) for row in rotation_rows(ca.vertsplit(x))))


def unit(x: Any) -> Any:
    """Scale a quaternion to unit norm."""
    return x / ca.sqrt(ca.sumsqr(x))


def normalize(model: Model) -> Any:
    """Make the function q -> q with quaternions of unit norm."""
    q = ca.SX.sym("q", model.nq)
    parts = []
    for joint in non_mimic_joints(model):
        x = q[joint.q]
        if isinstance(joint.type, Free):
            x = ca.vertcat(x[:3], unit(x[3:]))
        elif isinstance(joint.type, Spherical):
            x = unit(x)
        parts.append(x)
    return ca.Function("normalize", [q], [ca.vertcat(*parts)], ["q"], ["normalized"])


def integrate(model: Model) -> Any:
    """Make the function (q, dq) -> q (+) dq."""
    q, dq = ca.SX.sym("q", model.nq), ca.SX.sym("dq", model.nv)
    parts = [_moved(joint, q[joint.q], dq[joint.v]) for joint in non_mimic_joints(model)]
    return ca.Function("integrate", [q, dq], [ca.vertcat(*parts)], ["q", "dq"], ["q_next"])


def difference(model: Model) -> Any:
    """Make the function (q0, q1) -> dq with q0 (+) dq = q1."""
    q0, q1 = ca.SX.sym("q0", model.nq), ca.SX.sym("q1", model.nq)
    parts = [_displacement(joint, q0[joint.q], q1[joint.q]) for joint in non_mimic_joints(model)]
    return ca.Function("difference", [q0, q1], [ca.vertcat(*parts)], ["q0", "q1"], ["dq"])


def tangent_map(model: Model) -> Any:
    """Make the function q -> from_tangent (nq, nv), to_tangent (nv, nq)."""
    q = ca.SX.sym("q", model.nq)
    blocks = [_tangent_blocks(joint, q[joint.q]) for joint in non_mimic_joints(model)]
    results = [ca.densify(ca.diagcat(*each)) for each in zip(*blocks, strict=True)]
    return ca.Function("tangent_map", [q], results, ["q"], ["from_tangent", "to_tangent"])


def _tangent_blocks(joint: Joint, x: Any) -> tuple[Any, Any]:
    """Return the blocks from velocities to rates of coordinates, and back."""
    if isinstance(joint.type, Spherical):
        x = unit(x)
        u, w = x[:3], x[3]
        to = 2.0 * ca.horzcat(w * ca.SX.eye(3) - ca.skew(u), -u)
        return to.T / 4.0, to
    if isinstance(joint.type, Planar):
        turn = _turn(x[2])
        return ca.diagcat(turn, 1.0), ca.diagcat(turn.T, 1.0)
    if isinstance(joint.type, Free):
        y = unit(x[3:])
        turn = rotation(y)
        u, w = y[:3], y[3]
        to = 2.0 * ca.horzcat(w * ca.SX.eye(3) - ca.skew(u), -u)
        return ca.diagcat(turn, to.T / 4.0), ca.diagcat(turn.T, to)
    return ca.SX.eye(joint.type.nq), ca.SX.eye(joint.type.nq)


def _turn(angle: Any) -> Any:
    c, s = ca.cos(angle), ca.sin(angle)
    return ca.vertcat(ca.horzcat(c, -s), ca.horzcat(s, c))


def _moved(joint: Joint, x: Any, dx: Any) -> Any:
    if isinstance(joint.type, Spherical):
        return _quaternion_product(unit(x), _exponential(dx))
    if isinstance(joint.type, Planar):
        s = dx[2] ** 2
        along = _sinc(s) * ca.SX.eye(2) + dx[2] * _half_cosine(s) * _QUARTER
        return ca.vertcat(x[:2] + ca.mtimes([_turn(x[2]), along, dx[:2]]), x[2] + dx[2])
    if isinstance(joint.type, Free):
        u, w = dx[:3], dx[3:]
        s = ca.sumsqr(w)
        wu = ca.cross(w, u)
        moved = u + _half_cosine(s) * wu + _cubic_sine(s) * ca.cross(w, wu)
        y = unit(x[3:])
        return ca.vertcat(
            x[:3] + ca.mtimes(rotation(y), moved), _quaternion_product(y, _exponential(w))
        )
    return x + dx


def _displacement(joint: Joint, x0: Any, x1: Any) -> Any:
    if isinstance(joint.type, Spherical):
        return _logarithm(unit(x0), unit(x1))
    if isinstance(joint.type, Planar):
        turn = x1[2] - x0[2]
        angle = ca.atan2(ca.sin(turn), ca.cos(turn))
        s = angle**2
        inverse = (1.0 - s * _half_cotangent(s)) * ca.SX.eye(2) - angle / 2.0 * _QUARTER
        return ca.vertcat(ca.mtimes([inverse, _turn(x0[2]).T, x1[:2] - x0[:2]]), angle)
    if isinstance(joint.type, Free):
        y0, y1 = unit(x0[3:]), unit(x1[3:])
        w = _logarithm(y0, y1)
        p = ca.mtimes(rotation(y0).T, x1[:3] - x0[:3])
        wp = ca.cross(w, p)
        return ca.vertcat(p - wp / 2.0 + _half_cotangent(ca.sumsqr(w)) * ca.cross(w, wp), w)
    return x1 - x0


def _quaternion_product(x: Any, y: Any) -> Any:
    u, v = x[:3], y[:3]
    return ca.vertcat(x[3] * v + y[3] * u + ca.cross(u, v), x[3] * y[3] - ca.dot(u, v))


def _exponential(w: Any) -> Any:
    """Return the quaternion of a rotation vector."""
    s = ca.sumsqr(w) / 4.0
    return ca.vertcat(_sinc(s) / 2.0 * w, _cosine(s))


def _logarithm(x0: Any, x1: Any) -> Any:
    """Return the rotation vector of the shortest rotation between unit quaternions."""
    y = _quaternion_product(ca.vertcat(-x0[:3], x0[3]), x1)
    y = ca.if_else(y[3] < 0.0, -1.0, 1.0) * y
    s, w = ca.sumsqr(y[:3]), y[3]
    arcsine = [Fraction(comb(2 * k, k), 4**k * (2 * k + 1)) for k in range(_TERMS)]
    return 2.0 * y[:3] * _even(s, 0.03, arcsine, lambda t: ca.atan2(t, w) / t)


# ------------------------------------------------------- even functions of an angle t, s = t^2


def _even(s: Any, near: float, series: Sequence[Fraction], closed: Callable[[Any], Any]) -> Any:
    """Evaluate the series near 0, and elsewhere the closed form, which is not finite at 0."""
    total: Any = 0.0
    for coefficient in reversed(series):
        total = total * s + float(coefficient)
    is_near = s < near
    return ca.if_else(is_near, total, closed(ca.sqrt(ca.if_else(is_near, 1.0, s))))


def _factorials(first: int) -> list[Fraction]:
    return [Fraction((-1) ** k, factorial(2 * k + first)) for k in range(_TERMS)]


def _cosine(s: Any) -> Any:
    return _even(s, 0.25, _factorials(0), ca.cos)


def _sinc(s: Any) -> Any:
    """Sine: sin t / t."""
    return _even(s, 0.25, _factorials(1), lambda t: ca.sin(t) / t)


def _half_cosine(s: Any) -> Any:
    """(1 - cos t) / t^2."""
    return _sinc(s / 4.0) ** 2 / 2.0


def _cubic_sine(s: Any) -> Any:
    """(t - sin t) / t^3."""
    return _even(s, 0.25, _factorials(3), lambda t: (t - ca.sin(t)) / t**3)


def _half_cotangent(s: Any) -> Any:
    """(1 - t/2 cot(t/2)) / t^2."""
    numbers = [Fraction(1)]  # Bernoulli numbers
    for m in range(1, 2 * _TERMS + 1):
        numbers.append(-sum(comb(m + 1, k) * numbers[k] for k in range(m)) / Fraction(m + 1))
    series = [abs(numbers[2 * k + 2]) / factorial(2 * k + 2) for k in range(_TERMS)]
    return _even(
        s, 0.25, series, lambda t: (1.0 - t / 2.0 * ca.cos(t / 2.0) / ca.sin(t / 2.0)) / t**2
    )
