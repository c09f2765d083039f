"""The one table of the methods of conventions, and of conventions to try them with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import alien_models
import numpy as np
from cases import actuated, random_state, robot
from trees import Array

import dtau
from dtau.conventions.convention import Convention

ROWS = 3  # of stacks of velocities
_DERIVATIVES = {
    "inverse_dynamics_derivatives": dtau.results.InverseDynamicsDerivatives,
    "forward_dynamics_derivatives": dtau.results.ForwardDynamicsDerivatives,
}
_SECOND = {  # with the first derivatives
    "inverse_dynamics": (
        dtau.results.InverseDynamicsDerivatives,
        dtau.results.InverseDynamicsSecondDerivatives,
        dtau.results.InverseDynamicsHessian,
    ),
    "forward_dynamics": (
        dtau.results.ForwardDynamicsDerivatives,
        dtau.results.ForwardDynamicsSecondDerivatives,
        dtau.results.ForwardDynamicsHessian,
    ),
}
_LINEARIZATIONS = {
    "linearization_from_dtau": dtau.results.Linearization,
    "discrete_linearization_from_dtau": dtau.results.DiscreteLinearization,
}


@dataclass(frozen=True)
class Conversion:
    """A method of a convention; its arrays by name, those in a named tuple as ``d.dtau_dq``."""

    method: str
    arguments: tuple[str, ...]
    parts: tuple[tuple[str, type], ...] = ()  # named tuples among the arguments: name and class

    @property
    def from_dtau(self) -> bool:
        return self.method.endswith("from_dtau")

    def __call__(self, convention: Convention, arrays: Mapping[str, Any]) -> tuple[Any, ...]:
        """The results that are arrays."""
        given = {name: x for name, x in arrays.items() if "." not in name}
        for whole, parts in self.parts:
            given[whole] = parts(*(arrays[name] for name in _named(parts, whole)))
        if self.method in _LINEARIZATIONS:
            given["inputs"] = None  # as `arrays` has B
        out = getattr(convention, self.method)(**given)
        return tuple(out) if isinstance(out, tuple) else (out,)

    def arrays(
        self, convention: Convention, seed: int, shape: tuple[int, ...] = ()
    ) -> dict[str, Array]:
        """Right arguments, drawn at random."""
        model = convention.model
        state, rng = random_state(model, seed, shape), np.random.default_rng(seed)
        if not self.from_dtau:
            state["q"] = convention.from_dtau(state["q"]).q
            state["f_ext"] = np.ones((*shape, convention.nwrenches, 6))
        elif convention.nwrenches < model.nbodies:
            state["f_ext"] = np.zeros((*shape, model.nbodies, 6))
        n, nv = 2 * model.nv, model.nv
        sizes = {
            "lin.A": (n, n),
            "lin.B": (n, len(actuated(model))),
            "lin.a": (nv,),
            "lin.v": (nv,),
            "jacobian": (ROWS, nv),
            "v_derivatives": (ROWS, nv),
            "tau_derivatives": (ROWS + 1, nv),
            "f_ext_derivatives": (ROWS + 1, *state["f_ext"].shape[-2:]),
            "M_derivatives": (ROWS + 1, nv, nv),
            "C_derivatives": (ROWS, nv, nv),
            "bias_derivatives": (ROWS, nv),
        }
        out = {}
        for name in self.arguments:
            if name == "lin.q":
                out[name] = random_state(model, seed + 1, shape)["q"]
            elif name.startswith("d2."):
                out[name] = rng.standard_normal((*shape, nv, nv, nv))
            elif name in sizes or "." in name:
                out[name] = rng.standard_normal((*shape, *sizes.get(name, (nv, nv))))
                if name == "f_ext_derivatives":  # zero where the convention has no such body
                    out[name] *= state["f_ext"].any()
            else:
                out[name] = state[name]
        return out


def _named(parts: type, whole: str) -> tuple[str, ...]:
    return tuple(f"{whole}.{name}" for name in parts._fields)  # type: ignore[attr-defined]


def _with_parts(method: str, arguments: tuple[str, ...], *tuples: tuple[str, type]) -> Conversion:
    inside = (name for whole, parts in tuples for name in _named(parts, whole))
    return Conversion(method, (*arguments, *inside), tuples)


CONVERSIONS: tuple[Conversion, ...] = (
    *(
        Conversion(f"{method}_{way}_dtau".lstrip("_"), arguments)
        for way in ("from", "to")
        for method, arguments in {
            "": ("q", "v", "a"),
            "torque": ("q", "tau"),
            "jacobian": ("q", "jacobian"),
            "wrenches": ("q", "f_ext"),
            "time_derivatives": ("q", "v_derivatives"),
            "torque_time_derivatives": ("q", "v_derivatives", "tau_derivatives"),
            "wrench_time_derivatives": ("q", "v_derivatives", "f_ext_derivatives"),
        }.items()
    ),
    *(
        Conversion(f"{method}_time_derivatives_from_dtau", ("q", "v_derivatives", *arguments))
        for method, arguments in {
            "mass_matrix": ("M_derivatives",),
            "coriolis_matrix": ("C_derivatives", "M_derivatives"),
            "bias_torque": ("bias_derivatives", "M_derivatives"),
        }.items()
    ),
    *(
        _with_parts(f"{method}_{way}_dtau", ("q", "v", "a", "tau"), ("d", parts))
        for way in ("from", "to")
        for method, parts in _DERIVATIVES.items()
    ),
    *(
        _with_parts(
            f"{name}_second_derivatives_from_dtau", ("q", "v", "a", "tau"), ("d", first), ("d2", d2)
        )
        for name, (first, d2, _) in _SECOND.items()
    ),
    *(
        _with_parts(
            f"{name}_hessian_from_dtau", ("q", "v", "a", "tau", "lam"), ("d", first), ("h", h)
        )
        for name, (first, _, h) in _SECOND.items()
    ),
    *(_with_parts(method, ("q", "v"), ("lin", parts)) for method, parts in _LINEARIZATIONS.items()),
)


def _alien(package: str) -> Convention:
    make = getattr(dtau.conventions, package)
    convention: Convention = make(robot("quadruped"), alien_models.healthy(package))
    return convention


CONVENTIONS: dict[str, Callable[[], Convention]] = {
    "angular_first": lambda: dtau.conventions.angular_first(robot("free root, branches")),
    "mixed_twist": lambda: dtau.conventions.mixed_twist(robot("forest")),
    "spatial_twist": lambda: dtau.conventions.spatial_twist(robot("free root, branches")),
    "mixed wrenches": lambda: dtau.conventions.mixed_twist(robot("forest"), wrenches="mixed"),
    "world wrenches": lambda: dtau.conventions.spatial_twist(
        robot("free root, branches"), wrenches="world"
    ),
    "no free root": lambda: dtau.conventions.mixed_twist(robot("one revolute")),
    "pinocchio": lambda: _alien("pinocchio"),
    "mujoco": lambda: _alien("mujoco"),
}
