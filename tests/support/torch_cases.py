"""Tensors and transforms of the tests of `dtau.torch`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import adapter_cases
import pytest
import torch
from adapter_cases import arrays
from torch import Tensor

import dtau
import dtau.torch


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Compute on one thread in the tests of a module that imports this."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def function(name: str, model: dtau.Model, **more: Any) -> Callable[..., Any]:
    """The function of its tensors alone."""
    return adapter_cases.function(name, model, dtau.torch, **more)


def tensors(
    name: str, model: dtau.Model, seed: int = 0, shape: tuple[int, ...] = ()
) -> list[Tensor]:
    return [torch.from_numpy(x) for x in arrays(name, model, seed, shape)]


def leaves(x: list[Tensor]) -> list[Tensor]:
    return [y.clone().requires_grad_() for y in x]


def each(results: Any) -> tuple[Any, ...]:
    """The results of a function, one or several, as a tuple."""
    return tuple(results) if isinstance(results, tuple) else (results,)
