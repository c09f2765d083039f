"""Make CasADi functions of compiled dynamics: `compiled_function`, `constrained_function`.

Each function takes a slot of the extension, whose symbols CasADi finds by name.
"""

from __future__ import annotations

import gc
from typing import Any

import casadi as ca
import numpy as np

from dtau import _core
from dtau.autodiff.functions import PUBLIC
from dtau.autodiff.rows import FUNCTIONS
from dtau.casadi.patterns import ConstrainedStructure, Pattern, Structure, roles
from dtau.model.contacts import Contacts
from dtau.model.model import Model
from dtau.options import Axes

_PROBLEMS = ("inverse_dynamics", "forward_dynamics")
_KINDS = {  # kinds of inputs, with the core's names
    **{"q": "q", "v": "v", "f_ext": "f", "f_ext_derivatives": "f"},
    **dict.fromkeys(("a", "tau", "v_derivatives", "tau_derivatives"), "x"),
}
_TIME_DERIVATIVES = "_time_derivatives"
SLOT, _FIRST_ORDER_SLOT = "dtau_slot", "dtau_first_order_slot"  # names of the same slots
_ATTEMPTS = 8


def problem_of(name: str) -> str:
    """Return the problem that a function solves or is a term or matrix of; "" if there is none."""
    how = PUBLIC[name]
    problem = name.removesuffix(_TIME_DERIVATIVES)
    return how.term_of or how.matrix_of or (problem if problem in _PROBLEMS else "")


def compiled_function(
    model: Model, name: str, *, f_ext: bool, f_ext_axes: Axes, order: int | None
) -> Any:
    """Make a CasADi function in a slot, which is freed with the function.

    Raises
    ------
    RuntimeError
        If all slots are taken, or functions loaded from files have found them.
    """
    problem, is_matrix = problem_of(name), bool(PUBLIC[name].matrix_of)
    row = FUNCTIONS[name]
    given = [x.name for x in row.inputs if x.name in _KINDS and (f_ext or not x.optional)]
    kinds = "".join(map(_KINDS.__getitem__, given))
    result = "Minv" if name == "mass_matrix_inverse" else row.results[0].name
    axes = f_ext_axes if f_ext else "body"
    solves = problem == "forward_dynamics"
    structure = Structure(model, solves=solves, felt_position=f_ext and f_ext_axes == "world")
    if order is None:
        calls = _calls(model, name, problem, is_matrix, axes)
        patterns = (_matrix_patterns if is_matrix else _patterns)(model, kinds, structure)
    else:
        calls = _stack_calls(model, name, f_ext_axes=axes, order=order)
        patterns = _stack_patterns(model, kinds, structure, order)
    return in_a_slot(
        SLOT if order is None else _FIRST_ORDER_SLOT,
        calls,
        (model.nq, model.nv, model.nbodies, 0, 0),
        kinds,
        given,
        [result],
        is_matrix,
        False,
        patterns,
    )


def constrained_function(
    model: Model, name: str, contacts: Contacts, *, active: bool, regularization: float
) -> Any:
    """Make a CasADi function of constrained dynamics or an impact without restitution.

    Its result is one vector: accelerations, forces and residuals, or velocities and impulses.

    Raises
    ------
    RuntimeError
        See `compiled_function`.
    """
    row = FUNCTIONS[name]
    given = {"contacts": contacts, "regularization": regularization}
    roles_of_calls = {"value": "", "first": "_derivatives", "second": "_hessian"}
    roles_of_calls |= {"product": "_vjp"} if PUBLIC[name].vjp else {}
    calls = {
        role: prepared(model, f"{name}{suffix}", **given) for role, suffix in roles_of_calls.items()
    }
    kinds = "".join(_KINDS.get(x.name, "") for x in row.inputs if not x.optional)
    kinds += "m" if active else ""
    names = {"q": "q", "v": "v", "x": "tau", "m": "active"}
    return in_a_slot(
        SLOT,
        calls,
        (model.nq, model.nv, model.nbodies, contacts.nrows, len(contacts)),
        kinds,
        [names[kind] for kind in kinds],
        ["result"],
        False,
        True,
        _constrained_patterns(model, kinds, contacts, len(row.results) > 2),
    )


def in_a_slot(prefix: str, *description: Any, **options: Any) -> Any:
    """Put a function into a slot, and return the CasADi function of its name with these options."""
    for _ in range(_ATTEMPTS):
        function = _of_a_slot(description, prefix, options)
        if not is_lost(function):
            return function
    raise RuntimeError(
        f"dtau.casadi: {_ATTEMPTS} slots in a row were found by functions from files, which other "
        "threads are loading: make those anew, from their models"
    )


