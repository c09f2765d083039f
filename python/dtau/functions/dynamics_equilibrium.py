"""Static equilibrium: inputs and contact forces that hold a robot still."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from dtau.docstrings import documented
from dtau.functions.constraints import require_contacts
from dtau.functions.frames import frame_jacobians, frame_placements, wrench_at_frame
from dtau.functions.terms import gravity_torque
from dtau.model.contact_kinds import AnyContact, Loop
from dtau.model.contacts import Contacts
from dtau.model.control_inputs import input_map
from dtau.model.model import Model
from dtau.model.motors import Motors
from dtau.results import Equilibrium
from dtau.support.arrays import Array
from dtau.support.blocks import blocks
from dtau.support.checks import common_batch, real_numbers, require, require_memory

# Residual allowed in an equilibrium, relative to the weight if there is any (moments: times 1 m).
_HELD = 1e-9
_RANK = 1e-12  # singular values below this, relative to the largest, count as zero


@documented
def equilibrium(
    model: Model,
    q: ArrayLike,
    *,
    inputs: ArrayLike | None = None,
    contacts: Contacts | None = None,
    active: ArrayLike | None = None,
) -> Equilibrium:
    """Static equilibrium: the inputs and contact forces of least norm that hold a configuration.

    Of all ``u`` and ``forces`` with ``B u + J^T forces = gravity torque``, the result has the least
    sum of squares, in SI units. If no solution exists, the result is the least-squares solution of
    least norm.

    Parameters
    ----------
    contacts : Contacts, optional
        Contacts, at which the world pushes the robot, and loops, whose forces hold the robot
        together. A `dtau.PointContact` gives a force, or one along its direction; a
        `dtau.FrameContact` a force and a moment.

    Returns
    -------
    Equilibrium
    u : ndarray (..., nu)
        Inputs.
    tau : ndarray (..., nv)
        Joint torque ``B @ u``; of `dtau.Motors` their torque at rest.
    f_ext : ndarray (..., nbodies, 6)
        Contact forces as external wrenches for the dynamics with ``f_ext_axes="body"``,
        the default: [force, moment] on each body in **its own axes** at its origin.
    residual : ndarray (..., nv)
        Gravity torque that inputs and forces do not balance.
    exists : ndarray of bool (...)
        Whether the residual is at most 1e-9 of the weight in every entry (of weight times 1 m
        for moments); without gravity, of the largest torque of springs and motors.

    Raises
    ------
    ValueError
        ... the batch axes of ``inputs`` or ``active`` do not fit, or ``active`` is given without
        contacts.

    Notes
    -----
    Pseudo-inverse of [B, J^T] by singular values; those below 1e-12 of the largest count as zero;
    O(nv^3). Forces may have any sign: nothing keeps a foot from pulling at the ground. The function
    does not check that contacts are at their placements and that loops are closed. A configuration
    or an input matrix that is not finite gives NaN, and ``exists`` is false.

    Derivatives of the dynamics by q hold ``f_ext`` constant along body axes. With ``contacts=``, as
    in `dtau.linearize`, the contact forces vary instead.

    Examples
    --------
    A quadruped that stands on its four feet, which are points:

    >>> q = dtau.neutral(model)
    >>> for leg in ("LF", "RF", "LH", "RH"):
    ...     q[model.joint(f"{leg}_HFE").q] = 0.6 if leg.endswith("F") else -0.6
    ...     q[model.joint(f"{leg}_KFE").q] = -1.2 if leg.endswith("F") else 1.2
    >>> feet = [dtau.PointContact(f"{leg}_FOOT", "mixed") for leg in ("LF", "RF", "LH", "RH")]
    >>> contacts = dtau.Contacts(model, feet)
    >>> hold = dtau.equilibrium(model, q, contacts=contacts)
    >>> bool(hold.exists), hold.u.shape, hold.forces.shape
    (True, (12,), (12,))
    >>> bool(np.isclose(hold.forces[2::3].sum(), 9.81 * model.mass))
    True
    >>> still = np.zeros(model.nv)
    >>> a = dtau.constrained_dynamics(model, q, still, hold.tau, contacts).a
    >>> bool(np.abs(a).max() < 1e-9)
    True

    In a trot two feet stand, which cannot hold all moments about their line; the forces come
    nearest to an equilibrium:

    >>> trot = dtau.equilibrium(model, q, contacts=contacts, active=[1, 0, 0, 1])
    >>> bool(trot.exists), trot.forces[3:9]
    (False, array([0., 0., 0., 0., 0., 0.]))

    Without contacts nothing balances the weight:

    >>> bool(dtau.equilibrium(model, q).exists)
    False
    """
    require("model", model, Model)
    if contacts is None:
        if active is not None:
            raise ValueError("active: goes with contacts=, which is not given")
        contacts = Contacts(model, ())
    require_contacts(model, contacts)
    holds = _holds(contacts, active)
    drive = input_map(model, inputs)
    gravity = gravity_torque(model, q)
    own: Array | float = 0.0  # torque without inputs
    if isinstance(inputs, Motors):
        own = inputs.torque(np.zeros(len(inputs)), q, np.zeros(model.nv))
    nv, nu = drive.shape[-2:]
    batch = common_batch(
        {"q": gravity.shape[:-1], "inputs": drive.shape[:-2], "active": holds.shape[:-1]}
    )
    # Memory for the matrix, its copy, three factors and the inverse; twice for the wrenches.
    numbers = 6 * nv * (nu + contacts.nrows) + 12 * model.nbodies
    require_memory("equilibrium", float(math.prod(batch)) * numbers)
    pushes = [
        (contacts.rows(contact.name), frame, push)
        for contact in contacts
        for frame, push in _pushes(model, contact, q)
    ]

    matrix = np.zeros((*batch, nv, nu + contacts.nrows))
    matrix[..., :nu] = drive
    for rows, frame, push in pushes:
        jacobian = frame_jacobians(model, q, frame, axes="mixed")
        matrix[..., nu:][..., rows] += np.swapaxes(jacobian, -1, -2) @ push
    matrix[..., nu:] *= holds[..., np.newaxis, :]
    x, residual = _least_norm(matrix, gravity - own)

    forces = x[..., nu:]
    forces[np.broadcast_to(holds == 0.0, forces.shape)] = 0.0  # without the rounding errors
    f_ext = np.zeros((*batch, model.nbodies, 6))
    for rows, frame, push in pushes:
        wrench = (push @ forces[..., rows, None])[..., 0]
        f_ext += wrench_at_frame(model, q, frame, wrench, axes="mixed")
    scale: Array | float = model.mass * float(np.linalg.norm(model.gravity))
    if scale == 0.0:  # springs and motors remain
        scale = np.abs(gravity - own).max(axis=-1)
    return Equilibrium(
        u=x[..., :nu],
        tau=(drive @ x[..., :nu, None])[..., 0] + own,
        forces=forces,
        f_ext=f_ext,
        residual=residual,
        exists=np.asarray(np.abs(residual).max(axis=-1) <= _HELD * scale),
    )


def _holds(contacts: Contacts, active: ArrayLike | None) -> Array:
    """Return for each row (..., nrows) 1 if its contact is active, 0 if not; NaN stays."""
    if active is None:
        return np.ones(contacts.nrows)
    numbers = real_numbers("active", active)
    if numbers.shape[-1:] != (len(contacts),):
        raise ValueError(f"active has shape {numbers.shape}, expected (..., {len(contacts)})")
    on = np.where(numbers < 0.5, 0.0, np.where(numbers >= 0.5, 1.0, np.nan))
    return np.repeat(on, [contact.rows for contact in contacts], axis=-1)


def pushed_wrenches(contact: AnyContact) -> Array:
    """Return the wrenches (6, rows) of a contact's forces, [force, moment] along its axes."""
    direction = getattr(contact, "direction", None)
    if direction is not None:
        return np.concatenate([direction, np.zeros(3)])[:, None]
    hinge = getattr(contact, "hinge", None)
    components = [0, 1, 2] + [3 + k for k in range(3) if "xyz"[k] != hinge]
    return np.eye(6)[:, components[: contact.rows]]


