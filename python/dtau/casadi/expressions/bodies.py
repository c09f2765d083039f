"""Center of mass and momentum in CasADi's own scalars.

The expression is one forward pass from the root to the tips. CasADi differentiates it, to any
order, and knows its sparsity.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np

from dtau.autodiff.common_translation import common_translation
from dtau.casadi.expressions.manifold import rotation, unit
from dtau.model.joints import Free, Planar, Spherical, Universal
from dtau.model.model import Model
from dtau.model.rotations import plane_axes


def _constant(values: Any) -> Any:
    return ca.sparsify(ca.DM(np.asarray(values, dtype=np.float64)))


def _about(axis: Any, angle: Any) -> Any:
    """Return the rotation about a fixed unit axis."""
    k = np.asarray(axis)
    c = ca.cos(angle)
    sides = np.eye(3) - np.outer(k, k)
    return _constant(np.outer(k, k)) + c * _constant(sides) + ca.sin(angle) * ca.skew(_constant(k))


def _motion(joint: Any, q: Any) -> tuple[Any, Any, Any]:
    """Return rotation and translation of a joint, and its motion subspace in body axes."""
    kind = joint.type
    if isinstance(kind, Universal):
        first = ca.mtimes(_about(kind.axis2, -q[1]), _constant(kind.axis1))
        subspace = ca.vertcat(
            ca.SX.zeros(3, 2), ca.horzcat(ca.densify(first), ca.densify(_constant(kind.axis2)))
        )
        return ca.mtimes(_about(kind.axis1, q[0]), _about(kind.axis2, q[1])), ca.SX(3, 1), subspace
    subspace = _constant(kind.motion_subspace())
    if isinstance(kind, Free):
        return rotation(unit(q[3:])), q[:3], subspace
    if isinstance(kind, Spherical):
        return rotation(unit(q)), ca.SX(3, 1), subspace
    if isinstance(kind, Planar):
        x, y = plane_axes(kind.normal)
        return _about(kind.normal, q[2]), _constant(x) * q[0] + _constant(y) * q[1], subspace
    # Joints about or along one axis: S q gives the rotation and the translation.
    displacement = ca.mtimes(subspace, q)
    turn = ca.dot(_constant(kind.axis), displacement[3:])
    turns = bool(np.any(kind.motion_subspace()[3:]))
    return _about(kind.axis, turn) if turns else ca.SX.eye(3), displacement[:3], subspace


class Kinematics:
    """Kinematics of the bodies for symbols of q and v: poses in their parents, twists in body axes.

    With `near`, positions are relative to a common translation, so that results that do not depend
    on it lose no digits far away.
    """

    def __init__(self, model: Model, *, near: bool = False) -> None:
        self.model = model
        self.q, self.v = ca.SX.sym("q", model.nq), ca.SX.sym("v", model.nv)
        at = ca.SX(self.q)
        if near:
            moved, by = common_translation(model)
            at[moved.tolist()] -= self.q[by.tolist()]
        self.carried: list[tuple[Any, Any]] = []  # poses of bodies in their parents
        self.twists: list[tuple[Any, Any]] = []
        for joint in model.joints:
            q, v = at[joint.q], self.v[joint.v]
            if joint.mimic:
                q, v = joint.mimic.multiplier * q + joint.mimic.offset, joint.mimic.multiplier * v
            turn, p, subspace = _motion(joint, q)
            fixed = _constant(joint.placement.rotation)
            p = _constant(joint.placement.translation) + ca.mtimes(fixed, p)
            turn = ca.mtimes(fixed, turn)
            own = ca.mtimes(subspace, v)
            u, w = own[:3], own[3:]
            self.carried.append((turn, p))
            if joint.parent >= 0:
                u_parent, w_parent = self.twists[joint.parent]
                u = u + ca.mtimes(turn.T, u_parent + ca.cross(w_parent, p))
                w = w + ca.mtimes(turn.T, w_parent)
            self.twists.append((u, w))

    def whole(self) -> tuple[Any, Any, Any]:
        """Return mass times center of mass, momentum and angular momentum about the origin."""
        moments, linears, angulars, masses = [], [], [], []
        for (u, w), inertia in zip(self.twists, self.model.inertias, strict=True):
            moment, mass = inertia.mass * np.asarray(inertia.com), inertia.mass
            c = _constant(inertia.com)
            about_origin = inertia.tensor - mass * np.array(ca.skew(c) @ ca.skew(c))
            moments.append(_constant(moment))
            linears.append(mass * u + ca.cross(w, _constant(moment)))
            angulars.append(_constant(about_origin) @ w + ca.cross(_constant(moment), u))
            masses.append(mass)
        sums: tuple[Any, Any, Any] = (0.0, 0.0, 0.0)
        for joint in reversed(self.model.joints):  # from the tips to the root, along body axes
            (turn, p), k = self.carried[joint.body], joint.body
            moved = ca.mtimes(turn, linears[k])
            onto = (
                ca.mtimes(turn, moments[k]) + masses[k] * p,
                moved,
                ca.mtimes(turn, angulars[k]) + ca.cross(p, moved),
            )
            if joint.parent < 0:
                sums = (sums[0] + onto[0], sums[1] + onto[1], sums[2] + onto[2])
                continue
            for total, more in zip((moments, linears, angulars), onto, strict=True):
                total[joint.parent] = total[joint.parent] + more
            masses[joint.parent] += masses[k]
        return sums


def whole_body(model: Model, name: str) -> Any:
    """Make a function for the center of mass or for momentum."""
    k = Kinematics(model, near=name == "centroidal_momentum")
    moment, linear, angular = k.whole()
    com = moment / model.mass
    results: dict[str, Callable[[], Any]] = {
        "center_of_mass": lambda: com,
        "center_of_mass_velocity": lambda: linear / model.mass,
        "momentum": lambda: ca.vertcat(linear, angular),
        "centroidal_momentum": lambda: ca.vertcat(linear, angular - ca.cross(com, linear)),
    }
    given = {"q": k.q} if name == "center_of_mass" else {"q": k.q, "v": k.v}
    result = ca.densify(results[name]())
    return ca.Function(name, [*given.values()], [result], [*given], [name])
