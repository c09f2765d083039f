"""Random robots of any size, reproducible from a seed: `chain`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from dtau.model.builder import ModelBuilder
from dtau.model.compile import MOST_DOFS
from dtau.model.joint_type import JointType
from dtau.model.joints import (
    Cylindrical,
    Free,
    Helical,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
)
from dtau.model.model import Model
from dtau.model.pose import Pose
from dtau.model.rotations import rotation_rows
from dtau.model.spatial import Inertia
from dtau.support.arrays import Array
from dtau.support.checks import integer, plain, real_array, tuple_of
from dtau.support.options import JointKindName, Root, require_option

_DENSITY = 1000.0  # kg/m³, density of water


class _Draws:
    """Random numbers with the same bits on every platform.

    They are computed from the bit generator's raw output by operations that IEEE 754 rounds
    correctly. NumPy may change how a `Generator` converts this output, and C libraries differ in
    the last bit of logarithms and sines.
    """

    def __init__(self, seed: int) -> None:
        self._bits = np.random.PCG64(seed)

    def uniform(self, low: float, high: float) -> float:
        """Draw a number."""
        return low + (high - low) * ((self._bits.random_raw() >> 11) * 2.0**-53)

    def in_ball(self, dimensions: int) -> tuple[list[float], float]:
        """Draw a point of the unit ball, not too near its center; return its squared radius too."""
        while True:
            x = [self.uniform(-1.0, 1.0) for _ in range(dimensions)]
            squared = math.fsum(c * c for c in x)
            if 0.01 < squared < 1.0:
                return x, squared

    def point(self, reach: float) -> list[float]:
        """Draw a point of a cube about the origin."""
        return [self.uniform(-reach, reach) for _ in range(3)]

    def direction(self) -> list[float]:
        """Draw a unit vector; all directions are equally likely."""
        x, squared = self.in_ball(3)
        length = math.sqrt(squared)
        return [c / length for c in x]

    def universal(self) -> Universal:
        """Draw a joint whose axes are at least 60 degrees apart."""
        first = self.direction()
        while True:
            second = self.direction()
            if abs(math.fsum(a * b for a, b in zip(first, second, strict=True))) <= 0.5:
                return Universal(first, second)

    def rotation(self) -> Array:
        """Draw a rotation matrix from a quaternion; all rotations are equally likely."""
        quaternion, squared = self.in_ball(4)
        return np.array(rotation_rows(quaternion, 2.0 / squared))

    def inertia(self) -> Inertia:
        """Draw a box of water's density, rotated and shifted in the body's frame."""
        edges = [self.uniform(0.05, 0.25) for _ in range(3)]
        mass = _DENSITY * edges[0] * edges[1] * edges[2]
        axes = self.rotation()
        tensor = np.zeros((3, 3))
        for k in range(3):  # every pair of faces adds to the moments about the other two axes
            spread = mass / 12.0 * edges[k] * edges[k]
            tensor += spread * (np.eye(3) - np.outer(axes[:, k], axes[:, k]))
        return Inertia(mass, self.point(0.1), tensor)


# Functions that draw a joint of each kind.
_JOINTS: dict[JointKindName, Callable[[_Draws], JointType]] = {
    "revolute": lambda draw: Revolute(draw.direction()),
    "prismatic": lambda draw: Prismatic(draw.direction()),
    "helical": lambda draw: Helical(draw.direction(), draw.uniform(-0.2, 0.2)),
    "spherical": lambda draw: Spherical(),
    "free": lambda draw: Free(),
    "cylindrical": lambda draw: Cylindrical(draw.direction()),
    "planar": lambda draw: Planar(draw.direction()),
    "universal": lambda draw: draw.universal(),
}


def chain(
    bodies: int,
    *,
    branching: float = 1,
    joints: Sequence[JointKindName] = ("revolute",),
    root: Root = "fixed",
    seed: int = 0,
) -> Model:
    """Make a serial or branched chain of any size, with random placements, axes and inertias.

    Parameters
    ----------
    bodies : int
        Number of moving bodies, from 1 to 26000; a free root is one of them.
    branching : float
        Featherstone's branching factor, at least 1: the approximate number of children of a body. 1
        gives a serial chain, 2 a binary tree; factors between give a few branches. The parent of
        body i is body floor((i - 2 + ceil(branching)) / branching); 0 is the world.
    joints : sequence of str
        Kinds of the joints, among "revolute", "prismatic", "helical", "spherical", "free",
        "cylindrical", "planar" and "universal". Body i takes the i-th; a shorter sequence starts
        again at its end.
    root : {"fixed", "free"}
        Joint between body 1 and the world: a joint like the others, or a free joint at the world's
        origin in its place.
    seed : int
        Seed of the random numbers, at least 0.

    Returns
    -------
    Model
        Bodies and joints are named body1, body2, ... by the number i above; the model itself
        numbers them depth first, which is another order unless the chain is serial. Each body is a
        box of water's density with edges from 5 to 25 cm. There is no armature, damping or limit.

    Raises
    ------
    ValueError
        If a number is out of its range, a kind or the root is unknown, or there are more than
        26000 degrees of freedom.
    TypeError
        If an argument is of the wrong type.

    Notes
    -----
    Parents follow the rule of ``autoTree`` in [spatial_v2].

    The same arguments give the same robot, bit by bit, on every platform and with every NumPy: all
    numbers come from the raw output of PCG64, whose stream NumPy keeps, by arithmetic that IEEE 754
    defines. A longer chain begins with the bodies of a shorter one.

    Examples
    --------
    >>> import dtau
    >>> dtau.robots.chain(30, root="free")
    <Model 'chain of 30': 30 bodies, nq = 36, nv = 35>
    >>> tree = dtau.robots.chain(7, branching=2, joints=["spherical", "revolute", "prismatic"])
    >>> [joint.parent for joint in tree.joints], tree.nv
    ([-1, 0, 1, 1, 0, 4, 4], 13)
    """
    bodies = integer("bodies", bodies, 1, MOST_DOFS)  # every body has a degree of freedom
    parents = _parents(bodies, branching)
    kinds = _kinds(joints)
    require_option("root", root, Root)
    draws = _Draws(integer("seed", seed, 0))
    builder = ModelBuilder(f"chain of {bodies}")
    for i, parent in enumerate(parents, 1):
        joint = _JOINTS[kinds[(i - 1) % len(kinds)]](draws)
        placement = Pose(draws.rotation(), draws.point(0.3))
        if i == 1 and root == "free":
            joint, placement = Free(), Pose()
        builder.add(
            joint,
            name=f"body{i}",
            parent=f"body{parent}" if parent else None,
            placement=placement,
            inertia=draws.inertia(),
        )
    return builder.build()


def _parents(bodies: int, branching: float) -> list[int]:
    """Return the parents of bodies 1, 2, ... by Featherstone's rule; 0 is the world."""
    factor = float(real_array("branching", branching, ()))
    if factor < 1:
        raise ValueError(f"branching: expected a number of at least 1, got {factor}")
    factor = min(factor, bodies)  # more children than there are bodies would change nothing
    shift = math.ceil(factor) - 2
    return [math.floor((i + shift) / factor) for i in range(1, bodies + 1)]


def _kinds(joints: Sequence[JointKindName]) -> tuple[JointKindName, ...]:
    kinds: tuple[JointKindName, ...] = tuple_of(
        "joints", joints, str, "a sequence of kinds of joint"
    )
    if not kinds:
        raise ValueError("joints: expected at least one kind, got none")
    for kind in kinds:
        if kind not in _JOINTS:
            known = ", ".join(_JOINTS)
            raise ValueError(f"joints: expected kinds among {known}; got {plain(kind)!r}")
    return kinds
