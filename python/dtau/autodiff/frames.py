"""Differentiate placements and Jacobians of frames, to any order, from body Jacobians alone.

The rules are like the rules of `dtau.autodiff.blocks`, but their derivatives by q are in its
tangent space.

A frame at R, p with the body Jacobian J = [v; w] (..., 6, nv) moves with xi by dR = R hat(w xi) and
dp = R v xi. A column of J is the joint's axis, carried by the joints between it and the frame. So
it changes only with these: dJ_j = -ad(J_k) J_j xi_k. With mimic joints, columns are sums over the
columns of the same model without mimics.
"""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from dtau.autodiff.library import Array, At
from dtau.autodiff.without_mimics import without_mimics
from dtau.model.joints import Universal
from dtau.model.model import Model
from dtau.model.rotations import skew

CROSS = np.swapaxes(skew(np.eye(3)), 0, 1)  # (a x b)_i = CROSS[i, j, k] a_j b_k


def _motion_crosses() -> NDArray[np.float64]:
    """(ad(x) y)_i = c[i, j, k] x_j y_k of twists [linear, angular]."""
    c = np.zeros((6, 6, 6))
    c[:3, 3:, :3] = c[:3, :3, 3:] = c[3:, 3:, 3:] = CROSS
    return c


MOTION_CROSS = _motion_crosses()


@functools.lru_cache(maxsize=64)
def before(model: Model) -> NDArray[np.float64]:
    """Return a matrix: entry [j, k] is 1 if velocity j moves the joint of velocity k."""
    result = np.zeros((model.nv, model.nv))
    for joint in model.joints:
        if isinstance(joint.type, Universal):  # two revolute joints
            result[joint.v.start, joint.v.start + 1] = 1.0
        parent = joint.parent
        while parent >= 0:
            result[model.joints[parent].v, joint.v] = 1.0
            parent = model.joints[parent].parent
    return result


def frame_placements(x: At, by: str) -> tuple[Array, ...]:
    """Return derivatives of rotations (..., 3, 3, nv) and translations (..., 3, nv)."""
    rotation, _ = x.call("frame_placements", x["q"], frames=x.options["frames"])
    (jacobians,) = x.call("frame_jacobians", x["q"], frames=x.options["frames"], axes="body")
    cross = x.library.constant(CROSS)
    return (
        x.xp.einsum("...ia,abj,...bk->...ijk", rotation, cross, jacobians[..., 3:, :]),
        x.xp.einsum("...ia,...ak->...ik", rotation, jacobians[..., :3, :]),
    )


def frame_jacobians(x: At, by: str) -> tuple[Array, ...]:
    """Return derivatives of Jacobians in body axes, (..., 6, nv, nv)."""
    free = without_mimics(x.model)
    if free is None:
        (jacobians,) = x.call("frame_jacobians", x["q"], frames=x.options["frames"], axes="body")
        return (_change(x, x.model, jacobians),)
    constant = x.library.constant
    q = constant(free.scale) * x["q"][..., free.source] + constant(free.offset)
    options = {"frames": x.options["frames"], "axes": "body"}
    (jacobians,) = x.library.call(free.model, "frame_jacobians", (q,), **options)
    g = constant(free.velocities)
    return (x.xp.einsum("...ajk,jm,kn->...amn", _change(x, free.model, jacobians), g, g),)


def _change(x: At, model: Model, jacobians: Array) -> Array:
    """Return -ad(J_k) J_j if j is before k, else 0."""
    cross, order = x.library.constant(MOTION_CROSS), x.library.constant(before(model))
    ad = x.xp.einsum("abc,...bk->...ack", cross, jacobians)
    return -x.xp.einsum("...ack,...cj->...ajk", ad, jacobians) * order
