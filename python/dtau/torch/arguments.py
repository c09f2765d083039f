"""Check the arguments of PyTorch functions and convert them to float64: `results`."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from dtau.autodiff.arguments import check_contacts, constant, expected_shape, has_rows, is_long
from dtau.autodiff.rows import OF_JOINTS, PARAMETERS
from dtau.autodiff.stacks import cuts, order_of_stacks
from dtau.model.contacts import Contacts
from dtau.model.model import Model
from dtau.torch.direct import direct, text
from dtau.torch.kernels import KERNELS, Inputs, core_shape, written
from dtau.torch.models import text_of
from dtau.torch.primitives import Site, differentiable

_constant_text = torch.compiler.assume_constant_result(written)
_FLOATS = (torch.float64, torch.float32)


def results(model: Model, function: str, *inputs: Tensor | None, **options: Any) -> Any:
    """Return the results of a function, a tuple; float32 if all inputs with axes are."""
    kernel = KERNELS[function]
    if kernel.inputs[-1] == PARAMETERS and inputs[-1] is not None:
        inputs = (*inputs[:-1], _flat(inputs[-1], model, options))
    if "contacts" in options:
        options["regularization"] = constant("regularization", options["regularization"])
    plain = "order" not in options and options.get("contacts") is None
    if plain and not torch.compiler.is_compiling():
        found = direct(model, function, inputs, options)
        if found is not None:
            return found
    named = text_of(model)
    if "contacts" in options:
        k = kernel.inputs.index("active")
        inputs = (*inputs[:k], _mask(inputs[k], options["contacts"]), *inputs[k + 1 :])
        if options["contacts"] is not None:
            options["contacts"] = text_of(options["contacts"])
    order = 0
    if "order" in options:
        inputs, order = _take_rows(function, inputs, options["order"])
        options["order"] = order
    single, double = True, True
    for x, name, sizes in zip(inputs, kernel.inputs, kernel.sizes, strict=True):
        if name == "active":
            continue
        if x is not None:
            of_joints = options.get(OF_JOINTS, False)
            _check(x, name, core_shape(model, sizes, order, of_joints), model)
            is_double = x.dtype == torch.float64
            double = double and is_double
            single = single and (not is_double or x.dim() == 0)
        elif not name.startswith(("f_ext", PARAMETERS)):
            raise TypeError(f"{name}: expected a torch.Tensor, got None")
    site = Site(named, function, _text(**options))
    if double:
        return differentiable(site, *inputs)
    found = differentiable(site, *[None if x is None else x.double() for x in inputs])
    return tuple(result.float() for result in found) if single else found


def _take_rows(function: str, inputs: Inputs, order: Any) -> tuple[tuple[Any, ...], int]:
    """Cut stacks to the order of time derivatives; return them with it."""
    given = dict(zip(KERNELS[function].inputs, inputs, strict=True))
    tensors = {name: x for name, x in given.items() if isinstance(x, Tensor)}
    shapes = {name: tuple(map(int, x.shape)) for name, x in tensors.items()}
    highest = order_of_stacks(function, shapes, order)
    for name, (axis, rows) in cuts(function, shapes, order).items():
        given[name] = tensors[name].narrow(axis, 0, rows)
    return tuple(given.values()), highest


def tensor(number: Any) -> Any:
    """Convert a number to a tensor; return anything else unchanged."""
    if isinstance(number, (float, int, np.floating, np.integer)):
        return torch.tensor(float(number), dtype=torch.float64, device="cpu")
    return number


def _mask(active: Any, contacts: Contacts | None) -> Tensor | None:
    """Check contacts and the mask of the active ones; return it in float64."""
    check_contacts(contacts, active)
    if active is None or contacts is None:
        return None
    mask = active.double() if isinstance(active, Tensor) else active
    _check(mask, "active", (len(contacts),), contacts.model)
    return mask


def _flat(bodies: Any, model: Any, options: dict[str, Any]) -> Any:
    """Put the rows of parameters one behind the other; leave anything else to the checks."""
    if not (isinstance(bodies, Tensor) and isinstance(model, Model)):
        return bodies
    shape = tuple(bodies.shape)
    if is_long(shape, model):
        options[OF_JOINTS] = True
    return bodies.reshape(*shape[:-2], -1) if has_rows(shape, model.nbodies) else bodies


def check_tensor(name: str, x: Any) -> None:
    """Raise an error unless an argument is a dense tensor of real numbers on the CPU."""
    if not isinstance(x, Tensor):
        raise TypeError(
            f"{name}: expected a torch.Tensor, got {type(x).__name__}; torch.as_tensor makes one"
        )
    if x.dtype not in _FLOATS:
        raise TypeError(f"{name}: expected torch.float64 or torch.float32, got {x.dtype}")
    if not x.is_cpu:
        raise ValueError(
            f"{name}: expected a tensor on the CPU, where dtau computes, got one on {x.device}; "
            f"{name}.cpu() copies it"
        )
    if x.layout != torch.strided:
        raise TypeError(f"{name}: expected a dense tensor, got {x.layout}; to_dense() makes one")


def _check(x: Any, name: str, core: tuple[int, ...], model: Model) -> None:
    check_tensor(name, x)
    shape = tuple(x.shape)
    first = len(shape) - len(core)
    if first < 0 or shape[first:] != core:
        raise ValueError(f"{name}: expected shape {expected_shape(name, core, model)}, got {shape}")


def _text(**options: Any) -> str:
    if torch.compiler.is_compiling():
        found: str = _constant_text({name: _specific(x) for name, x in options.items()})
        return found
    return text(options)


def _specific(option: Any) -> Any:
    """Make programs specific to numbers among the options, which may be symbols in them."""
    if isinstance(option, (int, float)):
        return torch.fx.experimental.symbolic_shapes.guard_scalar(option)
    return option
