"""Table of the functions of the array libraries and their derivatives: `PUBLIC`.

For a function, JAX, PyTorch and CasADi need one line here, in addition to its row in the registry
and its Python function. The table names rules, which are imported when a derivative is requested.

Derivatives by q are those by its nq numbers, of f(normalize(q)), for any quaternions except zero:
array_libraries.md. The core gives them, ``coordinates="numbers"``. What has derivatives of every
order is composed in the library's own operations, of `manifold` and `frames`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

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


@dataclass(frozen=True)
class Derivatives:
    """Derivatives of a function; a function with no field set has no derivatives.

    ``first`` names the function whose results are the Jacobians by the inputs, in their order;
    ``vjp`` names the function that multiplies them by a covector, and ``hessian`` the one that
    differentiates this product. If no single function gives the Jacobians, ``blocks`` names their
    rule, as a module and a name in it. ``composition`` names the function in a library's own
    operations, which the library differentiates; ``in_body_axes`` names the rule for its Jacobians
    in body axes.

    ``term_of``: the function equals this one with some inputs zero. ``matrix_of``: it is the
    Jacobian of this one by a or tau.
    """

    first: str = ""
    vjp: str = ""
    hessian: str = ""
    blocks: str = ""
    composition: str = ""
    in_body_axes: str = ""
    term_of: str = ""
    matrix_of: str = ""


def _problem(name: str, hessian: str = "") -> Derivatives:
    return Derivatives(f"{name}_derivatives", f"{name}_vjp", hessian, f"blocks.{name}")


def _composed(name: str, first: str = "") -> Derivatives:
    return Derivatives(first, composition=f"compositions.{name}")


def _matrix(name: str, problem: str) -> Derivatives:
    blocks, composition = f"blocks.{name}", f"compositions.{name}"
    return Derivatives(blocks=blocks, composition=composition, matrix_of=problem)


_TORQUE = Derivatives(blocks="blocks.inverse_dynamics", term_of="inverse_dynamics")

# The functions of dtau.jax, dtau.torch and dtau.casadi.
PUBLIC: dict[str, Derivatives] = {
    "inverse_dynamics": _problem("inverse_dynamics", "inverse_dynamics_hessian"),
    "bias_torque": _TORQUE,
    "gravity_torque": _TORQUE,
    "mass_matrix": _matrix("mass_matrix", "inverse_dynamics"),
    "forward_dynamics": _problem("forward_dynamics", "forward_dynamics_hessian"),
    "mass_matrix_inverse": _matrix("mass_matrix_inverse", "forward_dynamics"),
    "step": Derivatives(vjp="step_vjp", hessian="step_hessian", blocks="steps.step"),
    "constrained_dynamics": Derivatives(
        "constrained_dynamics_derivatives",
        "constrained_dynamics_vjp",
        "constrained_dynamics_hessian",
        "contacts.dynamics",
    ),
    "impulse_dynamics": Derivatives("impulse_dynamics_derivatives", blocks="contacts.impulses"),
    "inverse_dynamics_time_derivatives": _problem("inverse_dynamics_time_derivatives"),
    "forward_dynamics_time_derivatives": _problem("forward_dynamics_time_derivatives"),
    "frame_placements": Derivatives(blocks="frames.frame_placements"),
    "frame_jacobians": Derivatives(
        "frame_jacobians_derivatives",
        composition="compositions.frame_jacobians",
        in_body_axes="frames.frame_jacobians",
    ),
    "frame_jacobians_derivatives": Derivatives(),
    "frame_velocities": _composed("frame_velocities", "frame_velocities_derivatives"),
    "frame_accelerations": _composed("frame_accelerations", "frame_accelerations_derivatives"),
    "frame_kinematics_time_derivatives": Derivatives(),
    "frame_jacobians_time_derivatives": Derivatives(),
    "integrate": _composed("integrate", "integrate_jacobians"),
    "difference": _composed("difference", "difference_jacobians"),
    "normalize": _composed("normalize"),
    "tangent_map": _composed("tangent_map"),
    "center_of_mass": _composed("center_of_mass", "center_of_mass_jacobian"),
    "center_of_mass_velocity": _composed(
        "center_of_mass_velocity", "center_of_mass_velocity_derivatives"
    ),
    "momentum": _composed("momentum"),
    "centroidal_momentum": _composed("centroidal_momentum", "centroidal_momentum_derivatives"),
    "kinetic_energy": Derivatives("kinetic_energy_derivatives"),
    "potential_energy": Derivatives("potential_energy_derivatives"),
}

CONSTRAINED = ("constrained_dynamics", "impulse_dynamics", "step")  # functions with contacts


def takes_inertias(name: str) -> bool:
    """Whether a function has ``parameters``, the inertias of many models."""
    how = PUBLIC[name]
    of_dynamics = bool(how.vjp or how.term_of or how.matrix_of) or name in CONSTRAINED
    return of_dynamics and not name.endswith("_time_derivatives")


# Their derivatives, which can be differentiated once more.
INTERNAL: dict[str, Derivatives] = {
    **{
        name: Derivatives(blocks=f"blocks.{name}")
        for name in (
            "inverse_dynamics_vjp",
            "inverse_dynamics_derivatives",
            "inverse_dynamics_wrench_derivatives",
            "forward_dynamics_vjp",
            "forward_dynamics_derivatives",
            "forward_dynamics_wrench_derivatives",
        )
    },
    "constrained_dynamics_vjp": Derivatives(blocks="contacts.dynamics_vjp"),
    "constrained_dynamics_derivatives": Derivatives(blocks="contacts.dynamics_derivatives"),
    "impulse_dynamics_derivatives": Derivatives(blocks="contacts.impulses_derivatives"),
    "kinetic_energy_derivatives": Derivatives(blocks="blocks.kinetic_energy_derivatives"),
    "potential_energy_derivatives": _composed("potential_energy_derivatives"),
    "linearize_discrete": Derivatives(blocks="steps.linearize_discrete"),
    "step_vjp": Derivatives(blocks="steps.step_vjp"),
}

_NONE = Derivatives()


def composition(name: str, options: Mapping[str, Any]) -> Composition | None:
    """Return a function in the library's own operations; None if it has only Jacobians."""
    found = PUBLIC.get(name) or INTERNAL.get(name, _NONE)
    if not found.composition or (found.in_body_axes and options.get("axes") == "body"):
        return None
    return _rule(found.composition)  # type: ignore[no-any-return]


