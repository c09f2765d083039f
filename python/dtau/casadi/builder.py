"""Functions of CasADi's, made once a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from dtau.casadi.expressions import bodies, manifold
from dtau.casadi.expressions.steps import step_function
from dtau.casadi.slots import COMPILED, compiled_function, is_lost
from dtau.checks import frame_names, require
from dtau.model.model import Model
from dtau.options import Axes, Integrator, require_option

_EXPRESSIONS: dict[str, Callable[[Model], Any]] = {
    "integrate": manifold.integrate,
    "difference": manifold.difference,
    "normalize": manifold.normalize,
    "tangent_map": manifold.tangent_map,
    "center_of_mass": lambda model: bodies.whole_body(model, "center_of_mass"),
    "center_of_mass_velocity": lambda model: bodies.whole_body(model, "center_of_mass_velocity"),
    "momentum": lambda model: bodies.whole_body(model, "momentum"),
    "centroidal_momentum": lambda model: bodies.whole_body(model, "centroidal_momentum"),
}
_OF_FRAMES = ("frame_placements", "frame_jacobians", "frame_velocities")
_WITH_WRENCHES = ("inverse_dynamics", "forward_dynamics", "bias_torque", "step")
NAMES = (*COMPILED, "step", *_OF_FRAMES, *_EXPRESSIONS)

# Functions, each with those of slots that it calls.
_made: WeakKeyDictionary[Model, dict[Any, tuple[Any, list[Any]]]] = WeakKeyDictionary()


def function(
    model: Model,
    name: str,
    *,
    f_ext: bool = False,
    f_ext_axes: Axes = "body",
    integrator: Integrator = "euler",
    frames: str | Sequence[str] | None = None,
    axes: Axes = "body",
) -> Any:
    """Return one of the functions of this module as a `casadi.Function`.

    Parameters
    ----------
    model : Model
    name : str
        ``"inverse_dynamics"`` or any other function of `dtau.casadi`.
    f_ext : bool, optional
        Take external wrenches as the last input, (nbodies, 6): [force, moment] in N and N m.
    f_ext_axes : {"body", "world", "mixed"}
        Axes of ``f_ext``, see `dtau.inverse_dynamics`.
    integrator : {"euler", "semi_implicit", "rk4"}
        How ``"step"`` moves on, see `dtau.step`.
    frames : str or sequence of str
        Names from ``model.frames``: of ``"frame_placements"``, ``"frame_jacobians"`` and
        ``"frame_velocities"``.
    axes : {"body", "world", "mixed"}
        Axes and point of the twist, of ``"frame_jacobians"`` and ``"frame_velocities"``: see
        `dtau.frame_velocities`.

    Returns
    -------
    casadi.Function
        Of the matrices that the function of `dtau.casadi` takes, without the model, in the same
        order, under the same names; of one state, (nq,) and (nv,). Units, frames and results are
        that function's. Derivatives by q are by its nq numbers, those of f(normalize(q)). It is
        evaluated without Python's interpreter, and safe in ``map(n, "thread")``.

    Raises
    ------
    ValueError
        If the name, an option or a frame is unknown, or joints of the model have no inertia to
        accelerate where that is needed.
    TypeError
        If an argument is of the wrong type.
    RuntimeError
        If no slot is left for it, see the notes.

    Notes
    -----
    The dynamics (inverse and forward dynamics, their bias and gravity torques, the mass matrix and
    its inverse, and what ``"step"`` calls) are functions of the extension: value, Jacobian, adjoint
    and Jacobian of the adjoint, which are the core's derivatives, products and Hessians. CasADi
    finds them in this process only: such a function can be neither saved to a file nor sent to
    another process. Each takes one of 64 slots until nothing that was made with it is left. A third
    derivative does not exist: CasADi raises RuntimeError.
    The others are expressions in CasADi's scalars (SX), with derivatives of every order.

    Examples
    --------
    >>> import dtau, dtau.casadi
    >>> model = dtau.robots.quadruped()
    >>> f = dtau.casadi.function(model, "forward_dynamics")
    >>> f.size1_in("q"), f.size1_in("tau"), f.size1_out(0)
    (19, 18, 18)
    >>> f.jacobian().sparsity_out(0).nnz() < 18 * 19  # where a base is does not matter
    True
    """
    require("model", model, Model)
    if name not in NAMES:
        listed = ", ".join(NAMES)
        raise ValueError(f"name: expected one of {listed}, got {name!r}")
    require("f_ext", f_ext, bool)
    require_option("f_ext_axes", f_ext_axes, Axes)
    require_option("integrator", integrator, Integrator)
    require_option("axes", axes, Axes)
    if f_ext and name not in _WITH_WRENCHES:
        raise ValueError(f"f_ext: {name} takes no external wrenches")
    if (frames is None) == (name in _OF_FRAMES):
        expected = "the names of frames" if frames is None else "none"
        raise ValueError(f"frames: expected {expected} for {name}, got {frames!r}")
    if frames is not None:
        frames = frame_names(frames)
    key = (
        name,
        f_ext_axes if f_ext else None,
        integrator if name == "step" else None,
        frames,
        axes if name in ("frame_jacobians", "frame_velocities") else None,
    )
    made = _made.setdefault(model, {})
    if key not in made or any(is_lost(each) for each in made[key][1]):
        compiled = []
        if name == "step":
            compiled = [function(model, "forward_dynamics", f_ext=f_ext, f_ext_axes=f_ext_axes)]
        elif name in COMPILED:
            compiled = [_compiled(model, name, f_ext, f_ext_axes)]
        made[key] = _made_of(model, name, compiled, integrator, frames, axes), compiled
    return made[key][0]


def _compiled(model: Model, name: str, f_ext: bool, f_ext_axes: Axes) -> Any:
    try:
        return compiled_function(model, name, f_ext=f_ext, f_ext_axes=f_ext_axes)
    except RuntimeError:  # those that are kept here alone leave room
        _made.clear()
        return compiled_function(model, name, f_ext=f_ext, f_ext_axes=f_ext_axes)


def _made_of(
    model: Model,
    name: str,
    compiled: Sequence[Any],
    integrator: Integrator,
    frames: str | Sequence[str] | None,
    axes: Axes,
) -> Any:
    if name == "step":
        return step_function(model, integrator, compiled[0])
    if compiled:
        return compiled[0]
    if frames is not None:
        if name == "frame_placements":
            return bodies.frame_placements(model, frames)
        if name == "frame_jacobians":
            return bodies.frame_jacobians(model, frames, axes)
        return bodies.frame_velocities(model, frames, axes)
    return _EXPRESSIONS[name](model)
