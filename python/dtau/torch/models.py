"""Identify models by number, because PyTorch's operators take only numbers, strings and tensors."""

from __future__ import annotations

import itertools
import os
import weakref

import torch

from dtau.checks import class_name
from dtau.model.model import Model

# Counting begins at random, so that numbers of other processes are unknown here.
_numbers = itertools.count(int.from_bytes(os.urandom(5), "little") << 20)
_models: weakref.WeakValueDictionary[int, Model] = weakref.WeakValueDictionary()
_known: dict[int, int] = {}  # id of a living model: its number


def number_of(model: Model) -> int:
    """Return the number of a model, constant as long as the model lives."""
    if torch.compiler.is_compiling():
        id(model)  # makes a compiled program specific to this object
        constant: int = _constant_number(model)
        return constant
    number = _known.get(id(model))
    return _new_number(model) if number is None else number


def _new_number(model: Model) -> int:
    if not isinstance(model, Model):
        raise TypeError(f"model: expected a dtau.Model, got {class_name(model)}")
    if id(model) not in _known:
        number = next(_numbers)
        _models[number] = model
        _known[id(model)] = number
        weakref.finalize(model, _known.pop, id(model), None)
    return _known[id(model)]


_constant_number = torch.compiler.assume_constant_result(_new_number)


def model_of(number: int) -> Model:
    """Find the model with this number."""
    model = _models.get(number)
    if model is None:
        raise RuntimeError(
            f"dtau.torch: no model has the number {number}: a program that was traced has outlived "
            "its model, or comes from another process; keep the model, or trace again here"
        )
    return model
