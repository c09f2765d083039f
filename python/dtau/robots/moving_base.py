"""The moving-base tree of [Bos], on which its authors validated their linearization."""

from __future__ import annotations

import numpy as np

from dtau.model.builder import ModelBuilder
from dtau.model.joint_type import JointType
from dtau.model.joints import Free, Helical, Prismatic, Revolute
from dtau.model.model import Model
from dtau.model.pose import Pose
from dtau.model.rotations import rotation_about, unit_vector
from dtau.model.spatial import Inertia
from dtau.support.checks import require

_AXES = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1)}
_PARENTS = {  # a branch at the base, and one further out
    "revolute_x": "base",
    "revolute_y": "revolute_x",
    "revolute_z": "revolute_y",
    "prismatic_x": "base",
    "prismatic_y": "prismatic_x",
    "prismatic_z": "prismatic_y",
    "helical_x": "prismatic_x",
    "helical_y": "helical_x",
    "helical_z": "helical_y",
}


def moving_base_tree(rng: np.random.Generator | None = None) -> Model:
    """Make the 10-body tree of [Bos]: a free base and nine joints of one degree of freedom.

    Three revolute, three prismatic and three helical joints along x, y and z, with a branch at the
    base and one further out, so that every line of a recursive algorithm is used.

    Parameters
    ----------
    rng : numpy.random.Generator, optional
        Source of the random parameters; by default ``numpy.random.default_rng(0)``. As in the paper
        they are uniform in (0, 1), in SI units: translations, rotation vectors, pitches, masses,
        centers of mass. Rotational inertias have the second moments of mass G G^T, with uniform G.
        The paper takes any positive definite matrix; these are inertias that rigid bodies can have.

    Returns
    -------
    Model
        16 coordinates, 15 velocities, 10 bodies, named after their joints.

    Raises
    ------
    TypeError
        If ``rng`` is not a generator.

    Notes
    -----
    [Bos] section 5. The paper draws its parameters without printing them, and shows the topology
    only in a figure; this tree meets the three criteria that it lists.

    Examples
    --------
    >>> import dtau
    >>> dtau.robots.moving_base_tree()
    <Model 'moving base tree': 10 bodies, nq = 16, nv = 15>
    """
    rng = np.random.default_rng(0) if rng is None else rng
    require("rng", rng, np.random.Generator)
    builder = ModelBuilder("moving base tree")
    builder.add(Free(), name="base", inertia=_inertia(rng))
    for name, parent in _PARENTS.items():
        builder.add(
            _joint(name, rng), name=name, parent=parent, placement=_pose(rng), inertia=_inertia(rng)
        )
    return builder.build()


def _joint(name: str, rng: np.random.Generator) -> JointType:
    kind, axis = name.split("_")
    if kind == "helical":
        return Helical(_AXES[axis], pitch=rng.uniform())
    return {"revolute": Revolute, "prismatic": Prismatic}[kind](_AXES[axis])


def _pose(rng: np.random.Generator) -> Pose:
    vector = rng.uniform(size=3)
    rotation = rotation_about(unit_vector("axis", vector), float(np.linalg.norm(vector)))
    return Pose(rotation, rng.uniform(size=3))


def _inertia(rng: np.random.Generator) -> Inertia:
    factor = rng.uniform(size=(3, 3))
    second_moments = factor @ factor.T  # some distribution of mass has any such matrix
    tensor = np.trace(second_moments) * np.eye(3) - second_moments
    return Inertia(1.0 - rng.uniform(), rng.uniform(size=3), tensor)
