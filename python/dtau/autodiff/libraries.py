"""Describe how the functions of each array library differ from NumPy's: `LIBRARIES`.

This module imports neither the libraries nor the compiled core, so that documentation can be
written without them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING

from dtau.autodiff.functions import (
    CONSTRAINED,
    MATRIX_OF,
    Order,
    link,
    order_of,
    problem_of,
    takes_inertias,
)

if TYPE_CHECKING:
    from dtau.registry import Argument, Axes, Function


class ArrayLibrary:
    """Types, calls and texts of a library's functions that are not in the registry."""

    title: str
    module: str
    imports: str  # imports of the stub, for the types
    by_hand: tuple[tuple[str, str], ...] = ()  # functions without a row, and their modules
    argument: str  # annotations of an array, of a number, of a result
    number: str
    result: str
    helpers: tuple[tuple[str, str], ...]  # functions that generated code calls, and modules
    states: str  # text about batches
    batches = "batch axes"  # sentences with these words are about NumPy's batches
    refusals: tuple[str, str]  # conditions of TypeError and ValueError for every function

    def left_out(self, name: str) -> tuple[str, ...]:
        """Return arguments of the registry's row that the library's function does not have."""
        return ()

    def body(self, row: Function) -> str:
        """Return the statements of a function."""
        raise NotImplementedError

    def described(self, name: str, *, result: bool) -> str:
        """Return the type of a function's arrays, for its docstring."""
        raise NotImplementedError

    def shape(self, axes: Axes) -> str:
        """Return the shape of an array for several states, as text."""
        return f"({', '.join(map(str, ('...', *axes)))})"

    def notes(self, name: str) -> list[str]:
        """Return the notes about the library, as paragraphs."""
        raise NotImplementedError

    def raised(self, name: str, also: str) -> list[tuple[str, str]]:
        """Return the errors of a function; ``also`` has the conditions about its options."""
        refused, unfit = self.refusals
        errors = [("TypeError", f"If {refused}."), ("ValueError", f"If {unfit}{also}.")]
        if (order := order_of(name)) is not Order.every:
            errors.append(("NotImplementedError", f"When a {order.beyond} is requested."))
        return errors


def _derivatives(name: str, arrays: str, order: Order | None = None) -> str:
    order = order or order_of(name)
    if order is Order.none:
        return "It has no derivatives."
    text = (
        f"Derivatives exist {order.said}, by each of the {arrays}; derivatives by q are by its nq "
        "numbers: docs/array_libraries.md."
    )
    if name in CONSTRAINED:
        text += " Derivatives by ``active`` are zero" + (
            ", and so are derivatives of the residual." if name == "constrained_dynamics" else "."
        )
    return text


def _by_parameters(name: str) -> str:
    if not takes_inertias(name):
        return ""
    return " Only first derivatives exist by ``parameters``."


def _wrapped(row: Function, results: str) -> str:
    return f"{row.result_class}(*{results})" if row.result_class else f"{results}[0]"


def _options(arguments: Sequence[Argument]) -> list[str]:
    """Return options as keyword arguments; names of frames are checked first."""
    names = [x.name for x in arguments if x.array is None]
    return [f"{x}=frame_names({x})" if x == "frames" else f"{x}={x}" for x in names]


class _Jax(ArrayLibrary):
    title, module = "JAX", "dtau.jax"
    imports = "import jax\nfrom jax.typing import ArrayLike"
    by_hand = (("mujoco_rollout", "dtau.jax.mujoco"), ("mujoco_step", "dtau.jax.mujoco"))
    argument, number, result = "ArrayLike", "ArrayLike", "jax.Array"
    helpers = (("call", "dtau.jax.arguments"), ("frame_names", "dtau.support.checks"))
    states = "Batch axes of all arguments broadcast against each other."
    refusals = (
        "the model is not a Model, or arrays do not hold real numbers",
        "a shape does not fit",
    )

    def body(self, row: Function) -> str:
        arrays = ", ".join(f'"{x.name}": {x.name}' for x in row.arguments if x.array is not None)
        given = ", ".join([f'"{row.name}", model, {{{arrays}}}', *_options(row.arguments)])
        return f"return {_wrapped(row, f'call({given})')}"

    def described(self, name: str, *, result: bool) -> str:
        return "jax.Array" if result else "array_like"

    def notes(self, name: str) -> list[str]:
        return [
            _derivatives(name, "arrays") + _by_parameters(name),
            "The model is hashable but not an array: close over it, or list its position in "
            "``static_argnums``. Results are float32 if all arrays are, as they are without "
            "``jax_enable_x64``; the computation is in float64.",
        ]


