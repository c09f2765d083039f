"""Lists the functions of the array libraries and how each is differentiated: `PUBLIC`.

A line here is all that JAX, PyTorch and CasADi need of a function beside its row in the registry
and its Python function. Rules are named, and imported when a derivative is asked for.

A derivative by the nq numbers of q is the one in tangent coordinates times the tangent map T(q).
`manifold` writes T in the library's own operations, so that its derivative counts in second
derivatives. All are those of f(normalize(q)), for any quaternions but zero: array_libraries.md.
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
    """To which order derivatives of a function exist, in words."""

    none = ("", "derivative")
    first = ("of the first order", "second derivative")
    second = ("up to the second order", "third derivative")
    every = ("of every order", "")

    @property
    def said(self) -> str:
        """Which there are."""
        return self.value[0]

    @property
    def beyond(self) -> str:
        """The first that there is not."""
        return self.value[1]


@dataclass(frozen=True)
class Derivatives:
    """How a function is differentiated; a function without any of these has no derivatives.

    ``first`` names the function whose results are its Jacobians by the inputs, in their order, and
    ``vjp`` the one that multiplies them by a covector. ``blocks`` names the rule for the Jacobians
    where no single function gives them, as a module and a name in it. ``composition`` is the
    function in a library's own operations, which the library differentiates; ``in_body_axes`` is
    the rule for its Jacobians where it is asked for in body axes.

    ``term_of``: the function is that one without some inputs, which are zero. ``matrix_of``: it is
    the Jacobian of that one by a or tau. ``value``: a function of q that the registry has not, with
    the ``axes`` of its result.
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
    "frame_placements": Derivatives(blocks="frames.frame_placements"),
    "frame_jacobians": Derivatives(
        composition="compositions.frame_jacobians", in_body_axes="frames.frame_jacobians"
    ),
    "frame_jacobians_derivatives": Derivatives(),
    "frame_velocities": _composed("frame_velocities"),
    "integrate": Derivatives("integrate_jacobians", composition="compositions.integrate"),
    "difference": Derivatives("difference_jacobians", composition="compositions.difference"),
    "normalize": _composed("normalize"),
    "tangent_map": _composed("tangent_map"),
    "center_of_mass": _composed("center_of_mass"),
    "center_of_mass_velocity": _composed("center_of_mass_velocity"),
    "momentum": _composed("momentum"),
    "centroidal_momentum": _composed("centroidal_momentum"),
}

# Their derivatives, which are differentiated once more.
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
    "mass_matrix_derivatives": Derivatives(
        blocks="blocks.mass_matrix_second_derivatives",
        value="blocks.mass_matrix_derivatives",
        axes=("nv", "nv", "nv"),
    ),
    "integrate_jacobians": Derivatives(composition="manifold_jacobians.integrate_jacobians"),
    "difference_jacobians": Derivatives(composition="manifold_jacobians.difference_jacobians"),
}

_NONE = Derivatives()
VALUES = {name: found.axes for name, found in INTERNAL.items() if found.value}


def composition(name: str, options: Mapping[str, Any]) -> Composition | None:
    """Return a function in the library's own operations; None if it has Jacobians alone."""
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
    """Return what computes a function that the registry has not."""
    return _rule(INTERNAL[name].value)  # type: ignore[no-any-return]


@cache
def _rule(place: str) -> Any:
    module, _, name = place.partition(".")
    return getattr(import_module(f"dtau.autodiff.{module}"), name)


@cache
def _linked(first: str) -> Rule:
    return _rule("blocks.linked")(first)  # type: ignore[no-any-return]


def order_of(name: str) -> Order:
    """Return to which order a public function can be differentiated."""
    how = PUBLIC[name]
    if how.vjp or how.term_of or how.matrix_of:
        return Order.second
    if how.composition or how.blocks:
        return Order.every
    if not how.first:
        return Order.none
    return Order.second if how.first in {**PUBLIC, **INTERNAL} else Order.first
