"""Compose functions from a library's own operations, which the library differentiates.

The compositions call functions of the core whose Jacobians `blocks` has. Their values equal the
core's up to rounding: adapters take values from the core, and derivatives from here. Each returns a
tuple of results.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from dtau.autodiff import frames, manifold
from dtau.autodiff.blocks import for_each
from dtau.autodiff.common_translation import common_translation
from dtau.autodiff.library import Array, At
from dtau.autodiff.rows import PARAMETERS
from dtau.autodiff.vectors import cross

Results = tuple[Array, ...]
Composition = Callable[[At], Results]

# ------------------------------------------------------------------ frames


def _placements(x: At, frames: Any) -> Results:
    rotation, translation = x.call("frame_placements", x["q"], frames=frames)
    return rotation, translation


def _jacobians(x: At, frames: Any) -> Array:
    return x.call("frame_jacobians", x["q"], frames=frames, axes="body")[0]


def _along(x: At, motions: Array) -> Array:
    """Transform motions [linear, angular] (..., 6, n) of frames from body axes to ``axes``."""
    axes = x.options["axes"]
    if axes == "body":
        return motions
    rotation, translation = _placements(x, x.options["frames"])
    linear, angular = rotation @ motions[..., :3, :], rotation @ motions[..., 3:, :]
    if axes == "world":  # velocity of the body's point at the world's origin
        columns = x.xp.swapaxes(angular, -1, -2)
        moved = cross(x.xp, *_alike(x, translation[..., None, :], columns))
        linear = linear + x.xp.swapaxes(moved, -1, -2)
    return x.xp.concatenate((linear, angular), axis=-2)


def _alike(x: At, a: Array, b: Array) -> Results:
    shape = x.xp.broadcast_shapes(tuple(a.shape), tuple(b.shape))
    return x.xp.broadcast_to(a, shape), x.xp.broadcast_to(b, shape)


def frame_jacobians(x: At) -> Results:
    """Compose the Jacobians of frames from Jacobians in body axes."""
    return (_along(x, _jacobians(x, x.options["frames"])),)


def frame_velocities(x: At) -> Results:
    """Compose the twists of frames."""
    jacobians = _jacobians(x, x.options["frames"])
    v = x["v"] if isinstance(x.options["frames"], str) else x["v"][..., None, :]
    return (_along(x, jacobians @ v[..., None])[..., 0],)


def frame_accelerations(x: At) -> Results:
    """Compose the accelerations of frames: J a + dJ/dt v in body axes, turned to ``axes``."""
    jacobians = _jacobians(x, x.options["frames"])
    by_q = frames.frame_jacobians(x, "q")[0]
    v, a = x["v"], x["a"]
    if not isinstance(x.options["frames"], str):
        v, a = v[..., None, :], a[..., None, :]
    rates = (by_q @ v[..., None, :, None])[..., 0]
    acceleration = _along(x, jacobians @ a[..., None] + rates @ v[..., None])[..., 0]
    if x.options["kind"] == "spatial":
        return (acceleration,)
    twist = _along(x, jacobians @ v[..., None])[..., 0]
    turning = cross(x.xp, twist[..., 3:], twist[..., :3])
    linear, angular = _alike(x, acceleration[..., :3] + turning, acceleration[..., 3:])
    return (x.xp.concatenate((linear, angular), axis=-1),)


# ------------------------------------------------------------------ mass matrices


def _matrix(x: At, problem: str) -> Results:
    """Compose the Jacobian of a problem by its unknown: a symmetric matrix, by unit vectors."""
    x, units = x.weightless(), x.library.constant(np.eye(x.model.nv))
    q, bodies = x["q"][..., None, :], for_each(x, PARAMETERS)
    return x.call(problem, q, x.zeros(), units, None, bodies)


def mass_matrix(x: At) -> Results:
    """Compose the mass matrix from torques of inverse dynamics."""
    return _matrix(x, "inverse_dynamics")


def mass_matrix_inverse(x: At) -> Results:
    """Compose the inverse of the mass matrix from accelerations of forward dynamics."""
    return _matrix(x, "forward_dynamics")


# ------------------------------------------------------------------ the whole body


def _bodies(x: At) -> tuple[Array, Array, Array, Array]:
    """Return the poses of the bodies, their masses and first moments in body axes."""
    rotation, translation = _placements(x, x.model.bodies)
    mass = np.array([inertia.mass for inertia in x.model.inertias])
    moment = np.array([inertia.mass * inertia.com for inertia in x.model.inertias])
    return rotation, translation, x.library.constant(mass), x.library.constant(moment)


def center_of_mass(x: At) -> Results:
    """Compose the center of mass from placements of the bodies."""
    rotation, translation, mass, moment = _bodies(x)
    total = x.xp.einsum("...bij,bj->...i", rotation, moment)
    total = total + x.xp.einsum("...bi,b->...i", translation, mass)
    return (total * (1.0 / x.model.mass),)


def momentum(x: At) -> Results:
    """Compose the momentum about the world's origin."""
    rotation, translation, _, _ = _bodies(x)
    inertia = x.library.constant(np.array([_spatial(i) for i in x.model.inertias]))
    jacobians = _jacobians(x, x.model.bodies)
    h = x.xp.einsum("bij,...bjk,...k->...bi", inertia, jacobians, x["v"])
    linear = x.xp.einsum("...bij,...bj->...bi", rotation, h[..., :3])
    angular = x.xp.einsum("...bij,...bj->...bi", rotation, h[..., 3:])
    angular = angular + cross(x.xp, *_alike(x, translation, linear))
    return (x.xp.concatenate((linear.sum(-2), angular.sum(-2)), axis=-1),)


