"""Inputs and contact wrenches that hold a robot still."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtau.checks import common_batch, require, tuple_of
from dtau.functions.control_inputs import input_map
from dtau.functions.frames import frame_jacobians, wrench_at_frame
from dtau.functions.terms import gravity_torque
from dtau.model.model import Model
from dtau.options import Contact, require_option
from dtau.results import Equilibrium

_HELD = 1e-9  # of the weight: what may be left over of an equilibrium (moments: of weight x 1 m)
_RANK = 1e-12  # of the largest: singular values below this are zero
# Rows of a Jacobian [linear, angular] that a contact can push along
_ROWS: dict[Contact, int] = {"wrench": 6, "force": 3}


def equilibrium(
    model: Model,
    q: ArrayLike,
    *,
    inputs: ArrayLike | None = None,
    contact_frames: str | Sequence[str] = (),
    contacts: Contact = "wrench",
) -> Equilibrium:
    """Inputs and contact wrenches that hold a configuration, in least norm.

    Of all ``u`` and ``w`` with ``B u + sum of J^T w = gravity torque`` it is the one with the least
    sum of squares of the numbers in ``u`` and ``w``, in SI units. If there is none it is the one
    that leaves the least (again in sum of squares) and of those the shortest.

    Parameters
    ----------
    model : Model
    q : array_like (..., nq)
        Configuration.
    inputs : array_like, optional
        What drives the robot. None: the torques of all joints but free roots. A boolean mask (nv,):
        the torques where it is true. Numbers (..., nv, nu): a map ``B``, or one a configuration,
        the torque is ``B @ u``.
    contact_frames : str or sequence of str
        Names from ``model.frames``, of frames that move: where the world pushes.
    contacts : {"wrench", "force"}
        Whether a contact gives force and moment (a flat foot) or a force alone (a point).

    Returns
    -------
    Equilibrium
        ``u`` (..., nu), ``tau`` (..., nv) = ``B @ u``, ``wrenches`` (..., ncontacts, 6): [force,
        moment] on the robot in **world axes, at the frame's origin** (``axes="mixed"`` of
        `dtau.wrench_at_frame`), ``f_ext`` (..., nbodies, 6): the same as the dynamics take them
        with ``f_ext_axes="body"``, the default, [force, moment] on each body in **its own axes** at
        its origin, ``residual`` (..., nv): the gravity torque that is not held, and ``exists``
        (...), bool: whether the residual is at most 1e-9 of the weight in every entry (of weight
        times 1 m for moments).

    Raises
    ------
    ValueError
        If a shape does not fit, a name or ``contacts`` is unknown, a frame is fixed to the world,
        a quaternion is further than 1e-6 from unit norm, or there are maps for other batch axes.
    TypeError
        If an array is complex or holds objects.

    Notes
    -----
    Pseudo-inverse of [B, J^T] by singular values; those below 1e-12 of the largest count as zero;
    O(nv^3). Wrenches may have any sign: nothing keeps a foot from pulling at the ground. A
    configuration or a map that is not finite gives NaN, and ``exists`` is false.

    Derivatives by q hold ``f_ext`` constant along body axes; where ``wrenches`` are to keep to the
    world, add what `dtau.wrench_at_frame_derivatives` gives for each of them.

    Examples
    --------
    A quadruped that stands on its four feet, which are points:

    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> q = dtau.neutral(model)
    >>> for leg in ("LF", "RF", "LH", "RH"):
    ...     q[model.joint(f"{leg}_HFE").q] = 0.6 if leg.endswith("F") else -0.6
    ...     q[model.joint(f"{leg}_KFE").q] = -1.2 if leg.endswith("F") else 1.2
    >>> feet = ["LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT"]
    >>> hold = dtau.equilibrium(model, q, contact_frames=feet, contacts="force")
    >>> bool(hold.exists), hold.u.shape, hold.wrenches.shape
    (True, (12,), (4, 6))
    >>> bool(np.isclose(hold.wrenches[:, 2].sum(), 9.81 * model.mass))
    True
    >>> a = dtau.forward_dynamics(model, q, np.zeros(model.nv), hold.tau, hold.f_ext)
    >>> bool(np.abs(a).max() < 1e-9)
    True

    In the air it cannot be held:

    >>> bool(dtau.equilibrium(model, q).exists)
    False
    """
    require("model", model, Model)
    require_option("contacts", contacts, Contact)
    names = _moving_frames(model, contact_frames)
    drive = input_map(model, inputs)
    gravity = gravity_torque(model, q)
    nv, nu = drive.shape[-2:]
    batch = common_batch({"q": gravity.shape[:-1], "inputs": drive.shape[:-2]})
    rows = _ROWS[contacts]

    matrix = np.zeros((*batch, nv, nu + rows * len(names)))
    matrix[..., :nu] = drive
    if names:
        pushed = frame_jacobians(model, q, names, axes="mixed")[..., :rows, :]
        columns = pushed.reshape(*gravity.shape[:-1], rows * len(names), nv)
        matrix[..., nu:] = np.swapaxes(columns, -1, -2)
    x, residual = _least_norm(matrix, gravity)

    wrenches = np.zeros((*batch, len(names), 6))
    wrenches[..., :rows] = x[..., nu:].reshape(*batch, len(names), rows)
    f_ext = np.zeros((*batch, model.nbodies, 6))
    for k, name in enumerate(names):
        f_ext += wrench_at_frame(model, q, name, wrenches[..., k, :], axes="mixed")
    weight = model.mass * float(np.linalg.norm(model.gravity))
    return Equilibrium(
        u=x[..., :nu],
        tau=(drive @ x[..., :nu, None])[..., 0],
        wrenches=wrenches,
        f_ext=f_ext,
        residual=residual,
        exists=np.asarray(np.abs(residual).max(axis=-1) <= _HELD * weight),
    )


def _least_norm(
    matrix: NDArray[np.float64], right: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The shortest least-squares solutions x of ``matrix @ x = right``, and what is left."""
    finite = np.asarray(np.isfinite(matrix).all(axis=(-2, -1)) & np.isfinite(right).all(axis=-1))
    sound = np.where(finite[..., None, None], matrix, 0.0)  # one NaN would fail the whole batch
    x = (np.linalg.pinv(sound, rcond=_RANK) @ right[..., None])[..., 0]
    residual = right - (matrix @ x[..., None])[..., 0]
    x[~finite] = residual[~finite] = np.nan
    return x, residual


def _moving_frames(model: Model, names: str | Sequence[str]) -> tuple[str, ...]:
    if isinstance(names, str):
        names = (names,)
    names = tuple_of("contact_frames", names, str, "names")
    for name in names:
        if model.frame(name).body < 0:
            raise ValueError(
                f"contact_frames: '{name}' is fixed to the world, expected one of a moving body"
            )
    return names
