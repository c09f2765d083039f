"""Random trees of rigid bodies: plain descriptions, from which a test makes a `dtau.Model`.

A `Tree` knows nothing of how the package stores a model, so `taylor` can compute the same
robot independently. A new joint type is one more row of `KINDS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

import dtau

Array = NDArray[np.float64]
Placement = tuple[Array, Array]
SEEDS = st.integers(0, 2**16)  # of what a tree is filled with, and of states


def skew(x: Array) -> Array:
    return np.array([[0.0, -x[2], x[1]], [x[2], 0.0, -x[0]], [-x[1], x[0], 0.0]])


def cross(twist: Array) -> Array:
    """The matrix of v x, for twists; linear part first."""
    w = skew(twist[3:])
    return np.block([[w, skew(twist[:3])], [np.zeros((3, 3)), w]])


def rotation_about(axis: Array, angle: float) -> Array:
    """Rodrigues' formula for a unit axis."""
    k = skew(axis)
    return np.eye(3) + np.sin(angle) * k + (1.0 - np.cos(angle)) * (k @ k)


def rotation_of(quaternion: Array) -> Array:
    """Rotation matrix of a unit quaternion (x, y, z, w)."""
    u, w = quaternion[:3], quaternion[3]
    return np.eye(3) + 2.0 * w * skew(u) + 2.0 * skew(u) @ skew(u)


def random_quaternion(rng: np.random.Generator, shape: tuple[int, ...] = ()) -> Array:
    x = rng.standard_normal((*shape, 4))
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def stack(linear: Array, angular: Array) -> Array:
    """A 6 x nv motion subspace, linear part first."""
    return np.vstack([np.reshape(linear, (3, -1)), np.reshape(angular, (3, -1))])


@dataclass(frozen=True)
class Kind:
    """One joint type: how to make it, and its kinematics written independently of the package."""

    make: Callable[[Array, float], Any]
    nq: int
    nv: int
    quaternion: int | None  # where the quaternion begins in q
    placement: Callable[[Array, float, Array], Placement]  # axis, pitch, q
    subspace: Callable[[Array, float], Array] | None  # axis, pitch; None: it depends on q

    def subspace_at(self, u: Array, h: float, q: Array) -> Array:
        if self.subspace is not None:
            return self.subspace(u, h)
        first, second = u, second_axis(u)
        return stack(np.zeros((3, 2)), np.stack([rotation_about(second, -q[1]) @ first, second], 1))


O3, I3 = np.zeros(3), np.eye(3)


def no_motion(u: Array, h: float, q: Array) -> Placement:
    return I3, O3


def turn(u: Array, h: float, q: Array) -> Placement:
    return rotation_about(u, q[0]), O3


def slide(u: Array, h: float, q: Array) -> Placement:
    return I3, u * q[0]


def screw(u: Array, h: float, q: Array) -> Placement:
    return rotation_about(u, q[0]), h * u * q[0]


def swivel(u: Array, h: float, q: Array) -> Placement:
    return rotation_of(q), O3


def float_about(u: Array, h: float, q: Array) -> Placement:
    return rotation_of(q[3:]), q[:3]


def shift_and_turn(u: Array, h: float, q: Array) -> Placement:
    return rotation_about(u, q[1]), u * q[0]


def plane(u: Array) -> tuple[Array, Array]:
    """Axes of the plane with normal u: x along the coordinate axis furthest from it."""
    x = I3[np.argmin(np.abs(u))]
    x = x - u * (u @ x)
    x = x / np.linalg.norm(x)
    return x, np.cross(u, x)


def glide(u: Array, h: float, q: Array) -> Placement:
    x, y = plane(u)
    return rotation_about(u, q[2]), q[0] * x + q[1] * y


def plane_subspace(u: Array, h: float) -> Array:
    x, y = plane(u)
    return np.hstack([stack(np.stack([x, y], 1), np.zeros((3, 2))), stack(O3, u)])


def second_axis(u: Array) -> Array:
    """A universal joint's second axis, not quite at a right angle to the first."""
    x, y = plane(u)
    return 0.8 * x + 0.36 * y + 0.48 * u


def turn_twice(u: Array, h: float, q: Array) -> Placement:
    return rotation_about(u, q[0]) @ rotation_about(second_axis(u), q[1]), O3


