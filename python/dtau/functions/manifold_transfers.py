"""Carry states between models of one mechanism with different roots: `transfer_state`."""

from __future__ import annotations

from typing import overload

import numpy as np
from numpy.typing import ArrayLike

from dtau import _core
from dtau.docstrings import documented
from dtau.functions.frames import frame_accelerations, frame_placements, frame_velocities
from dtau.model.joints import Free, Spherical, Universal
from dtau.model.links import Joint
from dtau.model.model import Model
from dtau.model.rotations import rotations_of_quaternions
from dtau.results import PartialState, State
from dtau.support.arrays import Array
from dtau.support.checks import batch_arrays, require


@overload
def transfer_state(
    model: Model, other: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike
) -> State: ...
@overload
def transfer_state(
    model: Model, other: Model, q: ArrayLike, v: ArrayLike | None = None
) -> PartialState: ...
@documented
def transfer_state(
    model: Model, other: Model, q: ArrayLike, v: ArrayLike | None = None, a: ArrayLike | None = None
) -> State | PartialState:
    """Convert a state to a model of the same mechanism with another root.

    With T(q) the Jacobian of the new velocity, v' = T v and tau = Tᵀ tau'.

    If the root is free, all links have the same poses, velocities and accelerations in both models.

    Parameters
    ----------
    other : Model
        The mechanism with another root, see `Model.with_root`, in either direction.
    v : array_like (..., nv), optional
        Velocity of `model`.
    a : array_like (..., nv), optional
        Its acceleration, which needs ``v``.

    Returns
    -------
    State
    q : ndarray (..., nq)
        Configuration of `other`.
    v : ndarray (..., nv)
        Velocity of `other`; None if ``v`` is not given.
    a : ndarray (..., nv)
        Acceleration of `other`; None if ``a`` is not given.
    PartialState
        The same, if ``v`` or ``a`` is not given.

    Raises
    ------
    ValueError
        If a joint is missing in one of the models, a shape does not fit, or ``a`` is given without
        ``v``.
    TypeError
        If an argument is not a model, or numbers are not real.

    Examples
    --------
    >>> standing = model.with_root("LF_FOOT")
    >>> q = dtau.transfer_state(model, standing, dtau.neutral(model)).q
    >>> dtau.frame_placements(standing, q, "base").translation.round(12) + 0.0
    array([0., 0., 0.])
    """
    require("model", model, Model)
    require("other", other, Model)
    if a is not None and v is None:
        raise ValueError("a: expected v with it, got a alone")
    given = {"q": (q, (model.nq,))}
    given |= {n: (x, (model.nv,)) for n, x in (("v", v), ("a", a)) if x is not None}
    batch, (q, *rates) = batch_arrays(given)
    ours = {joint.name: joint for joint in model.joints if joint.mimic is None}
    theirs = [joint for joint in other.joints if joint.mimic is None]
    if differing := set(ours) ^ {joint.name for joint in theirs}:
        name = min(differing)
        raise ValueError(f"other: expected the same joints, got joint {name!r} in one model only")
    to_q = np.zeros((len(q), other.nq))
    to = [np.zeros((len(q), other.nv)) for _ in rates]
    for joint in theirs:
        mine = ours[joint.name]
        if isinstance(joint.type, Free) and joint.parent < 0:
            root = other.bodies[joint.body]
            to_q[:, joint.q], twists = _free(model, joint, root, q, *rates)
            for there, twist in zip(to, twists, strict=True):
                there[:, joint.v] = twist
            continue
        x = q[:, mine.q]
        values = [rate[:, mine.v] for rate in rates]
        if _is_reversed(model, mine, other, joint):
            x, values = _turned(mine, x, values)
        to_q[:, joint.q] = x
        for there, value in zip(to, values, strict=True):
            there[:, joint.v] = value
    out_q = to_q.reshape(*batch, other.nq)
    out = [x.reshape(*batch, other.nv) for x in to]
    if len(out) == 2:
        return State(out_q, *out)
    return PartialState(out_q, out[0] if out else None, None)


def _free(
    model: Model, joint: Joint, root: str, q: Array, *rates: Array
) -> tuple[Array, list[Array]]:
    """Return the pose of a free root in its joint's frame, and its twist and acceleration."""
    place = frame_placements(model, q, root)
    back = joint.placement.inverse()
    position = place.translation @ back.rotation.T + back.translation
    quaternion = _core.rotation_from_matrix(back.rotation @ place.rotation)
    twists = []
    if rates:
        twists.append(frame_velocities(model, q, rates[0], root, "body"))
    if len(rates) == 2:
        twists.append(frame_accelerations(model, q, *rates, root, "body", kind="spatial"))
    return np.concatenate([position, quaternion], axis=-1), twists


def _is_reversed(model: Model, mine: Joint, other: Model, joint: Joint) -> bool:
    """Whether two joints of one name carry different sides of the joint."""
    carried = model.bodies[mine.body]
    return carried not in other.frames or other.frame(carried).body != joint.body


def _turned(joint: Joint, q: Array, rates: list[Array]) -> tuple[Array, list[Array]]:
    """Return the coordinates of a reversed joint; most have the same."""
    if isinstance(joint.type, Universal):
        return q[:, ::-1], [rate[:, ::-1] for rate in rates]
    if isinstance(joint.type, Spherical):
        # rates along the other body's axes, from the other side: -R v, whose derivative is -R a
        rotation = rotations_of_quaternions(q)
        rates = [-(rotation @ rate[..., np.newaxis])[..., 0] for rate in rates]
        return q * (-1.0, -1.0, -1.0, 1.0), rates
    return q, rates
