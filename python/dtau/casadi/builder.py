"""Build and cache the `casadi.Function`s of a model: `function`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any
from weakref import WeakKeyDictionary

from dtau.autodiff.functions import PUBLIC
from dtau.casadi.expressions import bodies, manifold
from dtau.casadi.expressions.recorded import recorded_function
from dtau.casadi.expressions.steps import step_function
from dtau.casadi.slots import compiled_function, is_lost, problem_of
from dtau.checks import frame_names, integer, require
from dtau.model.model import Model
from dtau.options import Axes, Integrator, require_option
from dtau.registry import FUNCTIONS

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
_OF_FRAMES: dict[str, Callable[..., Any]] = {
    "frame_placements": lambda model, frames, axes: bodies.frame_placements(model, frames),
    "frame_jacobians": bodies.frame_jacobians,
    "frame_velocities": bodies.frame_velocities,
}
_EXPLICIT = ("f_ext_axes", "integrator", "frames", "axes")  # options among the parameters below

# Functions, each with the slot functions that it calls.
_built: WeakKeyDictionary[Model, dict[Any, tuple[Any, list[Any]]]] = WeakKeyDictionary()


def function(
    model: Model,
    name: str,
    *,
    f_ext: bool = False,
    f_ext_axes: Axes = "body",
    integrator: Integrator = "euler",
    frames: str | Sequence[str] | None = None,
    axes: Axes = "body",
    **options: Any,
) -> Any:
    """Return a function of `dtau.casadi` as a `casadi.Function`.

    Parameters
    ----------
    model : Model
    name : str
        Name of a function of `dtau.casadi`, such as ``"inverse_dynamics"``.
    f_ext : bool, optional
        Take external wrenches as the last input, (nbodies, 6): [force, moment] in N and N m.
    f_ext_axes : {"body", "world", "mixed"}
        Axes of ``f_ext``, see `dtau.inverse_dynamics`.
    integrator : {"euler", "semi_implicit", "rk4"}
        Integration method of ``"step"``, see `dtau.step`.
    frames : str or sequence of str
        Names from ``model.frames``, for ``"frame_placements"``, ``"frame_jacobians"`` and
        ``"frame_velocities"``.
    axes : {"body", "world", "mixed"}
        Axes and point of the twist, for ``"frame_jacobians"`` and ``"frame_velocities"``; see
        `dtau.frame_velocities`.
    **options
        Further options of the function, by their names in `dtau`.

    Returns
    -------
    casadi.Function
        A function with the same arguments as in `dtau.casadi`, without the model, in the same order
        and with the same names, for one state: (nq,) and (nv,). Units, frames and results are the
        same. Derivatives by q are by its nq numbers, as derivatives of f(normalize(q)). The
        function is evaluated without Python's interpreter and is safe in ``map(n, "thread")``.

    Raises
    ------
    ValueError
        If the name, an option or a frame is unknown, or joints of the model have no inertia to
        accelerate but the function needs it.
    TypeError
        If an argument is of the wrong type.
    RuntimeError
        If no slot is free, see the notes.

    Notes
    -----
    The dynamics (inverse and forward dynamics, their bias and gravity torques, the mass matrix and
    its inverse, and what ``"step"`` calls) are functions of the extension: value, Jacobian, adjoint
    and Jacobian of the adjoint, which are the core's derivatives, products and Hessians. CasADi
    finds them in this process only: such a function can be neither saved to a file nor sent to
    another process. Each takes one of 64 slots, as long as the function or anything made with it
    exists. A third derivative does not exist: CasADi raises RuntimeError. The other functions are
    expressions in CasADi's scalars (SX), with derivatives of every order.

    Examples
    --------
    >>> import dtau, dtau.casadi
    >>> model = dtau.robots.quadruped()
    >>> f = dtau.casadi.function(model, "forward_dynamics")
    >>> f.size1_in("q"), f.size1_in("tau"), f.size1_out(0)
    (19, 18, 18)
    >>> f.jacobian().sparsity_out(0).nnz() < 18 * 19  # the position of the base does not matter
    True
    """
    require("model", model, Model)
    if name not in PUBLIC:
        listed = ", ".join(PUBLIC)
        raise ValueError(f"name: expected one of {listed}, got {name!r}")
    require("f_ext", f_ext, bool)
    require_option("f_ext_axes", f_ext_axes, Axes)
    require_option("integrator", integrator, Integrator)
    require_option("axes", axes, Axes)
    known = _options(name)
    for option in options:
        if option not in known:
            raise TypeError(f"{option}: {name} takes no such option")
    if "order" in known:  # stacks have no sizes here
        options["order"] = integer("order", options.get("order"), 0, 100)
    if f_ext and "f_ext_axes" not in known:
        raise ValueError(f"f_ext: {name} takes no external wrenches")
    if (frames is None) == ("frames" in known):
        expected = "the names of frames" if frames is None else "none"
        raise ValueError(f"frames: expected {expected} for {name}, got {frames!r}")
    if frames is not None:
        frames = frame_names(frames)
    key = (
        name,
        f_ext_axes if f_ext else None,
        integrator if "integrator" in known else None,
        frames,
        axes if "axes" in known else None,
        *options.items(),
    )
    built = _built.setdefault(model, {})
    if key not in built or any(is_lost(each) for each in built[key][1]):
        compiled = []
        if name == "step":
            compiled = [function(model, "forward_dynamics", f_ext=f_ext, f_ext_axes=f_ext_axes)]
        elif problem_of(name):
            compiled = [_compiled(model, name, f_ext, f_ext_axes, options.get("order"))]
        given = dict(zip(_EXPLICIT, (f_ext_axes, integrator, frames, axes), strict=True))
        built[key] = _build(model, name, compiled, {**given, **options}, f_ext), compiled
    return built[key][0]


@cache
def _options(name: str) -> frozenset[str]:
    return frozenset(FUNCTIONS[name].options)


def _compiled(model: Model, name: str, f_ext: bool, f_ext_axes: Axes, order: int | None) -> Any:
    given: dict[str, Any] = {"f_ext": f_ext, "f_ext_axes": f_ext_axes, "order": order}
    try:
        return compiled_function(model, name, **given)
    except RuntimeError:  # drop cached functions to free slots
        _built.clear()
        return compiled_function(model, name, **given)


def _build(
    model: Model, name: str, compiled: Sequence[Any], options: Mapping[str, Any], f_ext: bool
) -> Any:
    """Build a function from compiled functions, an expression, or a recording of the core."""
    if name == "step":
        return step_function(model, options["integrator"], compiled[0])
    if compiled:
        return compiled[0]
    if name in _EXPRESSIONS:
        return _EXPRESSIONS[name](model)
    if name in _OF_FRAMES:
        return _OF_FRAMES[name](model, options["frames"], options["axes"])
    taken = {x: options[x] for x in FUNCTIONS[name].options if x in options}
    return recorded_function(model, name, taken, f_ext=f_ext)
