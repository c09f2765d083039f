"""The ways of CasADi to differentiate a function: `MODES`.

CasADi counts numbers column by column. Here every array is a column of its numbers in NumPy's
order, which symbols and results are made of.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import adapter_law_oracle
import casadi as ca
import numpy as np
from adapter_laws import Call, Modes

import dtau.casadi

MODES = Modes()


def _matrix(flat: Any, shape: tuple[int, ...]) -> Any:
    """The matrix of an array of one state from a column of its numbers."""
    if len(shape) < 2:
        return flat
    return ca.reshape(flat, shape[-1], int(np.prod(shape[:-1]))).T


def _column(matrix: Any) -> Any:
    matrix = ca.densify(matrix)
    return ca.vec(matrix.T) if matrix.shape[1] > 1 else matrix


class Symbols:
    """A call in symbols of the wanted inputs: ``s``, ``x`` one behind the other, results ``y``."""

    def __init__(self, call: Call, kind: Any = ca.MX) -> None:
        self.call = call
        self.sizes = [call.x[k].size for k in call.wanted]
        self.x = kind.sym("x", sum(self.sizes))
        self.s = ca.vertsplit(self.x, [0, *np.cumsum(self.sizes).tolist()])
        given: list[Any] = [_matrix(ca.DM(x.ravel()), x.shape) for x in call.x]
        for k, s in zip(call.wanted, self.s, strict=True):
            given[k] = _matrix(s, call.x[k].shape)
        self.y = [_column(y) for y in call.f(*given)]
        self.at = np.concatenate([call.x[k].ravel() for k in call.wanted])
        self.d = np.concatenate([call.along[k].ravel() for k in call.wanted])

    def cost(self) -> Any:
        pairs = zip(self.y, self.call.weights, strict=True)
        return sum(ca.dot(y, ca.DM(w.ravel())) for y, w in pairs if w is not None)

    def numbers(self, *expressions: Any) -> list[Any]:
        f = ca.Function("f", [self.x], [ca.densify(e) for e in expressions])
        return [np.array(y) for y in f.call([ca.DM(self.at)])]

    def by_input(self, flat: Any) -> list[Any]:
        """A gradient in the shapes of the inputs."""
        parts = np.split(np.asarray(flat).ravel(), np.cumsum(self.sizes)[:-1])
        pairs = zip(parts, self.call.wanted, strict=True)
        return [p.reshape(self.call.x[k].shape) for p, k in pairs]

    def by_result(self, flat: Sequence[Any]) -> list[Any]:
        pairs = zip(flat, self.call.weights, strict=True)
        return [np.asarray(t).reshape(w.shape) for t, w in pairs]


def _states(x: Any) -> Any:
    """The states of a batch as columns, or as matrices side by side."""
    if x.ndim < 3:
        return ca.DM(x.reshape(len(x), -1).T)
    return ca.DM(np.hstack([y.reshape(-1, y.shape[-1]) for y in x]))


def _split(matrix: Any, like: Any) -> Any:
    """The results of a batch."""
    dense = np.array(ca.densify(ca.DM(matrix)))
    return np.array([y.reshape(like.shape[1:]) for y in np.hsplit(dense, len(like))])


@MODES.add("value", batch=True)
def value(call: Call) -> Sequence[Any]:
    results = call.f(*map(_states, call.x))
    return [_split(y, w) for y, w in zip(results, call.weights, strict=True)]


@MODES.add("value")
def value_of_symbols(call: Call) -> Sequence[Any]:
    at = Symbols(call)
    return at.by_result(at.numbers(*at.y))


@MODES.add("jacobian")
def jacobian(call: Call) -> Sequence[Any]:
    at = Symbols(call)
    whole = at.numbers(*(ca.jacobian(y, at.x) for y in at.y))
    return [b for y in whole for b in np.split(y, np.cumsum(at.sizes)[:-1], axis=1)]


@MODES.add("tangent")
def forward(call: Call) -> Sequence[Any]:
    at = Symbols(call)
    return at.by_result(at.numbers(*(ca.jtimes(y, at.x, ca.DM(at.d)) for y in at.y)))


@MODES.add("gradient", each_result=True)
def reverse(call: Call) -> Sequence[Any]:
    at = Symbols(call)
    return at.by_input(at.numbers(ca.gradient(at.cost(), at.x))[0])


@MODES.add("tangent")
def forward_of_a_function(call: Call) -> Sequence[Any]:
    at = Symbols(call)
    f = ca.Function("f", [at.x], at.y)
    found = f.forward(2)(at.at, *f.call([ca.DM(at.at)]), np.array([at.d, -2.0 * at.d]).T)
    found = found if isinstance(found, tuple) else (found,)
    assert all(np.allclose(-2.0 * t[:, 0], t[:, 1], rtol=1e-12) for t in found)
    return at.by_result([np.array(ca.densify(t[:, 0])) for t in found])


@MODES.add("gradient")
def reverse_of_a_function(call: Call) -> Sequence[Any]:
    at = Symbols(call)
    f = ca.Function("f", [at.x], at.y)
    seeds = [np.array([w.ravel(), 3.0 * w.ravel()]).T for w in call.weights]
    found = f.reverse(2)(at.at, *f.call([ca.DM(at.at)]), *seeds)
    assert np.allclose(3.0 * found[:, 0], found[:, 1], rtol=1e-12)
    return at.by_input(np.array(ca.densify(found[:, 0])))


@MODES.add("gradient", batch=True)
def reverse_of_columns(call: Call) -> Sequence[Any]:
    """Of the batch in one call."""
    symbols = [ca.MX.sym(f"x{k}", *_states(x).shape) for k, x in enumerate(call.x)]
    results = call.f(*symbols)
    weights = map(_states, call.weights)
    cost = sum(ca.dot(y, w) for y, w in zip(results, weights, strict=True))
    by = [ca.densify(ca.gradient(cost, symbols[k])) for k in call.wanted]
    found = ca.Function("f", symbols, by).call([_states(x) for x in call.x])
    return [_split(g, call.x[k]) for g, k in zip(found, call.wanted, strict=True)]


@MODES.add("gradient", batch=True)
def reverse_of_a_map(call: Call) -> Sequence[Any]:
    shapes = [x.shape[1:] for x in call.x]
    symbols = [ca.MX.sym(f"x{k}", int(np.prod(n))) for k, n in enumerate(shapes)]
    results = [_column(y) for y in call.f(*map(_matrix, symbols, shapes))]
    count = len(call.x[0])
    mapped = ca.Function("f", symbols, results).map(count)
    many = [ca.MX.sym(f"X{k}", s.shape[0], count) for k, s in enumerate(symbols)]
    weights = [ca.DM(w.reshape(count, -1).T) for w in call.weights]
    cost = sum(ca.dot(y, w) for y, w in zip(mapped.call(many), weights, strict=True))
    by = [ca.densify(ca.gradient(cost, many[k])) for k in call.wanted]
    at = [ca.DM(x.reshape(count, -1).T) for x in call.x]
    found = ca.Function("g", many, by).call(at)
    pairs = zip(found, call.wanted, strict=True)
    return [np.array(g).T.reshape(call.x[k].shape) for g, k in pairs]


@MODES.add("tangent", twice=True)
def reverse_by_seeds(call: Call) -> Sequence[Any]:
    """Gradients are linear in the weights of the results."""
    at = Symbols(call)
    weights = [ca.MX.sym("w", y.numel()) for y in at.y]
    cost = sum(ca.dot(y, w) for y, w in zip(at.y, weights, strict=True))
    slope = ca.dot(ca.gradient(cost, at.x), ca.DM(at.d))
    by = ca.Function("f", [at.x, *weights], [ca.densify(ca.gradient(slope, w)) for w in weights])
    return at.by_result(
        [np.array(y) for y in by.call([ca.DM(at.at), *(ca.DM(w.ravel()) for w in call.weights)])]
    )


@MODES.add("curvature")
def hessian(call: Call) -> Sequence[Any]:
    at = Symbols(call)
    (matrix,) = at.numbers(ca.hessian(at.cost(), at.x)[0])
    assert np.allclose(matrix, matrix.T, rtol=1e-9, atol=1e-9 * np.abs(matrix).max(initial=0.0))
    return at.by_input(matrix @ at.d)


@MODES.add("curvature")
def jacobian_of_gradient(call: Call) -> Sequence[Any]:
    at = Symbols(call)
    return at.by_input(at.numbers(ca.jacobian(ca.gradient(at.cost(), at.x), at.x))[0] @ at.d)


@MODES.add("curvature")
def forward_over_reverse(call: Call) -> Sequence[Any]:
    at = Symbols(call)
    return at.by_input(at.numbers(ca.jtimes(ca.gradient(at.cost(), at.x), at.x, ca.DM(at.d)))[0])


@MODES.add("curvature")
def reverse_over_forward(call: Call) -> Sequence[Any]:
    at = Symbols(call)
    slope = ca.jtimes(at.cost(), at.x, ca.DM(at.d))
    return at.by_input(at.numbers(ca.gradient(slope, at.x))[0])


@MODES.add(
    "curvature", every_input=False, switches=("arm", "world, arm")
)  # minutes for large results
def jacobian_of_jacobian(call: Call) -> Sequence[Any]:
    at, total = Symbols(call), 0.0
    for y, w in zip(at.y, call.weights, strict=True):
        J = ca.densify(ca.jacobian(y, at.x))
        (second,) = at.numbers(ca.jacobian(ca.vec(J), at.x))
        along = (second @ at.d).reshape(J.shape, order="F")
        total = total + w.ravel() @ along
    return at.by_input(total)


@MODES.add("curvature", every_input=False, switches=("free step",), rows=("step",))
def jacobian_of_jacobian_of_step(call: Call) -> Sequence[Any]:
    return jacobian_of_jacobian(call)


# ------------------------------------------------------------------ scalars

SCALARS = tuple(  # functions that take CasADi's scalars, too, as their docstrings say
    name for name in dtau.casadi.__all__ if ": casadi.SX" in getattr(dtau.casadi, name).__doc__
)
assert SCALARS


@MODES.add("gradient", each_result=True, rows=SCALARS)
def reverse_in_scalars(call: Call) -> Sequence[Any]:
    at = Symbols(call, ca.SX)
    return at.by_input(at.numbers(ca.gradient(at.cost(), at.x))[0])


@MODES.add("tangent", rows=SCALARS)
def forward_in_scalars(call: Call) -> Sequence[Any]:
    at = Symbols(call, ca.SX)
    return at.by_result(at.numbers(*(ca.jtimes(y, at.x, ca.DM(at.d)) for y in at.y)))


@MODES.add("curvature", rows=SCALARS)
def hessian_in_scalars(call: Call) -> Sequence[Any]:
    at = Symbols(call, ca.SX)
    return at.by_input(at.numbers(ca.hessian(at.cost(), at.x)[0])[0] @ at.d)


@MODES.add("gradient", every_input=False, rows=SCALARS, switches=("mimics",))
def reverse_in_c(call: Call) -> Sequence[Any]:
    """In C that CasADi writes."""
    at = Symbols(call, ca.SX)
    f = ca.Function("f", [at.x], [ca.densify(ca.gradient(at.cost(), at.x))])
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder, "f.c"), Path(folder, "f.so")
        source.write_text(_code(f), encoding="utf-8")
        command = [os.environ.get("CC", "cc"), "-O0", "-fPIC", "-shared", "-o", library, source]
        subprocess.run([*command, "-lm"], check=True)
        return at.by_input(np.array(ca.external("f", str(library))(at.at)))


def _code(f: ca.Function) -> str:
    generator = ca.CodeGenerator("f.c")
    generator.add(f)
    return str(generator.dump())


# ------------------------------------------------------------------ relations


@MODES.add("same", batch=True)
def one_input_broadcast(call: Call) -> Sequence[Any]:
    """A single column serves all states."""
    pairs: list[tuple[Any, Any]] = []
    for k in call.wanted if len(call.x) > 1 else ():
        given = [_states(x) for x in call.x]
        spread, one = list(given), list(given)
        spread[k] = _states(np.stack([call.x[k][0]] * len(call.x[k])))
        one[k] = _states(call.x[k][:1])
        both = zip(call.f(*one), call.f(*spread), strict=True)
        pairs += [(np.array(a), np.array(b)) for a, b in both]
    return pairs


@MODES.add("same", batch=True)
def a_number_that_is_not_finite(call: Call) -> Sequence[Any]:
    """It stays in its state."""
    pairs: list[tuple[Any, Any]] = []
    for k in call.wanted:
        if call.case.names[k] == "active":
            continue
        broken = call.case.broken(k, slice(None))  # of one number the function may be independent
        found = []
        for given in (broken, call.x):
            results = call.f(*map(_states, given))
            found.append([_split(y, w) for y, w in zip(results, call.weights, strict=True)])
        depends = adapter_law_oracle.depends(call.case, k)
        assert not depends or any(np.isnan(y[0]).any() for y in found[0]), call.case.names[k]
        pairs += [(a[1], b[1]) for a, b in zip(*found, strict=True)]
    return pairs
