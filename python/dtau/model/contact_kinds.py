"""The kinds of constraints: `PointContact`, `FrameContact` and `Loop`."""

from __future__ import annotations

from dataclasses import dataclass, field

from numpy.typing import ArrayLike

from dtau import _core
from dtau.model.pose import Pose
from dtau.model.rotations import unit_vector
from dtau.support.checks import integer, real_array, require, require_name
from dtau.support.immutable import Record
from dtau.support.options import AccelerationKind, ForceAxes, HingeAxis, require_option


@dataclass(frozen=True)
class PointContact(Record):
    """Point contact: a point of the robot, such as a foot, held in the world; three rows or one.

    Parameters
    ----------
    frame : str
        The frame, from ``model.frames``, whose origin is held. The frame may rotate.
    axes : {"body", "mixed"}
        Axes of the force and of `direction`: the frame's own, or the world's.
    kp, kd : float
        Gains of Baumgarte's stabilization, in 1/s² and 1/s: the acceleration of the point becomes
        ``-kp (x - position) - kd dx/dt``; with `direction`, this holds for the component along it.
    position : array_like (3,), optional
        Position in the world at which it is held, in meters; ``kp`` needs it. See the argument
        ``at`` of `Contacts`. The argument ``positions`` of functions such as
        `constrained_dynamics` gives another one for each state.
    name : str
        Name of the contact; by default the name of the frame.
    direction : array_like (3,), optional
        Hold the point along this direction alone, for example along the normal of smooth ground:
        one row, whose force pushes along it. The vector may have any length. With
        ``axes="body"`` it turns with the frame; with ``"mixed"`` it is fixed in the world.

    Raises
    ------
    ValueError, TypeError
        If a gain is negative or not finite, ``axes`` is unknown, ``direction`` is zero, or a shape
        or type is wrong.

    Examples
    --------
    >>> import dtau
    >>> dtau.PointContact("LF_FOOT", axes="mixed").rows
    3
    >>> dtau.PointContact("LF_FOOT", axes="mixed", direction=(0, 0, 1)).rows
    1
    """

    frame: str
    axes: ForceAxes = "body"
    kp: float = 0.0
    kd: float = 0.0
    position: ArrayLike | None = None
    name: str = ""
    direction: ArrayLike | None = None

    def __post_init__(self) -> None:
        if self.position is not None:
            position = real_array("position", self.position, (3,))
            object.__setattr__(self, "position", tuple(position.tolist()))
        if self.direction is not None:
            object.__setattr__(self, "direction", unit_vector("direction", self.direction))
        _check(self)

    @property
    def rows(self) -> int:
        """How many rows the contact has."""
        return 3 if self.direction is None else 1


@dataclass(frozen=True)
class FrameContact(Record):
    """Frame contact: a frame of the robot, such as a flat foot, held in the world; six rows.

    Parameters
    ----------
    frame : str
        The frame, from ``model.frames``.
    axes : {"body", "mixed"}
        Axes of the force and moment: the frame's own, or the world's.
    kp, kd : float
        Gains of Baumgarte's stabilization, in 1/s² and 1/s. `acceleration` says which error they
        multiply.
    placement : Pose, optional
        Placement in the world at which it is held; ``kp`` needs it. See the argument ``at`` of
        `Contacts`. The argument ``positions`` of functions such as `constrained_dynamics` gives
        another translation for each state.
    name : str
        Name of the contact; by default the name of the frame.
    acceleration : {"classical", "spatial"}
        The acceleration that the rows hold. ``"classical"``: the classical acceleration of the
        origin; the error is the displacement of the origin and the rotation vector from
        `placement`. ``"spatial"``: the spatial acceleration A of the frame, so that
        ``A + kd V + kp log(placement^-1 X) = 0`` for its twist V and pose X, as in Pinocchio's
        ``RigidConstraintModel`` and crocoddyl's ``ContactModel6D``. Both agree where the frame
        rests at its placement.

    Raises
    ------
    ValueError, TypeError
        If a gain is negative or not finite, ``axes`` or ``acceleration`` is unknown, or a type is
        wrong.

    Examples
    --------
    >>> import dtau
    >>> dtau.FrameContact("left_foot").rows
    6
    """

    frame: str
    axes: ForceAxes = "body"
    kp: float = 0.0
    kd: float = 0.0
    placement: Pose | None = None
    name: str = ""
    acceleration: AccelerationKind = "classical"

    def __post_init__(self) -> None:
        require_option("acceleration", self.acceleration, AccelerationKind)
        if self.placement is not None:
            require("placement", self.placement, Pose)
        _check(self)

    @property
    def rows(self) -> int:
        """How many rows the contact has."""
        return 6


@dataclass(frozen=True)
class Loop(Record):
    """Loop constraint: two frames of the robot held together, which closes a kinematic loop.

    Parameters
    ----------
    frame_a : str
        A moving frame, from ``model.frames``.
    frame_b : str
        The frame that it is held to; it may be fixed to the world.
    rows : {6, 5, 3}
        Constrained directions: 6 all, 5 all except rotation about an axis (a hinge), 3 the origins
        alone (a ball joint).
    hinge : {"x", "y", "z"}, optional
        With five rows, the axis of ``frame_a`` about which it can rotate.
    axes : {"body", "mixed"}
        Axes of the force and moment on ``frame_a``: its own, or the world's. A hinge uses its own.
    kp, kd : float
        Gains of Baumgarte's stabilization, in 1/s² and 1/s.
    placement : Pose
        Pose of ``frame_a`` in ``frame_b`` when the loop is closed; by default they coincide.
    name : str
        Name of the loop; by default ``"frame_a-frame_b"``.

    Raises
    ------
    ValueError, TypeError
        If both frames are the same, a gain is negative or not finite, a word or a number of rows is
        unknown, ``hinge`` does not fit the rows, or a type is wrong.

    Examples
    --------
    >>> import dtau
    >>> dtau.Loop("coupler_end", "rocker_pin", rows=5, hinge="z").name
    'coupler_end-rocker_pin'
    """

    frame_a: str
    frame_b: str
    rows: int = 6
    hinge: HingeAxis | None = None
    axes: ForceAxes = "body"
    kp: float = 0.0
    kd: float = 0.0
    placement: Pose = field(default_factory=Pose)
    name: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "frame_a", require_name("frame_a", self.frame_a))
        object.__setattr__(self, "frame_b", require_name("frame_b", self.frame_b))
        if self.frame_a == self.frame_b:
            raise ValueError(f"loop: expected two frames, got {self.frame_a!r} twice")
        integer("rows", self.rows, 0)
        if self.hinge is not None:
            require_option("hinge", self.hinge, HingeAxis)
        require("placement", self.placement, Pose)
        _check(self)


AnyContact = PointContact | FrameContact | Loop


def _check(contact: AnyContact) -> None:
    """Convert the attributes that all contacts share, check all, and set default names."""
    if not isinstance(contact, Loop):
        object.__setattr__(contact, "frame", require_name("frame", contact.frame))
    require_option("axes", contact.axes, ForceAxes)
    for gain in ("kp", "kd"):
        object.__setattr__(contact, gain, float(real_array(gain, getattr(contact, gain), ())))
    name = require_name("name", contact.name)
    if not name:
        name = (
            f"{contact.frame_a}-{contact.frame_b}" if isinstance(contact, Loop) else contact.frame
        )
    object.__setattr__(contact, "name", name)
    _core.check_contact(contact)
