"""Jacobians of the gradients that `dtau.step_vjp` gives, from `dtau.step_hessian`: `step_vjp`.

The rule is one like those of `dtau.autodiff.blocks`. The Hessian is that in exponential charts of
the states before and after the step. Displacements of free, spherical and planar joints do not add;
their Lie brackets lead from charts to derivatives in each tangent space.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dtau.autodiff import manifold
from dtau.autodiff.blocks import Blocks
from dtau.autodiff.library import Array, At
from dtau.autodiff.manifold_jacobians import weighted_brackets

_VARIABLES = ("q", "v", "tau")


def step_vjp(x: At, by: str) -> Blocks:
    """Differentiate gradients by q, v and tau with respect to these or to the weights."""
    if x["f_ext"] is not None or by not in (*_VARIABLES, "lam_q", "lam_v"):
        by = by if x["f_ext"] is None else f"{by}, with f_ext"
        raise NotImplementedError(
            "dtau: gradients of step by products have derivatives by q, v and tau, without f_ext; "
            f"this asks for one by {by}"
        )
    n, jacobian = x.model.nv, x.once("jacobian", lambda: _jacobian(x))
    if by in ("lam_q", "lam_v"):
        rows = jacobian[..., :n, :] if by == "lam_q" else jacobian[..., n:, :]
        columns = x.xp.swapaxes(rows, -1, -2)
    else:
        first = n * _VARIABLES.index(by)
        second = x.once("second", lambda: _second(x, jacobian))
        columns = second[..., first : first + n]
    return tuple(columns[..., k * n : (k + 1) * n, :] for k in range(len(_VARIABLES)))


def _second(x: At, jacobian: Array) -> Array:
    """Return the Jacobian of J^T lam by q, v and tau, (..., 3 nv, 3 nv).

    The derivative of component j along e_k is H_jk + (J^T lam . [e_k, e_j] - lam . [J e_k, J e_j])
    / 2.
    """
    lam_q, lam_v, n = x["lam_q"], x["lam_v"], x.model.nv
    (hessian,) = _call(x, "step_hessian", lam_q, lam_v)
    gradient = x.xp.einsum("...ij,...i->...j", jacobian[..., :n, :n], lam_q)
    gradient = gradient + x.xp.einsum("...ij,...i->...j", jacobian[..., n:, :n], lam_v)
    if manifold.is_vector_space(x.model):
        return hessian
    chart = x.xp.broadcast_to(x.library.constant(np.eye(n, 3 * n)), jacobian[..., :n, :].shape)
    before = weighted_brackets(x, 0.5 * gradient, chart)
    after = weighted_brackets(x, -0.5 * lam_q, jacobian[..., :n, :])
    rows, products = (x.xp.concatenate(parts, axis=-2) for parts in zip(before, after, strict=True))
    return hessian + x.xp.swapaxes(rows, -1, -2) @ products


def _jacobian(x: At) -> Array:
    """Return the Jacobian of a step by q, v and tau, (..., 2 nv, 3 nv)."""
    by_state, by_torque, *_ = _call(x, "linearize_discrete")
    return x.xp.concatenate((by_state, by_torque), axis=-1)


def _call(x: At, name: str, *weights: Array) -> tuple[Array, ...]:
    """Call a function of a step; every torque is an input."""
    options: dict[str, Any] = {**x.wrench_options(), **x.contact_options()}
    torques = x.once("torques", lambda: x.library.constant(np.eye(x.model.nv)))
    state = x["q"], x["v"], x["tau"], x["dt"]
    inputs = *state, *weights, None, torques, x["active"]
    return x.call(name, *inputs, integrator=x.options["integrator"], **options)
