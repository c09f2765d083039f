"""Regressors of energies and momentum: they are linear in the inertial parameters of the bodies.

    kinetic energy = Y_T pi      potential energy = Y_U pi      momentum = Y_p pi

pi is ``model.parameters.ravel()``; the energy of the joints' rotors (armature) is apart. The
regressors need only the kinematics. Over time they identify parameters without accelerations: the
power of the torques is the rate of the energy.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dtau.docstrings import documented
from dtau.functions.frames import forward_kinematics, frame_velocities
from dtau.model.model import Model
from dtau.model.rotations import skew
from dtau.support.arrays import Array
from dtau.support.checks import require_memory


@documented
def kinetic_energy_regressor(
    model: Model, q: ArrayLike, v: ArrayLike, *, threads: int | None = None
) -> Array:
    """Regressor of the kinetic energy: its derivative by inertial parameters.

        T = Y(q, v) pi    without the energy of the joints' rotors

    Parameters
    ----------
    model
        ... Its inertias and armature are not read.

    Returns
    -------
    Y : ndarray (..., 10 nbodies)
        Columns ``10 i`` to ``10 i + 9`` belong to body i, in the order of `Model.parameters`.

    Notes
    -----
    With the twist [u, w] of a body along its axes: T = m u . u / 2 + m c . (u x w) + w . I w / 2,
    [Derivations] eq. 15.9 about the body's origin; O(N).

    Examples
    --------
    >>> energy = dtau.kinetic_energy_regressor(model, q, v) @ model.parameters.ravel()
    >>> rotors = 0.5 * model.armature @ v**2
    >>> bool(np.isclose(energy + rotors, dtau.kinetic_energy(model, q, v)))
    True
    """
    linear, angular = _twists(model, q, v, threads)
    _require_memory(linear, 60)
    rows = np.empty((*linear.shape[:-1], 10))
    rows[..., 0] = 0.5 * (linear * linear).sum(axis=-1)
    rows[..., 1:4] = np.cross(linear, angular)
    rows[..., 4:] = 0.5 * np.einsum("...k,...kj->...j", angular, _rotation_rows(angular))
    return rows.reshape(*rows.shape[:-2], 10 * model.nbodies)


@documented
def potential_energy_regressor(model: Model, q: ArrayLike, *, threads: int | None = None) -> Array:
    """Regressor of the potential energy: its derivative by inertial parameters.

        U = Y(q) pi    without the energy of springs

    Parameters
    ----------
    model
        ... Its inertias are not read.

    Returns
    -------
    Y : ndarray (..., 10 nbodies)
        Columns ``10 i`` to ``10 i + 9`` belong to body i, in the order of `Model.parameters`; the
        last six are zero.

    Notes
    -----
    With the pose (R, p) of a body: U = -g . (m p + R m c), [Derivations] eq. 15.11; O(N).

    Examples
    --------
    >>> q, _, _ = dtau.random_state(model, np.random.default_rng(0))
    >>> energy = dtau.potential_energy_regressor(model, q) @ model.parameters.ravel()
    >>> bool(np.isclose(energy, dtau.potential_energy(model, q)))
    True
    """
    rotation, translation = forward_kinematics(model, q, threads=threads)
    _require_memory(translation, 20)
    rows = np.zeros((*translation.shape[:-1], 10))
    rows[..., 0] = -translation @ model.gravity
    rows[..., 1:4] = -np.einsum("...ji,j->...i", rotation, model.gravity)
    return rows.reshape(*rows.shape[:-2], 10 * model.nbodies)


@documented
def momentum_regressor(
    model: Model, q: ArrayLike, v: ArrayLike, *, threads: int | None = None
) -> Array:
    """Regressor of the momentum about the world's origin: its derivative by inertial parameters.

        h = Y(q, v) pi

    The momentum about the center of mass is not linear in the parameters: that point depends on
    them.

    Parameters
    ----------
    model
        ... Its inertias are not read.

    Returns
    -------
    Y : ndarray (..., 6, 10 nbodies)
        Rows are [linear, angular] along the world's axes, as in `dtau.momentum`. Columns ``10 i``
        to ``10 i + 9`` belong to body i, in the order of `Model.parameters`.

    Notes
    -----
    With the twist [u, w] of a body along its axes, its momentum about its origin is [m u + w x m c,
    m c x u + I w]; it is then carried to the world's origin, [Derivations] eq. 15.8. O(N).

    Examples
    --------
    >>> momentum = dtau.momentum_regressor(model, q, v) @ model.parameters.ravel()
    >>> bool(np.allclose(momentum, dtau.momentum(model, q, v)))
    True
    """
    linear, angular = _twists(model, q, v, threads)
    rotation, translation = forward_kinematics(model, q, threads=threads)
    _require_memory(linear, 300)
    own = np.zeros((*linear.shape[:-1], 6, 10))  # along the body's axes, at its origin
    own[..., :3, 0] = linear
    own[..., :3, 1:4] = skew(angular)
    own[..., 3:, 1:4] = -skew(linear)
    own[..., 3:, 4:] = _rotation_rows(angular)
    rows = np.empty(np.broadcast_shapes(own.shape, (*translation.shape[:-1], 6, 10)))
    rows[..., :3, :] = rotation @ own[..., :3, :]
    rows[..., 3:, :] = rotation @ own[..., 3:, :] + skew(translation) @ rows[..., :3, :]
    return np.moveaxis(rows, -3, -2).reshape(*rows.shape[:-3], 6, 10 * model.nbodies)


def _twists(model: Model, q: ArrayLike, v: ArrayLike, threads: int | None) -> tuple[Array, Array]:
    """Return the linear and angular velocities of all bodies along their axes."""
    twists = frame_velocities(model, q, v, model.bodies, "body", threads=threads)
    return twists[..., :3], twists[..., 3:]


def _require_memory(vectors: Array, numbers: int) -> None:
    """Raise MemoryError unless there is memory for so many numbers a body; it has one vector."""
    require_memory("the regressors of a batch", numbers * vectors.size / 3)


def _rotation_rows(w: Array) -> Array:
    """Return the matrices ``(..., 3, 6)`` that take I_xx, I_xy, I_yy, I_xz, I_yz, I_zz to I w."""
    rows = np.zeros((*w.shape[:-1], 3, 6))
    for column, (i, j) in enumerate(((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))):
        rows[..., i, column] = w[..., j]
        rows[..., j, column] = w[..., i]
    return rows
