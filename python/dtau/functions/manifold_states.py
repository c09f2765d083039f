"""Configurations and states: `neutral`, `configuration` by joint names, `random_state`."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from dtau.docstrings import documented
from dtau.model.joints import Cylindrical, Free, Planar, Spherical
from dtau.model.model import Model
from dtau.model.pose import Pose
from dtau.model.postures import place
from dtau.results import State
from dtau.support.arrays import Array
from dtau.support.checks import require, require_memory, shown, unknown_name

_NO_POSITIONS: Mapping[str, ArrayLike | Pose] = MappingProxyType({})
_POSITIONS = {Free: 3, Planar: 2, Cylindrical: 1}  # number of leading coordinates that are lengths


@documented
def neutral(model: Model) -> Array:
    """Neutral configuration: zeros and identity quaternions.

    Returns
    -------
    q : ndarray (nq,)
        Zeros, and identity quaternions (0, 0, 0, 1): the frame of every body coincides with its
        joint's frame.

    Examples
    --------
    >>> dtau.neutral(model)[:7]
    array([0., 0., 0., 0., 0., 0., 1.])
    """
    require("model", model, Model)
    q = np.zeros(model.nq)
    for quaternion in _quaternions(model):
        q[quaternion.stop - 1] = 1.0
    return q


@documented
def configuration(
    model: Model,
    positions: Mapping[str, ArrayLike | Pose] = _NO_POSITIONS,
    *,
    posture: str | None = None,
) -> Array:
    """Configuration from positions of joints by name; others are neutral, or as in a posture.

    ``q[model.joint(name).q]`` reads the coordinates of a joint back, and ``joint.type.placement``
    makes a pose of them.

    Parameters
    ----------
    positions : mapping of str to float, array_like (nq of the joint,) or Pose
        Names of joints, and their coordinates; or the pose of the body in the joint's frame, as
        `JointType.coordinates` reads it. Limits are not checked.
    posture : str, optional
        Name in `Model.postures` of the configuration of all other joints; by default they are
        neutral.

    Returns
    -------
    q : ndarray (nq,)
        Configuration.

    Raises
    ------
    ValueError
        If there is no such joint or posture, a joint mimics another, coordinates are not valid, or
        the joint cannot take the pose.
    TypeError
        If ``model`` is not a `Model`, ``positions`` is not a mapping, or a value is neither real
        numbers nor a pose.

    Examples
    --------
    >>> base = dtau.Pose.from_rpy((0.0, 0.0, 0.5), xyz=(1, 2, 0.6))
    >>> q = dtau.configuration(model, {"root_joint": base, "LF_HFE": 0.6})
    >>> q[:3], float(q[model.joint("LF_HFE").q][0])
    (array([1. , 2. , 0.6]), 0.6)

    Change one joint of a posture of the file:

    >>> lamp = '''
    ... <mujoco>
    ...   <worldbody>
    ...     <body name="arm">
    ...       <joint name="base" axis="0 1 0"/>
    ...       <geom size="0.1"/>
    ...       <body name="head" pos="0 0 1">
    ...         <joint name="neck" axis="0 1 0"/>
    ...         <geom size="0.1"/>
    ...       </body>
    ...     </body>
    ...   </worldbody>
    ...   <keyframe><key name="reading" qpos="0.4 -1.2"/></keyframe>
    ... </mujoco>
    ... '''
    >>> dtau.configuration(dtau.load(lamp), {"neck": 0.5}, posture="reading")
    array([0.4, 0.5])
    """
    require("positions", positions, Mapping)
    q = neutral(model)
    if posture is not None:
        require("posture", posture, str)
        if posture not in model.postures:
            raise ValueError(f"posture: {unknown_name('posture', posture, model.postures)}")
        q = model.postures[posture].copy()
    for name, position in positions.items():
        place(q, model.joint(name), position)
    return q


@documented
def random_state(model: Model, rng: np.random.Generator, shape: tuple[int, ...] = ()) -> State:
    """Random configuration, velocity and acceleration.

    Parameters
    ----------
    rng : numpy.random.Generator
        Source of random numbers.
    shape : tuple of int
        Batch shape.

    Returns
    -------
    State
    q : ndarray (..., nq)
        Coordinates uniform between their limits, in (-pi, pi) if there are none (positions of
        free, planar and cylindrical joints in (-1, 1)), rotations uniform.
    v : ndarray (..., nv)
        Normally distributed.
    a : ndarray (..., nv)
        Normally distributed.

    Raises
    ------
    ValueError
        If ``shape`` is not a shape.
    TypeError
        ... ``rng`` is not a generator.

    Examples
    --------
    >>> q, v, a = dtau.random_state(model, np.random.default_rng(0), shape=(2, 3))
    >>> q.shape, v.shape, a.shape
    ((2, 3, 19), (2, 3, 18), (2, 3, 18))
    """
    require("model", model, Model)
    require("rng", rng, np.random.Generator)
    shape = _batch_shape(shape)
    require_memory("random_state", float(math.prod(shape)) * (2 * model.nq + 2 * model.nv))
    span = np.full(model.nq, np.pi)
    for joint in model.joints:
        span[joint.q][: _POSITIONS.get(type(joint.type), 0)] = 1.0
    unbounded = ~np.isfinite(model.lower_limits)
    lower = np.where(unbounded, -span, model.lower_limits)
    upper = np.where(np.isfinite(model.upper_limits), model.upper_limits, span)
    # one limit alone may lie beyond the default range on the other side
    lower = np.where(unbounded & (lower > upper), upper - 2.0 * span, lower)
    upper = np.where(lower > upper, lower + 2.0 * span, upper)
    q = 2.0 * rng.uniform(0.5 * lower, 0.5 * upper, (*shape, model.nq))  # half the range is finite
    for quaternion in _quaternions(model):
        x = rng.standard_normal((*shape, 4))
        q[..., quaternion] = x / np.linalg.norm(x, axis=-1, keepdims=True)
    return State(
        q, rng.standard_normal((*shape, model.nv)), rng.standard_normal((*shape, model.nv))
    )


def _batch_shape(shape: object) -> tuple[int, ...]:
    """Read a number, or several, as a shape."""
    sizes: Iterable[object] = shape if isinstance(shape, Iterable) else (shape,)
    try:
        checked = tuple(operator.index(size) for size in sizes)  # type: ignore[arg-type]
    except TypeError:
        checked = (-1,)
    if min(checked, default=0) < 0:
        raise ValueError(
            f"shape: expected a tuple of numbers of states, for example (256,), got {shown(shape)}"
        )
    return checked


def _quaternions(model: Model) -> list[slice]:
    """Return the slices of a configuration that hold quaternions."""
    return [
        slice(joint.q.stop - 4, joint.q.stop)
        for joint in model.joints
        if isinstance(joint.type, Free | Spherical)
    ]