def _of_a_slot(description: tuple[Any, ...], prefix: str, options: dict[str, Any]) -> Any:
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
        return ca.external(f"{prefix}{slot}", _core.__file__, options)
    finally:
        _core.release_casadi_slot(slot)


def is_lost(function: Any) -> bool:
    """Whether a function lost its slot because something else found it."""
    return _core.casadi_slot_is_lost(int(function.name().rpartition("slot")[2]))


def prepared(model: Model, name: str, **options: object) -> _core.RawCall:
    """Prepare a function of the core, which CasADi calls without ``parameters``.

    Raises
    ------
    ValueError
        If the function needs inertia at joints that have none.
    """
    if "coordinates" in FUNCTIONS[name].options:
        options["coordinates"] = "numbers"  # which CasADi's variables are
    call = _core.prepare_call(model, name, **options)
    if call.problem:
        raise ValueError(f"{name}: {call.problem}")
    return call


def _calls(
    model: Model, name: str, problem: str, is_matrix: bool, f_ext_axes: str
) -> dict[str, _core.RawCall]:
    """Prepare the functions of the core that one CasADi function calls."""

    def prepare(function: str, **given: object) -> _core.RawCall:
        if "f_ext_axes" in FUNCTIONS[function].options:
            given["f_ext_axes"] = f_ext_axes
        return prepared(model, function, **given)

    calls = {"value": prepare(name), "second": prepare(f"{problem}_hessian")}
    if is_matrix:
        return {**calls, "tensors": prepare(f"{problem}_second_derivatives")}
    return {
        **calls,
        "first": prepare(f"{problem}_derivatives"),
        "product": prepare(f"{problem}_vjp"),
        "by_wrench": prepare(f"{problem}_wrench_derivatives"),
    }


def _stack_calls(model: Model, name: str, **options: Any) -> dict[str, _core.RawCall]:
    """Prepare the functions of the core that time derivatives of the dynamics call."""
    roles = {"value": name, "first": f"{name}_derivatives", "product": f"{name}_vjp"}
    return {role: prepared(model, f, **options) for role, f in roles.items()}


def _stack_patterns(model: Model, kinds: str, s: Structure, order: int) -> Any:
    """Return patterns of time derivatives, without second derivatives.

    Row k of a result depends on the rows of order k and lower orders.
    """
    rows, nv, nb = order + 1, model.nv, model.nbodies
    beyond = int("v" not in kinds)  # the stack begins with v, and its row k + 1 acts on row k
    every, acting = np.ones((rows, 1), dtype=bool), np.tri(rows, rows + beyond, beyond, dtype=bool)
    by_wrench = s.paths.T[:, None, None, :] & np.tri(rows, dtype=bool)[None, :, :, None]
    by = {
        "q": np.kron(s.by_q(s.coupled), every),
        "v": np.kron(s.coupled, every),
        "x": np.kron(s.coupled, acting),
        "f": np.tile(by_wrench.reshape(nv * rows, rows * nb), 6),
    }
    shapes = {"q": (model.nq, 1), "v": (nv, 1), "x": (rows + beyond, nv), "f": (rows * nb, 6)}
    return roles(
        [np.ones(shapes[kind], dtype=bool) for kind in kinds],
        np.ones((rows, nv), dtype=bool),
        [by[kind] for kind in kinds],
        [[] for _ in kinds],
    )[:3]


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


def _constrained_patterns(model: Model, kinds: str, contacts: Contacts, residual: bool) -> Any:
    """Return patterns of accelerations, forces and residuals, or of velocities and impulses."""
    s = ConstrainedStructure(model, contacts)
    checked = contacts.nrows if residual else 0
    rows = np.concatenate([s.coupled, s.of_rows, np.zeros((checked, model.nv), dtype=bool)])
    lengths = {"q": model.nq, "v": model.nv, "x": model.nv, "m": len(contacts)}
    blocks = {"q": s.by_q(rows), "v": rows, "x": rows}
    second = {
        "qq": s.by_q(s.by_q(s.coupled).T),
        "qv": s.by_q(s.coupled).T,
        "vv": s.coupled,
        "qx": s.by_q(s.coupled).T,
    }
    if not residual:  # the velocity after an impact is linear in the one before
        second["vv"] = np.zeros_like(s.coupled)

    def first(kind: str) -> Pattern:
        return blocks.get(kind, np.zeros((len(rows), lengths[kind]), dtype=bool))

    def curvature(a: str, b: str) -> Pattern:
        if b + a in second and a != b:
            return second[b + a].T
        return second.get(a + b, np.zeros((lengths[a], lengths[b]), dtype=bool))

    return roles(
        [np.ones((lengths[kind], 1), dtype=bool) for kind in kinds],
        np.ones((len(rows), 1), dtype=bool),
        [first(kind) for kind in kinds],
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
