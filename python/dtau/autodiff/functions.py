"""Table of the functions of the array libraries and their derivatives: `PUBLIC`.

For a function, JAX, PyTorch and CasADi need one line here, in addition to its row in the registry
and its Python function. The table names rules, which are imported when a derivative is requested.

A derivative by the nq numbers of q is the one in tangent coordinates times the tangent map T(q).
`manifold` writes T in the library's own operations, so that second derivatives include its
derivative. All derivatives are those of f(normalize(q)), for any quaternions except zero, see
array_libraries.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dtau.autodiff.blocks import Blocks, Rule
    from dtau.autodiff.compositions import Composition
    from dtau.autodiff.library import At
    from dtau.registry import Axes


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
    ``vjp`` names the function that multiplies them by a covector. If no single function gives the
    Jacobians, ``blocks`` names their rule, as a module and a name in it. ``composition`` names the
    function in a library's own operations, which the library differentiates; ``in_body_axes`` names
    the rule for its Jacobians in body axes.

    ``term_of``: the function equals this one with some inputs zero. ``matrix_of``: it is the
    Jacobian of this one by a or tau. ``value``: computes a function of q that is not in the
    registry, with the ``axes`` of its result.
    """

    first: str = ""
    vjp: str = ""
    blocks: str = ""
    composition: str = ""
    in_body_axes: str = ""
    term_of: str = ""
    matrix_of: str = ""
    value: str = ""
    axes: Axes = ()


def _problem(name: str) -> Derivatives:
    return Derivatives(f"{name}_derivatives", f"{name}_vjp", f"blocks.{name}")


def _composed(name: str) -> Derivatives:
    return Derivatives(composition=f"compositions.{name}")


_TORQUE = Derivatives(blocks="blocks.inverse_dynamics", term_of="inverse_dynamics")

# The functions of dtau.jax, dtau.torch and dtau.casadi.
PUBLIC: dict[str, Derivatives] = {
    "inverse_dynamics": _problem("inverse_dynamics"),
    "bias_torque": _TORQUE,
    "gravity_torque": _TORQUE,
    "mass_matrix": Derivatives(blocks="blocks.mass_matrix", matrix_of="inverse_dynamics"),
    "forward_dynamics": _problem("forward_dynamics"),
    "mass_matrix_inverse": Derivatives(
        blocks="blocks.mass_matrix_inverse", matrix_of="forward_dynamics"
    ),
    "step": Derivatives(vjp="step_vjp", composition="compositions.step"),
    "constrained_dynamics": Derivatives(
        "constrained_dynamics_derivatives", "constrained_dynamics_vjp", "contacts.dynamics"
    ),
    "impulse_dynamics": Derivatives("impulse_dynamics_derivatives", blocks="contacts.impulses"),
    "inverse_dynamics_time_derivatives": _problem("inverse_dynamics_time_derivatives"),
    "forward_dynamics_time_derivatives": _problem("forward_dynamics_time_derivatives"),
    "frame_placements": Derivatives(blocks="frames.frame_placements"),
    "frame_jacobians": Derivatives(
        composition="compositions.frame_jacobians", in_body_axes="frames.frame_jacobians"
    ),
    "frame_jacobians_derivatives": Derivatives(),
    "frame_velocities": _composed("frame_velocities"),
    "frame_accelerations": _composed("frame_accelerations"),
    "frame_kinematics_time_derivatives": Derivatives(),
    "frame_jacobians_time_derivatives": Derivatives(),
    "integrate": Derivatives("integrate_jacobians", composition="compositions.integrate"),
    "difference": Derivatives("difference_jacobians", composition="compositions.difference"),
    "normalize": _composed("normalize"),
    "tangent_map": _composed("tangent_map"),
    "center_of_mass": _composed("center_of_mass"),
    "center_of_mass_velocity": _composed("center_of_mass_velocity"),
    "momentum": _composed("momentum"),
    "centroidal_momentum": _composed("centroidal_momentum"),
    "kinetic_energy": Derivatives("kinetic_energy_derivatives"),
    "potential_energy": Derivatives("potential_energy_derivatives"),
}

CONSTRAINED = ("constrained_dynamics", "impulse_dynamics", "step")  # functions with contacts

# Their derivatives, which can be differentiated once more.
INTERNAL: dict[str, Derivatives] = {
    **{
        name: Derivatives(blocks=f"blocks.{name}")
        for name in (
            "inverse_dynamics_derivatives",
            "inverse_dynamics_wrench_derivatives",
            "forward_dynamics_derivatives",
            "forward_dynamics_wrench_derivatives",
        )
    },
    "constrained_dynamics_derivatives": Derivatives(blocks="contacts.dynamics_derivatives"),
    "impulse_dynamics_derivatives": Derivatives(blocks="contacts.impulses_derivatives"),
    "kinetic_energy_derivatives": Derivatives(blocks="blocks.kinetic_energy_derivatives"),
    "potential_energy_derivatives": Derivatives(blocks="blocks.potential_energy_derivatives"),
    "mass_matrix_derivatives": Derivatives(
        blocks="blocks.mass_matrix_second_derivatives",
        value="blocks.mass_matrix_derivatives",
        axes=("nv", "nv", "nv"),
    ),
    "step_vjp": Derivatives(blocks="step_products.step_vjp"),
    "integrate_jacobians": Derivatives(composition="manifold_jacobians.integrate_jacobians"),
    "difference_jacobians": Derivatives(composition="manifold_jacobians.difference_jacobians"),
}

_NONE = Derivatives()
VALUES = {name: found.axes for name, found in INTERNAL.items() if found.value}


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


def value(name: str) -> Callable[[At], Blocks]:
    """Return the implementation of a function that is not in the registry."""
    return _rule(INTERNAL[name].value)  # type: ignore[no-any-return]


@cache
def _rule(place: str) -> Any:
    module, _, name = place.partition(".")
    return getattr(import_module(f"dtau.autodiff.{module}"), name)


@cache
def _linked(first: str) -> Rule:
    return _rule("blocks.linked")(first)  # type: ignore[no-any-return]


def order_of(name: str) -> Order:
    """Return the highest order of derivatives of a public function."""
    how = PUBLIC[name]
    if how.first and how.first not in {**PUBLIC, **INTERNAL}:
        return Order.first
    if how.vjp or how.term_of or how.matrix_of or (how.first and how.blocks):
        return Order.second
    if how.composition or how.blocks:
        return Order.every
    return Order.second if how.first else Order.none