def jacobians(name: str, options: Mapping[str, Any]) -> Rule | None:
    """Return the rule for the Jacobians of a function; None if it has none."""
    found = PUBLIC.get(name) or INTERNAL.get(name, _NONE)
    in_body_axes = found.in_body_axes and options.get("axes") == "body"
    place = found.in_body_axes if in_body_axes else found.blocks
    if not place:
        return _linked(found.first) if found.first else None
    return _rule(place)  # type: ignore[no-any-return]


def hessian(name: str) -> Hessian | None:
    """Return how the product ``vjp`` of a function is differentiated; None if the core cannot."""
    found = PUBLIC[name].hessian
    if not found:
        return None
    return _rule("steps.HESSIAN") if found == "step_hessian" else _weighted(found)


def jacobian_of(name: str, options: Mapping[str, Any]) -> str:
    """Return the composed function whose Jacobians by numbers this call has; empty if none."""
    if options.get("coordinates") != "numbers":
        return ""
    return next((of for of, how in PUBLIC.items() if how.composition and how.first == name), "")


def is_of_blocks(name: str) -> bool:
    """Whether there is a rule for the Jacobians of a function, which can be differentiated."""
    return bool(PUBLIC.get(name, _NONE).blocks)


def in_tangent_space(name: str) -> bool:
    """Whether the rule for the Jacobians of a function has those by q in its tangent space."""
    how = PUBLIC.get(name, _NONE)
    return (how.in_body_axes or how.blocks).startswith("frames.")


@cache
def _rule(place: str) -> Any:
    module, _, name = place.partition(".")
    return getattr(import_module(f"dtau.autodiff.{module}"), name)


@cache
def _linked(first: str) -> Rule:
    return _rule("blocks.linked")(first)  # type: ignore[no-any-return]


@cache
def _weighted(name: str) -> Hessian:
    return _rule("blocks.weighted")(name)  # type: ignore[no-any-return]


def order_of(name: str) -> Order:
    """Return the highest order of derivatives of a public function."""
    how = PUBLIC[name]
    if how.composition and not how.blocks:
        return Order.every
    if how.first and how.first not in {**PUBLIC, **INTERNAL}:
        return Order.first
    if how.vjp or how.term_of or how.matrix_of or (how.first and how.blocks):
        return Order.second
    if how.blocks:
        return Order.every
    return Order.second if how.first else Order.none
