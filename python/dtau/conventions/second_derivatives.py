"""Convert second derivatives to another form of velocities, v' = A(q) v.

f(q, v, z) is tau with z = a + N(v) in place of a, or a + N(v) with z = tau; then f' = L f. Beside
W, N and U of `dtau.conventions.twists`, along a displacement d at fixed v' and z':

                         L           z'          z varies by   L varies by
    inverse dynamics     A^-T        A z         Q(z) d        L P(.) d       Q =  W    P =  U
    forward dynamics     A           A^-T z      Q(z) d        L P(.) d       Q = -U    P = -W

Displacements e_j of the convention are d_j = A^-1 e_j, and vary as v does, by W(d_j) d. Hence

    D'_j f' = L g(d_j),      g(d) = f_q d + f_v W(v) d + f_z Q(z) d + P(f) d
    D'_k D'_j f' = L (  g_q(d_j; d_k) + g_v(d_j; W(v) d_k) + g_z(d_j; Q(z) d_k)
                      + P(g(d_j)) d_k + g(W(d_j) d_k)  )

where g varies as follows, because f_vz = 0 = f_zz and W, Q and P are linear in their arguments:

    g_q(d; d_k) = f_qq(d, d_k) + f_qv(d_k, W(v) d) + f_zq(Q(z) d, d_k) + P(f_q d_k) d
    g_v(d; x)   = f_qv(d, x) + f_vv(W(v) d, x) + f_v W(x) d + P(f_v x) d
    g_z(d; y)   = f_zq(y, d) + f_z Q(y) d + P(f_z y) d

By q' and v': L g_v(d_j; A^-1 e_k); by z' and q': L g_z(d_k; y_j), where z varies by y_j = A^-1 e_j,
or A^T e_j. All terms are bilinear, so they are computed for unit vectors in dtau's axes first. W, Q
and P vanish for velocities other than velocities of free roots.

A scalar w' . f' with weights w' of the convention, held constant, is w . f with w = L^T w' there;
its derivatives are as above, with w . in place of L: one row of weights in place of nv rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from dtau.conventions.maps import Maps
from dtau.conventions.twists import TwistMap
from dtau.support.arrays import Array


class _Given(NamedTuple):
    """A state in dtau's convention, with derivatives; rows of states first."""

    q: Array
    v: Array
    a: Array
    tau: Array
    weights: Array  # (n or 1, m, nv)
    first: Sequence[Array]  # (n, nv, nv)
    second: Sequence[Array]  # (n, m, nv, nv), weighted


class _Chain(NamedTuple):
    """The terms at the head of this file, for f(q, v, z); blocks ``(n, nroots, 6, 6)``."""

    left: Array  # L
    back: Array  # A^-1
    third: Array  # y_j
    v_by_q: Array  # W(v)
    z_by_q: Array  # Q(z)
    f_by_q: Array  # P(f)
    W: Array  # for unit vectors, as in `UnitBlocks`
    Q: Array
    P: Array
    first: Sequence[Array]  # f_q, f_v, f_z
    second: Sequence[Array]  # f_qq, f_qv, f_vv, f_zq, weighted: new arrays


def convert(
    maps: Maps,
    inverse: bool,
    q: Array,
    at: Mapping[str, Array],
    first: Sequence[Array],
    second: Sequence[Array],
) -> Iterator[Array]:
    """Return second derivatives of tau' or a' by q', v' and a' or tau'.

    These are tensors, or Hessians if ``at`` has weights ``lam`` beside v, a and tau.
    """
    weights = np.eye(maps.nv)[np.newaxis]
    if "lam" in at:
        weights, second = at["lam"][:, np.newaxis], [x[:, np.newaxis] for x in second]
    given = _Given(q, at["v"], at["a"], at["tau"], weights, first, second)
    chain = (_inverse if inverse else _forward)(maps.twists, given)
    for x in _moved(maps.twists, chain, weights):
        if "lam" in at:
            yield maps.order.from_dtau(x[:, 0], -2, -1)
        else:
            maps.twists.multiply_rows(chain.left, x.reshape(*x.shape[:2], maps.nv**2))
            yield maps.order.from_dtau(x, -3, -2, -1)


