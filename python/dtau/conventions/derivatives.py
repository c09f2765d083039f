"""Convert first derivatives to another form of velocities, v' = A(q) v, by one rule.

Let y be a result and x the variables v, a and tau that it depends on beside q. At fixed x', each x
varies with q; and the result itself, if it is an acceleration, a torque or a velocity, is y' = L y
(+ N(v)). Displacements of q transform as velocities do. By the chain rule,

    D'_q y' = L (D_q y + sum of (D_x y) (dx/dq) - dy/dq) A^-1      dx/dq and dx/dv at fixed x',
    D'_v y' = L (D_v y + (D_a y) (da/dv) - dy/dv) A^-1             dy/dq and dy/dv at fixed y'
    D'_a y' = L (D_a y) A^-1            D'_tau y' = L (D_tau y) A^T

with L = A for velocities and accelerations, A^-T for torques, and otherwise L = 1, dy = 0. The
variations come from W(v), N and U of `dtau.conventions.twists`. Back to dtau, the same lines are
solved for the derivatives without ``'``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from dtau.conventions.maps import Maps
from dtau.conventions.states import vectors_to_dtau
from dtau.conventions.twists import TwistMap
from dtau.support.arrays import Array

_NAME = re.compile(r"d([a-zA-Z]+)_d(q|v|a|tau)")
AFTER = "v_after"  # the velocity that an impact gives, beside the one before it
CONVERTED = ("v", "a", "tau", AFTER)  # values that differ in another convention


def parts(name: str) -> tuple[str, str] | None:
    """Return result and variable of a derivative's name: ``dtau_dq`` is of tau by q."""
    found = _NAME.fullmatch(name)
    return None if found is None else (_value(found[1]), found[2])


def needs(names: Iterable[str]) -> set[str]:
    """Return the values of a state that derivatives of these names need, beside q."""
    pairs = [pair for pair in map(parts, names) if pair is not None]
    values = {x for pair in pairs for x in pair if x in CONVERTED}
    return values | {"v"} if "a" in values else values


class _At(NamedTuple):
    """Factors of each value at a state, and its variations at fixed ``'``; blocks by roots."""

    left: Mapping[str, Array]
    right: Mapping[str, Array]
    by_q: Mapping[str, Array]
    by_v: Mapping[str, Array]


def convert(
    maps: Maps, q: Array, at: Mapping[str, Array], fields: Mapping[str, Array], to_dtau: bool
) -> dict[str, Array]:
    """Convert derivatives ``(n, any, nv)``, or ``(n, nv, nv)`` of velocities and torques.

    ``at`` has the values that `needs` names, like the derivatives in one convention.
    """
    point = _point(maps, q, at, to_dtau)
    by_result: dict[str, dict[str, Array]] = {}
    for name, x in fields.items():
        result, variable = parts(name) or ("", "")
        by_result.setdefault(result, {})[variable] = x
    rule = _to_dtau if to_dtau else _from_dtau
    converted = {y: rule(maps, point, y, d) for y, d in by_result.items()}
    return {name: converted[y][x] for name in fields for y, x in [parts(name) or ("", "")]}


def _from_dtau(maps: Maps, at: _At, y: str, d: dict[str, Array]) -> dict[str, Array]:
    for variable in ("q", "v"):  # q takes the derivative by v as it comes
        _vary(maps, at, y, d, variable, 1.0)
    return {
        x: maps.order.from_dtau(_sandwich(maps.twists, at, y, x, matrix), *_axes(at, y))
        for x, matrix in d.items()
    }


def _to_dtau(maps: Maps, at: _At, y: str, d: dict[str, Array]) -> dict[str, Array]:
    for x, matrix in d.items():
        d[x] = _sandwich(maps.twists, at, y, x, maps.order.to_dtau(matrix, *_axes(at, y)))
    for variable in ("v", "q"):
        _vary(maps, at, y, d, variable, -1.0)
    return d


def _vary(maps: Maps, at: _At, y: str, d: dict[str, Array], variable: str, sign: float) -> None:
    """Add the effect of values that vary with q or v at fixed ``'``, or subtract it."""
    if variable in d:
        variations = at.by_q if variable == "q" else at.by_v
        total = d[variable]
        for x, blocks in variations.items():
            if x in d:
                total = total + maps.twists.product(d[x], sign * blocks)
        if y in variations:
            total = total - maps.twists.embedded(sign * variations[y], maps.nv)
        d[variable] = total


def _sandwich(twists: TwistMap, at: _At, y: str, x: str, matrix: Array) -> Array:
    out = matrix.copy()
    if y in at.left:
        twists.multiply_rows(at.left[y], out)
    twists.put(out, twists.columns(out, at.right[x]))
    return out


def _axes(at: _At, y: str) -> tuple[int, ...]:
    """Return the axes of length nv."""
    return (-2, -1) if y in at.left else (-1,)


def _point(maps: Maps, q: Array, at: Mapping[str, Array], to_dtau: bool) -> _At:
    forward, inverse = maps.twists.matrices(q)
    zero = np.zeros((len(q), maps.nv))
    v, a, tau, after = (at.get(name, zero) for name in ("v", "a", "tau", AFTER))
    if to_dtau:
        v, a, tau = vectors_to_dtau(maps, q, [v, a, tau])
        (after,) = vectors_to_dtau(maps, q, [after])
        forward, inverse = inverse, forward
    by, turned = maps.twists.variations(v, a, tau), np.swapaxes(forward, -1, -2)
    return _At(
        left={"a": forward, AFTER: forward, "tau": np.swapaxes(inverse, -1, -2)},
        right={"q": inverse, "v": inverse, "a": inverse, "tau": turned},
        by_q={
            "v": by.v_by_q,
            "a": by.a_by_q,
            "tau": -by.force_by_q,
            AFTER: maps.twists.shift(after),
        },
        by_v={"a": -by.rate_by_v},
    )


def _value(name: str) -> str:
    return AFTER if name == "v" else name
