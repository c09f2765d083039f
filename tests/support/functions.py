"""The one table of public functions that drives the tests which are the same for all of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, get_args

import numpy as np
import pytest
from cases import CONTACT_ROWS, ROWS, State, actuated, contacts, held_contacts
from compare import cancelled
from core import Core
from trees import Array

import dtau
from dtau import options
from dtau.registry import FUNCTIONS as REGISTRY
from dtau.registry import arrays_of


@dataclass(frozen=True)
class Function:
    """A public function, as the tests that are the same for all of them see it."""

    name: str
    arguments: tuple[str, ...]
    results: tuple[tuple[str | int, ...], ...]  # trailing axes, in the letters of `sizes`
    options: Mapping[str, Any] = field(default_factory=dict)  # values, or functions of the model
    solves: bool = False  # needs every joint to carry inertia
    sees_positions: bool = False  # changes when a free base moves
    vanishes: bool = False  # for some robots, but for rounding errors of what cancels
    terms: float = 0.0  # their size, where all of them may cancel
    label: str = ""

    def __str__(self) -> str:
        return self.label or self.name

    def __call__(self, model: dtau.Model, state: State, **more: Any) -> tuple[Array, ...]:
        """The function's results as a tuple, whether it returns one array or several."""
        out = self.returned(model, state, **more)
        return arrays_of(out)

    def returned(self, model: dtau.Model, state: State, **more: Any) -> Any:
        """What the function itself returns; `more` may be `out` and `threads`."""
        arrays = {name: state[name] for name in self.arguments}
        return getattr(dtau, self.name)(model, **arrays, **self.options_for(model), **more)

    def in_core(self, core: Core, model: dtau.Model, state: State) -> tuple[Array, ...]:
        """The results of the core's function of this name."""
        arrays = (state[name] for name in self.arguments)
        out = core(self.name, model, *arrays, **self.options_for(model))
        return arrays_of(out)

    def options_for(self, model: dtau.Model) -> dict[str, Any]:
        return {name: x(model) if callable(x) else x for name, x in self.options.items()}

    @property
    def steps(self) -> int:
        """How often roundings are amplified by a solve: that of dependent rows takes steps."""
        return 30 if "regularization" in self.options else 1

    def floor(self, results: Iterable[Array]) -> float:
        """What counts as the largest of a result that vanishes, by what cancels in it."""
        return max(map(cancelled, results)) if self.vanishes else self.terms

    def shapes(self, model: dtau.Model, batch: tuple[int, ...] = ()) -> list[tuple[int, ...]]:
        sizes = {
            "q": model.nq,
            "v": model.nv,
            "b": model.nbodies,
            "f": len(model.frames),
            "p": dtau.packed_indices(model).shape[1],
            "i": 10 * model.nbodies,
            "j": 10 * model.nbodies + 2 * model.nv,
            "z": 2 * model.nv,
            "u": len(actuated(model)),
            "h": 2 * model.nv + len(actuated(model)),
            "k": 2 * model.nv + 2,
            "r": CONTACT_ROWS,
        }
        return [
            batch + tuple(sizes[n] if isinstance(n, str) else n for n in axes)
            for axes in self.results
        ]


def _all_frames(model: dtau.Model) -> list[str]:
    return list(model.frames)


def _last_frame(model: dtau.Model) -> str:
    return str(model.bodies[-1])


def _all_driven(model: dtau.Model) -> Any:
    return np.ones(model.nv, bool)


# Rows of the contacts of a robot with few joints depend on each other, and agree.
_CONTACTS: dict[str, Any] = {"contacts": contacts, "regularization": 1.0}
_R, _RV = ("r",), ("r", "v")
_WRENCH_STACKS = ("f_ext_derivatives", "df_ext_derivatives")
_V, _VV, _VVV = ("v",), ("v", "v"), ("v", "v", "v")


