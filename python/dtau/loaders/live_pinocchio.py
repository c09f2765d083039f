"""Make a model from Pinocchio's model in memory: `from_pinocchio`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dtau.conventions.foreign import ForeignModel
from dtau.conventions.pinocchio_joints import (
    COSINE_AND_SINE,
    MIMIC,
    Element,
    element_names,
    elements,
    joint_type,
)
from dtau.conventions.pinocchio_model import pinocchio
from dtau.loaders.load import Changes, with_changes
from dtau.loaders.source import Parts
from dtau.model.joint_type import JointType
from dtau.model.joints import Fixed, Helical, Prismatic, Revolute
from dtau.model.links import Limits, Link, Mimic
from dtau.model.model import Model
from dtau.model.names import distinct
from dtau.model.pose import Pose
from dtau.model.spatial import Inertia
from dtau.support.arrays import Array
from dtau.support.checks import listing
from dtau.support.errors import ModelError

_BY_COORDINATE = ("lowerPositionLimit", "upperPositionLimit")
_FINITE = ("armature", "damping", "friction")
_BY_VELOCITY = (*_FINITE, "velocityLimit", "effortLimit")
_ATTRIBUTES = (
    *("name", "names", "joints", "parents", "jointPlacements", "inertias", "frames", "gravity"),
    "referenceConfigurations",
    *("nq", "nv", "nqs", "nvs", "idx_qs", "idx_vs", *_BY_COORDINATE, *_BY_VELOCITY),
)
_HERE = Pose()
_ROUNDING = 1e-12  # smaller parts of a mimic joint's axis are zero
_UNLIMITED = 1e300  # Pinocchio writes the largest number for no limit
_QUATERNION = 1.01  # Pinocchio's bound of a quaternion's parts, or of a cosine and a sine


def from_pinocchio(
    pin_model: Any, *, friction_speed: ArrayLike | Mapping[str, ArrayLike] | None = None
) -> Model:
    """Make a model from a `pinocchio.Model`, as it is in memory.

    A joint with several parts (`JointModelComposite`, `JointModelTranslation`,
    `JointModelSphericalZYX`) becomes a chain of joints, of which the last has the joint's name and
    the others a number behind it. A continuous joint has one angle. `dtau.conventions.pinocchio`
    converts states; velocities and torques are the same.

    Parameters
    ----------
    pin_model : pinocchio.Model
        Pinocchio's model. It is only read: later changes do not reach the result.
    friction_speed : float, or mapping of str to float or array_like (nv,), optional
        Speed in rad/s or m/s that smooths the dry friction of joints (``friction``, the same as
        ``upperDryFrictionLimit``), as in `load`: it then becomes part of the model. Without it a
        note says so.

    Returns
    -------
    Model
        Every joint, with armature, damping, limits, mimic joints and gravity, reference
        configurations as `Model.postures`, and all frames except frames of joints. Damping
        acts in dtau, while Pinocchio's algorithms ignore it: ``model.replace(damping=0.0)`` removes
        it. A body's inertia is its moving link's; frames have none. Underscores are appended
        to names that repeat. `Model.notes` lists reference configurations that do not fit.

    Raises
    ------
    TypeError
        If ``pin_model`` is not a `pinocchio.Model`.
    ModelError
        If a model cannot represent a joint, for example `JointModelEllipsoid`, or a number is out
        of its range. The message names it.
    ValueError
        If ``friction_speed`` does not fit the joints.

    Warns
    -----
    ModelWarning
        If joints have no inertia to accelerate.

    Examples
    --------
    >>> import dtau, numpy as np, pinocchio
    >>> pin_model = pinocchio.Model()
    >>> joint = pinocchio.JointModelComposite(pinocchio.JointModelPX())
    >>> _ = joint.addJoint(pinocchio.JointModelRUBY())
    >>> i = pin_model.addJoint(0, joint, pinocchio.SE3.Identity(), "leg")
    >>> disc = pinocchio.Inertia(1.0, np.zeros(3), np.diag([0.1, 0.2, 0.1]))
    >>> pin_model.appendBodyToJoint(i, disc, pinocchio.SE3.Identity())
    >>> model = dtau.from_pinocchio(pin_model)
    >>> [joint.name for joint in model.joints]
    ['leg_1', 'leg']
    >>> dtau.conventions.pinocchio(model, pin_model).to_dtau([0.5, 0.0, 1.0]).q
    array([0.5       , 1.57079633])
    """
    peer = ForeignModel("pin_model", pin_model, "pinocchio.Model", _ATTRIBUTES)
    try:
        reader = _Reader(peer)
        links = reader.links()
        name = peer.read("name", "a name", str)
        friction = {} if friction_speed is None else reader.friction
        if reader.friction and not friction:
            reader.notes.append(
                "ignored dry friction of joints: friction_speed= of dtau.from_pinocchio smooths "
                "and includes it"
            )
        parts = Parts(name, links, reader.notes, reader.gravity(), friction=friction)
    except ValueError as error:
        raise _of_the_model(error) from None
    parts, gravity = with_changes(parts, None, Changes(friction_speed=friction_speed))
    try:
        model = Model(name, parts.links, gravity=gravity, notes=parts.notes)
        configurations = reader.reference_configurations()
        return _posed(model, pin_model, configurations) if configurations else model
    except ValueError as error:
        raise _of_the_model(error) from None


def _of_the_model(error: ValueError) -> ModelError:
    """Return the error of a model that cannot be read; it begins with the argument's name."""
    text = str(error)
    return ModelError(text if text.startswith("pin_model") else f"pin_model: {text}")


