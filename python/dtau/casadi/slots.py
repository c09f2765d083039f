"""Make CasADi functions of compiled dynamics: `compiled_function`.

Each function takes a slot of the extension, whose symbols CasADi finds by name.
"""

from __future__ import annotations

import gc
from typing import Any

import casadi as ca
import numpy as np

from dtau import _core
from dtau.autodiff.functions import PUBLIC
from dtau.autodiff.manifold import manifold_joints
from dtau.casadi.patterns import Pattern, Structure, roles
from dtau.model.model import Model
from dtau.options import Axes
from dtau.registry import FUNCTIONS

_X = {"inverse_dynamics": "a", "forward_dynamics": "tau"}  # third input x of each problem
_KINDS = {"q": "q", "v": "v", "a": "x", "tau": "x"}  # kinds of inputs, with the core's names
_ATTEMPTS = 8


def problem_of(name: str) -> str:
    """Return the problem that a function solves or is a term or matrix of; "" if there is none."""
    how = PUBLIC[name]
    return how.term_of or how.matrix_of or (name if name in _X else "")


def compiled_function(model: Model, name: str, *, f_ext: bool, f_ext_axes: Axes) -> Any:
    """Make a CasADi function in a slot, which is freed with the function.

    Raises
    ------
    RuntimeError
        If all slots are taken, or functions loaded from files have found them.
    """
    problem, is_matrix = problem_of(name), bool(PUBLIC[name].matrix_of)
    row = FUNCTIONS[name]
    kinds = "".join(_KINDS[x.name] for x in row.inputs if not x.optional)
    kinds += "f" if f_ext else ""
    result = "Minv" if name == "mass_matrix_inverse" else row.results[0].name
    calls = _calls(model, name, problem, is_matrix, f_ext_axes if f_ext else "body")
    solves = problem == "forward_dynamics"
    structure = Structure(model, solves=solves, felt_position=f_ext and f_ext_axes == "world")
    patterns = (_matrix_patterns if is_matrix else _patterns)(model, kinds, structure)
    names = {"q": "q", "v": "v", "x": _X[problem], "f": "f_ext"}
    description = (
        calls,
        (model.nq, model.nv, model.nbodies),
        kinds,
        [names[kind] for kind in kinds],
        [result],
        is_matrix,
        manifold_joints(model),
        patterns,
    )
    for _ in range(_ATTEMPTS):
        function = _of_a_slot(description)
        if not is_lost(function):
            return function
    raise RuntimeError(
        f"dtau.casadi: {_ATTEMPTS} slots in a row were found by functions from files, which other "
        "threads are loading: make those anew, from their models"
    )


def _of_a_slot(description: tuple[Any, ...]) -> Any:
    slot = _core.fill_casadi_slot(*description)
    if slot < 0:
        gc.collect()
        slot = _core.fill_casadi_slot(*description)
    if slot < 0:
        raise RuntimeError(
            f"dtau.casadi: all {_core.casadi_slots} slots for functions are in use. A function of "
            "dtau's takes one for as long as it, or anything that is made with it, lives: let go "
            "of those that are not needed, and share one model instead of making it again"
        )
    try:  # this thread claims the slot; other threads are refused
        return ca.external(f"dtau_slot{slot}", _core.__file__)
    finally:
        _core.release_casadi_slot(slot)


def is_lost(function: Any) -> bool:
    """Whether a function lost its slot because something else found it."""
    return _core.casadi_slot_is_lost(int(function.name().removeprefix("dtau_slot")))


def _calls(
    model: Model, name: str, problem: str, is_matrix: bool, f_ext_axes: str
) -> dict[str, _core.RawCall]:
    """Prepare the functions of the core that one CasADi function calls."""

    def prepare(function: str, **given: object) -> _core.RawCall:
        if "f_ext_axes" in FUNCTIONS[function].options:
            given["f_ext_axes"] = f_ext_axes
        return _core.prepare_call(model, function, **given)

    calls = {"value": prepare(name), "second": prepare(f"{problem}_hessian")}
    if is_matrix:
        return {**calls, "tensors": prepare(f"{problem}_second_derivatives")}
    return {
        **calls,
        "first": prepare(f"{problem}_derivatives"),
        "product": prepare(f"{problem}_vjp"),
        "by_wrench": prepare(f"{problem}_wrench_derivatives"),
    }


def _patterns(model: Model, kinds: str, s: Structure) -> Any:
    """Return patterns of a vector-valued function, see `dtau.casadi.patterns.roles`."""
    nq, nv, wrenches = model.nq, model.nv, 6 * model.nbodies
    sizes = {"q": (nq, 1), "v": (nv, 1), "x": (nv, 1), "f": (model.nbodies, 6)}
    lengths = {"q": nq, "v": nv, "x": nv, "f": wrenches}
    by_wrench = np.tile(s.paths, (6, 1))  # (6 nbodies, nv): column by column of f_ext
    first = {"q": s.by_q(s.coupled), "v": s.coupled, "x": s.coupled, "f": by_wrench.T}
    second = {
        "qq": s.by_q(s.by_q(s.coupled).T),
        "vq": s.by_q(s.coupled),
        "vv": s.coupled,
        "xq": s.by_q(s.coupled),
        "fq": s.by_q(by_wrench),
    }

    def curvature(a: str, b: str) -> Pattern:
        if a + b in second:
            return second[a + b]
        if b + a in second:
            return second[b + a].T
        return np.zeros((lengths[a], lengths[b]), dtype=bool)

    return roles(
        [np.ones(sizes[kind], dtype=bool) for kind in kinds],
        np.ones((nv, 1), dtype=bool),
        [first[kind] for kind in kinds],
        [[curvature(a, b) for b in kinds] for a in kinds],
    )


def _matrix_patterns(model: Model, kinds: str, s: Structure) -> Any:
    """Return patterns of a symmetric matrix that is a function of q."""
    nv = model.nv
    entries = s.coupled[:, :, None] & s.coupled[:, None, :] & s.coupled[None, :, :]
    by_q = s.by_q(entries.reshape(nv * nv, nv))
    return roles(
        [np.ones((model.nq, 1), dtype=bool)],
        s.coupled,
        [by_q],
        [[s.by_q(s.by_q(s.coupled).T)]],
    )