class _Torch(ArrayLibrary):
    title, module = "PyTorch", "dtau.torch"
    imports = "from torch import Tensor"
    by_hand = (("mujoco_rollout", "dtau.torch.mujoco"), ("mujoco_step", "dtau.torch.mujoco"))
    argument, number, result = "Tensor", "Tensor | float", "Tensor"
    helpers = (
        ("results", "dtau.torch.arguments"),
        ("tensor", "dtau.torch.arguments"),
        ("frame_names", "dtau.support.checks"),
    )
    states = _Jax.states
    refusals = (
        "the model is not a Model, or an argument is not a dense float64 or float32 tensor",
        "a shape does not fit, a tensor is not on the CPU",
    )

    def body(self, row: Function) -> str:
        arrays = [
            f"tensor({x.name})" if x.array.axes == () else x.name
            for x in row.arguments
            if x.array is not None
        ]
        given = ", ".join(["model", f'"{row.name}"', *arrays, *_options(row.arguments)])
        return f"return {_wrapped(row, f'results({given})')}"

    def described(self, name: str, *, result: bool) -> str:
        return "Tensor"

    def notes(self, name: str) -> list[str]:
        return [
            _derivatives(name, "tensors") + _by_parameters(name),
            "Keep the model alive as long as a compiled program uses it. Results are float32 "
            "if all tensors with an axis are.",
        ]


class _Casadi(ArrayLibrary):
    title, module = "CasADi", "dtau.casadi"
    imports = "from typing import Any"
    by_hand = (("function", "dtau.casadi.builder"),)
    argument, number, result = "Any", "Any", "Any"
    helpers = (
        ("evaluate", "dtau.casadi.arguments"),
        ("stack_order", "dtau.casadi.arguments"),
        ("of_joints", "dtau.casadi.arguments"),
        ("function", "dtau.casadi.builder"),
    )
    states = "Columns are states, and one column serves all; a row may be a single state too."
    batches = "batch"
    refusals = (
        "the model is not a Model, or an argument is neither {symbols} nor real numbers",
        "a shape or a number of states does not fit",
    )

    def left_out(self, name: str) -> tuple[str, ...]:
        return () if takes_inertias(name) else ("parameters",)

    def body(self, row: Function) -> str:
        arrays = [x.name for x in row.arguments if x.array is not None]
        options = [f"{x.name}={x.name}" for x in row.arguments if x.array is None]
        stacks = [x.name for x in row.inputs if x.rows is not None]
        cut = ""
        if stacks:
            found = f'stack_order("{row.name}", model, {stacks[0]}, order)'
            options[options.index("order=order")] = f"order={found}"
            cut = ", longer_stacks=order is not None"
        for name in ("f_ext", "f_ext_derivatives", "active", "parameters"):
            if name in arrays:
                arrays[arrays.index(name)] = f"*(() if {name} is None else ({name},))"
                options.append(f"{name.removesuffix('_derivatives')}={name} is not None")
                if name == "parameters":
                    options.append(f"joint_parameters=of_joints(model, {name})")
        made = ", ".join(["model", f'"{row.name}"', *options])
        result = f"evaluate(function({made}), {', '.join(arrays)}{cut})"
        return f"return {_wrapped(row, result) if row.result_class else result}"

    def described(self, name: str, *, result: bool) -> str:
        types = ["casadi.MX", "casadi.DM", *([] if result else ["array_like"])]
        if not _is_compiled(name):
            types.insert(0, "casadi.SX")
        return f"{', '.join(types[:-1])} or {types[-1]}"

    def shape(self, axes: Axes) -> str:
        *rows, last = axes or (1,)
        if not rows:
            return f"({last}, n)"
        count = prod(x for x in rows if isinstance(x, int))
        symbols = [x for x in rows if not isinstance(x, int)]
        if len(rows) > 1:
            symbols = [f"({x})" if "+" in x else x for x in symbols]
        return f"({' '.join([*([str(count)] if count > 1 else []), *symbols])}, {last} n)"

    def notes(self, name: str) -> list[str]:
        compiled = _is_compiled(name)
        symbols = "MX" if compiled else "SX or MX"
        return [
            _derivatives(name, "matrices", None if compiled else Order.every)
            + self._by_parameters(name),
            f"Results are {symbols} if an argument is, and DM for numbers. Arrays of several "
            "axes become matrices: all axes but the last are rows, and states are side by side.",
        ]

    def _by_parameters(self, name: str) -> str:
        if self.left_out(name):
            return ""
        if problem_of(name) == "inverse_dynamics" and name not in MATRIX_OF:
            return " So do those by ``parameters``."
        return _by_parameters(name)

    def raised(self, name: str, also: str) -> list[tuple[str, str]]:
        compiled = _is_compiled(name)
        refused = self.refusals[0].format(symbols="an MX" if compiled else "SX, MX")
        refused += "" if compiled else ", or SX and MX are mixed"
        errors = [("TypeError", f"If {refused}."), ("ValueError", f"If {self.refusals[1]}{also}.")]
        if compiled:
            no_slot = "If no slot is left, see `dtau.casadi.function`; by CasADi, when a "
            errors.append(("RuntimeError", f"{no_slot}{order_of(name).beyond} is requested."))
        return errors


def _is_compiled(name: str) -> bool:
    """Whether a function calls the extension, which does not take SX."""
    return name in CONSTRAINED or bool(link(problem_of(name), "vjp"))


LIBRARIES: Mapping[str, ArrayLibrary] = {"jax": _Jax(), "torch": _Torch(), "casadi": _Casadi()}
