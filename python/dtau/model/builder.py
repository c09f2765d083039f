"""Build models from Python code, joint by joint: `ModelBuilder`."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from dtau.checks import real_array, require, require_name, unknown_name
from dtau.immutable import checking, is_complete
from dtau.model.joint_type import JointType
from dtau.model.links import Limits, Link, Mimic
from dtau.model.model import Model
from dtau.model.pose import Pose
from dtau.model.spatial import Inertia


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
        if parent is not None:
            require("parent", parent, str)
            if parent not in self._links:
                raise ValueError(f"parent: {unknown_name('link', parent, self._links)}")
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
            limits=Limits() if limits is None else limits,
            mimic=mimic,
        )
        return name

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
