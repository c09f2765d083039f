"""Contacts of generated robots, and their equations with dense matrices in NumPy: an oracle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from cases import State
from trees import Array, random_quaternion, rotation_of, skew

import dtau

FEET = dtau.robots.QUADRUPED_FEET


@dataclass
class Pieces:
    """A frame in the world: Jacobian, velocity, classical acceleration [linear, angular], pose."""

    J: Array
    V: Array
    A: Array
    pose: dtau.Pose


def pieces(
    model: dtau.Model, name: str | None, at: dtau.Pose, q: Array, v: Array, a: Array
) -> Pieces:
    """What stands at `at` in a frame, or in the world."""
    if name is None:
        return Pieces(np.zeros((6, model.nv)), np.zeros(6), np.zeros(6), at)
    J = dtau.frame_jacobians(model, q, name, "mixed")
    V = dtau.frame_velocities(model, q, v, name, "mixed")
    A = dtau.frame_accelerations(model, q, v, a, name, "mixed", kind="classical")
    pose = dtau.Pose(*dtau.frame_placements(model, q, name))
    arm, w = pose.rotation @ at.translation, V[3:]
    J, V, A = J.copy(), V.copy(), A.copy()
    J[:3] -= skew(arm) @ J[3:]
    V[:3] += np.cross(w, arm)
    A[:3] += np.cross(A[3:], arm) + np.cross(w, np.cross(w, arm))
    return Pieces(J, V, A, pose @ at)


def sides(contact: object) -> tuple[str, str | None, dtau.Pose]:
    """Frame a, frame b or None for the world, and where in it a is held."""
    if isinstance(contact, dtau.Loop):
        return contact.frame_a, contact.frame_b, contact.placement
    if isinstance(contact, dtau.PointContact):
        held = contact.position if contact.position is not None else (0, 0, 0)
        return contact.frame, None, dtau.Pose(translation=held)
    assert isinstance(contact, dtau.FrameContact)
    return contact.frame, None, contact.placement or dtau.Pose()


def contact_rows(
    model: dtau.Model, contact: object, q: Array, v: Array, a: Array
) -> tuple[Array, Array]:
    """J and the accelerations that vanish of one contact."""
    frame_a, frame_b, at = sides(contact)
    one = pieces(model, frame_a, dtau.Pose(), q, v, a)
    other = pieces(model, frame_b, at, q, v, a)
    e = np.zeros(6)
    e[:3] = one.pose.translation - other.pose.translation
    turn = other.pose.inverse() @ one.pose
    hinge = getattr(contact, "hinge", None)
    k = "xyz".index(hinge) if hinge else None
    spatial = getattr(contact, "acceleration", "classical") == "spatial"
    if spatial:
        e = np.kron(np.eye(2), one.pose.rotation) @ turn.log()
        one.A[:3] -= np.cross(one.V[3:], one.V[:3])
    elif k is None:
        e[3:] = one.pose.rotation @ dtau.Pose(turn.rotation).log()[3:]
    else:
        e[3:] = np.cross(other.pose.rotation[:, k], one.pose.rotation[:, k])
    J = one.J - other.J
    rows = one.A - other.A
    rows[3:] += np.cross(one.V[3:], other.V[3:])
    rows += contact.kd * (one.V - other.V)  # type: ignore[attr-defined]
    if contact.kp > 0.0:  # type: ignore[attr-defined]
        rows += contact.kp * e  # type: ignore[attr-defined]
    along = np.eye(3) if contact.axes == "mixed" else one.pose.rotation.T  # type: ignore[attr-defined]
    direction = getattr(contact, "direction", None)
    if direction is not None:
        row = np.array([direction]) @ along
        return row @ J[:3], row @ rows[:3]
    both = np.kron(np.eye(2), along)
    kept = [c for c in range(6) if c < 3 or c - 3 != k][: contact.rows]  # type: ignore[attr-defined]
    return (both @ J)[kept], (both @ rows)[kept]


def all_rows(contacts: dtau.Contacts, q: Array, v: Array, a: Array) -> tuple[Array, Array]:
    model = contacts.model
    parts = [contact_rows(model, contact, q, v, a) for contact in contacts]
    J = np.vstack([np.zeros((0, model.nv)), *(part[0] for part in parts)])
    return J, np.concatenate([np.zeros(0), *(part[1] for part in parts)])


def holds(contacts: dtau.Contacts, active: Array | None) -> Array:
    """Which rows belong to active contacts."""
    on = np.ones(len(contacts), bool) if active is None else np.asarray(active) > 0.5
    return np.repeat(on, [contact.rows for contact in contacts])


def constrained_dynamics(
    contacts: dtau.Contacts,
    q: Array,
    v: Array,
    tau: Array,
    f_ext: Array | None = None,
    active: Array | None = None,
    f_ext_axes: str = "body",
) -> tuple[Array, Array]:
    """Accelerations and (shortest) forces of one state, by dense matrices."""
    model = contacts.model
    rest = np.zeros(model.nv)
    M = dtau.mass_matrix(model, q)
    bias = dtau.inverse_dynamics(model, q, v, rest, f_ext, f_ext_axes=f_ext_axes)  # type: ignore[arg-type]
    J, gamma = all_rows(contacts, q, v, rest)
    on = holds(contacts, active)
    J, gamma = J[on], gamma[on]
    free = np.linalg.solve(M, tau - bias)
    G = J @ np.linalg.solve(M, J.T)
    forces = np.zeros(on.size)
    forces[on] = np.linalg.pinv(G, rcond=1e-11, hermitian=True) @ (-gamma - J @ free)
    return free + np.linalg.solve(M, J.T @ forces[on]), forces


# ---------------------------------------------------------------- generated contacts


def random_pose(rng: np.random.Generator) -> dtau.Pose:
    return dtau.Pose(rotation_of(random_quaternion(rng)), rng.uniform(-0.5, 0.5, 3))


def random_contact(model: dtau.Model, rng: np.random.Generator, name: str) -> object:
    """A contact or a loop of any kind."""
    moving = [frame for frame in model.frames if model.frame(frame).body >= 0]
    kp, kd = rng.uniform(0.0, 30.0, 2) * rng.integers(0, 2, 2)
    axes = str(rng.choice(["body", "mixed"]))
    frame = str(rng.choice(moving))
    body = model.frame(frame).body
    others = [other for other in model.frames if model.frame(other).body != body]
    kind = rng.integers(5) if others else rng.integers(2)
    special = rng.integers(2)
    if kind == 0:
        direction = rng.normal(size=3) if special else None
        return dtau.PointContact(frame, axes, kp, kd, rng.uniform(-1, 1, 3), name, direction)  # type: ignore[arg-type]
    if kind == 1:
        held = "spatial" if special else "classical"
        return dtau.FrameContact(frame, axes, kp, kd, random_pose(rng), name, held)  # type: ignore[arg-type]
    other = str(rng.choice(others))
    rows = int(rng.choice([3, 5, 6]))
    hinge = str(rng.choice(["x", "y", "z"])) if rows == 5 else None
    axes = "body" if rows == 5 else axes
    return dtau.Loop(frame, other, rows, hinge, axes, kp, kd, random_pose(rng), name)  # type: ignore[arg-type]


def regular(contacts: dtau.Contacts, q: Array) -> bool:
    """Whether the rows are far from depending on each other."""
    J, _ = all_rows(contacts, q, np.zeros(contacts.model.nv), np.zeros(contacts.model.nv))
    G = J @ np.linalg.solve(dtau.mass_matrix(contacts.model, q), J.T)
    size = np.sqrt(np.diag(G))
    if not size.all():
        return False
    return bool(np.linalg.cond(G / np.outer(size, size)) < 1e4)


def random_contacts(
    model: dtau.Model, states: list[State], seed: int, most: int = 4
) -> dtau.Contacts:
    """Contacts whose rows are independent in these states; there may be none."""
    rng = np.random.default_rng(seed)
    kept: list[object] = []
    for k in range(most):
        more = [*kept, random_contact(model, rng, f"contact {k}")]
        contacts = dtau.Contacts(model, more)  # type: ignore[arg-type]
        if all(regular(contacts, state["q"]) for state in states):
            kept = more
    return dtau.Contacts(model, kept)  # type: ignore[arg-type]


def gait(model: dtau.Model, *more: dtau.PointContact) -> dtau.Contacts:
    """Points and a sole of the quadruped, pulled to where they are held, and a loop."""
    feet, placed = dtau.robots.QUADRUPED_FEET, dtau.Pose(translation=(0.1, 0.0, 0.2))
    held: list[Any] = [
        dtau.PointContact(feet[0], "mixed", kp=20.0, kd=3.0, position=(0.3, 0.2, 0.0)),
        dtau.Loop(feet[1], feet[2], 3, kp=4.0, kd=1.0),
        dtau.FrameContact(feet[3], "mixed", kp=5.0, kd=2.0, placement=placed),
        dtau.PointContact(feet[1], kp=7.0, position=(-0.2, 0.1, 0.3)),
    ]
    return dtau.Contacts(model, [*held, *more])


def flat_feet(model: dtau.Model, axes: Any = "body") -> dtau.Contacts:
    """24 rows for 18 velocities; the feet's velocities ask for what the robot cannot do."""
    return dtau.Contacts(model, [dtau.FrameContact(foot, axes, kd=3.0) for foot in FEET])


def contradicting(
    model: dtau.Model, s: State, seed: int, most: int = 5
) -> tuple[dtau.Contacts, Array, float]:
    """Random contacts, their mask, and a regularization for J M^-1 J^T, whose rank is clear."""
    rng = np.random.default_rng(seed)
    kept: list[Any] = []
    active: list[bool] = []
    regularization = 1e-4
    rest = np.zeros(model.nv)
    factor = np.linalg.cholesky(dtau.mass_matrix(model, s["q"]))
    for k in range(most):
        more = [*kept, random_contact(model, rng, f"contact {k}")]
        on = [*active, bool(rng.integers(0, 4))]
        contacts = dtau.Contacts(model, more)
        J = all_rows(contacts, s["q"], s["v"], rest)[0][holds(contacts, np.array(on))]
        sizes = np.linalg.svd(np.linalg.solve(factor, J.T))[1]
        largest = max(1e-3, sizes.max(initial=0.0))
        squares = (sizes / largest) ** 2
        if not ((squares > 1e-13) & (squares < 1e-2)).any():
            kept, active, regularization = more, on, 1e-5 * largest**2
    return dtau.Contacts(model, kept), np.array(active, bool), regularization