def _first_joint_of_several(model: dtau.Model) -> list[str]:
    return [joint.name for joint in model.joints[:1]] if len(model.joints) > 1 else []


_PRESCRIBED = {"prescribed": _first_joint_of_several}
FRAME_AXES = get_args(options.Axes)
KINDS_OF_ACCELERATION = get_args(options.AccelerationKind)
INTEGRATORS = get_args(options.Integrator)

PLAIN = [  # what needs no option and takes no stack of time derivatives: the row says all
    name
    for name, row in REGISTRY.items()
    if set(row.options) <= {"f_ext_axes"} and all(array.rows is None for array in row.inputs)
]
LETTERS = {"nq": "q", "nv": "v", "nbodies": "b", "nframes": "f"}
# Shapes of results that see positions (those about the center of mass: of trees among each other),
# and other functions that do.
IN_THE_WORLD = {("nq",), ("nbodies", 3), (6,), (6, "nv")}
SEE_POSITIONS = {"difference", "difference_jacobians", "center_of_mass", "potential_energy"}
# About its center of mass one body that slides has no momentum, wherever it is.
VANISH = {"centroidal_momentum_derivatives", "centroidal_momentum_rate_derivatives"}


def _row_of_registry(name: str) -> Function:
    row = REGISTRY[name]
    shapes = [result.axes for result in row.results]
    return Function(
        name,
        tuple(array.name for array in row.inputs),
        tuple(tuple(LETTERS.get(str(axis), axis) for axis in axes) for axes in shapes),
        solves=row.solves,
        sees_positions=name in SEE_POSITIONS or not IN_THE_WORLD.isdisjoint(shapes),
        vanishes=name in VANISH,
    )


