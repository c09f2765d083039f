"""Replay a recording of the core in CasADi's own scalars: `recorded_function`.

The core runs once with numbers that record their operations, as for `dtau.generate`. CasADi
differentiates the resulting expression to any order.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

import casadi as ca
import numpy as np

from dtau.casadi.expressions import manifold
from dtau.codegen.recording import recording
from dtau.codegen.requests import Argument, requests
from dtau.model.model import Model
from dtau.support.arrays import Array

Numbers = Array
_CONFIGURATIONS = ("q", "q0", "q1")


def _tangent(a: Any) -> Any:
    """Return tanh. CasADi's own has the derivative 1 - tanh^2, which cancels."""
    sign = _sign(a)
    t = ca.expm1(-2.0 * sign * a)
    return -sign * t / (t + 2.0)


def _secant(a: Any) -> Any:
    """Return 1 / cosh, whose own derivatives would overflow."""
    e = ca.exp(-_sign(a) * a)
    return 2.0 * e / (1.0 + e * e)


def _sign(a: Any) -> Any:
    return ca.if_else(a < 0.0, -1.0, 1.0)  # at 0 both functions keep their derivatives


# In the order of include/dtau/recorded.hpp. A comparison gives a scalar.
_OPERATIONS: tuple[Callable[..., Any], ...] = (
    operator.pos,  # an input
    operator.add,
    operator.sub,
    operator.mul,
    operator.truediv,
    lambda a, b, c: a * b + c,
    lambda a, b, c: c - a * b,
    ca.sqrt,
    ca.sin,
    ca.cos,
    _tangent,
    _secant,
    ca.fabs,
    lambda a: ca.remainder(a, 2.0 * np.pi),
    operator.lt,
    ca.if_else,
)
_COUNTS = (0, 2, 2, 2, 2, 3, 3, 1, 1, 1, 1, 1, 1, 1, 2, 3)  # numbers of operands


def recorded_function(model: Model, name: str, options: Mapping[str, Any], *, f_ext: bool) -> Any:
    """Make the CasADi function of any function that `dtau.generate` supports.

    Arrays of several axes become matrices: all axes but the last are rows.
    """
    (request,) = requests(model, {name: (name, options)}, ("f_ext",) if f_ext else ())
    symbols: dict[str, Any] = {}
    scalars: list[Any] = []  # the inputs of the tape
    unit_norm = manifold.normalize(model)
    with recording() as recorder:
        arrays: dict[str, Numbers | None] = {}
        for given, argument in request.inputs.items():
            if not isinstance(argument, Argument):
                arrays[given] = argument
                continue
            numbers = np.zeros(argument.size)
            recorder.take_inputs(numbers)
            shape = _matrix_shape(argument.shape)
            symbols[given] = ca.SX.sym(given, *shape)
            x = symbols[given]
            if given in _CONFIGURATIONS:
                x = unit_norm(x)
            scalars += ca.vec(x.T).elements()  # row by row, as arrays are
            arrays[given] = numbers.reshape(argument.shape)
        found = request.call(recorder.functions, model, arrays)
        results = found if isinstance(found, tuple) else (found,)
        matrices = [x.reshape(_matrix_shape(x.shape)) for x in results]
        replay = _Replay(recorder, scalars)
        outputs = [
            ca.reshape(ca.vertcat(*map(replay, x.ravel(order="F"))), *x.shape) for x in matrices
        ]
    return ca.Function(name, [*symbols.values()], outputs, [*symbols], list(request.results))


def _matrix_shape(shape: tuple[int, ...]) -> tuple[int, int]:
    if len(shape) < 2:
        return shape[0] if shape else 1, 1
    return int(np.prod(shape[:-1])), shape[-1]


class _Replay:
    """Convert recorded numbers to expressions of the inputs' scalars."""

    def __init__(self, recorder: Any, inputs: list[Any]) -> None:
        count = recorder.recorded()
        operations, operands = np.empty(count, np.uint8), np.empty((count, 3))
        recorder.take_nodes(operations, operands)
        self.nodes: list[Any] = []
        unread = iter(inputs)
        for operation, given in zip(operations.tolist(), operands, strict=True):
            if operation == 0:
                self.nodes.append(next(unread))
                continue
            taken = [self(x) for x in given[: _COUNTS[operation]]]
            self.nodes.append(_OPERATIONS[operation](*taken))

    def __call__(self, number: np.float64) -> Any:
        """Return the expression of a recorded number: a node with its sign, or a constant."""
        bits = int(number.view(np.uint64))
        if (bits >> 48) & 0x7FFF != 0x7FFD:
            return ca.SX(float(number))
        node = self.nodes[bits & 0xFFFFFFFF]
        return -node if bits >> 63 else node
