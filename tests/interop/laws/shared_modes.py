"""The modes that JAX and `torch.func` share, whose transforms have the same names: `shared_by`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from adapter_laws import Call, Mode, Modes

Function = Callable[..., Any]


@dataclass(frozen=True)
class Library:
    """A library's transforms, and what modes do with its arrays."""

    array: Function  # of an array of NumPy's
    vmap: Function
    vjp: Function
    jvp: Function
    jacfwd: Function
    jacrev: Function
    repeated: Function  # an array, whose second axis gets so many equal elements
    compiled: Function  # a function as one program
    every_input: bool  # whether modes with programs run by each input alone, too

    def arrays(self, call: Call) -> list[Any]:
        return [self.array(x) for x in call.x]

    def along(self, call: Call) -> tuple[Any, ...]:
        return tuple(self.array(call.along[k]) for k in call.wanted)

    def of_wanted(self, call: Call, x: Sequence[Any] | None = None) -> tuple[Function, Any]:
        """The function of the wanted inputs alone, and these."""
        every = self.arrays(call) if x is None else list(x)

        def function(*some: Any) -> Any:
            given = list(every)
            for k, y in zip(call.wanted, some, strict=True):
                given[k] = y
            return call.f(*given)

        return function, tuple(every[k] for k in call.wanted)

    def with_second_axis(self, call: Call, fixed: Sequence[int]) -> list[Any]:
        """A second axis of the batch, along which some inputs have one element, others three."""
        lengths = [1 if k in fixed else 3 for k in range(len(call.x))]
        pairs = zip(self.arrays(call), lengths, strict=True)
        return [self.repeated(x[:, None], n) for x, n in pairs]


_SHARED: list[Mode] = []


def _shared(kind: str, *, program: bool = False, **more: Any) -> Function:
    """Add a mode; ``program``: it compiles, which takes a second in some libraries."""

    def added(run: Function) -> Function:
        _SHARED.append(Mode(run.__name__, kind, run, every_input=not program, **more))
        return run

    return added


def shared_by(library: Library) -> Modes:
    modes = Modes()
    for mode in _SHARED:
        every_input = mode.every_input or library.every_input
        modes[mode.name] = replace(mode, run=partial(mode.run, library), every_input=every_input)
    return modes


def blocks(rows: Sequence[Sequence[Any]]) -> list[Any]:
    return [block for row in rows for block in row]


def refused_stack(error: ValueError) -> list[Any]:
    """A stack whose rows could be states is refused."""
    if "a batch of" not in str(error):
        raise error
    return []


@_shared("bits", batch=True)
def value(library: Library, call: Call) -> Sequence[Any]:
    return call.f(*library.arrays(call))


@_shared("bits")
def value_alone(library: Library, call: Call) -> Sequence[Any]:
    return library.compiled(call.f)(*library.arrays(call))


@_shared("bits", batch=True)
def mapped_value(library: Library, call: Call) -> Sequence[Any]:
    return library.vmap(call.f)(*library.arrays(call))


@_shared("bits", batch=True)
def value_of_two_axes(library: Library, call: Call) -> Sequence[Any]:
    """Along one of which the first input does not vary; mapped over it and over both, too."""
    given = library.with_second_axis(call, (0,))
    results = library.compiled(call.f)(*given)
    if rest := len(given) - 1:
        second = library.vmap(call.f, (None, *[1] * rest), 1)
        both = library.vmap(library.vmap(call.f, (None, *[0] * rest)))
        for mapped in (second, both):
            found = library.compiled(mapped)(given[0][:, 0], *given[1:])
            assert all(map(np.array_equal, found, results))
    assert all(np.array_equal(y[:, 0], y[:, -1]) for y in results)
    return [y[:, 0] for y in results]


@_shared("jacobian", program=True)
def forward_jacobian(library: Library, call: Call) -> Sequence[Any]:
    f, x = library.of_wanted(call)
    return blocks(library.compiled(library.jacfwd(f, tuple(range(len(x)))))(*x))


@_shared("jacobian", batch=True, program=True)
def mapped_reverse_jacobian(library: Library, call: Call) -> Sequence[Any]:
    mapped = library.vmap(library.jacrev(call.f, call.wanted))
    return blocks(library.compiled(mapped)(*library.arrays(call)))


@_shared("gradient", batch=True)
def mapped_product(library: Library, call: Call) -> Sequence[Any]:
    """The products of transposes, of states that are mapped, by some inputs alone."""
    return _mapped(library, call, lambda f, x, w, d: library.vjp(f, *x)[1](w))


@_shared("tangent", batch=True)
def mapped_tangent(library: Library, call: Call) -> Sequence[Any]:
    return _mapped(library, call, lambda f, x, w, d: library.jvp(f, x, d)[1])


def _mapped(library: Library, call: Call, of: Function) -> Sequence[Any]:
    def one(x: Any, weights: Any, d: Any) -> Any:
        return of(*library.of_wanted(call, x), weights, d)

    weights = tuple(library.array(w) for w in call.weights)
    return library.vmap(one)(tuple(library.arrays(call)), weights, library.along(call))
