"""States and matrices of the tests of `dtau.casadi`."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from adapter_cases import ARGUMENTS
from compare import assert_same_bits
from trees import Array

import dtau
from dtau import _core

ca = pytest.importorskip("casadi")

SECOND = 1e-10  # what second derivatives may be off by
ROBOTS = ("panda", "hyq", "every joint in a chain", "forest", "joints that mimic others")
on_robots = pytest.mark.parametrize("name", ROBOTS)
DYNAMICS = ("inverse_dynamics", "forward_dynamics")
TERMS = ("bias_torque", "gravity_torque", "mass_matrix", "mass_matrix_inverse")


def state(model: dtau.Model, seed: int = 1) -> Any:
    rng = np.random.default_rng(seed)
    return *dtau.random_state(model, rng), rng.standard_normal((model.nbodies, 6))


def dense(matrix: Any) -> Array:
    return np.array(ca.densify(ca.DM(matrix)))


def vector(matrix: Any) -> Array:
    """The numbers as CasADi counts them, column by column."""
    return dense(matrix).ravel(order="F")


def arguments(name: str, given: Any, wrenches: bool) -> tuple[Array, ...]:
    q, v, a, f_ext = given
    arrays = {"q": q, "v": v, "a": a, "tau": a, "f_ext": f_ext}
    return tuple(arrays[x] for x in ARGUMENTS[name] if x != "f_ext" or wrenches)


def symbols(given: tuple[Array, ...]) -> list[Any]:
    return [ca.MX.sym(f"x{k}", *np.shape(x)) for k, x in enumerate(given)]


def numbers(given: tuple[Array, ...]) -> list[Any]:
    return [ca.DM(x) for x in given]


def check_memory(f: Any, derivatives: dict[str, Any], given: Sequence[Array]) -> None:
    """Call a function as CasADi does: it keeps to the memory that it asks for.

    Marks lie behind the memory and the results, and each result alone has the same bits.
    """
    library = ctypes.CDLL(_core.__file__)
    for prefix, derived in {"": f, **derivatives}.items():
        call = getattr(library, prefix + f.name())
        sizes = [ctypes.c_longlong() for _ in range(4)]
        getattr(library, f"{prefix}{f.name()}_work")(*map(ctypes.byref, sizes))
        work = np.full(sizes[3].value + 64, 7.25)
        memory = ctypes.c_void_p(work.ctypes.data)
        ins = [*given, *(np.ones(derived.nnz_in(k)) for k in range(len(given), derived.n_in()))]
        whole = [np.full(derived.nnz_out(k) + 8, 7.25) for k in range(derived.n_out())]
        for asked in (range(derived.n_out()), *([k] for k in range(derived.n_out()))):
            outs = [x if k in asked and x.size > 8 else None for k, x in enumerate(whole)]
            before = [x.copy() for x in whole]
            assert call(_pointers(ins), _pointers(outs), None, memory, 0) == 0
            assert (work[-64:] == 7.25).all()
            for got, mark in zip(whole, before, strict=True):
                assert (got[-8:] == 7.25).all()
                if len(asked) < len(whole):
                    assert_same_bits(got, mark)


def _pointers(arrays: Sequence[Array | None]) -> Any:
    addresses = [None if x is None or not x.size else x.ctypes.data for x in arrays]
    return (ctypes.c_void_p * len(arrays))(*addresses)
