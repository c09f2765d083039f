"""Jacobians of a time step, and of its Jacobians and gradients, from other functions of the core.

The rules come from `dtau.autodiff.blocks`. The variables z are the numbers of q, v and tau, and
the length of the step and the wrenches where they are asked for.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from dtau.autodiff.blocks import Blocks, Hessian, refuse_parameters
from dtau.autodiff.library import Array, At
from dtau.autodiff.rows import PARAMETERS


class _Variables(NamedTuple):
    """The variables z: the shape of each, and its place."""

    shapes: dict[str, tuple[int, ...]]
    places: dict[str, slice]

    @classmethod
    def of(cls, x: At, asked: Iterable[str]) -> _Variables:
        """Return q, v and tau, and what is asked for beside them."""
        nv, further = x.model.nv, {"dt": (), "f_ext": (x.model.nbodies, 6)}
        shapes: dict[str, tuple[int, ...]] = {"q": (x.model.nq,), "v": (nv,), "tau": (nv,)}
        shapes |= {name: shape for name, shape in further.items() if name in asked}
        ends = np.cumsum([0, *map(math.prod, shapes.values())]).tolist()
        return cls(shapes, {name: slice(*ends[k : k + 2]) for k, name in enumerate(shapes)})

    @property
    def further(self) -> tuple[str, ...]:
        """The variables beside q, v and tau: the argument ``by`` of functions of a step."""
        return tuple(self.shapes)[3:]

    def of_one(self, name: str, columns: Array) -> Array:
        """Return the derivatives by one variable, in its shape."""
        chosen = columns[..., self.places[name]]
        return chosen.reshape((*chosen.shape[:-1], *self.shapes[name]))


def step(x: At, by: str) -> Blocks:
    """Differentiate the state after a step."""
    if by == "active":
        return None, None
    if by == PARAMETERS:
        z = _Variables.of(x, ())
        return _halves(x, _each_number(x, z, "step_vjp", PARAMETERS)[-1], 1)
    z = _Variables.of(x, x.wanted)
    return _halves(x, z.of_one(by, _jacobian(x, z)), len(z.shapes[by]))


def step_vjp(x: At, by: str) -> Blocks:
    """Differentiate gradients by all variables with respect to these or to the weights."""
    _refuse_parameters(x, by)
    results = ["q", "v", "tau", *(["f_ext"] if x["f_ext"] is not None else []), *_asked(x)]
    z = _Variables.of(x, {*results, *x.wanted})
    if by == "active":
        return (None,) * len(results)
    if by in ("lam_q", "lam_v"):
        rows = dict(zip(("lam_q", "lam_v"), _halves(x, _jacobian(x, z), 1), strict=True))
        columns = x.xp.swapaxes(rows[by], -1, -2)
        shape: tuple[int, ...] = (columns.shape[-1],)
    else:
        weights = x["lam_q"], x["lam_v"]
        second = x.once(f"second {z.further}", lambda: _call(x, z, "step_hessian", weights)[0])
        columns, shape = second[..., z.places[by]], z.shapes[by]
    batch = tuple(columns.shape[:-2])
    return tuple(
        columns[..., z.places[name], :].reshape((*batch, *z.shapes[name], *shape))
        for name in results
    )


def _hessian(x: At) -> dict[tuple[str, str], Array]:
    """Return the derivatives of gradients by what is wanted."""
    z = _Variables.of(x, x.wanted)
    (second,) = _call(x, z, "step_hessian", (x["lam_q"], x["lam_v"]))
    batch = tuple(second.shape[:-2])
    blocks = {}
    for j, k in itertools.product(x.wanted, repeat=2):
        block = second[..., z.places[j], z.places[k]]
        blocks[j, k] = block.reshape((*batch, *z.shapes[j], *z.shapes[k]))
    return blocks


HESSIAN = Hessian(frozenset(("q", "v", "tau", "dt", "f_ext")), _hessian)


def linearize_discrete(x: At, by: str) -> Blocks:
    """Differentiate the Jacobian of a step: Hessians weighted with each number of its results."""
    refuse_parameters("step", by)
    residual = [None] if x.options["contacts"] is not None else []
    if by in ("active", "inputs"):
        return (None, None, None, None, *residual, *[None] * (2 * len(_asked(x))))
    z = _Variables.of(x, {*_asked(x), *x.wanted})
    rank = len(z.shapes[by])
    second = x.once(f"second {z.further}", lambda: _each_number(x, z, "step_hessian")[0])
    change = z.of_one(by, second)  # (..., numbers of results, variables, *shape)
    of_state, of_torques = slice(z.places["v"].stop), z.places["tau"]
    blocks = [change[(..., part, *[slice(None)] * rank)] for part in (of_state, of_torques)]
    blocks += _halves(x, z.of_one(by, _jacobian(x, z)), rank)
    further: list[Array] = []
    for name in _asked(x):
        part = change[(..., z.places[name], *[slice(None)] * rank)]
        first = part.ndim - rank - 1
        shape = (*part.shape[:first], *z.shapes[name], *part.shape[first + 1 :])
        further += _halves(x, part.reshape(shape), len(z.shapes[name]) + rank)
    return (*blocks, *residual, *further)


def _refuse_parameters(x: At, by: str) -> None:
    refuse_parameters("step", PARAMETERS if PARAMETERS in _asked(x) else by)


def _asked(x: At) -> tuple[str, ...]:
    by = x.options["by"]
    return (by,) if isinstance(by, str) else tuple(by or ())


def _halves(x: At, rows: Array, rank: int) -> tuple[Array, Array]:
    """Split the numbers of q and of v after a step; behind their axis there are ``rank`` others."""
    behind = [slice(None)] * rank
    return rows[(..., slice(x.model.nq), *behind)], rows[(..., slice(x.model.nq, None), *behind)]


def _jacobian(x: At, z: _Variables) -> Array:
    """Return the Jacobian of a step by z, (..., nq + nv, nz)."""
    return x.once(f"jacobian {z.further}", lambda: _columns(x, z))


def _columns(x: At, z: _Variables) -> Array:
    results = _call(x, z, "linearize_discrete")
    columns = list(results[:2])
    halves = results[len(results) - 2 * len(z.further) :]  # by each further variable, of q and of v
    for k, name in enumerate(z.further):
        batch, size = columns[0].shape[:-2], math.prod(z.shapes[name])
        two = zip(halves[2 * k : 2 * k + 2], (x.model.nq, x.model.nv), strict=True)
        rows = [half.reshape((*batch, length, size)) for half, length in two]
        columns.append(x.xp.concatenate(rows, axis=-2))
    return x.xp.concatenate(columns, axis=-1)


def _each_number(x: At, z: _Variables, name: str, *further: str) -> tuple[Array, ...]:
    """Return the Hessians or gradients of each number of the state after a step."""
    units = np.eye(x.model.nq + x.model.nv)
    weights = units[:, : x.model.nq], units[:, x.model.nq :]
    ranks = {"q": 1, "v": 1, "tau": 1, "dt": 0, "f_ext": 2, "active": 1, PARAMETERS: 1}
    inputs = {
        key: None if x.inputs.get(key) is None else x[key][(..., None, *[slice(None)] * rank)]
        for key, rank in ranks.items()
    }
    of_each = replace(x, inputs=inputs)
    return _call(of_each, z, name, map(x.library.constant, weights), further)


def _call(
    x: At, z: _Variables, name: str, weights: Iterable[Array] = (), further: tuple[str, ...] = ()
) -> tuple[Array, ...]:
    """Call a function of a step; every torque is an input."""
    options: dict[str, Any] = {**x.wrench_options(), **x.contact_options()}
    options |= {"integrator": x.options["integrator"], "by": (*z.further, *further) or None}
    torques = x.once("torques", lambda: x.library.constant(np.eye(x.model.nv)))
    state = x["q"], x["v"], x["tau"], x["dt"]
    inputs = () if name == "step_vjp" else (torques,)
    return x.call(name, *state, *weights, x["f_ext"], *inputs, x["active"], **options)