def _inverse(twists: TwistMap, given: _Given) -> _Chain:
    """Return the chain of tau(q, v, z - N(v))."""
    weights, (by_q, by_v, by_a) = given.weights, given.first
    _, inverse = twists.matrices(given.q)
    by, unit = twists.variations(given.v, given.a, given.tau), twists.unit_blocks()
    qq, qv, vv, aq = (x.copy() for x in given.second)
    twists.add_columns(qv, -twists.columns(_transposed(aq), by.rate_by_v[:, np.newaxis]))
    twists.add_blocks(vv, -_weighted(twists, weights @ by_a, unit.rate))
    return _Chain(
        left=_transposed(inverse),
        back=inverse,
        third=inverse,
        v_by_q=by.v_by_q,
        z_by_q=twists.shift(given.a + twists.rate(given.v)),
        f_by_q=by.force_by_q,
        W=unit.shift,
        Q=unit.shift,
        P=unit.force,
        first=(by_q, by_v - twists.product(by_a, by.rate_by_v), by_a),
        second=(qq, qv, vv, aq),
    )


def _forward(twists: TwistMap, given: _Given) -> _Chain:
    """Return the chain of a(q, v, z) + N(v)."""
    (by_q, by_v, by_tau), nv = given.first, given.v.shape[-1]
    forward, inverse = twists.matrices(given.q)
    by, unit = twists.variations(given.v, given.a, given.tau), twists.unit_blocks()
    qq, qv, vv, tauq = (x.copy() for x in given.second)
    twists.add_blocks(vv, _weighted(twists, given.weights, unit.rate))
    return _Chain(
        left=forward,
        back=inverse,
        third=_transposed(forward),
        v_by_q=by.v_by_q,
        z_by_q=-by.force_by_q,
        f_by_q=-twists.shift(given.a + twists.rate(given.v)),
        W=unit.shift,
        Q=-unit.force,
        P=-unit.shift,
        first=(by_q, by_v + twists.embedded(by.rate_by_v, nv), by_tau),
        second=(qq, qv, vv, tauq),
    )


def _moved(twists: TwistMap, chain: _Chain, weights: Array) -> tuple[Array, ...]:
    """Return derivatives by q' twice, q' and v', v' twice, z' and q', without the factor L.

    Comments name the terms, with row j and column k; each is contracted with `weights`.
    """
    by_q, by_v, by_z = chain.first
    g_fixed = by_q + twists.product(by_v, chain.v_by_q) + twists.product(by_z, chain.z_by_q)
    g = g_fixed + twists.embedded(chain.f_by_q, g_fixed.shape[-1])
    v_by_q, z_by_q = chain.v_by_q[:, np.newaxis], chain.z_by_q[:, np.newaxis]
    shifts = _weighted(twists, weights, chain.P)

    def shifted(x: Array) -> Array:
        """Return P(x e_j) e_k, the columns of the roots."""
        out = _transposed(twists.take_rows(x))[:, np.newaxis] @ shifts
        return np.swapaxes(out, -3, -2)

    qq, qv, vv, zq = chain.second
    rows = (  # the rest of g_q(e_k; e_j)
        twists.columns(qv, v_by_q) + twists.columns(_transposed(zq), z_by_q) + shifted(by_q)
    )
    # g_v(e_j; e_k)
    twists.add_columns(_transposed(qv), twists.columns(_transposed(vv), v_by_q) + shifted(by_v))
    twists.add_blocks(_transposed(qv), _weighted(twists, weights @ by_v, chain.W))
    # g_z(e_k; e_j)
    twists.add_columns(zq, shifted(by_z))
    twists.add_blocks(zq, _weighted(twists, weights @ by_z, chain.Q))

    twists.add_columns(_transposed(qq), rows)
    twists.add_columns(
        qq, twists.columns(qv, v_by_q) + twists.columns(_transposed(zq), z_by_q) + shifted(g)
    )
    twists.add_blocks(qq, _weighted(twists, weights @ g, chain.W))  # g(W(e_j) e_k)

    back, third = (_transposed(x)[:, np.newaxis] for x in (chain.back, chain.third))
    for x, left in ((qq, back), (qv, back), (vv, back), (zq, third)):
        twists.multiply_rows(left, x)
        twists.multiply_rows(back, _transposed(x))
    return qq, qv, vv, zq


def _weighted(twists: TwistMap, weights: Array, blocks: Array) -> Array:
    """Contract weights ``(n, m, nv)`` with b(e_b) e_c for `blocks` b; by roots, b and c."""
    flat = np.swapaxes(blocks, 0, 1).reshape(6, 36)
    rows = twists.take(weights)
    return (rows @ flat).reshape(*rows.shape, 6)


def _transposed(x: Array) -> Array:
    return np.swapaxes(x, -1, -2)