def _posed(model: Model, pin_model: Any, configurations: Mapping[str, Array]) -> Model:
    """Return the model with Pinocchio's reference configurations, and notes about unfit ones."""
    convention = pinocchio(model, pin_model)
    postures: dict[str, dict[str, ArrayLike | Pose]] = {}
    notes = []
    for name, q in configurations.items():
        try:
            x = convention.to_dtau(q).q
        except ValueError as error:
            notes.append(f"posture {name!r}: ignored: {error!s:.200}")
        else:
            postures[name] = {j.name: x[j.q] for j in model.joints if j.mimic is None}
    return model._with(model.links, postures=postures, notes=notes)


class _Reader:
    """Reads a model of Pinocchio part by part."""

    def __init__(self, peer: ForeignModel) -> None:
        self._peer = peer
        names = peer.names("names", lambda x: list(x)[1:])  # without the universe
        n = len(names)
        self._joints = peer.read("joints", "joints", lambda x: list(x)[1:])
        self._chains = [
            peer.read("joints", f"a joint {name!r} of known parts", partial(_of_one, i))
            for i, name in enumerate(names)
        ]
        self._called = element_names(names, [len(chain) for chain in self._chains])
        self._parents = peer.integers("parents", n, n, skip=1)
        self._nqs, self._nvs = (peer.integers(name, n, skip=1) for name in ("nqs", "nvs"))
        self._q, self._v = (peer.integers(name, n, skip=1) for name in ("idx_qs", "idx_vs"))
        self._nq, nv = peer.integer("nq"), peer.integer("nv")
        self._numbers: dict[str, Array] = {}
        for size, parts in ((nv, _BY_VELOCITY), (self._nq, _BY_COORDINATE)):
            for part in parts:
                self._numbers[part] = peer.numbers(part, (size,), finite=part in _FINITE)
        self._placements = peer.read("jointPlacements", "poses", lambda x: [*map(_pose, x)][1:])
        self._inertias = peer.read("inertias", "inertias", lambda x: list(x)[1:])
        self._frames = peer.read("frames", "frames", list)
        self.notes: list[str] = []
        self.friction: dict[str, Array] = {}  # by joint, where there is some

    def gravity(self) -> Array:
        """Return gravity; refuse an angular part."""
        linear, angular = self._peer.read(
            "gravity", "a pinocchio.Motion", lambda x: (np.array(x.linear), np.array(x.angular))
        )
        if angular.any():
            raise self._peer.error("gravity", "no angular part", angular)
        return np.asarray(linear)

    def reference_configurations(self) -> dict[str, Array]:
        """Return Pinocchio's named configurations."""
        return self._peer.read(
            "referenceConfigurations",
            "configurations by name",
            lambda x: {str(pair.key()): np.array(pair.data(), dtype=np.float64) for pair in x},
        )

    def links(self) -> list[Link]:
        """Return the links of joints in Pinocchio's order, then the frames."""
        bodies = self._body_frames()
        others = self._other_frames(set(bodies.values()))
        last = [
            self._frames[bodies[i]].name if i in bodies else names[-1]
            for i, names in enumerate(self._called)
        ]
        before = [name for names in self._called for name in names[:-1]]
        given = [*last, *before, *(frame.name for frame, _ in others)]
        names = distinct(given)
        if renamed := [
            f"{new} for {old}" for old, new in zip(given, names, strict=True) if old != new
        ]:
            self.notes.append(f"frames renamed, since others have their names: {listing(renamed)}")
        last, rest = names[: len(last)], iter(names[len(last) :])
        links: list[Link] = []
        for i, chain in enumerate(self._chains):
            links += self._chain(i, [*(next(rest) for _ in chain[1:]), last[i]], last)
        moving = [name for names in self._called for name in names]
        left = list(rest)
        fixed = [joint or name for name, (_, joint) in zip(left, others, strict=True)]
        joints = distinct([*moving, *fixed])[len(moving) :]
        for name, joint, (frame, _) in zip(left, joints, others, strict=True):
            parent = last[frame.parentJoint - 1] if frame.parentJoint else None
            links.append(Link(name, parent, Fixed(), joint, _pose(frame.placement)))
        return links

    def _body_frames(self) -> dict[int, int]:
        """Return for each joint the frame of the link that it carries, if there is one."""
        found: dict[int, int] = {}
        for k, frame in enumerate(self._frames):
            here = str(frame.type) == "BODY" and _pose(frame.placement) == _HERE
            if here and frame.parentJoint > 0:
                found.setdefault(frame.parentJoint - 1, k)
        return found

    def _other_frames(self, bodies: set[int]) -> list[tuple[Any, str | None]]:
        """Return other frames, each with the name of its fixed joint, if that is a frame too."""
        joints = {}
        for k, frame in enumerate(self._frames):
            at = frame.parentFrame
            if k not in bodies and at and str(frame.type) == "BODY":
                carrier = self._frames[at]
                if str(carrier.type) == "FIXED_JOINT" and carrier.placement == frame.placement:
                    joints[k] = at
        left_out = bodies | set(joints.values()) | {0}  # 0 is the universe
        return [
            (frame, self._frames[joints[k]].name if k in joints else None)
            for k, frame in enumerate(self._frames)
            if k not in left_out and str(frame.type) != "JOINT"
        ]

    def _chain(self, i: int, names: Sequence[str], carriers: Sequence[str]) -> list[Link]:
        """Return the links of one joint of Pinocchio."""
        joint_name = self._called[i][-1]
        parent = carriers[self._parents[i] - 1] if self._parents[i] else None
        placement, q, v = self._placements[i], self._q[i], self._v[i]
        links = []
        try:
            for k, (name, element) in enumerate(zip(names, self._chains[i], strict=True)):
                if element.placement is not None:
                    placement = placement @ _pose(element.placement)
                moves, mimic = self._moves(i, element)
                nv = 0 if mimic else moves.nv
                nq = moves.nq + (COSINE_AND_SINE.fullmatch(element.kind) is not None)
                links.append(
                    Link(
                        name,
                        parent,
                        moves,
                        self._called[i][k],
                        placement,
                        self._inertia(i) if name == names[-1] else Inertia(),
                        armature=self._numbers["armature"][v : v + nv] if nv else 0.0,
                        damping=self._numbers["damping"][v : v + nv] if nv else 0.0,
                        limits=Limits() if mimic else self._limits(joint_name, q, v, nq, moves),
                        mimic=mimic,
                    )
                )
                if nv and self._numbers["friction"][v : v + nv].any():
                    self.friction[self._called[i][k]] = self._numbers["friction"][v : v + nv]
                parent, placement, q, v = name, _HERE, q + nq, v + nv
        except ValueError as error:
            raise ValueError(f"joint {joint_name!r}: {error}") from None
        return links

    def _inertia(self, i: int) -> Inertia:
        """Return the inertia of a joint's body; an odd one is noted, as by `dtau.load`."""
        theirs = self._inertias[i]
        tensor = np.array(theirs.inertia)
        inertia = Inertia._unchecked(theirs.mass, np.ravel(theirs.lever), tensor)
        if problem := inertia._problem():
            self.notes.append(f"inertia of joint {self._called[i][-1]!r}: {problem}")
        return inertia

    def _moves(self, i: int, element: Element) -> tuple[JointType, Mimic | None]:
        """Return how an element moves, and the joint that it mimics."""
        if element.kind != MIMIC:
            return joint_type(element), None
        own = self._joints[i].extract()
        if own.scaling == 0.0:
            raise ValueError("expected a mimic joint that moves, got the multiplier 0")
        step = min(1.0, 1.0 / abs(own.scaling))
        start, end = (self._placement(i, angle) for angle in (0.0, step))
        twist = (start.inverse() @ end).log() / (own.scaling * step)
        linear, angular = np.where(np.abs(twist) > _ROUNDING, twist, 0.0).reshape(2, 3)
        moves: JointType = Prismatic(linear) if linear.any() else Revolute(angular)
        if linear.any() and angular.any():
            moves = Helical(angular, float(linear @ angular))
        return moves, Mimic(self._called[self._mimicked(i)][-1], own.scaling, own.offset)

    def _placement(self, i: int, position: float) -> Pose:
        """Return where a mimic joint carries its body if the mimicked joint is at a position."""
        joint, q = self._joints[i], np.zeros(self._nq)
        at = self._q[i]
        if self._nqs[self._mimicked(i)] == 2:
            q[at : at + 2] = math.cos(position), math.sin(position)
        else:
            q[at] = position
        data = joint.createData()
        joint.calc(data, q)
        return _pose(data.M)

    def _mimicked(self, i: int) -> int:
        return next(k for k, v in enumerate(self._v) if v == self._v[i] and self._nvs[k] == 1)

    def _limits(self, name: str, q: int, v: int, nq: int, moves: JointType) -> Limits:
        """Return the limits of a joint; bounds of several coordinates are noted."""
        lower, upper = (
            np.where(np.abs(x) < _UNLIMITED, x, np.copysign(math.inf, x))
            for x in (self._numbers[part][q : q + nq] for part in _BY_COORDINATE)
        )
        velocity, effort = (
            np.where(x < _UNLIMITED, x, math.inf)
            for x in (self._numbers[p][v : v + moves.nv] for p in ("velocityLimit", "effortLimit"))
        )
        if nq == 1:
            return Limits(lower[0], upper[0], velocity, effort)
        bounds = np.abs(np.concatenate([lower, upper]))
        if (np.isfinite(bounds) & (bounds != _QUATERNION)).any():
            self.notes.append(f"ignored position limits of joint {name!r}")
        return Limits(velocity=velocity, effort=effort)


def _pose(placement: Any) -> Pose:
    return Pose(np.array(placement.rotation), np.array(placement.translation))


def _of_one(i: int, joints: Any) -> list[Element]:
    return elements(joints[i + 1])