def _pushes(model: Model, contact: AnyContact, q: ArrayLike) -> Iterator[tuple[str, Array]]:
    """Return the frames at which a contact pushes, and the wrenches (..., 6, rows) of its forces.

    The wrenches are [force, moment] in world axes at the frame's origin. A loop pushes its second
    frame at the point where its first frame belongs.
    """
    first = contact.frame_a if isinstance(contact, Loop) else contact.frame
    push = pushed_wrenches(contact)
    if contact.axes == "body":
        turn = np.zeros((*np.shape(q)[:-1], 6, 6))
        turn[..., :3, :3] = turn[..., 3:, 3:] = frame_placements(model, q, first).rotation
        push = turn @ push
    yield first, push
    if not isinstance(contact, Loop) or model.frame(contact.frame_b).body < 0:
        return
    x, y, z = np.moveaxis(
        frame_placements(model, q, contact.frame_b).rotation @ contact.placement.translation, -1, 0
    )
    shift = np.zeros((*x.shape, 6, 6))
    shift[..., range(6), range(6)] = 1.0
    shift[..., 3, 1], shift[..., 3, 2], shift[..., 4, 2] = -z, y, -x
    shift[..., 4, 0], shift[..., 5, 0], shift[..., 5, 1] = z, -y, x
    yield contact.frame_b, -(shift @ push)


def _least_norm(matrix: Array, right: Array) -> tuple[Array, Array]:
    """Return the least-norm least-squares solutions x of ``matrix @ x = right``, and residuals."""
    finite = np.asarray(np.isfinite(matrix).all(axis=(-2, -1)) & np.isfinite(right).all(axis=-1))
    sound = np.where(finite[..., None, None], matrix, 0.0)  # a NaN would make the whole batch fail
    *batch, rows, columns = matrix.shape
    states = math.prod(batch)
    whole = sound.reshape(states, rows, columns)
    inverse = np.empty((states, columns, rows))
    for part in blocks(states):
        inverse[part] = np.linalg.pinv(whole[part], rcond=_RANK)
    inverse = inverse.reshape(*batch, columns, rows)
    x = (inverse @ right[..., None])[..., 0]
    residual = right - (matrix @ x[..., None])[..., 0]
    x[~finite] = residual[~finite] = np.nan
    return x, residual
