"""Build and cache the `casadi.Function`s of a model: `function`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from dtau.autodiff.arguments import check_contacts, constant
from dtau.autodiff.functions import CONSTRAINED, MATRIX_OF, PUBLIC, link, problem_of
from dtau.autodiff.libraries import LIBRARIES
from dtau.autodiff.rows import FUNCTIONS, OF_JOINTS, PARAMETERS
from dtau.casadi import table
from dtau.casadi.expressions import bodies, constrained, manifold
from dtau.casadi.expressions.recorded import recorded_function
from dtau.casadi.expressions.steps import step_function
from dtau.casadi.slots import in_a_slot, is_lost
from dtau.casadi.table import Slot
from dtau.model.contacts import Contacts
from dtau.model.model import Model
from dtau.support.checks import frame_names, integer, require
from dtau.support.options import Axes, Integrator, require_option

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
_GRADIENTS = 4.0  # of a step: for more at once, CasADi multiplies a Jacobian
_Made = tuple[Any, list[Any]]  # a function, and the slot functions that it calls


class _Request(NamedTuple):
    """What a function is built from, besides the model and its contacts."""

    name: str
    f_ext_axes: Axes | None  # None: it takes no wrenches
    integrator: Integrator | None
    frames: str | tuple[str, ...] | None
    axes: Axes | None
    active: bool
    parameters: bool
    regularization: float
    options: tuple[tuple[str, Any], ...]

    @property
    def given(self) -> dict[str, bool]:
        """Whether parameters are an input, and parameters of joints among them."""
        return {PARAMETERS: self.parameters, OF_JOINTS: dict(self.options).get(OF_JOINTS, False)}


# By the model, or by the contacts, which hold their model; a function holds neither.
_built: WeakKeyDictionary[Model | Contacts, dict[_Request, _Made]] = WeakKeyDictionary()


def function(
    model: Model,
    name: str,
    *,
    f_ext: bool = False,
    f_ext_axes: Axes = "body",
    integrator: Integrator = "euler",
    frames: str | Sequence[str] | None = None,
    axes: Axes = "body",
    contacts: Contacts | None = None,
    active: bool = False,
    parameters: bool = False,
    regularization: float = 0.0,
    **options: Any,
) -> Any:
    """Return a function of `dtau.casadi` as a `casadi.Function`.

    Parameters
    ----------
    model : Model
    name : str
        Name of a function of `dtau.casadi`, such as ``"inverse_dynamics"``.
    f_ext : bool, optional
        Take external wrenches as an input after the others, (nbodies, 6): [force, moment] in N and
        N m.
    f_ext_axes : {"body", "world", "mixed"}
        Axes of ``f_ext``, see `dtau.inverse_dynamics`.
    integrator : {"euler", "semi_implicit", "rk4", "implicit"}
        Integration method of ``"step"``, see `dtau.step`.
    frames : str or sequence of str
        Names from ``model.frames``, for ``"frame_placements"``, ``"frame_jacobians"`` and
        ``"frame_velocities"``.
    axes : {"body", "world", "mixed"}
        Axes and point of the twist, for ``"frame_jacobians"`` and ``"frame_velocities"``; see
        `dtau.frame_velocities`.
    contacts : Contacts, optional
        The contacts and loops that hold, for ``"constrained_dynamics"``, ``"impulse_dynamics"`` and
        ``"step"``.
    active : bool, optional
        Take the mask of active contacts as an input after the others, (ncontacts,).
    parameters : bool, optional
        Take the parameters of the bodies as the last input, (10 nbodies,): `Model.parameters`,
        flat; with the option ``joint_parameters=True``, `Model.joint_parameters` behind them.
    regularization : float
        For contacts whose rows depend on each other, see `dtau.constrained_dynamics`.
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
    The dynamics (inverse, forward and constrained dynamics, time steps, impacts, bias and gravity
    torques, the mass matrix and its inverse) are functions of the extension: value,
    Jacobian, adjoint and Jacobian of the adjoint, which are the core's derivatives, products and
    Hessians. CasADi finds them in this process only: such a function can be neither saved to a file
    nor sent to another process. Each takes one of 64 slots, as long as the function or anything
    made with it exists. A third derivative does not exist: CasADi raises RuntimeError. The other
    functions are expressions in CasADi's scalars (SX), with derivatives of every order.

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
    require("active", active, bool)
    require("parameters", parameters, bool)
    if parameters and "parameters" in LIBRARIES["casadi"].left_out(name):
        raise ValueError(
            f"parameters: dtau.casadi.{name} takes none; take the model that has them, "
            "model.replace(parameters=...)"
        )
    check_contacts(contacts, active or None)
    regularization = constant("regularization", regularization)
    if contacts is not None and "contacts" not in known:
        raise TypeError(f"contacts: {name} takes no such option")
    if contacts is None and name in CONSTRAINED and name != "step":
        raise TypeError("contacts: expected Contacts, got NoneType")
    request = _Request(
        name,
        f_ext_axes if f_ext else None,
        integrator if "integrator" in known else None,
        frames,
        axes if "axes" in known else None,
        active,
        parameters,
        regularization,
        tuple(options.items()),
    )
    return _made(model, contacts, request)[0]


