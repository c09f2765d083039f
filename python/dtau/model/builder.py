"""Build models from Python code, joint by joint: `ModelBuilder`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from numpy.typing import ArrayLike

from dtau.model.joint_type import JointType
from dtau.model.links import Limits, Link, Mimic
from dtau.model.model import Model
from dtau.model.pose import Pose
from dtau.model.spatial import Inertia
from dtau.support.checks import real_array, require, require_name, unknown_name
from dtau.support.immutable import checking, is_complete


class ModelBuilder:
    """Builds a model joint by joint; each joint comes with the link that it carries.

    Parameters
    ----------
    name : str
        Name of the robot.
    gravity : array_like (3,)
        Acceleration of gravity along the world's axes, in m/s².

    Raises
    ------
    ValueError, TypeError
        If the name is not a string, or gravity is not three finite numbers.

    Examples
    --------
    >>> import dtau
    >>> builder = dtau.ModelBuilder("pendulum on a cart")
    >>> cart = builder.add(
    ...     dtau.Prismatic(axis=(1, 0, 0)), name="cart", inertia=dtau.Inertia(mass=2.0)
    ... )
    >>> pole = builder.add(
    ...     dtau.Revolute(axis=(0, 1, 0)),
    ...     name="pole",
    ...     parent=cart,
    ...     inertia=dtau.Inertia(mass=0.3, com=(0, 0, 0.5)),
    ... )
    >>> print(builder.build())
    <Model 'pendulum on a cart': 2 bodies, nq = 2, nv = 2>, 2.3 kg
    body    joint  type         q  v  kg
    cart    cart   prismatic x  0  0  2
      pole  pole   revolute y   1  1  0.3
    """

    def __init__(self, name: str, *, gravity: ArrayLike = (0, 0, -9.81)) -> None:
        name = require_name("name", name)
        self._name = name
        self._gravity = real_array("gravity", gravity, (3,))
        self._links: dict[str, Link] = {}

    def __setstate__(self, state: dict[str, Any]) -> None:
        with checking(state, ("_name", "_gravity", "_links")):
            made = ModelBuilder(state["_name"], gravity=state["_gravity"])
            require("_links", state["_links"], dict)
            for name, link in state["_links"].items():
                if not isinstance(link, Link) or not is_complete(link) or link.name != name:
                    raise TypeError(f"state: expected links by their names, got {name!r:.80}")
            made._links.update(state["_links"])
        vars(self).update(vars(made))

    def add(
        self,
        joint: JointType,
        *,
        name: str,
        parent: str | None = None,
        placement: Pose | None = None,
        inertia: Inertia | None = None,
        armature: ArrayLike = 0.0,
        damping: ArrayLike = 0.0,
        stiffness: ArrayLike = 0.0,
        rest_position: ArrayLike = 0.0,
        friction: ArrayLike = 0.0,
        friction_speed: ArrayLike = 0.0,
        limits: Limits | None = None,
        mimic: Mimic | None = None,
    ) -> str:
        """Add a link and the joint that carries it.

        Parameters
        ----------
        joint : JointType
            How the link moves relative to its parent, for example `dtau.Revolute(axis=(0, 0, 1))`.
        name : str
            Name of the link and of its joint.
        parent : str or None
            Name of a link that was added before; None is the world.
        placement : Pose, optional
            The joint's frame in the parent link's frame; the default is the parent's frame.
        inertia : Inertia, optional
            Inertia of the link, in its own frame; the default has no mass.
        armature, damping : float or array_like (nv of the joint,)
            Rotor inertia, added to the diagonal of the mass matrix, and viscous damping; at least
            0.
        stiffness, rest_position : float or array_like (nv of the joint,)
            A spring, of torque stiffness (q - rest_position); stiffness at least 0. A spherical
            joint has one stiffness k for all axes and rests after the rotation vector
            rest_position; the torque is k log(R_rest^T R), in body axes. Free and planar joints
            have no springs.
        friction, friction_speed : float or array_like (nv of the joint,)
            Coulomb friction in N m or N, of torque friction tanh(v / friction_speed), and the speed
            in rad/s or m/s that smooths it; friction needs a speed above 0.
        limits : Limits, optional
            Limits of position, velocity and effort.
        mimic : Mimic, optional
            The joint that this one mimics, if it has no coordinate of its own.

        Returns
        -------
        str
            `name`, to be the parent of further links.

        Raises
        ------
        ValueError
            If the name is taken, the parent is unknown, or a number is out of its range.
        TypeError
            If an argument is of the wrong type.

        Examples
        --------
        >>> import dtau
        >>> import numpy as np
        >>> builder = dtau.ModelBuilder("drone")
        >>> builder.add(dtau.Free(), name="hull", inertia=dtau.Inertia(1.2, tensor=np.eye(3)))
        'hull'
        """
        name = require_name("name", name)
        self._require_parent(parent)
        if name in self._links:
            raise ValueError(f"name: there is already a link named {name!r}")
        self._links[name] = Link(
            name,
            parent,
            joint,
            name,
            placement=Pose() if placement is None else placement,
            inertia=Inertia() if inertia is None else inertia,
            armature=armature,
            damping=damping,
            stiffness=stiffness,
            rest_position=rest_position,
            friction=friction,
            friction_speed=friction_speed,
            limits=Limits() if limits is None else limits,
            mimic=mimic,
        )
        return name

    def add_model(
        self,
        model: Model,
        *,
        parent: str | None = None,
        placement: Pose | None = None,
        prefix: str = "",
    ) -> str:
        """Add all links of a model, for example a gripper to an arm.

        Links and joints keep their inertias, armature, damping, springs, friction, limits and
        mimics. Links on the world are carried by `parent` instead, with their joints: a fixed root
        is welded to it, and a free root floats relative to it. Fixed links stay reachable as
        frames. The gravity of the model is not used, and its postures are dropped: they say nothing
        about the other joints.

        Parameters
        ----------
        model : Model
        parent : str or None
            Name of a link that was added before; None is the world.
        placement : Pose, optional
            The model's world in the parent link's frame; the default is the parent's frame.
        prefix : str
            Text in front of all names of its links and joints, so that one model can be added
            several times.

        Returns
        -------
        str
            Name of the model's first link, with the prefix.

        Raises
        ------
        ValueError
            If the parent is unknown, or a name is taken by a link or a moving joint.
        TypeError
            If an argument is of the wrong type.

        Examples
        --------
        >>> import dtau
        >>> leg = dtau.robots.chain(3)
        >>> builder = dtau.ModelBuilder("two legs")
        >>> hip = dtau.Inertia(1.0, tensor=[[0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]])
        >>> body = builder.add(dtau.Free(), name="body", inertia=hip)
        >>> for side, y in (("left_", 0.1), ("right_", -0.1)):
        ...     place = dtau.Pose(translation=(0, y, 0))
        ...     _ = builder.add_model(leg, parent=body, placement=place, prefix=side)
        >>> builder.build()
        <Model 'two legs': 7 bodies, nq = 13, nv = 12>
        """
        require("model", model, Model)
        prefix = require_name("prefix", prefix)
        if placement is not None:
            require("placement", placement, Pose)
        self._require_parent(parent)
        moving = {link.joint_name for link in self._links.values() if link.joint.nv}
        added: dict[str, Link] = {}
        for link in model.links:
            name, joint_name = prefix + link.name, prefix + link.joint_name
            if name in self._links:
                raise ValueError(f"prefix: there is already a link named {name!r}")
            if link.joint.nv and joint_name in moving:
                raise ValueError(f"prefix: there is already a joint named {joint_name!r}")
            mimic = link.mimic and replace(link.mimic, joint=prefix + link.mimic.joint)
            added[name] = replace(
                link,
                name=name,
                joint_name=joint_name,
                parent=prefix + (link.parent or ""),
                mimic=mimic,
            )
            if link.parent is None:
                here = link.placement if placement is None else placement @ link.placement
                added[name] = replace(added[name], parent=parent, placement=here)
        self._links.update(added)
        return next(iter(added))

    def _require_parent(self, parent: str | None) -> None:
        if parent is not None:
            require("parent", parent, str)
            if parent not in self._links:
                raise ValueError(f"parent: {unknown_name('link', parent, self._links)}")

    def build(self) -> Model:
        """Build the model of all links added so far.

        Returns
        -------
        Model

        Raises
        ------
        ValueError
            If no joint moves, or a joint mimics a joint that it cannot mimic.

        Warns
        -----
        ModelWarning
            If joints have no inertia to accelerate.

        Examples
        --------
        >>> import dtau
        >>> import numpy as np
        >>> builder = dtau.ModelBuilder("wheel")
        >>> disc = dtau.Inertia(mass=1.0, tensor=np.diag([0.1, 0.2, 0.1]))
        >>> builder.add(dtau.Revolute(axis=(0, 1, 0)), name="wheel", inertia=disc)
        'wheel'
        >>> builder.build()
        <Model 'wheel': 1 body, nq = 1, nv = 1>
        """
        return Model(self._name, list(self._links.values()), gravity=self._gravity)
