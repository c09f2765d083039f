"""Derivatives of forward dynamics by complex step in 80-bit numbers: `wide_partials`.

The articulated-body algorithm of [RBDA], table 7.1, in the coordinates of the bodies, with NumPy's
matrices: it shares no code with the package, and has 11 more bits. Rotations and axes of a model
are unit to rounding only, so they are made unit in the wider numbers first.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import dtau
from benchmarks.checks import Array, UnavailableError

STEP = 1e-30

Wide = NDArray[np.longdouble]
Complex = NDArray[np.clongdouble]  # vectors (columns, 6), matrices (columns, 6, 6)


def wide(x: Any) -> Wide:
    """The numbers in 80 bits; raise `UnavailableError` where long double has no more than 64."""
    if np.finfo(np.longdouble).nmant < 63:
        raise UnavailableError("long double has no more bits than float64 here")
    return np.asarray(x, np.longdouble)


def wide_partials(model: dtau.Model, q: Array | Wide, v: Array | Wide, tau: Array | Wide) -> Wide:
    """Derivatives of forward dynamics by q, v and tau at a state of revolute joints: (3, n, n)."""
    revolute = [x.type for x in model.joints if isinstance(x.type, dtau.Revolute) and not x.mimic]
    if len(revolute) < model.nbodies:
        raise ValueError("model: expected independent revolute joints only")
    if any(x.any() for x in (model.armature, model.damping, model.stiffness, model.friction)):
        raise ValueError("model: expected no armature, damping, springs or friction")
    state, n = [wide(x) for x in (q, v, tau)], model.nv
    found = []
    for moved in range(3):
        steps = [np.eye(n, dtype=np.longdouble) * (moved == k) for k in range(3)]
        found.append(_rates(model, [wide(joint.axis) for joint in revolute], state, steps))
    return np.stack(found)


def _rates(
    model: dtau.Model, turned_about: list[Wide], state: list[Wide], steps: list[Wide]
) -> Wide:
    """Rates of the accelerations along the columns of steps of q, v and tau."""
    q, i_step, count = state[0][:, None], 1j * wide(STEP), steps[0].shape[1]
    turn = i_step * steps[0]  # its square vanishes
    cos, sin = np.cos(q) - np.sin(q) * turn, np.sin(q) + np.cos(q) * turn
    v, tau = (x[:, None] + i_step * d for x, d in zip(state[1:], steps[1:], strict=True))
    parents = [joint.parent for joint in model.joints]
    transforms: list[Complex] = []
    axes: list[Wide] = []
    velocities: list[Complex] = []
    products: list[Complex] = []  # velocity-product accelerations
    inertias: list[Complex] = []
    forces: list[Complex] = []
    for i, (joint, body) in enumerate(zip(model.joints, model.inertias, strict=True)):
        axis = _unit(turned_about[i])
        axes.append(wide(np.concatenate([axis, 0 * axis])))
        turned = _orthogonal(wide(joint.placement.rotation)) @ _rotations(axis, cos[i], sin[i])
        transforms.append(_transforms(turned, wide(joint.placement.translation)))
        of_joint = v[i][:, None] * axes[i]
        carried = _times(transforms[i], velocities[parents[i]]) if parents[i] >= 0 else 0
        velocities.append(carried + of_joint)
        across = _crosses(velocities[i])
        products.append(_times(across, of_joint))
        inertias.append(_inertia(body) + np.zeros((count, 1, 1), np.clongdouble))
        momentum = _times(inertias[i], velocities[i])
        forces.append(-_times(np.swapaxes(across, 1, 2), momentum))
    columns = []  # U, d and u of each joint, the last one first
    for i in reversed(range(len(parents))):
        inertia, force = inertias.pop(), forces.pop()
        by_axis = inertia @ axes[i]
        d, u = by_axis @ axes[i], tau[i] - force @ axes[i]
        columns.append((by_axis, d, u))
        if parents[i] >= 0:
            share, back = by_axis / d[:, None], np.swapaxes(transforms[i], 1, 2)
            inertia = inertia - share[:, :, None] * by_axis[:, None, :]
            force = force + _times(inertia, products[i]) + share * u[:, None]
            inertias[parents[i]] += back @ inertia @ transforms[i]
            forces[parents[i]] += _times(back, force)
    world = np.concatenate([np.zeros(3), -model.gravity]) + np.zeros((count, 1), np.clongdouble)
    accelerations: list[Complex] = []
    rates = []
    for i, (by_axis, d, u) in enumerate(reversed(columns)):
        of_parent = accelerations[parents[i]] if parents[i] >= 0 else world
        a = _times(transforms[i], of_parent) + products[i]
        joint_a = (u - (by_axis * a).sum(1)) / d
        accelerations.append(a + joint_a[:, None] * axes[i])
        rates.append(joint_a.imag / STEP)
    return np.stack(rates)


def _unit(x: Wide) -> Wide:
    out: Wide = x / np.sqrt(x @ x)
    return out


def _orthogonal(x: Wide) -> Wide:
    """The rotation next to a matrix that is one to the rounding of float64."""
    for _ in range(2):
        x = x @ (3 * np.eye(3) - x.T @ x) / 2
    return x


def _rotations(axis: Wide, cos: Complex, sin: Complex) -> Complex:
    c, s = cos[:, None, None], sin[:, None, None]
    out: Complex = c * np.eye(3) + s * _hat(axis) + (1 - c) * axis[:, None] * axis
    return out


def _transforms(turned: Complex, place: Wide) -> Complex:
    """Motion transforms from a parent to bodies at a place of it, turned by rotations."""
    back = np.swapaxes(turned, 1, 2)
    out: Complex = _blocks(back, 0 * back, -back @ _hat(place), back)
    return out


def _inertia(body: dtau.Inertia) -> Wide:
    mass, hat = wide(body.mass), _hat(wide(body.com))
    about_origin = wide(body.tensor) + mass * hat @ hat.T
    out: Wide = _blocks(about_origin, mass * hat, mass * hat.T, mass * np.eye(3))
    return out


def _crosses(x: Complex) -> Complex:
    """The matrices of motion cross products, x cross."""
    angular, linear = _hat(x[:, :3]), _hat(x[:, 3:])
    out: Complex = _blocks(angular, 0 * angular, linear, angular)
    return out


def _hat(x: Any) -> Any:
    """The matrices of cross products, x cross, for vectors along the last axis."""
    a, b, c = np.moveaxis(x, -1, 0)
    zero = 0 * a
    rows = [np.stack(row, -1) for row in ([zero, -c, b], [c, zero, -a], [-b, a, zero])]
    return np.stack(rows, -2)


def _blocks(a: Any, b: Any, c: Any, d: Any) -> Any:
    return np.concatenate([np.concatenate([a, b], -1), np.concatenate([c, d], -1)], -2)


def _times(matrices: Complex, x: Complex) -> Complex:
    return (matrices @ x[:, :, None])[:, :, 0]
