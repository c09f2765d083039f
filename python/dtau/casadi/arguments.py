"""Check the arguments of CasADi functions: `evaluate`, `stack_order`, `of_joints`."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from dtau.autodiff.arguments import parameter_count
from dtau.autodiff.rows import FUNCTIONS, PARAMETERS
from dtau.autodiff.stacks import order_of_stacks
from dtau.model.model import Model


def stack_order(name: str, model: Model, stack: Any, order: Any) -> int:
    """Return the requested order of time derivatives, or the one that a stack determines."""
    first = next(x for x in FUNCTIONS[name].inputs if x.rows is not None)
    rows = stack.shape[0] if hasattr(stack, "shape") and stack.shape else len(np.atleast_1d(stack))
    return order_of_stacks(name, {first.name: (rows, model.nv)}, order)


def of_joints(model: Model, parameters: Any) -> bool:
    """Whether parameters, if they are given, include parameters of joints."""
    if parameters is None or not isinstance(model, Model):
        return False
    shape = tuple(getattr(parameters, "shape", None) or np.shape(parameters))
    count = parameter_count(model, of_joints=True)
    return shape[:1] == (count,) or shape == (1, count)  # a column, or a row, of one state


def evaluate(f: Any, *given: Any, longer_stacks: bool = False) -> Any:
    """Call a `casadi.Function` after checking its arguments; stacks may have more rows."""
    arguments = []
    for k, argument in enumerate(given):
        name, rows, columns = f.name_in(k), f.size1_in(k), f.size2_in(k)
        if isinstance(argument, ca.SX) and not f.is_a("SXFunction"):
            raise TypeError(
                f"{name}: expected numbers or MX, got SX: compiled dynamics cannot be taken apart "
                "into scalars"
            )
        if isinstance(argument, ca.SX | ca.MX | ca.DM):
            came = tuple(argument.shape)
        else:
            argument, came = _matrix(name, argument)
        shape = tuple(argument.shape)
        if name == PARAMETERS and shape == (rows // 10, 10):  # the rows of Model.parameters
            argument, shape = ca.vec(argument.T), (rows, 1)
        if longer_stacks and name.endswith("_derivatives") and shape[0] > rows:
            argument = argument[:rows, :]
            shape = tuple(argument.shape)
        if columns == 1 and shape == (1, rows):
            argument = argument.T
        elif shape[0] != rows or shape[1] % columns or not shape[1]:
            each = f"({rows},)" if columns == 1 else f"({rows}, {columns})"
            beside = f"({rows}, {columns} n)" if columns > 1 else f"({rows}, n)"
            raise ValueError(f"{name}: expected {each}, or {beside} for n states, got {came}")
        arguments.append(argument)
    if {ca.SX, ca.MX} <= {type(argument) for argument in arguments}:
        each = ", ".join(f"{f.name_in(k)} {type(x).__name__}" for k, x in enumerate(arguments))
        raise TypeError(f"arguments: expected no SX beside MX, got {each}")
    counts = [x.shape[1] // f.size2_in(k) for k, x in enumerate(arguments)]
    if len({count for count in counts if count != 1}) > 1:
        each = ", ".join(f"{f.name_in(k)} {count}" for k, count in enumerate(counts))
        raise ValueError(f"states: expected one number of states for all, or one state, got {each}")
    return f(*arguments)


def _matrix(name: str, argument: Any) -> tuple[Any, tuple[int, ...]]:
    """Read an argument; return its matrix and its original shape."""
    try:
        numbers = np.asarray(argument)
        if numbers.dtype.kind not in "biuf" or numbers.ndim > 2:
            raise TypeError
        return ca.DM(numbers.astype(np.float64)), numbers.shape
    except (TypeError, ValueError, NotImplementedError):
        shown = f"{argument!r:.80}"
        raise TypeError(f"{name}: expected real numbers, DM or MX, got {shown}") from None
