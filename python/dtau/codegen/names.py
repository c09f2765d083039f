"""Refuse names that are taken in C: `require_free_names`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from dtau.codegen.check import COMPARE
from dtau.codegen.cuda import cuda_guard, kernel_names, macros
from dtau.codegen.cuda_check import CUDA_COMPARE
from dtau.codegen.requests import Request
from dtau.codegen.reserved import what_cuda_reserves, what_reserves
from dtau.codegen.source import DOUBLE, FLOAT, SINE_COSINE, guard, sizes
from dtau.registry import FUNCTIONS

_PIECE = re.compile(r"(.+)_piece\d+")  # names of pieces of a large function, see src/codegen
_DERIVED = ("", "jac_", "adj1_", "jac_adj1_")
_ASKED = ("n_in", "n_out", "sparsity_in", "sparsity_out", "name_in", "name_out", "work")
_INSIDE = frozenset(re.findall(r"[A-Za-z_]\w*", DOUBLE + FLOAT + SINE_COSINE + COMPARE))
_IN_CUDA = frozenset(
    re.findall(r"[A-Za-z_]\w*", macros("double") + macros("float") + CUDA_COMPARE)
) | {"states", "state", "stride", "stream", "arguments", "blocks", "threads", "memory", "error"}


def require_free_names(
    prefix: str, requests: Sequence[Request], casadi: int | None, *, device: bool
) -> None:
    """Raise for a name that would occur twice in the files, or that C, C++ or CUDA reserve."""
    named = {name: "the model's " + size for name, size in sizes(prefix)}
    if device:
        named |= {f"{prefix}threads": "the number of threads of a block"}
    named |= {f"{prefix}check": "the function that checks the others"}
    for name in (*named, cuda_guard(prefix) if device else guard(prefix)):
        why = _taken(name, device)
        if why:
            raise ValueError(
                f"prefix: {prefix!r} makes the name {name!r} in C, which is {why}: give another "
                "prefix="
            )
    for request in requests:
        for name in _names_of(prefix, request, casadi, device):
            taken = _taken(name, device) or named.get(name)
            if taken:
                raise _error(request, name, f"which is {taken}")
            named[name] = f"a name of the function {request.name!r}"
    for request in requests:
        for name in _names_of(prefix, request, casadi, device):
            piece = _PIECE.fullmatch(name)
            if piece and piece[1] in named:
                raise _error(request, name, f"as is a piece of {piece[1]!r} where that is large")


def _error(request: Request, name: str, why: str) -> ValueError:
    return ValueError(
        f"functions: {request.name!r} would be {name!r} in C, {why}: give it another name, such as "
        f"{{'my_{request.name}': ...}}, or another prefix="
    )


def _names_of(prefix: str, request: Request, casadi: int | None, device: bool) -> Iterator[str]:
    name = prefix + request.name
    yield name
    if device:
        yield from kernel_names(name)
    if casadi is None:
        return
    for derived in _DERIVED:
        entry = f"{derived}{prefix}casadi_{request.name}"
        yield from (entry, f"{entry}_nonzeros", *(f"{entry}_{asked}" for asked in _ASKED))


def _taken(name: str, device: bool) -> str:
    """Describe what has taken a name, or return nothing if it is free."""
    inside = name in (_IN_CUDA if device else _INSIDE) or _LOCAL.fullmatch(name)
    of_cuda = what_cuda_reserves(name) if device else ""
    return what_reserves(name) or of_cuda or ("a name inside the files" if inside else "")


def _arrays() -> str:
    rows = FUNCTIONS.values()
    return "|".join({x.name for row in rows for x in (*row.inputs, *row.results)})


# Variables and arguments of the check function.
_LOCAL = re.compile(rf"({_arrays()}|gravity|payload)(_out)?(_given|_got|_entry|_want)?|wrong")
