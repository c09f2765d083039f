"""The one table of conversions by conventions, and of conventions to try them with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import alien_models
import numpy as np
from cases import actuated, random_state, robot
from textbook import half_mixed
from trees import Array

import dtau
from dtau.conventions.convention import Convention

ROWS = 9  # of stacks of velocities
_STACKS = "_derivatives"
_WITH_MASS = {"C": dtau.coriolis_matrix, "bias": dtau.bias_torque}
_FIRST = (dtau.results.InverseDynamicsDerivatives, dtau.results.ForwardDynamicsDerivatives)
_SECOND = {  # by the first derivatives
    dtau.results.InverseDynamicsDerivatives: (
        dtau.results.InverseDynamicsSecondDerivatives,
        dtau.results.InverseDynamicsHessian,
    ),
    dtau.results.ForwardDynamicsDerivatives: (
        dtau.results.ForwardDynamicsSecondDerivatives,
        dtau.results.ForwardDynamicsHessian,
    ),
}
_LINEARIZATIONS = (dtau.results.Linearization, dtau.results.DiscreteLinearization)


@dataclass(frozen=True)
class Conversion:
    """A conversion by a convention, of a state or of a result.

    ``kind`` is the method, the class of a named tuple, or the array by its name: ``tau``.
    ``arguments`` are all arrays by name: values of the state, and ``result`` or, of a named tuple,
    ``result.dtau_dq``, ``d.dtau_dq``.
    """

    kind: str
    arguments: tuple[str, ...]
    of: Callable[..., Any] | str | None = None
    parts: tuple[tuple[str, type], ...] = ()  # named tuples among the arguments: name and class
    to_dtau: bool = False

    def __str__(self) -> str:
        return f"{self.kind} to dtau" if self.to_dtau and self.kind != "to_dtau" else self.kind

    @property
    def is_state(self) -> bool:
        return self.kind in ("from_dtau", "to_dtau")

    @property
    def stacks(self) -> tuple[str, ...]:
        """The arguments that are stacks, which may be longer."""
        result = ("result",) if self.kind.endswith(_STACKS) else ()
        return (*result, *(name for name in self.arguments if name.endswith(_STACKS)))

    def given(self, arrays: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
        """The result to convert, and the state for `Convention.convert`."""
        at = {name: x for name, x in arrays.items() if "." not in name}
        for whole, parts in self.parts:
            at[whole] = parts(*(arrays[name] for name in _named(parts, whole)))
        if self.parts and self.parts[-1][1] in _LINEARIZATIONS:
            at["inputs"] = None  # as `arrays` has B
        return at.pop("result", None), at

    def __call__(self, convention: Convention, arrays: Mapping[str, Any]) -> tuple[Any, ...]:
        """The results that are arrays."""
        if self.is_state:
            out: Any = getattr(convention, self.kind)(**arrays)
        else:
            result, at = self.given(arrays)
            of = {} if self.of is None else {"of": self.of}
            out = convention.convert(result, at=at, to_dtau=self.to_dtau, **of)
        return tuple(out) if isinstance(out, tuple) else (out,)

    def arrays(
        self, convention: Convention, seed: int, shape: tuple[int, ...] = ()
    ) -> dict[str, Array]:
        """Right arguments, drawn at random."""
        model = convention.model
        state, rng = random_state(model, seed, shape), np.random.default_rng(seed)
        if self.to_dtau:
            state["q"] = convention.from_dtau(state["q"]).q
            state["f_ext"] = np.ones((*shape, convention.nwrenches, 6))
        elif convention.nwrenches < model.nbodies:
            state["f_ext"] = np.zeros((*shape, model.nbodies, 6))
        n, nv = 2 * model.nv, model.nv
        sizes = {
            "result.A": (n, n),
            "result.B": (n, len(actuated(model))),
            "result.a": (nv,),
            "result.v": (nv,),
            "J": (ROWS, nv),
            "v_derivatives": (ROWS, nv),
            "a_derivatives": (ROWS, nv),
            "tau_derivatives": (ROWS + 1, nv),
            "f_ext_derivatives": (ROWS + 1, *state["f_ext"].shape[-2:]),
            "M_derivatives": (ROWS + 1, nv, nv),
            "C_derivatives": (ROWS, nv, nv),
            "bias_derivatives": (ROWS, nv),
            "bias": (nv,),
        }
        second = "SecondDerivatives" in self.kind
        out = {}
        for argument in self.arguments:
            name = self.kind if argument == "result" else argument
            if name == "result.q":
                x = random_state(model, seed + 1, shape)["q"]
            elif second and name.startswith("result."):
                x = rng.standard_normal((*shape, nv, nv, nv))
            elif name in sizes or name not in state:
                x = rng.standard_normal((*shape, *sizes.get(name, (nv, nv))))
                if name == "f_ext_derivatives":  # zero where the convention has no such body
                    x *= state["f_ext"].any()
            else:
                x = state[name]
            out[argument] = x
        return out


def _named(parts: type, whole: str) -> tuple[str, ...]:
    return tuple(f"{whole}.{name}" for name in parts._fields)  # type: ignore[attr-defined]


def _with_parts(
    arguments: tuple[str, ...], *tuples: tuple[str, type], to_dtau: bool = False
) -> Conversion:
    inside = (name for whole, parts in tuples for name in _named(parts, whole))
    kind = tuples[-1][1].__name__
    return Conversion(kind, (*arguments, *inside), None, tuples, to_dtau)


def _both(kind: str, of: Callable[..., Any] | str, *arguments: str) -> tuple[Conversion, ...]:
    return tuple(
        Conversion(kind, (*arguments, "result"), of, to_dtau=to_dtau) for to_dtau in (False, True)
    )


CONVERSIONS: tuple[Conversion, ...] = (
    Conversion("from_dtau", ("q", "v", "a")),
    Conversion("to_dtau", ("q", "v", "a"), to_dtau=True),
    *_both("v", "v", "q"),
    *_both("a", dtau.forward_dynamics, "q", "v"),
    *_both("tau", dtau.inverse_dynamics, "q"),
    *_both("J", "J", "q"),
    *_both("f_ext", "f_ext", "q"),
    *_both("M", dtau.mass_matrix, "q"),
    *_both("M_inverse", dtau.mass_matrix_inverse, "q"),
    *(x for kind, of in _WITH_MASS.items() for x in _both(kind, of, "q", "v", "M")),
    *_both("v_derivatives", "v_derivatives", "q"),
    *_both("a_derivatives", dtau.forward_dynamics_time_derivatives, "q", "v"),
    *_both("tau_derivatives", "tau_derivatives", "q", "v_derivatives"),
    *_both("f_ext_derivatives", "f_ext_derivatives", "q", "v_derivatives"),
    *_both("M_derivatives", dtau.mass_matrix_time_derivatives, "q", "v_derivatives"),
    *(
        x
        for kind, of in _WITH_MASS.items()
        for x in _both(
            f"{kind}_derivatives", of.time_derivatives, "q", "v_derivatives", "M_derivatives"
        )
    ),
    *(
        _with_parts(("q", "v", "a", "tau"), ("result", parts), to_dtau=to_dtau)
        for parts in _FIRST
        for to_dtau in (False, True)
    ),
    *(
        _with_parts(("q", "v", "a", "tau"), ("d", first), ("result", tensors))
        for first, (tensors, _) in _SECOND.items()
    ),
    *(
        _with_parts(("q", "v", "a", "tau", "lam"), ("d", first), ("result", hessian))
        for first, (_, hessian) in _SECOND.items()
    ),
    *(_with_parts(("q", "v"), ("result", parts)) for parts in _LINEARIZATIONS),
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
    "half mixed": lambda: half_mixed(robot("forest")),
    "no free root": lambda: dtau.conventions.mixed_twist(robot("one revolute")),
    "pinocchio": lambda: _alien("pinocchio"),
    "mujoco": lambda: _alien("mujoco"),
}
