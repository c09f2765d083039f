"""Models by number, because operators of PyTorch take numbers, words and tensors alone."""

from __future__ import annotations

import itertools
import os
import weakref

import torch

from dtau.checks import class_name
from dtau.model.model import Model

# Counting begins at random, so that the number of another process means nothing here.
_numbers = itertools.count(int.from_bytes(os.urandom(5), "little") << 20)
_models: weakref.WeakValueDictionary[int, Model] = weakref.WeakValueDictionary()
_known: dict[int, int] = {}  # id of a model that lives: its number


def number_of(model: Model) -> int:
    """Number of a model, the same as long as the model lives."""
    if torch.compiler.is_compiling():
        id(model)  # the compiled program is for this object: nothing else guards that
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
