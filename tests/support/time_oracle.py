"""Time derivatives that an independent program computed (tests/oracles/README.md).

There, twists and wrenches of the base are spatial: in world axes, about the world's origin.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import taylor
from files import ORACLES
from trees import Array, Body, Tree, skew

import dtau

NAMES = ("table3_t0.0", "table3_t7.5", "table3_t30.0", "rich7_0", "rich7_1", "mixed13_0")


KIND = {"base": "free", "R": "revolute", "P": "prismatic"}


LINEAR_FIRST = [3, 4, 5, 0, 1, 2]


def adjoint(R: Array, p: Array) -> Array:
    """Of a pose or a series of poses, for twists with the angular part first."""
    hats = np.cross(p[..., np.newaxis, :], np.eye(3)).swapaxes(-1, -2)
    lower = taylor.product(hats, R) if R.ndim > 2 else hats @ R
    return np.concatenate(
        [np.concatenate([R, np.zeros_like(R)], axis=-1), np.concatenate([lower, R], axis=-1)],
        axis=-2,
    )


def body_of(j: int, d: dict[str, Array], home: list[Array], frames: list[Array]) -> Body:
    """A body whose frame at home lies on its joint's axis, in the axes of the oracle's own."""
    R, own = home[j][:3, :3], home[j][:3, 3]
    kind, screw = KIND[str(d["joint_type"][j])], d["Y"][j]
    # The point of the axis that is nearest to the world's origin.
    origin = np.cross(screw[:3], screw[3:]) if kind == "revolute" else own
    axis = R.T @ (screw[3:] if kind == "prismatic" else screw[:3])
    frames.append(np.block([[R, origin[:, np.newaxis]], [np.zeros(3), 1.0]]))
    parent = int(d["parent"][j])
    at = np.linalg.inv(frames[parent]) @ frames[j] if parent >= 0 else np.eye(4)
    mass = float(d["Mb"][j][3, 3])
    hat = d["Mb"][j][:3, 3:] / mass
    com = np.array([hat[2, 1], hat[0, 2], hat[1, 0]])
    tensor = d["Mb"][j][:3, :3] + mass * skew(com) @ skew(com)
    return Body(
        name=f"body{j}",
        parent=parent,
        kind=kind,
        axis=axis if kind != "free" else np.array([0.0, 0.0, 1.0]),
        pitch=0.0,
        rotation=at[:3, :3],
        translation=at[:3, 3],
        mass=mass,
        com=com + R.T @ (own - origin),
        tensor=0.5 * (tensor + tensor.T),
        armature=np.zeros(6 if kind == "free" else 1),
        damping=np.zeros(6 if kind == "free" else 1),
        stiffness=np.zeros(6 if kind == "free" else 1),
        rest=np.zeros(6 if kind == "free" else 1),
        friction=np.zeros(6 if kind == "free" else 1),
        speed=np.ones(6 if kind == "free" else 1),
    )


@dataclass(frozen=True)
class Oracle:
    model: dtau.Model
    q: Array
    v: Array  # (r + 2, nv)
    f_ext: Array  # (r + 1, nbodies, 6)
    base_adjoint: Array  # series, of the base's pose
    wrench: Array  # spatial, on the base, (r + 1, 6)
    tau: Array  # of the joints, (r + 1, joints), in the model's order


def quaternion_of(R: Array) -> Array:
    """x y z w: the eigenvector of eigenvalue 1 of a symmetric form of R."""
    K = np.zeros((4, 4))
    K[:3, :3] = R + R.T - np.trace(R) * np.eye(3)
    K[:3, 3] = K[3, :3] = [R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]
    K[3, 3] = np.trace(R)
    return np.linalg.eigh(K)[1][:, -1]


@cache
def oracle(name: str) -> Oracle:
    with np.load(ORACLES / f"p002_{name}.npz") as file:
        d = {key: file[key] for key in file.files}
    count, order = int(d["N"]), int(d["r"])
    home: list[Array] = [d["A01"]]
    for j in range(1, count):
        home.append(home[int(d["parent"][j])] @ d["Ap"][j])
    frames: list[Array] = []
    bodies = tuple(body_of(j, d, home, frames) for j in range(count))
    tree = Tree(bodies, np.array([0.0, 0.0, -float(d["g"])]))
    model = tree.model()

    # The base's pose as a series, C' = [V] C with the spatial twist V; then its body twist.
    V = taylor.coefficients(d["V"].T[: order + 2])
    C = d["C"] @ home[0]
    R, p = [C[:3, :3]], [C[:3, 3]]
    for k in range(len(V)):
        rates = [(skew(V[m][:3]), V[m][3:], k - m) for m in range(k + 1)]
        R.append(sum(hat @ R[n] for hat, _, n in rates) / (k + 1.0))
        p.append((sum(hat @ p[n] for hat, _, n in rates) + V[k][3:]) / (k + 1.0))
    inverse = adjoint(
        taylor.transposed(np.array(R)), -taylor.product(taylor.transposed(np.array(R)), np.array(p))
    )
    twist = taylor.derivatives(taylor.product(inverse, V))

    q, v = np.empty(model.nq), np.empty((order + 2, model.nv))
    tau = np.empty((order + 1, model.nv - 6))
    for j in range(count):
        joint = model.joint(f"body{j}")
        if j == 0:
            q[joint.q] = [*C[:3, 3], *quaternion_of(C[:3, :3])]
            v[:, joint.v] = twist[:, LINEAR_FIRST]
        else:
            q[joint.q] = d["q"][j, 0]
            v[:, joint.v] = d["q"][j, 1 : order + 3, np.newaxis]
            tau[:, joint.v.start - 6] = d["ID_tau"][j]

    f_ext = np.zeros((order + 1, count, 6))
    for j, (rotation, origin, _) in enumerate(taylor.poses(tree, model, q, v)):
        spatial = taylor.coefficients(d["Wapp"][j].T)
        in_body = taylor.product(taylor.transposed(adjoint(rotation, origin)), spatial)
        f_ext[:, model.joint(f"body{j}").body] = taylor.derivatives(in_body)[:, LINEAR_FIRST]
    return Oracle(model, q, v, f_ext, inverse, d["ID_base_wrench"].T, tau)
