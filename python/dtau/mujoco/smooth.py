"""Differentiate MuJoCo's  M a + c  by configuration and velocity: `smooth_derivatives`.

dtau's inverse dynamics does the work. The coordinates of free joints differ: MuJoCo's linear
velocity is along the world's axes, dtau's along the body's. With the rotation R of the body,

    v_dtau = R^T v    a_dtau = R^T a - w x v_dtau    f = R f_dtau

and R varies with the displacement: dR = R [d]x.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dtau import _core
from dtau.mujoco.plan import Plan
from dtau.mujoco.vectors import skew

Array = NDArray[np.float64]


def smooth_derivatives(
    plan: Plan, q: Array, v: Array, a: Array, tau: Array, rotations: Array
) -> tuple[Array, Array]:
    """Return d(M a + c)/dq and d(M a + c)/dv, each (n, nv, nv).

    Parameters
    ----------
    plan : Plan
    q, v, a : ndarray (n, nq), (n, nv), (n, nv)
    tau : ndarray (n, nv)
        M a + c, without armature.
    rotations : ndarray (n, nfree, 3, 3)
        Orientations of the bodies of free joints.
    """
    v, a = v.copy(), a.copy()
    axes = []
    for k, first in enumerate(plan.free):
        linear, angular = slice(first, first + 3), slice(first + 3, first + 6)
        back = rotations[:, k].swapaxes(-1, -2)
        turn = skew(v[:, angular])
        v[:, linear] = np.matvec(back, v[:, linear])
        acceleration = np.matvec(back, a[:, linear])
        a[:, linear] = acceleration - np.matvec(turn, v[:, linear])
        axes.append((linear, angular, back, turn, skew(v[:, linear]), skew(acceleration)))
    state = (
        q[:, plan.coordinates] - plan.offsets,
        *((v, a) if plan.same_order else (v[:, plan.places], a[:, plan.places])),
    )
    by_q, by_v, mass = _core.inverse_dynamics_derivatives(plan.model, *state)
    if not plan.same_order:
        rows, columns = plan.order[:, np.newaxis], plan.order
        by_q, by_v, mass = (x[:, rows, columns] for x in (by_q, by_v, mass))
    for linear, angular, back, turn, fast, faster in axes:
        column = mass[:, :, linear]
        by_q[:, :, angular] += by_v[:, :, linear] @ fast + column @ (faster - turn @ fast)
        by_q[:, :, linear] = by_q[:, :, linear] @ back
        by_v[:, :, angular] += column @ fast
        by_v[:, :, linear] = (by_v[:, :, linear] - column @ turn) @ back
        forward = back.swapaxes(-1, -2)
        by_q[:, linear] = forward @ by_q[:, linear]
        by_v[:, linear] = forward @ by_v[:, linear]
        by_q[:, linear, angular] -= skew(tau[:, linear]) @ forward
    return by_q, by_v
