"""Lists the functions of the array libraries and how each is differentiated: `PUBLIC`.

A line here is all that JAX, PyTorch and CasADi need of a function beside its row in the registry
and its Python function. No array library is imported; `Library` is what an adapter brings.

A derivative by the nq numbers of q is the one in tangent coordinates times the tangent map T(q).
`manifold` writes T in the library's own operations, so that its derivative counts in second
derivatives. All are those of f(normalize(q)), for any quaternions but zero: array_libraries.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

from dtau.autodiff import blocks, compositions, frames, manifold_jacobians
from dtau.autodiff.blocks import Blocks, Rule, dynamics, linked
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


class Value(NamedTuple):
    """A function of q that the registry has not: its result's axes, and what computes it."""

    axes: Axes
    compute: Callable[[At], Blocks]


@dataclass(frozen=True)
class Derivatives:
    """How a function is differentiated; a function without any of these has no derivatives.

    ``first`` names the function whose results are its Jacobians by the inputs, in their order, and
    ``vjp`` the one that multiplies them by a covector. ``blocks`` gives the Jacobians where no
    single function does. ``composition`` is the function in a library's own operations, which the
    library differentiates; ``in_body_axes`` are its Jacobians where it is asked for in body axes.

    ``term_of``: the function is that one without some inputs, which are zero. ``matrix_of``: it is
    the Jacobian of that one by a or tau. ``value``: it is not in the registry.
    """

    first: str = ""
    vjp: str = ""
    blocks: Rule | None = None
    composition: Composition | None = None
    in_body_axes: Rule | None = None
    term_of: str = ""
    matrix_of: str = ""
    value: Value | None = None


def _problem(name: str) -> Derivatives:
    return Derivatives(f"{name}_derivatives", f"{name}_vjp", dynamics(name))


def _composed(composition: Composition) -> Derivatives:
    return Derivatives(composition=composition)


_TORQUE = Derivatives(blocks=dynamics("inverse_dynamics"), term_of="inverse_dynamics")

# The functions of dtau.jax, dtau.torch and dtau.casadi.
PUBLIC: dict[str, Derivatives] = {
    "inverse_dynamics": _problem("inverse_dynamics"),
    "bias_torque": _TORQUE,
    "gravity_torque": _TORQUE,
    "mass_matrix": Derivatives(blocks=blocks.mass_matrix, matrix_of="inverse_dynamics"),
    "forward_dynamics": _problem("forward_dynamics"),
    "mass_matrix_inverse": Derivatives(
        blocks=blocks.mass_matrix_inverse, matrix_of="forward_dynamics"
    ),
    "step": Derivatives(vjp="step_vjp", composition=compositions.step),
    "frame_placements": Derivatives(blocks=frames.frame_placements),
    "frame_jacobians": Derivatives(
        composition=compositions.frame_jacobians, in_body_axes=frames.frame_jacobians
    ),
    "frame_velocities": _composed(compositions.frame_velocities),
    "integrate": Derivatives("integrate_jacobians", composition=compositions.integrate),
    "difference": Derivatives("difference_jacobians", composition=compositions.difference),
    "normalize": _composed(compositions.normalize),
    "tangent_map": _composed(compositions.tangent_map),
    "center_of_mass": _composed(compositions.center_of_mass),
    "center_of_mass_velocity": _composed(compositions.center_of_mass_velocity),
    "momentum": _composed(compositions.momentum),
    "centroidal_momentum": _composed(compositions.centroidal_momentum),
}

# Their derivatives, which are differentiated once more.
_INTERNAL: dict[str, Derivatives] = {
    **{
        f"{problem}_{what}": Derivatives(blocks=rule(problem))
        for problem in ("inverse_dynamics", "forward_dynamics")
        for what, rule in (
            ("derivatives", blocks.dynamics_derivatives),
            ("wrench_derivatives", blocks.wrench_derivatives),
        )
    },
    "mass_matrix_derivatives": Derivatives(
        blocks=blocks.mass_matrix_second_derivatives,
        value=Value(("nv", "nv", "nv"), blocks.mass_matrix_derivatives),
    ),
    "integrate_jacobians": _composed(manifold_jacobians.integrate_jacobians),
    "difference_jacobians": _composed(manifold_jacobians.difference_jacobians),
}

_NONE = Derivatives()
VALUES = {name: found.value for name, found in _INTERNAL.items() if found.value is not None}


def composition(name: str, options: Mapping[str, Any]) -> Composition | None:
    """Return a function in the library's own operations; None if it has Jacobians alone."""
    found = PUBLIC.get(name) or _INTERNAL.get(name, _NONE)
    return None if found.in_body_axes and options.get("axes") == "body" else found.composition


def jacobians(name: str, options: Mapping[str, Any]) -> Rule | None:
    """Return the rule for the Jacobians of a function; None if it has none."""
    found = PUBLIC.get(name) or _INTERNAL.get(name, _NONE)
    if found.in_body_axes and options.get("axes") == "body":
        return found.in_body_axes
    return found.blocks or (linked(found.first) if found.first else None)


def order_of(name: str) -> Order:
    """Return to which order a public function can be differentiated."""
    how = PUBLIC[name]
    if how.vjp or how.term_of or how.matrix_of:
        return Order.second
    if how.composition or how.blocks:
        return Order.every
    if not how.first:
        return Order.none
    return Order.second if how.first in {**PUBLIC, **_INTERNAL} else Order.first
