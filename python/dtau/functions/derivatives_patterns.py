"""Patterns of results: where the numbers that ``layout="pattern"`` returns belong."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from dtau import _core
from dtau.docstrings import documented
from dtau.model.contacts import Contacts
from dtau.model.model import Model
from dtau.model.motor_feedback import feedback_of, refuse_pattern
from dtau.registry import FUNCTIONS
from dtau.support.checks import shown
from dtau.support.options import Integrator
from dtau.support.patterns import Pattern

_WITH_PATTERN = sorted(name for name, row in FUNCTIONS.items() if "layout" in row.options)


@documented
def pattern(
    model: Model,
    function: str,
    result: str | None = None,
    *,
    frames: str | Sequence[str] | None = None,
    inputs: ArrayLike | None = None,
    contacts: Contacts | None = None,
    integrator: Integrator | None = None,
) -> Pattern:
    """Pattern of a function's results: the numbers that can differ from zero, and their order.

    Two joints on different branches of the robot do not feel each other: their entries in the mass
    matrix and in the derivatives of inverse dynamics are zero for every state. Two robots in one
    model do not accelerate each other unless a loop joins them. With ``layout="pattern"`` a
    function returns the other numbers alone. Matrices are in the format CSC: column by column, with
    ascending rows.

    Parameters
    ----------
    function : str
        Name of a function that has the option ``layout``.
    result : str, optional
        Name of a result, where results of the function have different patterns: ``"A"`` or ``"B"``
        of linearizations, ``"da_dq"`` or ``"dforces_dq"`` with contacts, ``"dforces_dz"`` of
        `dtau.linearize_discrete` with ``forces=True``.
    frames : str or sequence of str, optional
        The frames, for `dtau.frame_jacobians` and derivatives of velocities and accelerations of
        frames.
    inputs : array_like (nv, nu), or (nv,) of bool, optional
        The inputs, for `dtau.linearize` and `dtau.linearize_discrete`; None: the torques of all
        joints except free roots.
    contacts : Contacts, optional
        The contacts and loops, for functions that take them.
    integrator : {"euler", "semi_implicit", "rk4", "implicit"}, optional
        The integrator, for `dtau.linearize_discrete`; None: ``"euler"``.

    Returns
    -------
    pattern : Pattern
        Positions of the values, and methods that make dense arrays and sparse matrices of them.

    Raises
    ------
    ValueError
        If the function has no results on a pattern, ``result`` is not the name of one of them, or a
        frame is unknown.
    TypeError
        ... an option does not belong to the function or is missing.

    Notes
    -----
    The second derivatives of inverse dynamics are tensors, whose values are in the order in which
    they are computed, [Derivations] section 7: entry [i, j, k] can differ from zero only if its
    three degrees of freedom lie on one path to the world.

    An acceleration depends on all velocities of its tree, so derivatives of forward dynamics have
    zeros only where a model consists of several trees: each with joints of its own to the world.

    Examples
    --------
    >>> q, v, a = dtau.random_state(model, np.random.default_rng(0), shape=(256,))
    >>> d = dtau.inverse_dynamics_derivatives(model, q, v, a, layout="pattern")
    >>> d.dtau_dq.shape
    (256, 216)
    >>> pattern = dtau.pattern(model, "inverse_dynamics_derivatives")
    >>> pattern
    <Pattern: 216 of 324 numbers, shape (18, 18)>
    >>> dense = dtau.inverse_dynamics_derivatives(model, q, v, a)
    >>> bool((pattern.dense(d.dtau_dq) == dense.dtau_dq).all())
    True

    The format CSC, for sparse solvers; ``pattern.matrix(d.dtau_dq[0])`` is SciPy's matrix of the
    first state:

    >>> pattern.indptr[:3], pattern.indices[:3]
    (array([ 0, 18, 36], dtype=int32), array([0, 1, 2], dtype=int32))
    """
    if function not in _WITH_PATTERN:
        names = ", ".join(map(repr, _WITH_PATTERN[:-1])) + f" or {_WITH_PATTERN[-1]!r}"
        raise ValueError(f"function: expected {names}, got {shown(function)}")
    given = {"frames": frames, "contacts": contacts, "integrator": integrator}
    options: dict[str, object] = {key: x for key, x in given.items() if x is not None}
    if inputs is not None and "inputs" not in {x.name for x in FUNCTIONS[function].arguments}:
        raise TypeError(f"{function}: got an unexpected argument 'inputs'")
    if feedback_of(model, inputs) is not None:
        refuse_pattern("pattern")
    found = {
        name: (shape, entries)
        for name, shape, entries in _core.patterns(model, function, options, inputs)
    }
    if result is None and len({(shape, x.tobytes()) for shape, x in found.values()}) == 1:
        result = next(iter(found))
    if result not in found:
        names = " or ".join(map(repr, found))
        raise ValueError(f"result: expected {names}, got {shown(result)}")
    shape, entries = found[result]
    return Pattern(shape, tuple(np.unravel_index(entries, shape)))
