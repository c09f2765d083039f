"""List of the functions of the array libraries, `PUBLIC`, and how they are differentiated.

For a function, JAX, PyTorch and CasADi need its name here, in addition to its row in the registry
and its Python function. The row names the functions that differentiate it, `link`. What these do
not give is found by the function's name, when a derivative is requested: a rule for its Jacobians
in `blocks`, `contacts`, `steps` or `frames`, or itself in a library's own operations, which the
library differentiates, in `compositions`.

Derivatives by q are those by its nq numbers, of f(normalize(q)), for any quaternions except zero:
array_libraries.md. The core gives them, ``coordinates="numbers"``.

The documentation of a wheel is written without the core, from `order_of`. So it needs the links of
the rows alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from dtau.registry import FUNCTIONS

if TYPE_CHECKING:
    from dtau.autodiff.blocks import Hessian, Rule
    from dtau.autodiff.compositions import Composition


class Order(Enum):
    """Highest order of a function's derivatives, as text."""

    none = ("", "derivative")
    first = ("of the first order", "second derivative")
    second = ("up to the second order", "third derivative")
    every = ("of every order", "")

    @property
    def said(self) -> str:
        """The existing orders."""
        return self.value[0]

    @property
    def beyond(self) -> str:
        """The first derivative that does not exist."""
        return self.value[1]


# Made of `manifold` and `frames`, so that derivatives have every order.
_OF_EVERY_ORDER = (
    *("frame_placements", "frame_jacobians", "frame_velocities", "frame_accelerations"),
    *("integrate", "difference", "normalize", "tangent_map"),
    *("center_of_mass", "center_of_mass_velocity", "momentum", "centroidal_momentum"),
)
# By rules for their derivatives; and all functions of which the core has Hessians.
_OF_SECOND_ORDER = ("kinetic_energy", "potential_energy")
CONSTRAINED = ("constrained_dynamics", "impulse_dynamics", "step")  # functions with contacts
TERM_OF = dict.fromkeys(("bias_torque", "gravity_torque"), "inverse_dynamics")  # with zeros
MATRIX_OF = {"mass_matrix": "inverse_dynamics", "mass_matrix_inverse": "forward_dynamics"}

# The functions of dtau.jax, dtau.torch and dtau.casadi.
PUBLIC = [
    *("inverse_dynamics", *TERM_OF, "forward_dynamics", *MATRIX_OF, *CONSTRAINED),
    *("inverse_dynamics_time_derivatives", "forward_dynamics_time_derivatives"),
    *(*_OF_EVERY_ORDER, *_OF_SECOND_ORDER, "frame_jacobians_derivatives"),
    *("frame_kinematics_time_derivatives", "frame_jacobians_time_derivatives"),
]


def link(name: str, kind: str) -> str:
    """Return the function that differentiates another one; empty if the core has none."""
    return FUNCTIONS[name].links.get(kind, "")


def problem_of(name: str) -> str:
    """Return the function of which this is a term, or the Jacobian by a or tau; else itself."""
    return TERM_OF.get(name) or MATRIX_OF.get(name, name)


def takes_inertias(name: str) -> bool:
    """Whether a function has ``parameters``, the inertias of many models."""
    return bool(link(problem_of(name), "hessian"))


def order_of(name: str) -> Order:
    """Return the highest order of derivatives of a public function."""
    if name in _OF_EVERY_ORDER:
        return Order.every
    if link(problem_of(name), "hessian") or name in _OF_SECOND_ORDER:
        return Order.second
    return Order.first if link(name, "derivatives") else Order.none


def composition(name: str, options: Mapping[str, Any]) -> Composition | None:
    """Return a function in the library's own operations; None if it has only Jacobians."""
    found: Composition | None = _named("compositions", name)
    return found if _of_frames(name, options) is None else None


def jacobians(name: str, options: Mapping[str, Any]) -> Rule | None:
    """Return the rule for the Jacobians of a function; None if it has none."""
    rule: Rule | None = _of_frames(name, options) or _of_blocks(TERM_OF.get(name, name))
    if rule is None and (first := link(name, "derivatives")):
        rule = _made("linked", first)
    return rule


def hessian(name: str) -> Hessian | None:
    """Return how the product ``vjp`` of a function is differentiated; None if the core cannot."""
    if not (link(name, "vjp") and link(name, "hessian")):
        return None
    found: Hessian = (
        _named("steps", "HESSIAN") if name == "step" else _made("weighted", link(name, "hessian"))
    )
    return found


def jacobian_of(name: str, options: Mapping[str, Any]) -> str:
    """Return the composed function whose Jacobians by numbers this call has; empty if none."""
    if options.get("coordinates") != "numbers":
        return ""
    return next((of for of in _OF_EVERY_ORDER if link(of, "derivatives") == name), "")


def is_of_blocks(name: str) -> bool:
    """Whether a composition has a rule for its Jacobians beside it, which can be differentiated."""
    return _of_blocks(name) is not None


def in_tangent_space(name: str) -> bool:
    """Whether the rule for the Jacobians of a function has those by q in its tangent space."""
    return _named("frames", name) is not None


def _of_frames(name: str, options: Mapping[str, Any]) -> Rule | None:
    """Return the rule in `frames`, which is for body axes; in others there is a composition."""
    rule: Rule | None = _named("frames", name)
    composed = _named("compositions", name) is not None and options.get("axes") != "body"
    return None if composed else rule


def _of_blocks(name: str) -> Rule | None:
    modules = ("blocks", "contacts", "steps")
    return next((rule for x in modules if (rule := _named(x, name)) is not None), None)


@cache
def _named(module: str, name: str) -> Any:
    return getattr(import_module(f"dtau.autodiff.{module}"), name, None)


@cache
def _made(kind: str, name: str) -> Any:
    return _named("blocks", kind)(name)