def _spatial(inertia: Any) -> np.ndarray[Any, Any]:
    """Return the inertia [linear, angular] about the body's origin, (6, 6)."""
    c = np.array(
        [
            [0.0, -inertia.com[2], inertia.com[1]],
            [inertia.com[2], 0.0, -inertia.com[0]],
            [-inertia.com[1], inertia.com[0], 0.0],
        ]
    )
    m = inertia.mass
    return np.block([[m * np.eye(3), -m * c], [m * c, inertia.tensor - m * c @ c]])


def center_of_mass_velocity(x: At) -> Results:
    """Compose the velocity of the center of mass."""
    (h,) = momentum(x)
    return (h[..., :3] * (1.0 / x.model.mass),)


def _near(x: At) -> At:
    """Move the robots to the world's origin, so that no digits are lost far away."""
    moved, by = common_translation(x.model)
    if not moved.size:
        return x
    source, factor = np.arange(x.model.nq), np.zeros(x.model.nq)
    source[moved], factor[moved] = by, 1.0
    q = x["q"] - x.library.constant(factor) * x["q"][..., source]
    return dataclasses.replace(x, inputs={**x.inputs, "q": q})


def centroidal_momentum(x: At) -> Results:
    """Compose the momentum about the center of mass."""
    x = _near(x)
    (h,) = momentum(x)
    (center,) = center_of_mass(x)
    angular = h[..., 3:] - cross(x.xp, *_alike(x, center, h[..., :3]))
    return (x.xp.concatenate((h[..., :3], angular), axis=-1),)


def potential_energy_derivatives(x: At) -> Results:
    """Compose the derivative of the potential energy: the gravity torque, by numbers."""
    (torque,) = x.call("gravity_torque", x["q"])
    numbers = x.library.constant(np.eye(x.model.nq))
    return (manifold.pulled_back(x.xp, x.model, x["q"], torque, numbers),)


# ------------------------------------------------------------------ the manifold


def normalize(x: At) -> Results:
    """Compose the configuration with unit quaternions."""
    return (manifold.normalize(x.xp, x.model, x["q"]),)


def integrate(x: At) -> Results:
    """Compose the configuration q (+) dq."""
    return (manifold.integrate(x.xp, x.model, x["q"], x["dq"]),)


def difference(x: At) -> Results:
    """Compose the displacement from q0 to q1."""
    return (manifold.difference(x.xp, x.model, x["q0"], x["q1"]),)


def tangent_map(x: At) -> Results:
    """Compose both maps between the numbers of q and the tangent space."""
    v, q = x.library.constant(np.eye(x.model.nv)), x.library.constant(np.eye(x.model.nq))
    forth, back = manifold.from_tangent, manifold.to_tangent
    unit = manifold.normalize(x.xp, x.model, x["q"])  # else to_tangent has its inverse norm
    return (
        manifold.matrix(x.xp, x.model, unit, v, forth),
        manifold.matrix(x.xp, x.model, unit, q, back),
    )
