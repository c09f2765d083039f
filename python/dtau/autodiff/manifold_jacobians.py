"""Jacobians of q (+) dq and of its inverse, in the operations of an array library.

First derivatives use `dtau.integrate_jacobians` of the core. The functions here have the same
values, and the library differentiates them for second derivatives. With ad = [d, .] for a joint and
t its squared angle, ad (ad^2 + t)^2 = 0. So the right Jacobian 1 - ad/2! + ad^2/3! - ... is a
polynomial of degree 4. [Sola], [Derivations] §12
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dtau.autodiff.joint_groups import FREE, PLAIN, PLANAR, JointGroup
from dtau.autodiff.library import Array, At
from dtau.autodiff.manifold import joints_of
from dtau.autodiff.series import joined
from dtau.model.model import Model


@functools.cache
def _structure(group: JointGroup, n: int) -> NDArray[np.float64]:
    """Return the structure constants S: ad(d)_ij = S[i, j, k] d_k."""
    one = np.eye(n)
    first, second = np.repeat(one, n, axis=0), np.tile(one, (n, 1))
    brackets: NDArray[np.float64] = group.bracket(np, first, second)  # each k with each j
    return brackets.reshape(n, n, n).transpose(2, 1, 0)


@functools.lru_cache(maxsize=64)
def _places(model: Model) -> list[tuple[JointGroup, NDArray[np.intp], NDArray[np.float64]]]:
    """List the groups whose displacements do not add, with the indices of their velocities in v."""
    found = []
    for joints in joints_of(model):
        if joints.group is not PLAIN:
            found.append((joints.group, joints.v, np.eye(model.nv)[joints.v]))
    return found


def _coefficients(xp: Any, t: Array) -> list[Array]:
    """Return the coefficients of ad, ad^2, ad^3, ad^4 in 1 + ad/2! + ad^2/3! + ..."""

    def series(first: int, factor: Any) -> list[float]:
        return [(-1) ** m * factor(m) / math.factorial(2 * m + first) for m in range(12)]

    def parts(t: Array) -> tuple[Array, Array, Array]:
        a = xp.sqrt(t)
        return a, xp.sin(a), xp.cos(a)

    def first(t: Array) -> Array:
        a, s, c = parts(t)
        return (4.0 - a * s - 4.0 * c) / (2.0 * t)

    def second(t: Array) -> Array:
        a, s, c = parts(t)
        return (4.0 * a - 5.0 * s + a * c) / (2.0 * t * a)

    def third(t: Array) -> Array:
        a, s, c = parts(t)
        return (2.0 - a * s - 2.0 * c) / (2.0 * t * t)

    def fourth(t: Array) -> Array:
        a, s, c = parts(t)
        return (2.0 * a - 3.0 * s + a * c) / (2.0 * t * t * a)

    return [
        joined(xp, t, 1.0, series(2, lambda m: 1 - m), first),
        joined(xp, t, 1.0, series(3, lambda m: 1 - m), second),
        joined(xp, t, 1.0, series(4, lambda m: m + 1), third),
        joined(xp, t, 1.0, series(5, lambda m: m + 1), fourth),
    ]


def _maps(x: At, dq: Array) -> tuple[Array, Array]:
    """Return Ad(exp(-dq)) and the right Jacobian at dq, (..., nv, nv)."""
    xp, constant = x.xp, x.library.constant
    by_q = by_dq = constant(np.eye(x.model.nv))
    for group, v, where in _places(x.model):
        d = dq[..., v]
        turn = d[..., 3:] if group is FREE else d[..., 2:] if group is PLANAR else d
        g = [c[..., None] for c in _coefficients(xp, (turn * turn).sum(-1)[..., None])]
        ad = xp.einsum("ijk,...nk->...nij", constant(_structure(group, v.shape[1])), d)
        squared = ad @ ad
        beyond = -g[0] * ad + g[1] * squared - g[2] * (squared @ ad) + g[3] * (squared @ squared)
        place = constant(where)
        scatter = "...nij,nir,njs->...rs"
        by_dq = by_dq + xp.einsum(scatter, beyond, place, place)
        by_q = by_q - xp.einsum(scatter, ad + ad @ beyond, place, place)
    return by_q, by_dq


def weighted_brackets(x: At, weights: Array, rows: Array) -> tuple[Array, Array]:
    """Return the nonzero rows b of displacements, and B b with weights . [y, z] = (b z)^T (B b y).

    ``rows`` (..., nv, n) maps variables to displacements y, z of the configuration.
    """
    chosen, multiplied = [], []
    for group, v, _ in _places(x.model):
        n = v.shape[1]
        structure = x.library.constant(_structure(group, n).reshape(n, n * n))
        for joint in v:
            part = rows[..., joint, :]
            brackets = (weights[..., joint] @ structure).reshape((*weights.shape[:-1], n, n))
            chosen.append(part)
            multiplied.append(brackets @ part)
    return x.xp.concatenate(chosen, axis=-2), x.xp.concatenate(multiplied, axis=-2)


def integrate_jacobians(x: At) -> tuple[Array, Array]:
    """Return the Jacobians of q (+) dq by q and by dq."""
    by_q, by_dq = _maps(x, x["dq"])
    shape = (*np.broadcast_shapes(tuple(x["q"].shape[:-1]), tuple(x["dq"].shape[:-1])), 1, 1)
    one = x.xp.broadcast_to(x.library.constant(np.ones((1, 1))), shape)
    return by_q * one, by_dq * one


def difference_jacobians(x: At) -> tuple[Array, Array]:
    """Return the Jacobians of the displacement from q0 to q1 by q0 and by q1."""
    (d,) = x.call("difference", x["q0"], x["q1"])
    _, forwards = _maps(x, d)
    _, backwards = _maps(x, -d)
    return -x.xp.linalg.inv(backwards), x.xp.linalg.inv(forwards)
