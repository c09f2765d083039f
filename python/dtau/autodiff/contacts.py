"""Jacobians of constrained dynamics and of impacts, from other functions of the core.

The rules come from `dtau.autodiff.blocks`. The residual of constrained dynamics is a check of
the result: its derivatives count as zero. So do derivatives by the mask of active contacts.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dtau.autodiff.blocks import (
    Blocks,
    by_wrenches,
    for_each,
    gradients,
    inertial_torques,
    refuse_parameters,
    unit_wrenches,
    weighted,
)
from dtau.autodiff.library import Array, At
from dtau.autodiff.rows import PARAMETERS


def _dynamics_options(x: At) -> dict[str, object]:
    return {**x.wrench_options(), **x.contact_options()}


def constrained_dynamics(x: At, by: str) -> Blocks:
    """Differentiate accelerations and forces; the Jacobian of the residual is None."""
    if by == "active":
        return None, None, None
    inputs = x["q"], x["v"], x["tau"], x["f_ext"], x["active"]
    name = "constrained_dynamics_derivatives"
    *blocks, _ = x.call(name, *inputs, **_dynamics_options(x))
    if by == PARAMETERS:
        a = x.call("constrained_dynamics", *inputs, **_dynamics_options(x))[0]
        (torques,) = x.call("inverse_dynamics_regressor", x["q"], x["v"], a)
        return *_by_inertial_torques(x, blocks, torques), None
    k = ("q", "v", "tau").index("tau" if by == "f_ext" else by)
    if by != "f_ext":
        return blocks[k], blocks[3 + k], None
    # A wrench acts like the torque that it spares in inverse dynamics.
    (spared,) = x.call("inverse_dynamics_wrench_derivatives", x["q"], **x.wrench_options())
    equation = "...ij,...jbc->...ibc"
    return (*(-x.xp.einsum(equation, blocks[j], spared) for j in (k, 3 + k)), None)


def _by_inertial_torques(x: At, blocks: Sequence[Array], torques: Array) -> tuple[Array, Array]:
    """Return the derivatives by inertias, whose torques are missing to move the robot."""
    by_tau, forces_by_tau = blocks[2], blocks[5]
    return -(by_tau @ torques), -(forces_by_tau @ torques)


constrained_dynamics_vjp = gradients("constrained_dynamics", constrained_dynamics)


def constrained_dynamics_derivatives(x: At, by: str) -> Blocks:
    """Differentiate the Jacobians of accelerations and forces."""
    if by == "active":
        return (None,) * 7
    refuse_parameters("constrained_dynamics", by)
    bodies = for_each(x, PARAMETERS)
    if by == "f_ext":
        still, active = x.zeros(), for_each(x, "active")
        q, name = for_each(x, "q"), "constrained_dynamics_derivatives"
        some, none = (
            x.call(name, q, still, still, f_ext, active, bodies, **_dynamics_options(x))
            for f_ext in (unit_wrenches(x), None)
        )
        a, forces = (by_wrenches(x, some[k] - none[k]) for k in (0, 3))
        return a, None, None, forces, None, None, None
    inputs = [for_each(x, name) for name in ("q", "v", "tau")]
    more = [*(for_each(x, name) for name in ("f_ext", "active")), bodies]
    name = "constrained_dynamics_hessian"
    hessians = x.call(name, *inputs, *_unit_weights(x), *more, **_dynamics_options(x))
    (qq, forces_qq), (qv, forces_qv), (vv, forces_vv), (tq, forces_tq) = (
        (h[..., : x.model.nv, :, :], h[..., x.model.nv :, :, :]) for h in hessians
    )
    if by == "q":
        vq, forces_vq = (x.xp.swapaxes(h, -1, -2) for h in (qv, forces_qv))
        return qq, vq, tq, forces_qq, forces_vq, forces_tq, None
    if by == "v":
        return qv, vv, None, forces_qv, forces_vv, None, None
    qt, forces_qt = (x.xp.swapaxes(h, -1, -2) for h in (tq, forces_tq))
    return qt, None, None, forces_qt, None, None, None


def impulse_dynamics(x: At, by: str) -> Blocks:
    """Differentiate velocities after an impact, and impulses."""
    if by == "active":
        return None, None
    inputs, contacts = (x["q"], x["v"]), x.contact_options()
    if by == "restitution":  # both are affine in it
        (v, p), (less_v, less_p) = (
            x.call("impulse_dynamics", *inputs, e, x["active"], **contacts)
            for e in _restitutions(x)
        )
        return v - less_v, p - less_p
    if by == PARAMETERS:  # at rest and without weight, with v_after - v as the acceleration
        name, still = "constrained_dynamics_derivatives", x.zeros()
        after = x.call("impulse_dynamics", *inputs, x["restitution"], x["active"], **contacts)[0]
        found = x.call(name, x["q"], still, still, None, x["active"], **contacts)
        jump = inertial_torques(x.weightless(), x["q"], after - x["v"])
        return _by_inertial_torques(x, found, jump)
    name = "impulse_dynamics_derivatives"
    blocks = x.call(name, *inputs, x["restitution"], x["active"], **contacts)
    k = ("q", "v").index(by)
    return blocks[k], blocks[2 + k]


_IMPACT = weighted("impulse_dynamics_hessian")


def impulse_dynamics_vjp(x: At, by: str) -> Blocks:
    """Differentiate gradients of weighted velocities after an impact and impulses."""
    refuse_parameters("impulse_dynamics", PARAMETERS if x.options.get("by") else by)
    if by == "active":
        return None, None, None
    weights, swap = ("lam", "lam_impulses"), x.xp.swapaxes
    if by in weights:
        k = weights.index(by)
        by_q, by_v, slope = (impulse_dynamics(x, name)[k] for name in ("q", "v", "restitution"))
        return swap(by_q, -1, -2), swap(by_v, -1, -2), slope
    slopes = dict(zip(("q", "v"), x.once("slopes", lambda: _slopes(x)), strict=True))
    if by == "restitution":
        return slopes["q"], slopes["v"], None
    found = x.once("hessian", lambda: _IMPACT.rule(x))
    return found["q", by], found.get(("v", by)), slopes[by]


def _slopes(x: At) -> tuple[Array, Array]:
    """Return the derivatives of the gradients by q and v by the restitution: both are affine."""
    inputs = [x[name] for name in ("q", "v", "lam", "lam_impulses")]
    one, none = (
        x.call("impulse_dynamics_vjp", *inputs, e, x["active"], **x.contact_options())
        for e in _restitutions(x)
    )
    return one[0] - none[0], one[1] - none[1]


def impulse_dynamics_derivatives(x: At, by: str) -> Blocks:
    """Differentiate the Jacobians of velocities after an impact, and of impulses."""
    if by == "active":
        return None, None, None, None
    refuse_parameters("impulse_dynamics", by)
    if by == "restitution":
        name, inputs = "impulse_dynamics_derivatives", (x["q"], x["v"])
        one, none = (
            x.call(name, *inputs, e, x["active"], **x.contact_options()) for e in _restitutions(x)
        )
        return tuple(a - b for a, b in zip(one, none, strict=True))
    state = [for_each(x, name) for name in ("q", "v")]
    restitution, active = x["restitution"][..., None], for_each(x, "active")
    name = "impulse_dynamics_hessian"
    weights = _unit_weights(x)
    more = restitution, active, for_each(x, PARAMETERS)
    hessians = x.call(name, *state, *weights, *more, **x.contact_options())
    (qq, impulses_qq), (qv, impulses_qv) = (
        (h[..., : x.model.nv, :, :], h[..., x.model.nv :, :, :]) for h in hessians
    )
    if by == "q":
        vq, impulses_vq = (x.xp.swapaxes(h, -1, -2) for h in (qv, impulses_qv))
        return qq, vq, impulses_qq, impulses_vq
    return qv, None, impulses_qv, None


def _restitutions(x: At) -> tuple[Array, Array]:
    return x.library.constant(np.ones(())), x.library.constant(np.zeros(()))


def _unit_weights(x: At) -> tuple[Array, Array]:
    """Return weights that choose each velocity and then each constraint row, one after another."""
    nv = x.model.nv
    units = np.eye(nv + x.options["contacts"].nrows)
    return x.library.constant(units[:, :nv]), x.library.constant(units[:, nv:])