IN_BODY_AXES: tuple[Function, ...] = (
    *(_row_of_registry(name) for name in PLAIN),
    Function(
        "inverse_dynamics_vjp",
        ("q", "v", "a", "lam"),
        (_V, _V, _V),
        label="inverse_dynamics_vjp, no f_ext",
    ),
    Function(
        "forward_dynamics_vjp",
        ("q", "v", "tau", "lam"),
        (_V, _V, _V),
        solves=True,
        label="forward_dynamics_vjp, no f_ext",
    ),
    Function("inverse_dynamics_hessian", ("q", "v", "a", "lam", "f_ext"), (_VV,) * 4),
    Function(
        "forward_dynamics_hessian",
        ("q", "v", "tau", "lam", "f_ext"),
        (_VV,) * 4,
        solves=True,
    ),
    Function(
        "inverse_dynamics_second_derivatives",
        ("q", "v", "a", "f_ext"),
        (_VVV,) * 4,
    ),
    Function(
        "inverse_dynamics_second_derivatives",
        ("q", "v", "a", "f_ext"),
        (("p",),) * 4,
        {"packed": True, "symmetric": True},
        label="inverse_dynamics_second_derivatives packed, symmetric",
    ),
    Function(
        "forward_dynamics_second_derivatives",
        ("q", "v", "tau", "f_ext"),
        (_VVV,) * 4,
        solves=True,
    ),
    *(
        Function(
            name,
            (*arguments, *(("f_ext",) if solves else ())),
            ((*rows, "j" if of_joints else "i"),),
            {"joint_parameters": of_joints},
            solves=solves,
            label=f"{name}, joint_parameters={of_joints}",
        )
        for name, arguments, rows, solves in (
            ("inverse_dynamics_regressor", ("q", "v", "a"), _V, False),
            ("inverse_dynamics_parameter_vjp", ("q", "v", "a", "lam"), (), False),
            ("forward_dynamics_parameter_derivatives", ("q", "v", "tau"), _V, True),
            ("forward_dynamics_parameter_vjp", ("q", "v", "tau", "lam"), (), True),
        )
        for of_joints in (False, True)
    ),
    Function("inverse_dynamics_parameter_jvp", ("q", "v", "a", "dparameters"), (_V,)),
    Function(
        "forward_dynamics_parameter_jvp",
        ("q", "v", "tau", "dparameters", "f_ext"),
        (_V,),
        solves=True,
    ),
    Function(
        "hybrid_dynamics", ("q", "v", "a", "tau", "f_ext"), (_V, _V), _PRESCRIBED, solves=True
    ),
    Function(
        "inverse_dynamics_time_derivatives",
        ("q", "v_derivatives", "f_ext_derivatives"),
        ((ROWS, "v"),),
    ),
    Function(
        "forward_dynamics_time_derivatives",
        ("q", "v", "tau_derivatives", "f_ext_derivatives"),
        ((ROWS, "v"),),
        solves=True,
    ),
    Function(
        "hybrid_dynamics_time_derivatives",
        ("q", "v", "a_derivatives", "tau_derivatives", "f_ext_derivatives"),
        ((ROWS, "v"), (ROWS, "v")),
        _PRESCRIBED,
        solves=True,
    ),
    Function(
        "inverse_dynamics_time_derivatives",
        ("q", "v_derivatives", "f_ext_derivatives"),
        ((2, "v"),),
        {"order": 1},
        label="inverse_dynamics_time_derivatives, order=1",
    ),
    Function(
        "hybrid_dynamics_time_derivatives",
        ("q", "v", "a_derivatives", "tau_derivatives", "f_ext_derivatives"),
        ((1, "v"), (1, "v")),
        {**_PRESCRIBED, "order": 0},
        solves=True,
        label="hybrid_dynamics_time_derivatives, order=0",
    ),
    *(
        Function(
            "inverse_dynamics_time_derivatives",
            ("q", "v_derivatives", "f_ext_derivatives"),
            ((ROWS, "v"),),
            {"f_ext_axes": axes},
            sees_positions=axes == "world",
            label=f"inverse_dynamics_time_derivatives, {axes} wrenches",
        )
        for axes in ("mixed", "world")
    ),
    *(
        Function(
            "hybrid_dynamics_time_derivatives",
            ("q", "v", "a_derivatives", "tau_derivatives", "f_ext_derivatives"),
            ((ROWS, "v"), (ROWS, "v")),
            {**_PRESCRIBED, "f_ext_axes": axes},
            solves=True,
            sees_positions=axes == "world",
            label=f"hybrid_dynamics_time_derivatives, {axes} wrenches",
        )
        for axes in ("mixed", "world")
    ),
    *(
        Function(
            "inverse_dynamics_derivatives_time_derivatives",
            ("q", "v_derivatives", "f_ext_derivatives"),
            ((ROWS, "v", "v"),) * 3,
            {"f_ext_axes": axes},
            sees_positions=axes == "world",
            label=f"inverse_dynamics_derivatives_time_derivatives, {axes} wrenches",
        )
        for axes in FRAME_AXES
    ),
    Function(
        "inverse_dynamics_derivatives_time_derivatives",
        ("q", "v_derivatives", "f_ext_derivatives"),
        ((2, "v", "v"),) * 3,
        {"order": 1},
        label="inverse_dynamics_derivatives_time_derivatives, order=1",
    ),
    *(
        Function(
            "forward_dynamics_derivatives_time_derivatives",
            ("q", "v", "tau_derivatives", "f_ext_derivatives"),
            ((ROWS, "v", "v"),) * 3,
            {"f_ext_axes": axes},
            solves=True,
            sees_positions=axes == "world",
            label=f"forward_dynamics_derivatives_time_derivatives, {axes} wrenches",
        )
        for axes in FRAME_AXES
    ),
    *(
        Function(
            "linearize_time_derivatives",
            ("q", "v", "tau_derivatives", "f_ext_derivatives", *inputs),
            ((ROWS, "z", "z"), (ROWS, "z", 2 if inputs else "u"), (ROWS, "v")),
            solves=True,
            label=f"linearize_time_derivatives{', a map' if inputs else ''}",
        )
        for inputs in ((), ("inputs",))
    ),
    *(
        Function(
            "inverse_dynamics_time_derivatives_derivatives",
            ("q", "v_derivatives", "f_ext_derivatives"),
            ((ROWS, "v", "v"), (ROWS, ROWS + 1, "v", "v")),
            {"f_ext_axes": axes, "order": ROWS - 1},
            sees_positions=axes == "world",
            label=f"inverse_dynamics_time_derivatives_derivatives, {axes} wrenches",
        )
        for axes in FRAME_AXES
    ),
    *(
        Function(
            "forward_dynamics_time_derivatives_derivatives",
            ("q", "v", "tau_derivatives", "f_ext_derivatives"),
            ((ROWS, "v", "v"), (ROWS, "v", "v"), (ROWS, ROWS, "v", "v")),
            {"f_ext_axes": axes, "order": ROWS - 1},
            solves=True,
            sees_positions=axes == "world",
            label=f"forward_dynamics_time_derivatives_derivatives, {axes} wrenches",
        )
        for axes in FRAME_AXES
    ),
    Function(
        "inverse_dynamics_time_derivatives_jvp",
        (*("q", "v_derivatives", "dq", "dv_derivatives"), *_WRENCH_STACKS),
        ((ROWS, "v"),),
    ),
    Function(
        "inverse_dynamics_time_derivatives_vjp",
        ("q", "v_derivatives", "lam_derivatives", "f_ext_derivatives"),
        (_V, (ROWS + 1, "v"), (ROWS, "b", 6)),
    ),
    Function(
        "inverse_dynamics_time_derivatives_vjp",
        ("q", "v_derivatives", "lam_derivatives"),
        (_V, (2, "v")),
        {"order": 0},
        label="inverse_dynamics_time_derivatives_vjp, order=0, no f_ext",
    ),
    Function(
        "forward_dynamics_time_derivatives_jvp",
        (*("q", "v", "tau_derivatives", "dq", "dv", "dtau_derivatives"), *_WRENCH_STACKS),
        ((ROWS, "v"),),
        solves=True,
    ),
    Function(
        "forward_dynamics_time_derivatives_vjp",
        ("q", "v", "tau_derivatives", "lam_derivatives", "f_ext_derivatives"),
        (_V, _V, (ROWS, "v"), (ROWS, "b", 6)),
        solves=True,
    ),
    Function(
        "forward_dynamics_time_derivatives_vjp",
        ("q", "v", "tau_derivatives", "lam_derivatives"),
        (_V, _V, (2, "v")),
        {"order": 1},
        solves=True,
        label="forward_dynamics_time_derivatives_vjp, order=1, no f_ext",
    ),
    Function("mass_matrix_time_derivatives", ("q", "v_derivatives"), ((ROWS + 2, "v", "v"),)),
    Function(
        "mass_matrix_time_derivatives",
        ("q", "v_derivatives"),
        ((2, "v", "v"),),
        {"order": 1},
        label="mass_matrix_time_derivatives, order=1",
    ),
    Function("coriolis_matrix_time_derivatives", ("q", "v_derivatives"), ((ROWS + 1, "v", "v"),)),
    Function("gravity_torque_time_derivatives", ("q", "v_derivatives"), ((ROWS + 2, "v"),)),
    Function("bias_torque_time_derivatives", ("q", "v_derivatives"), ((ROWS + 1, "v"),)),
    *(
        Function(name, ("q", "v_derivatives"), ((ROWS + 1, 6),), sees_positions=True)
        for name in ("momentum_time_derivatives", "centroidal_momentum_time_derivatives")
    ),
    Function(
        "kinematics_time_derivatives",
        ("q", "v_derivatives"),
        ((ROWS + 2, "b", 3, 3), (ROWS + 2, "b", 3), (ROWS + 1, "b", 6)),
        sees_positions=True,
    ),
    Function(
        "linearize",
        ("q", "v", "tau", "f_ext"),
        (("z", "z"), ("z", "u"), _V),
        solves=True,
    ),
    Function(
        "linearize",
        ("q", "v", "tau", "f_ext", "inputs"),
        (("z", "z"), ("z", 2), _V),
        solves=True,
        label="linearize, a map",
    ),
    *(
        Function(
            "linearize_discrete",
            ("q", "v", "tau", "dt", "f_ext"),
            (("z", "z"), ("z", "u"), ("q",), _V),
            {"integrator": integrator},
            solves=True,
            sees_positions=True,
            label=f"linearize_discrete {integrator}",
        )
        for integrator in INTEGRATORS
    ),
    Function(
        "linearize_discrete",
        ("q", "v", "tau", "dt", "f_ext", "inputs"),
        (("z", "z"), ("z", 2), ("q",), _V),
        {"integrator": "rk4"},
        solves=True,
        sees_positions=True,
        label="linearize_discrete rk4, a map",
    ),
    *(
        Function(
            "step",
            ("q", "v", "tau", "dt", "f_ext"),
            (("q",), _V),
            {"integrator": integrator},
            solves=True,
            sees_positions=True,
            label=f"step {integrator}",
        )
        for integrator in INTEGRATORS
    ),
    *(
        Function(
            "step_vjp",
            ("q", "v", "tau", "dt", "lam_q", "lam_v", "f_ext"),
            (_V, _V, _V, ("b", 6)),
            {"integrator": integrator},
            solves=True,
            label=f"step_vjp {integrator}",
        )
        for integrator in INTEGRATORS
    ),
    Function(
        "step_vjp",
        ("q", "v", "tau", "dt", "lam_q", "lam_v"),
        (_V, _V, _V),
        {"integrator": "rk4"},
        solves=True,
        label="step_vjp rk4, no f_ext",
    ),
    *(
        Function(
            "step_hessian",
            ("q", "v", "tau", "dt", "lam_q", "lam_v", "f_ext"),
            (("h", "h"),),
            {"integrator": integrator},
            solves=True,
            label=f"step_hessian {integrator}",
        )
        for integrator in INTEGRATORS
    ),
    Function(
        "step_hessian",
        ("q", "v", "tau", "dt", "lam_q", "lam_v", "f_ext", "inputs"),
        (("k", "k"),),
        {"integrator": "semi_implicit"},
        solves=True,
        label="step_hessian semi_implicit, a map",
    ),
    *(
        Function(name, arguments, results, _CONTACTS, solves=True, vanishes=True)
        for name, arguments, results in (
            ("constrained_dynamics", ("q", "v", "tau", "f_ext", "active"), (_V, _R, _R)),
            (
                "constrained_dynamics_derivatives",
                ("q", "v", "tau", "f_ext", "active"),
                (_VV, _VV, _VV, _RV, _RV, _RV, _R),
            ),
            (
                "constrained_dynamics_jvp",
                ("q", "v", "tau", "dq", "dv", "dtau", "f_ext", "df_ext", "active"),
                (_V, _R),
            ),
            (
                "constrained_dynamics_vjp",
                ("q", "v", "tau", "lam", "lam_forces", "f_ext", "active"),
                (_V, _V, _V, ("b", 6)),
            ),
            (
                "constrained_dynamics_hessian",
                ("q", "v", "tau", "lam", "lam_forces", "f_ext", "active"),
                (_VV, _VV, _VV, _VV),
            ),
            ("impulse_dynamics", ("q", "v", "restitution", "active"), (_V, _R)),
            (
                "impulse_dynamics_derivatives",
                ("q", "v", "restitution", "active"),
                (_VV, _VV, _RV, _RV),
            ),
        )
    ),
    *(
        Function(
            name,
            (*arguments, "active"),
            results,
            {**_CONTACTS, **({"integrator": integrator} if integrator else {})},
            solves=True,
            sees_positions=("q",) in results,
            vanishes=True,
            label=" ".join(filter(None, (name, integrator))) + ", contacts",
        )
        for name, integrator, arguments, results in (
            ("linearize", "", ("q", "v", "tau", "f_ext", "inputs"), (("z", "z"), ("z", 2), _V, _R)),
            *(
                (
                    "linearize_discrete",
                    integrator,
                    ("q", "v", "tau", "dt", "f_ext", "inputs"),
                    (("z", "z"), ("z", 2), ("q",), _V, _R),
                )
                for integrator in ("semi_implicit", "rk4")
            ),
            *(
                ("step", integrator, ("q", "v", "tau", "dt", "f_ext"), (("q",), _V))
                for integrator in ("euler", "rk4")
            ),
            *(
                (
                    "step_vjp",
                    integrator,
                    ("q", "v", "tau", "dt", "lam_q", "lam_v", "f_ext"),
                    (_V, _V, _V, ("b", 6)),
                )
                for integrator in ("semi_implicit", "rk4")
            ),
        )
    ),
    Function(
        "constrained_dynamics_derivatives",
        ("q", "v", "tau", "f_ext", "active"),
        (_VV, _VV, _VV, _RV, _RV, _RV, _R, _V, _R),
        {**_CONTACTS, "forces": True},
        solves=True,
        vanishes=True,
        label="constrained_dynamics_derivatives with forces",
    ),
    *(
        Function(
            name,
            (*arguments, "f_ext", "active", "positions"),
            results,
            {**_CONTACTS, "contacts": held_contacts, **options},
            solves=True,
            sees_positions=True,
            vanishes=True,
            label=f"{name}, positions",
        )
        for name, arguments, results, options in (
            (
                "constrained_dynamics_derivatives",
                ("q", "v", "tau"),
                (_VV, _VV, _VV, _RV, _RV, _RV, _R),
                {},
            ),
            ("step", ("q", "v", "tau", "dt"), (("q",), _V), {"integrator": "rk4"}),
        )
    ),
    *(
        Function(
            "linearize_discrete",
            ("q", "v", "tau", "dt", "f_ext", "inputs", "active"),
            (("z", "z"), ("z", 2), ("q",), _V, _R, _R, ("r", "z"), ("r", 2)),
            {**_CONTACTS, "integrator": integrator, "forces": True},
            solves=True,
            sees_positions=True,
            vanishes=True,
            label=f"linearize_discrete {integrator}, contacts, forces",
        )
        for integrator in ("semi_implicit", "rk4")
    ),
    Function(
        "impulse_dynamics_hessian",
        ("q", "v", "lam", "lam_impulses", "restitution", "active"),
        (_VV, _VV),
        _CONTACTS,
        solves=True,
        terms=1.0,
    ),
    *(
        Function(
            "step_hessian",
            ("q", "v", "tau", "dt", "lam_q", "lam_v", "f_ext", "inputs", "active"),
            (("k", "k"),),
            {**_CONTACTS, "integrator": integrator},
            solves=True,
            terms=1e-3,
            label=f"step_hessian {integrator}, contacts",
        )
        for integrator in ("semi_implicit", "rk4")
    ),
    Function(
        "constrained_inverse_dynamics",
        ("q", "v", "a", "f_ext", "active"),
        (_V, _R),
        {"contacts": contacts, "inputs": _all_driven},
    ),
    Function(
        "frame_placements",
        ("q",),
        (("f", 3, 3), ("f", 3)),
        {"frames": _all_frames},
        sees_positions=True,
    ),
    *(
        Function(
            "frame_jacobians",
            ("q",),
            (("f", 6, "v"),),
            {"frames": _all_frames, "axes": axes},
            sees_positions=axes == "world",
            label=f"frame_jacobians {axes}",
        )
        for axes in FRAME_AXES
    ),
    *(
        Function(
            "frame_jacobians_derivatives",
            ("q",),
            (("f", 6, "v", "v"),),
            {"frames": _all_frames, "axes": axes, "symmetric": axes == "mixed"},
            sees_positions=axes == "world",
            terms=1.0,
            label=f"frame_jacobians_derivatives {axes}",
        )
        for axes in FRAME_AXES
    ),
    *(
        Function(
            name,
            ("q", "v"),
            results,
            {"frames": _all_frames, "axes": axes},
            sees_positions=axes == "world",
            label=f"{name} {axes}",
        )
        for name, results in (
            ("frame_velocities", (("f", 6),)),
            ("frame_velocities_derivatives", (("f", 6, "v"),) * 2),
        )
        for axes in FRAME_AXES
    ),
    *(
        Function(
            name,
            ("q", "v", "a"),
            results,
            {"frames": _all_frames, "axes": axes, "kind": kind},
            sees_positions=axes == "world",
            label=f"{name} {kind} {axes}",
        )
        for name, results in (
            ("frame_accelerations", (("f", 6),)),
            ("frame_accelerations_derivatives", (("f", 6, "v"),) * 3),
        )
        for axes in FRAME_AXES
        for kind in KINDS_OF_ACCELERATION
    ),
    *(
        Function(
            "frame_kinematics_time_derivatives",
            ("q", "v_derivatives"),
            ((ROWS + 2, "f", 3, 3), (ROWS + 2, "f", 3), (ROWS + 1, "f", 6)),
            {"frames": _all_frames, "axes": axes},
            sees_positions=True,
            label=f"frame_kinematics_time_derivatives {axes}",
        )
        for axes in FRAME_AXES
    ),
    *(
        Function(
            "frame_jacobians_time_derivatives",
            ("q", "v_derivatives"),
            ((ROWS + 2, "f", 6, "v"),),
            {"frames": _all_frames, "axes": axes},
            sees_positions=axes == "world",
            label=f"frame_jacobians_time_derivatives {axes}",
        )
        for axes in FRAME_AXES
    ),
    *(
        Function(
            "wrench_at_frame",
            ("q", "wrench"),
            (("b", 6),),
            {"frame": _last_frame, "axes": axes},
            sees_positions=axes == "world",
            label=f"wrench_at_frame {axes}",
        )
        for axes in FRAME_AXES
    ),
)


