"""Jacobians of the gradients that `dtau.step_vjp` gives, from `dtau.step_hessian`: `step_vjp`.

The rule is one like those of `dtau.autodiff.blocks`. The Hessian is that in exponential charts of
the states before and after the step. Displacements of free, spherical and planar joints do not add;
their Lie brackets lead from charts to derivatives in each tangent space.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from dtau.autodiff import manifold
from dtau.autodiff.blocks import Blocks
from dtau.autodiff.library import Array, At
from dtau.autodiff.manifold_jacobians import weighted_brackets


class _Variables(NamedTuple):
    """The variables z of a Hessian: which come beside q, v and tau, places and shapes of each."""

    further: tuple[str, ...]
    places: dict[str, slice]
    shapes: dict[str, tuple[int, ...]]

    @property
    def size(self) -> int:
        """The length of z."""
        return sum(math.prod(shape) for shape in self.shapes.values())


def step_vjp(x: At, by: str) -> Blocks:
    """Differentiate gradients by all variables with respect to these or to the weights."""
    z = _variables(x, by)
    results = ["q", "v", "tau", *(["f_ext"] if "f_ext" in z.shapes else [])]
    results += ["dt"] if x.options.get("by") == "dt" else []
    if by == "active":
        return (None,) * len(results)
    jacobian = x.once(f"jacobian {z.further}", lambda: _jacobian(x, z))
    if by in ("lam_q", "lam_v"):
        n, shape = x.model.nv, z.shapes["q"]
        rows = jacobian[..., :n, :] if by == "lam_q" else jacobian[..., n:, :]
        columns = x.xp.swapaxes(rows, -1, -2)
    else:
        second = x.once(f"second {z.further}", lambda: _second(x, z, jacobian))
        columns, shape = second[..., z.places[by]], z.shapes[by]
    batch = tuple(columns.shape[:-2])
    return tuple(
        columns[..., z.places[name], :].reshape((*batch, *z.shapes[name], *shape))
        for name in results
    )


def _variables(x: At, by: str) -> _Variables:
    n = x.model.nv
    shapes: dict[str, tuple[int, ...]] = {"q": (n,), "v": (n,), "tau": (n,)}
    if by == "dt" or x.options.get("by") == "dt":
        shapes["dt"] = ()
    if x["f_ext"] is not None:
        shapes["f_ext"] = (x.model.nbodies, 6)
    ends = np.cumsum([0, *(math.prod(shape) for shape in shapes.values())]).tolist()
    places = {name: slice(*ends[k : k + 2]) for k, name in enumerate(shapes)}
    return _Variables(tuple(shapes)[3:], places, shapes)


def _second(x: At, z: _Variables, jacobian: Array) -> Array:
    """Return the Jacobian of J^T lam by z, (..., nz, nz).

    The derivative of component j along e_k is H_jk + (J^T lam . [e_k, e_j] - lam . [J e_k, J e_j])
    / 2.
    """
    lam_q, lam_v, n = x["lam_q"], x["lam_v"], x.model.nv
    (hessian,) = _call(x, z, "step_hessian", lam_q, lam_v)
    gradient = x.xp.einsum("...ij,...i->...j", jacobian[..., :n, :n], lam_q)
    gradient = gradient + x.xp.einsum("...ij,...i->...j", jacobian[..., n:, :n], lam_v)
    if manifold.is_vector_space(x.model):
        return hessian
    chart = x.library.constant(np.eye(n, z.size))
    chart = x.xp.broadcast_to(chart, jacobian[..., :n, :].shape)
    before = weighted_brackets(x, 0.5 * gradient, chart)
    lam_q = x.xp.broadcast_to(lam_q, gradient.shape)
    after = weighted_brackets(x, -0.5 * lam_q, jacobian[..., :n, :])
    rows, products = (x.xp.concatenate(parts, axis=-2) for parts in zip(before, after, strict=True))
    return hessian + x.xp.swapaxes(rows, -1, -2) @ products


def _jacobian(x: At, z: _Variables) -> Array:
    """Return the Jacobian of a step by z, (..., 2 nv, nz)."""
    results = _call(x, z, "linearize_discrete")
    columns = list(results[:2])
    halves = results[len(results) - 2 * len(z.further) :]  # by each further variable, of q and of v
    for k, name in enumerate(z.further):
        rows = x.xp.concatenate(
            [
                half.reshape((*columns[0].shape[:-2], x.model.nv, math.prod(z.shapes[name])))
                for half in halves[2 * k : 2 * k + 2]
            ],
            axis=-2,
        )
        columns.append(rows)
    return x.xp.concatenate(columns, axis=-1)


def _call(x: At, z: _Variables, name: str, *weights: Array) -> tuple[Array, ...]:
    """Call a function of a step; every torque is an input."""
    options: dict[str, Any] = {**x.wrench_options(), **x.contact_options()}
    options |= {"integrator": x.options["integrator"], "by": z.further or None}
    torques = x.once("torques", lambda: x.library.constant(np.eye(x.model.nv)))
    state = x["q"], x["v"], x["tau"], x["dt"]
    return x.call(name, *state, *weights, x["f_ext"], torques, x["active"], **options)
