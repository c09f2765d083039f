"""The parts of a model: `Link`, `Joint`, `Body`, `Frame`, `Limits`, `Mimic`."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from dtau.model.joint_type import JointType
from dtau.model.joints import Free, Planar, Spherical
from dtau.model.pose import Pose
from dtau.model.spatial import Inertia
from dtau.support.checks import plain, real_array, real_numbers, require_name, shown
from dtau.support.immutable import Record


@dataclass(frozen=True)
class Limits(Record):
    """Limits of a joint: range, velocity and effort, which the package stores but does not enforce.

    Parameters
    ----------
    lower, upper : float
        Range of the coordinate in meters or radians, for joints with one coordinate.
    velocity, effort : float or array_like (nv,)
        Largest magnitude of velocity and of force or torque; kept as a tuple.

    Raises
    ------
    ValueError
        If a number is NaN, `lower` exceeds `upper`, or a magnitude is negative.

    Examples
    --------
    >>> import dtau
    >>> dtau.Limits(lower=-1.5, upper=1.5, effort=40.0)
    Limits(lower=-1.5, upper=1.5, velocity=(inf,), effort=(40.0,))
    """

    lower: float = -math.inf
    upper: float = math.inf
    velocity: ArrayLike = math.inf
    effort: ArrayLike = math.inf

    def __post_init__(self) -> None:
        for name in ("lower", "upper"):
            bound = getattr(self, name)
            if type(bound) is not float:
                bound = float(real_array(f"limits.{name}", bound, (), finite=False))
                object.__setattr__(self, name, bound)
        if not self.lower <= self.upper:
            raise ValueError(f"limits: expected lower <= upper, got {self.lower}, {self.upper}")
        for name in ("velocity", "effort"):
            values = _nonnegative(f"limits.{name}", getattr(self, name))
            object.__setattr__(self, name, values)


@dataclass(frozen=True)
class Mimic(Record):
    """Mimic joint: its coordinate is multiplier * (coordinate of the mimicked joint) + offset.

    A mimic joint has no coordinate and no velocity of its own. Its motion, inertia, armature,
    damping, friction and spring act on the coordinate of the joint that it mimics.

    Parameters
    ----------
    joint : str
        Name of the mimicked joint. Both joints must have one coordinate.
    multiplier, offset : float
        Factor of the mimicked joint's coordinate and constant term, in the units of the two joints
        (radians, meters).

    Raises
    ------
    ValueError, TypeError
        If a number is not finite, or the name is not a string.

    Examples
    --------
    >>> import dtau, numpy as np
    >>> builder = dtau.ModelBuilder("gripper")
    >>> finger = dtau.Inertia(0.1, tensor=0.001 * np.eye(3))
    >>> left = builder.add(dtau.Prismatic(axis=(0, 1, 0)), name="left", inertia=finger)
    >>> right = builder.add(
    ...     dtau.Prismatic(axis=(0, -1, 0)), name="right", inertia=finger, mimic=dtau.Mimic("left")
    ... )
    >>> model = builder.build()
    >>> model.nbodies, model.nv
    (2, 1)
    >>> dtau.mass_matrix(model, [0.0])
    array([[0.2]])
    """

    joint: str
    multiplier: float = 1.0
    offset: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "joint", require_name("mimic.joint", self.joint))
        for name in ("multiplier", "offset"):
            value = real_array(f"mimic.{name}", getattr(self, name), ())
            object.__setattr__(self, name, float(value))


@dataclass(frozen=True)
class Link(Record):
    """One link and the joint that carries it.

    Parameters
    ----------
    name : str
        Name of the link.
    parent : str or None
        Name of the link that carries the joint; None is the world.
    joint : JointType
        How the link moves relative to its parent.
    joint_name : str
        Name of the joint.
    placement : Pose
        The joint's frame in the parent link's frame. The link's own frame coincides with it in
        the neutral configuration.
    inertia : Inertia
        Inertia of this link, in its own frame.
    armature, damping : float or array_like (nv,)
        Rotor inertia of a geared motor, added to the diagonal of the mass matrix, and viscous
        damping; at least 0; kept as tuples.
    limits : Limits
        Limits of position, velocity and effort.
    mimic : Mimic or None
        The joint that this one mimics, if it has no coordinate of its own.
    stiffness, rest_position : float or array_like (nv,)
        A spring, of torque stiffness (q - rest_position); stiffness at least 0; kept as tuples. A
        spherical joint has one stiffness k for all axes and rests after the rotation vector
        rest_position; the torque is k log(R_rest^T R), in body axes. Free and planar joints have no
        springs.
    friction, friction_speed : float or array_like (nv,)
        Coulomb friction, of torque friction tanh(v / friction_speed); friction in N m or N, at
        least 0; kept as tuples. The speed, in rad/s or m/s, smooths the jump at rest: there the
        torque is 76 % of the friction. Friction needs a speed above 0.

    Raises
    ------
    TypeError
        If an argument is of the wrong type.
    ValueError
        If a number is out of its range or not finite, a joint that cannot have a spring has one,
        friction has no speed, a joint with more than one coordinate mimics another, an array is of
        the wrong shape, or a name has lone surrogates, which cannot be encoded.

    Examples
    --------
    >>> import dtau
    >>> pole = dtau.Link("pole", None, dtau.Revolute(axis=(0, 1, 0)), "pivot", damping=0.1)
    >>> pole.damping
    (0.1,)
    """

    name: str
    parent: str | None
    joint: JointType
    joint_name: str
    placement: Pose = field(default_factory=Pose)
    inertia: Inertia = field(default_factory=Inertia)
    armature: ArrayLike = 0.0
    damping: ArrayLike = 0.0
    limits: Limits = field(default_factory=Limits)
    mimic: Mimic | None = None
    stiffness: ArrayLike = 0.0
    rest_position: ArrayLike = 0.0
    friction: ArrayLike = 0.0
    friction_speed: ArrayLike = 0.0

    def __post_init__(self) -> None:
        parts = vars(self)
        for argument, expected in _TYPES.items():
            value = parts[argument]
            if not isinstance(value, expected):
                kinds = expected if isinstance(expected, tuple) else (expected,)
                wanted = " or ".join(kind.__name__ for kind in kinds)
                raise TypeError(f"{argument}: expected {wanted}, got {shown(value)}")
        for argument in ("name", "joint_name"):
            parts[argument] = require_name(argument, parts[argument])
        parts["parent"] = plain(self.parent)
        if self.mimic is not None and self.joint.nq != 1:
            kind = type(self.joint).__name__
            raise ValueError(f"mimic: expected a joint with one coordinate, got {kind}")
        nv = self.joint.nv
        for argument in ("armature", "damping", "stiffness", "friction", "friction_speed"):
            value = parts[argument]
            if type(value) is float and 0.0 <= value < math.inf:  # the usual case; much faster
                parts[argument] = (value,) * nv
                continue
            values = _nonnegative(argument, value)
            if math.inf in values:
                raise ValueError(f"{argument}: expected finite numbers, got {values}")
            parts[argument] = _one_per_velocity(argument, values, nv)
        if any(parts["friction"]):
            _require_slopes(parts["friction"], parts["friction_speed"])
        values = _finite("rest_position", self.rest_position)
        parts["rest_position"] = _one_per_velocity("rest_position", values, nv)
        for argument in ("stiffness", "rest_position"):
            if any(parts[argument]) and isinstance(self.joint, Free | Planar):
                kind = type(self.joint).__name__
                raise ValueError(
                    f"{argument}: expected 0, as {kind} joints have no springs, got "
                    f"{parts[argument]}"
                )
        if isinstance(self.joint, Spherical) and len(set(parts["stiffness"])) > 1:
            raise ValueError(
                f"stiffness: expected one number, as the spring of a Spherical joint is the same "
                f"about all axes, got {parts['stiffness']}"
            )
        limits = self.limits
        if self.joint.nq != 1 and (limits.lower, limits.upper) != (-math.inf, math.inf):
            raise ValueError("limits: lower and upper are for joints with a single coordinate")
        velocity = _one_per_velocity("limits.velocity", limits.velocity, nv)
        effort = _one_per_velocity("limits.effort", limits.effort, nv)
        if (velocity, effort) != (limits.velocity, limits.effort):
            parts["limits"] = replace(limits, velocity=velocity, effort=effort)


_LARGE = 1e300  # a larger whole number may be no float
_TYPES: dict[str, type | tuple[type, ...]] = {
    "name": str,
    "parent": (str, type(None)),
    "joint": JointType,
    "joint_name": str,
    "placement": Pose,
    "inertia": Inertia,
    "limits": Limits,
    "mimic": (Mimic, type(None)),
}


def _nonnegative(argument: str, value: ArrayLike) -> tuple[float, ...]:
    """Read a number, or a row of them, as a tuple of numbers of at least 0."""
    if type(value) is float and value >= 0.0:  # the usual cases; much faster
        return (value,)
    if isinstance(value, (float, int)) and 0.0 <= value < _LARGE:
        return (float(value),)
    if isinstance(value, tuple) and all(type(x) is float and x >= 0.0 for x in value):
        return tuple(value)
    numbers = real_numbers(argument, value)
    array = real_array(argument, np.atleast_1d(numbers), (numbers.size,), finite=False)
    if not (array >= 0).all():  # NaN too
        raise ValueError(f"{argument}: expected numbers of at least 0, got {array.tolist()}")
    return tuple(array.tolist())


def _finite(argument: str, value: ArrayLike) -> tuple[float, ...]:
    """Read a number, or a row of them, as a tuple of finite numbers."""
    if type(value) is float and math.isfinite(value):  # the usual case; much faster
        return (value,)
    numbers = real_numbers(argument, value)
    array = real_array(argument, np.atleast_1d(numbers), (numbers.size,))
    return tuple(array.tolist())


def _one_per_velocity(argument: str, values: ArrayLike, nv: int) -> tuple[float, ...]:
    """Repeat one number for every velocity of a joint; several must be nv already."""
    assert isinstance(values, tuple)
    if len(values) == nv:
        return values
    if len(values) == 1:
        return values * nv
    raise ValueError(f"{argument}: expected a number or {nv} of them, got {len(values)}")


@dataclass(frozen=True)
class Joint(Record):
    """A moving joint of a model.

    Attributes
    ----------
    name : str
        Name of the joint.
    type : JointType
        Its kind, with its axis.
    body : int
        Index of the body that the joint carries.
    parent : int
        Index of the body that carries the joint; -1 is the world.
    q, v : slice
        The joint's entries in a configuration and in a velocity. A mimic joint has the entries of
        the joint that it mimics.
    placement : Pose
        The joint's frame in the frame of the body that carries it.
    limits : Limits
        Limits of position, velocity and effort.
    mimic : Mimic or None
        The joint that this one mimics, with chains of mimics resolved: that joint mimics no other.
    """

    name: str
    type: JointType
    body: int
    parent: int
    q: slice
    v: slice
    placement: Pose
    limits: Limits
    mimic: Mimic | None = None


@dataclass(frozen=True)
class Frame(Record):
    """A named frame: the frame of a link, moving or fixed to another.

    Attributes
    ----------
    name : str
        Name of the link.
    body : int
        Index of the moving body that carries it; -1 is the world.
    placement : Pose
        Pose of the frame in the frame of that body.
    """

    name: str
    body: int
    placement: Pose


@dataclass(frozen=True)
class Body(Record):
    """A body: a moving link, together with all links that are fixed to it.

    Attributes
    ----------
    link : Link
        The link that gives the body its name and its frame.
    parent : int
        Index of the body that carries the joint; -1 is the world.
    placement : Pose
        The joint's frame in the frame of that body.
    inertia : Inertia
        Inertia of all its links together, in the body's frame.
    """

    link: Link
    parent: int
    placement: Pose
    inertia: Inertia


def _require_slopes(friction: tuple[float, ...], speeds: tuple[float, ...]) -> None:
    """Raise ValueError unless each friction has a speed that smooths it."""
    pairs = list(zip(friction, speeds, strict=True))
    if any(force and not speed for force, speed in pairs):
        raise ValueError(
            f"friction_speed: expected the speed that smooths the friction {friction}, above 0 "
            f"in rad/s or m/s, got {speeds}"
        )
    if not all(_has_slope(*pair) for pair in pairs):
        raise ValueError(
            f"friction_speed: expected speeds at which the slope friction / friction_speed is "
            f"finite, got {speeds} with friction {friction}"
        )


def _has_slope(friction: float, speed: float) -> bool:
    return friction == 0.0 or (math.isfinite(1.0 / speed) and math.isfinite(friction / speed))