def _made(model: Model, contacts: Contacts | None, request: _Request) -> _Made:
    owner = model if contacts is None else contacts
    made = _built.get(owner, {}).get(request)
    if made is None or any(map(is_lost, made[1])):
        made = _build(model, contacts, request)
        _built.setdefault(owner, {})[request] = made
    return made


def _in_a_slot(slot: Slot, **options: Any) -> Any:
    try:
        return in_a_slot(slot, **options)
    except RuntimeError:  # drop cached functions to free slots
        _built.clear()
        return in_a_slot(slot, **options)


@cache
def _options(name: str) -> frozenset[str]:
    return frozenset(FUNCTIONS[name].options)


def _build(model: Model, contacts: Contacts | None, request: _Request) -> _Made:
    """Build a function from compiled functions, an expression, or a recording of the core."""
    name = request.name
    if name == "step":
        compiled = _step(model, contacts, request)
        return step_function(model, compiled), [compiled]
    if contacts is not None:
        return _constrained(model, contacts, request)
    if link(problem_of(name), "vjp"):
        compiled = _compiled(model, request)
        return compiled, [compiled]
    if name in _EXPRESSIONS:
        return _EXPRESSIONS[name](model), []
    given = {**request._asdict(), **dict(request.options)}
    taken = {x: given[x] for x in FUNCTIONS[name].options if given.get(x) is not None}
    return recorded_function(model, name, taken, f_ext=request.f_ext_axes is not None), []


def _compiled(model: Model, request: _Request) -> Any:
    name, f_ext_axes = request.name, request.f_ext_axes
    order = dict(request.options).get("order")
    if order is not None:
        return _in_a_slot(table.time_derivatives(model, name, order, f_ext_axes=f_ext_axes))
    if name in MATRIX_OF:
        return _in_a_slot(table.matrix(model, name, **request.given))
    return _in_a_slot(table.dynamics(model, name, f_ext_axes=f_ext_axes, **request.given))


def _step(model: Model, contacts: Contacts | None, request: _Request) -> Any:
    slot = table.step(
        model,
        request.integrator or "euler",
        f_ext_axes=request.f_ext_axes,
        contacts=contacts,
        active=request.active,
        regularization=request.regularization,
        **request.given,
    )
    inputs = sum(int(rows * columns) for rows, columns, *_ in slot[2][0][0])
    return _in_a_slot(slot, jac_penalty=_GRADIENTS / inputs)


def _constrained(model: Model, contacts: Contacts, request: _Request) -> _Made:
    name, active, regularization = request.name, request.active, request.regularization
    slot = table.constrained(
        model, name, contacts, active=active, regularization=regularization, **request.given
    )
    slots = [_in_a_slot(slot)]
    if name == "impulse_dynamics":
        return constrained.impulse_dynamics(model, contacts, *slots), slots
    if request.f_ext_axes is not None:
        plain = request._replace(name="inverse_dynamics", parameters=False)
        slots.append(_compiled(model, plain))
    return constrained.constrained_dynamics(model, contacts, *slots), slots