# fmt: off
KINDS: dict[str, Kind] = {
    "fixed": Kind(lambda *_: dtau.Fixed(), 0, 0, None, no_motion, lambda u, h: np.eye(6)[:, :0]),
    "revolute": Kind(lambda u, h: dtau.Revolute(u), 1, 1, None, turn, lambda u, h: stack(O3, u)),
    "prismatic": Kind(lambda u, h: dtau.Prismatic(u), 1, 1, None, slide, lambda u, h: stack(u, O3)),
    "helical": Kind(dtau.Helical, 1, 1, None, screw, lambda u, h: stack(h * u, u)),
    "spherical": Kind(lambda *_: dtau.Spherical(), 4, 3, 0, swivel, lambda u, h: np.eye(6)[:, 3:]),
    "free": Kind(lambda *_: dtau.Free(), 7, 6, 3, float_about, lambda u, h: np.eye(6)),
    "cylindrical": Kind(lambda u, h: dtau.Cylindrical(u), 2, 2, None, shift_and_turn,
                        lambda u, h: np.hstack([stack(u, O3), stack(O3, u)])),
    "planar": Kind(lambda u, h: dtau.Planar(u), 3, 3, None, glide, plane_subspace),
    "universal": Kind(lambda u, h: dtau.Universal(u, second_axis(u)), 2, 2, None, turn_twice, None),
}
# fmt: on

SPRUNG = ("revolute", "prismatic", "helical", "cylindrical", "universal", "spherical")
MOVING = tuple(kind for kind, row in KINDS.items() if row.nv)


def kind_of(joint_type: Any) -> Kind:
    """The row of `KINDS` of a joint object of the package."""
    return KINDS[type(joint_type).__name__.lower()]


def stretch(rest: Array, q: Array) -> Array:
    """Coordinates (..., nq) from rest; of a spherical joint a rotation vector."""
    if q.shape[-1] == rest.shape[-1]:
        return q - rest
    angle = np.linalg.norm(rest)
    x0, w0 = -0.5 * np.sinc(0.5 * angle / np.pi) * rest, np.cos(0.5 * angle)
    x = w0 * q[..., :3] + q[..., 3:] * x0 + np.cross(x0, q[..., :3])
    w = w0 * q[..., 3:] - q[..., :3] @ x0[:, np.newaxis]
    length = np.linalg.norm(x, axis=-1, keepdims=True)
    return np.where(w < 0.0, -2.0, 2.0) * np.arctan2(length, np.abs(w)) / length * x


@dataclass(frozen=True)
class Body:
    """A body, its joint, and where the joint sits in the parent body's frame."""

    name: str
    parent: int  # index in the tree, -1 for the world
    kind: str
    axis: Array
    pitch: float
    rotation: Array
    translation: Array
    mass: float
    com: Array
    tensor: Array  # about the com, body axes
    armature: Array  # (nv,)
    damping: Array  # (nv,)
    stiffness: Array  # (nv,)
    rest: Array  # (nv,), where the springs give no torque: of a spherical joint a rotation vector
    friction: Array  # (nv,)
    speed: Array  # (nv,), that smooths friction

    def stretch(self, q: Array) -> Array:
        """Coordinates from rest, of a spherical joint a rotation vector; zeros without a spring."""
        if not self.stiffness.any():
            return np.zeros_like(self.stiffness)
        return stretch(self.rest, q)

    def spring_torque(self, q: Array) -> Array:
        return self.stiffness * self.stretch(q)

    def friction_torque(self, v: Array) -> Array:
        return self.friction * np.tanh(v / self.speed)


@dataclass(frozen=True)
class Tree:
    """Bodies, parents before children but otherwise in any order, and gravity."""

    bodies: tuple[Body, ...]
    gravity: Array
    recipe: str = ""

    def __repr__(self) -> str:
        return self.recipe

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """How hypothesis shows a failing example: in one line that makes it again."""
        printer.text(self.recipe)

    def bare(self) -> Tree:
        """The same robot without armature, damping, springs and friction."""
        bodies = tuple(
            replace(
                body,
                armature=0.0 * body.armature,
                damping=0.0 * body.damping,
                stiffness=0.0 * body.stiffness,
                rest=0.0 * body.rest,
                friction=0.0 * body.friction,
            )
            for body in self.bodies
        )
        return Tree(bodies, self.gravity, f"{self.recipe}.bare()")

    def model(self, mimics: Mapping[str, dtau.Mimic] | None = None) -> dtau.Model:
        """The model; `mimics` says by the names of bodies whose joints follow which others."""
        builder = dtau.ModelBuilder("tree", gravity=self.gravity)
        for body in self.bodies:
            builder.add(
                KINDS[body.kind].make(body.axis, body.pitch),
                name=body.name,
                parent=None if body.parent < 0 else self.bodies[body.parent].name,
                placement=dtau.Pose(body.rotation, body.translation),
                inertia=dtau.Inertia(body.mass, body.com, body.tensor),
                armature=body.armature,
                damping=body.damping,
                stiffness=body.stiffness,
                rest_position=body.rest,
                friction=body.friction,
                friction_speed=body.speed,
                mimic=(mimics or {}).get(body.name),
            )
        return builder.build()