def _along_the_world(row: Function, axes: str) -> Function:
    return replace(
        row,
        options={**row.options, "f_ext_axes": axes},
        sees_positions=row.sees_positions or axes == "world",
        label=f"{row}, {axes} wrenches",
    )


FUNCTIONS = IN_BODY_AXES + tuple(
    _along_the_world(row, axes)
    for row in IN_BODY_AXES
    if "f_ext_axes" in REGISTRY[row.name].options and "no f_ext" not in row.label
    for axes in ("mixed", "world")
    if not row.name.endswith("time_derivatives")
    if axes == "mixed" or row.name.startswith("inverse_dynamics")
)

# Public functions without a row: of files; of no array; what is computed by others of these.
OTHERS = {
    "lqr",
    "load",
    "load_mechanism",
    "neutral",
    "configuration",
    "random_state",
    "packed_indices",
    "project",
    "equilibrium",
    "wrench_at_frame_derivatives",
    "set_result_cache_limit",
    "generate",
    "compile",
    "view",
}

everywhere = pytest.mark.parametrize("function", FUNCTIONS, ids=str)
# What only arrays and their memory matter to, whichever axes wrenches are along.
in_body_axes = pytest.mark.parametrize("function", IN_BODY_AXES, ids=str)


def function_named(name: str) -> Function:
    """The first row of a function."""
    return next(function for function in FUNCTIONS if function.name == name)
