"""Read the order of time derivatives from the shapes of stacks: `order_of_stacks`, `cuts`.

Inside of the array libraries all shapes are known, so the order is an option of every call, and
stacks have exactly the rows of this order.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dtau.autodiff.rows import FUNCTIONS
from dtau.registry import Array
from dtau.support.checks import integer

Shapes = Mapping[str, tuple[int, ...]]

_MOST, _MOST_UNASKED = 100, 20  # as in the core


def order_of_stacks(function: str, shapes: Shapes, order: Any) -> int:
    """Return the requested order of time derivatives, or the one that the first stack determines.

    ``shapes`` has the shapes of the given arrays, with their batch axes.

    Raises
    ------
    TypeError
        If the order is not an integer.
    ValueError
        If the order is out of range, a stack has too few rows or too many, or a stack has the shape
        of a batch.
    """
    arrays = {x.name: x for x in FUNCTIONS[function].inputs if x.name in shapes}
    stacks = [x for x in arrays.values() if x.rows is not None]
    for stack in stacks:
        _refuse_batch(stack, arrays, shapes)
    if order is not None:
        return integer("order", order, 0, _MOST)
    if not stacks:
        return 0  # the stack is missing, which the caller refuses
    first = stacks[0]
    assert first.rows is not None
    shape = tuple(shapes[first.name])
    length, least = _length(first, shape), max(first.rows, 1)
    if not least <= length <= _MOST_UNASKED + first.rows:
        expected = (
            f"{least} or more"
            if length < least
            else f"at most {_MOST_UNASKED + first.rows} unless order= is given"
        )
        raise ValueError(
            f"{first.name} has shape {shape}, expected {_axes(first)} with n = {expected}: a stack "
            f"of the value and its time derivatives; a batch is {_value(first)}[:, None]"
        )
    return length - first.rows


def cuts(function: str, shapes: Shapes, order: int | None) -> dict[str, tuple[int, int]]:
    """Return the stacks with more rows than a requested order has: their axis and the rows to keep.

    Axes are counted from the end. If no order is requested, all stacks are read as a whole.
    """
    found: dict[str, tuple[int, int]] = {}
    if order is None:
        return found
    for x in FUNCTIONS[function].inputs:
        if x.rows is not None and x.name in shapes:
            rows = order + x.rows
            if _length(x, shapes[x.name]) > rows:
                found[x.name] = -len(x.axes) - 1, rows
    return found


def _length(stack: Array, shape: tuple[int, ...]) -> int:
    axis = len(shape) - len(stack.axes) - 1
    return shape[axis] if axis >= 0 else -1


def _refuse_batch(stack: Array, arrays: Mapping[str, Array], shapes: Shapes) -> None:
    """Refuse a stack that has the batch axes of another array in place of its own rows."""
    leading = tuple(shapes[stack.name][: -len(stack.axes)])
    if not leading or leading[-1] == 1:  # a batch of one and a stack of one are the same
        return
    for x in arrays.values():
        shape = tuple(shapes[x.name])
        if x.rows is None and shape[: len(shape) - len(x.axes)] == leading:
            raise ValueError(
                f"{stack.name} has shape {tuple(shapes[stack.name])}, expected a stack of "
                f"{_value(stack)} and its time derivatives; a batch of {_value(stack)} has this "
                f"shape, too, beside the batch {leading} of {x.name}: give a batch as "
                f"{_value(stack)}[:, None], or one stack for all states as {stack.name}[None]"
            )


def _value(stack: Array) -> str:
    return stack.name.removesuffix("_derivatives")


def _axes(stack: Array) -> str:
    return f"({', '.join(map(str, ('...', 'n', *stack.axes)))})"