def random_tensor(rng: np.random.Generator, mass: float) -> Array:
    """Rotational inertia about the center of mass of a cloud of points (a possible body)."""
    points = 0.15 * rng.standard_normal((6, 3))
    points -= points.mean(axis=0)
    total = np.zeros((3, 3))
    for point in points:
        total -= mass / 6.0 * skew(point) @ skew(point)
    return 0.5 * (total + total.T)


def random_axis(rng: np.random.Generator) -> Array:
    """A coordinate axis, one reversed, or any direction."""
    if rng.random() < 0.5:
        return I3[rng.integers(3)] * rng.choice([-1.0, 1.0])
    x = rng.standard_normal(3)
    return x / np.linalg.norm(x)


def stiffness_of(kind: str, rng: np.random.Generator) -> Array:
    drawn = rng.uniform(0.0, 5.0, KINDS[kind].nv)
    return np.full(3, drawn[0]) if kind == "spherical" else drawn


def grow(
    kinds: Sequence[str],
    parents: Sequence[int],
    seed: int,
    *,
    armature: bool = True,
    damping: bool = True,
    springs: bool = True,
    friction: bool = True,
) -> Tree:
    """A tree of these joints with random numbers: placements, inertias, gravity and so on."""
    rng = np.random.default_rng(seed)
    of_springs = np.random.default_rng([seed, 1])
    of_friction = np.random.default_rng([seed, 2])
    bodies = []
    for i, (kind, parent) in enumerate(zip(kinds, parents, strict=True)):
        nv = KINDS[kind].nv
        mass = rng.uniform(0.3, 3.0)
        plain = rng.random() < 0.25  # joint frame parallel to its parent's, as in most robot files
        body = Body(
            name=f"{kind}{i}",
            parent=parent,
            kind=kind,
            axis=random_axis(rng),
            pitch=rng.uniform(-0.5, 0.5),
            rotation=I3 if plain else rotation_of(random_quaternion(rng)),
            translation=rng.uniform(-0.5, 0.5, 3),
            mass=mass,
            com=rng.uniform(-0.2, 0.2, 3),
            tensor=random_tensor(rng, mass),
            armature=rng.uniform(0.0, 0.2, nv) * armature,
            damping=rng.uniform(0.0, 2.0, nv) * damping,
            stiffness=stiffness_of(kind, of_springs) * (springs and kind in SPRUNG),
            rest=of_springs.uniform(-1.0, 1.0, nv) * (springs and kind in SPRUNG),
            friction=of_friction.uniform(0.0, 2.0, nv) * (friction and i % 4 != 2),
            speed=of_friction.uniform(0.5, 2.0, nv),
        )
        bodies.append(body)
    gravity = 9.81 * random_axis(rng)
    recipe = (
        f"grow({list(kinds)}, {list(parents)}, {seed}, armature={armature}, damping={damping}, "
        f"springs={springs}, friction={friction})"
    )
    return Tree(tuple(bodies), gravity, recipe)


def random_tree(seed: int, bodies: int = 8, kinds: Sequence[str] = tuple(KINDS)) -> Tree:
    """A tree whose shape is random too."""
    rng = np.random.default_rng(seed)
    drawn = [str(rng.choice(kinds)) for _ in range(bodies)]
    if not any(KINDS[kind].nv for kind in drawn):
        drawn[0] = "revolute"
    parents = [int(rng.integers(-1, i)) for i in range(bodies)]
    return grow(drawn, parents, seed)


@st.composite
def trees(draw: st.DrawFn, max_bodies: int = 7, among: Sequence[str] = tuple(KINDS)) -> Tree:
    """Hypothesis strategy: shape and joint types shrink, the numbers come from a drawn seed."""
    kinds = draw(
        st.lists(st.sampled_from(tuple(among)), min_size=1, max_size=max_bodies).filter(
            lambda drawn: any(KINDS[kind].nv for kind in drawn)
        )
    )
    parents = [draw(st.integers(-1, i - 1)) for i in range(len(kinds))]
    seed = draw(SEEDS)
    return grow(
        kinds,
        parents,
        seed,
        armature=draw(st.booleans()),
        damping=draw(st.booleans()),
        springs=seed % 2 == 1,
        friction=seed % 3 == 1,
    )
