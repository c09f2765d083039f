"""Identify models and contacts by number.

PyTorch's operators take only numbers, strings and tensors.
"""

from __future__ import annotations

import itertools
import os
import weakref

import torch

from dtau.checks import class_name
from dtau.model.contacts import Contacts
from dtau.model.model import Model

# Counting begins at random, so that numbers of other processes are unknown here.
_numbers = itertools.count(int.from_bytes(os.urandom(5), "little") << 20)
_living: weakref.WeakValueDictionary[int, Model | Contacts] = weakref.WeakValueDictionary()
_known: dict[int, int] = {}  # id of a living model, or of contacts: its number


def number_of(model: Model | Contacts) -> int:
    """Return the number of a model or of contacts, constant as long as these live."""
    if torch.compiler.is_compiling():
        id(model)  # makes a compiled program specific to this object
        constant: int = _constant_number(model)
        return constant
    number = _known.get(id(model))
    return _new_number(model) if number is None else number


def _new_number(model: Model | Contacts) -> int:
    if not isinstance(model, Model | Contacts):
        raise TypeError(f"model: expected a dtau.Model, got {class_name(model)}")
    if id(model) not in _known:
        number = next(_numbers)
        _living[number] = model
        _known[id(model)] = number
        weakref.finalize(model, _known.pop, id(model), None)
    return _known[id(model)]


_constant_number = torch.compiler.assume_constant_result(_new_number)


def model_of(number: int) -> Model:
    """Find the model with this number."""
    return _found("model", number)  # type: ignore[return-value]


def contacts_of(number: int) -> Contacts:
    """Find the contacts with this number."""
    return _found("contacts", number)  # type: ignore[return-value]


def _found(kind: str, number: int) -> Model | Contacts:
    found = _living.get(number)
    if found is None:
        raise RuntimeError(
            f"dtau.torch: no {kind} has the number {number}: a program that was traced has "
            f"outlived its {kind}, or comes from another process; keep the {kind}, or trace again "
            "here"
        )
    return found
