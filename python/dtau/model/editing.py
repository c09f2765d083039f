"""Methods that return a changed model: `Editable`. A model itself never changes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from dtau.model.base import ModelBase
from dtau.model.identified import link_inertias
from dtau.model.joints import Fixed
from dtau.model.link_changes import changed
from dtau.model.links import Limits, Link
from dtau.model.massless import warn_of_massless
from dtau.model.pose import Pose
from dtau.model.postures import Postures, by_joint
from dtau.model.spatial import Inertia
from dtau.support.checks import naming, real_numbers, require

M = TypeVar("M", bound="Editable")

_HERE = Pose()


class Editable(ModelBase):
    """The methods of a model that return another one."""

    @abstractmethod
    def _assemble(
        self,
        name: str,
        links: Iterable[Link],
        gravity: ArrayLike,
        notes: Iterable[str],
        postures: Postures,
    ) -> None: ...

    def _with(
        self: M,
        links: Iterable[Link],
        name: str | None = None,
        gravity: ArrayLike | None = None,
        postures: Postures | None = None,
        notes: Iterable[str] = (),
    ) -> M:
        """Return a model of other links; postures keep the positions of joints that still move."""
        links = tuple(links)
        if postures is None:
            postures = by_joint(self, [link.joint_name for link in links if link.joint.nv])
        made = type(self).__new__(type(self))
        made._assemble(
            self.name if name is None else name,
            links,
            self.gravity if gravity is None else gravity,
            (*self.notes, *notes),
            postures,
        )
        return made

    def replace(
        self: M,
        *,
        name: str | None = None,
        gravity: ArrayLike | None = None,
        armature: ArrayLike | Mapping[str, ArrayLike] | None = None,
        damping: ArrayLike | Mapping[str, ArrayLike] | None = None,
        stiffness: ArrayLike | Mapping[str, ArrayLike] | None = None,
        rest_position: ArrayLike | Mapping[str, ArrayLike] | None = None,
        friction: ArrayLike | Mapping[str, ArrayLike] | None = None,
        friction_speed: ArrayLike | Mapping[str, ArrayLike] | None = None,
        limits: Mapping[str, Limits] | None = None,
        inertias: Mapping[str, Inertia] | None = None,
        placements: Mapping[str, Pose] | None = None,
        parameters: ArrayLike | None = None,
    ) -> M:
        """Return a model with some numbers replaced; all others stay as they are.

        Keys of mappings are names of joints or of the links that they carry. If a name belongs to a
        joint and to the link of another joint, it means the moving joint; for inertias it means the
        link.

        Parameters
        ----------
        name : str, optional
            Name of the robot.
        gravity : array_like (3,), optional
            Acceleration of gravity along the world's axes, in m/s².
        armature, damping : float, array_like (nv,) or mapping, optional
            Rotor inertia, added to the diagonal of the mass matrix, and viscous damping. One number
            applies to all moving joints except free joints on the world, which keep theirs. ``nv``
            numbers become `Model.armature` or `Model.damping`, so that ``np.zeros(model.nv)``
            removes all; mimic joints then have none of their own. A mapping
            has numbers by joints: one for each, or as many as the joint has velocities.
        stiffness, rest_position : float, array_like (nv,) or mapping, optional
            Springs of the joints, given as ``armature`` and ``damping`` are. ``nv`` numbers for
            one of them keep `Model.rest_position` or `Model.stiffness`.
        friction, friction_speed : float, array_like (nv,) or mapping, optional
            Coulomb friction and the speeds that smooth it, given as ``armature`` and ``damping``
            are. ``nv`` speeds leave mimic joints' speeds as they are.
        limits : mapping of str to Limits, optional
            Limits of position, velocity and effort.
        inertias : mapping of str to Inertia, optional
            Inertias of single links as in `links`, each in its own frame; links that are fixed to
            them keep their inertias. Do not pass `Model.inertias`: those include fixed links, which
            would then count twice.
        placements : mapping of str to Pose, optional
            Placements of the joints' frames in the frames of the parent links.
        parameters : array_like (nbodies, 10), optional
            Inertial parameters of whole bodies, in the order of `Model.parameters`, as identified
            with a regressor. The moving link gets all of its body's inertia; links that are fixed
            to it keep their frames and have no inertia. Use either `parameters` or `inertias`.

        Returns
        -------
        Model

        Raises
        ------
        ValueError
            If there is no such joint or link (the message lists similar names), a value does not
            fit it, a number is out of its range, or no rigid body can have a row of `parameters`
            (the message names the body).
        TypeError
            If an argument is of the wrong type.

        Warns
        -----
        ModelWarning
            If joints no longer have inertia to accelerate, or new rows of `parameters` break the
            triangle inequality, see `dtau.Inertia`.

        Examples
        --------
        >>> import dtau
        >>> model = dtau.robots.quadruped()
        >>> moon = model.replace(gravity=(0, 0, -1.62), damping=0.1, armature={"LF_KFE": 0.02})
        >>> moon.armature[moon.joint("LF_KFE").v], moon.damping[:8]
        (array([0.02]), array([0. , 0. , 0. , 0. , 0. , 0. , 0.1, 0.1]))
        >>> shank = model.link("LF_SHANK").inertia
        >>> heavy = model.replace(
        ...     inertias={"LF_SHANK": dtau.Inertia(2 * shank.mass, shank.com, 2 * shank.tensor)}
        ... )
        >>> shank.mass, round(heavy.mass - model.mass, 12)
        (0.21, 0.21)

        Use identified parameters:

        >>> import numpy as np
        >>> found = model.parameters * 1.1
        >>> np.allclose(model.replace(parameters=found).parameters, found)
        True
        """
        if parameters is not None:
            if inertias is not None:
                raise ValueError("expected inertias of links or parameters of bodies, got both")
            inertias = link_inertias(self, parameters, stacklevel=2)
        springs = self._by_joint("stiffness", stiffness)
        if springs is not stiffness and rest_position is None:  # of all springs of a velocity
            rest_position = self.rest_position
        links = changed(
            self.links,
            armature=self._by_joint("armature", armature),
            damping=self._by_joint("damping", damping),
            stiffness=springs,
            rest_position=self._by_joint("rest_position", rest_position),
            friction_speed=self._by_joint("friction_speed", friction_speed),
            friction=self._by_joint("friction", friction),
            limits=limits,
            inertias=inertias,
            placements=placements,
        )
        made = self._with(links, name, gravity)
        warn_of_massless(set(made.massless_joints) - set(self.massless_joints), stacklevel=2)
        return made

    def _by_joint(
        self, argument: str, values: ArrayLike | Mapping[str, ArrayLike] | None
    ) -> ArrayLike | Mapping[str, ArrayLike] | None:
        """Return an array (nv,) as a mapping by joints; other values are unchanged."""
        if values is None or isinstance(values, Mapping):
            return values
        expected = f"one number, {self.nv} numbers, or a mapping by the names of joints"
        array = real_numbers(argument, values, expected)
        if array.shape in ((), (1,)) and array.shape != (self.nv,):
            return values
        if array.shape != (self.nv,):
            raise ValueError(f"{argument}: expected {expected}, got shape {array.shape}")
        own = {j.name: array[j.v] for j in self.joints if not j.mimic}
        if argument == "friction_speed":
            return own
        mimics = [(j.name, j.v, j.mimic) for j in self.joints if j.mimic]
        if argument == "rest_position":  # at the same angle as the joint that they mimic
            return own | {name: x.multiplier * array[v] + x.offset for name, v, x in mimics}
        return own | {name: 0.0 for name, _, _ in mimics}

    def add_frame(self: M, name: str, parent: str, placement: Pose = _HERE) -> M:
        """Return a model with an added frame: a link without inertia, fixed to another link.

        Among its siblings the link is placed in the order of the joints' names, as in a URDF.
        Coordinates and bodies keep their order.

        Parameters
        ----------
        name : str
            Name of the frame, and of the fixed joint.
        parent : str
            Name of the link that carries it, moving or fixed.
        placement : Pose
            Pose of the frame in the parent's frame.

        Returns
        -------
        Model

        Raises
        ------
        ValueError
            If there is no such parent, or the name is taken by a link or a joint.
        TypeError
            If an argument is of the wrong type.

        Examples
        --------
        >>> import dtau
        >>> model = dtau.robots.quadruped()
        >>> model = model.add_frame("CAMERA", "base", dtau.Pose(translation=(0.35, 0, 0.05)))
        >>> dtau.frame_placements(model, dtau.neutral(model), "CAMERA").translation
        array([0.35, 0.  , 0.05])
        """
        require("parent", parent, str)
        return self._with(self._plus(Link(name, parent, Fixed(), name, placement=placement)))

    def add_load(
        self: M,
        frame: str,
        inertia: Inertia | float,
        *,
        placement: Pose = _HERE,
        name: str | None = None,
    ) -> M:
        """Return a model with an added load: a link with inertia, fixed to a frame.

        Parameters
        ----------
        frame : str
            Name of the link that carries the load, moving or fixed.
        inertia : Inertia or float
            Inertia of the load in its own frame; a number is a point mass at its origin.
        placement : Pose
            The load's frame in the frame that carries it.
        name : str, optional
            Name of the load's link; by default the name of ``frame`` followed by ``_load``.

        Returns
        -------
        Model

        Raises
        ------
        ValueError
            If there is no such frame, the name is taken by a link or a joint, or the mass is
            negative.
        TypeError
            If an argument is of the wrong type.

        Examples
        --------
        >>> import dtau
        >>> model = dtau.robots.quadruped()
        >>> loaded = model.add_load("base", 5.0, placement=dtau.Pose(translation=(0, 0, 0.2)))
        >>> loaded.link("base_load").parent, round(loaded.mass - model.mass, 12)
        ('base', 5.0)
        """
        require("frame", frame, str)
        if not isinstance(inertia, Inertia):
            inertia = Inertia(inertia)
        name = f"{frame}_load" if name is None else name
        load = Link(name, frame, Fixed(), name, placement=placement, inertia=inertia)
        return self._with(self._plus(load))

    def _plus(self, link: Link) -> list[Link]:
        """Insert a fixed link before the first sibling whose joint's name sorts after its own."""
        assert link.parent is not None
        self.frame(link.parent)  # raises if it does not exist
        for kind, names in {
            "link": {other.name for other in self.links},
            "joint": {other.joint_name for other in self.links},
        }.items():
            if link.name in names:
                raise ValueError(f"name: there is already a {kind} named {link.name!r}")
        for at, other in enumerate(self.links):
            if other.parent == link.parent and other.joint_name > link.joint_name:
                return [*self.links[:at], link, *self.links[at:]]
        return [*self.links, link]

    def lock(self: M, positions: Mapping[str, ArrayLike]) -> M:
        """Return a model with some joints fixed.

        Parameters
        ----------
        positions : mapping of str to float or array_like (nq of the joint,)
            Names of the joints, and the coordinates at which each is fixed. Their armature,
            damping, springs, friction and limits are dropped. Joints that mimic a locked joint are
            locked too.

        Returns
        -------
        Model

        Raises
        ------
        ValueError
            If there is no such joint, it mimics another, coordinates are not valid, or no joint is
            left that moves.
        TypeError
            If ``positions`` is not a mapping, or coordinates are not real numbers.

        Examples
        --------
        >>> import dtau
        >>> model = dtau.robots.quadruped()
        >>> model.lock({"LF_KFE": -1.2, "RF_KFE": -1.2}).nv
        16
        """
        require("positions", positions, Mapping)
        links = {link.name: link for link in self.links}
        for name in positions:
            if (mimic := self.joint(name).mimic) is not None:
                raise ValueError(f"joint {name!r} mimics {mimic.joint!r}: lock that one")
        for joint in self.joints:
            name, mimic = joint.name, joint.mimic
            mimicked = mimic.joint if mimic else name
            if mimicked not in positions:
                continue
            link = links[self.bodies[joint.body]]
            with naming(f"position of joint {mimicked!r}"):
                position = joint.type._coordinates(positions[mimicked])
                if mimic:
                    with np.errstate(over="ignore"):  # placement() refuses what is not finite
                        position = mimic.multiplier * position + mimic.offset
                placement = link.placement @ joint.type.placement(position)
            links[link.name] = Link(link.name, link.parent, Fixed(), name, placement, link.inertia)
        return self._with(links.values())  # no warning: locking makes no joint lighter


# Python's own messages begin with the qualified name; users know the class as Model.
for _method in (Editable.replace, Editable.add_frame, Editable.add_load, Editable.lock):
    _method.__qualname__ = f"Model.{_method.__name__}"
