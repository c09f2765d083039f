"""The one table of public functions that drives the tests which are the same for all of them.

The registry has arguments and results. Here are the switches with which functions are called.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from cases import ROWS, contacts, held_contacts
from function import FRAME_AXES, INTEGRATORS, KINDS_OF_ACCELERATION, Function

import dtau
from dtau.registry import FUNCTIONS as REGISTRY

PLAIN = [  # what needs no option and takes no stack of time derivatives
    name
    for name, row in REGISTRY.items()
    if set(row.options) <= {"f_ext_axes", "layout", "coordinates"}
    and all(array.rows is None for array in row.inputs)
]
# Optional arguments that a row has if it names them; it has all others unless it names them.
RARE = {"parameters", "dparameters", "inputs", "active", "positions"}


def rows(names: str, *changed: str, **options: Any) -> Iterator[Function]:
    """Rows of functions, with each value of an option that is a list.

    ``changed`` are optional arguments: rare ones to give, others to leave out.
    """
    lists = (x if isinstance(x, list) else [x] for x in options.values())
    chosen = [dict(zip(options, values, strict=True)) for values in product(*lists)]
    for name, given in product(names.split(), chosen):
        arguments = tuple(
            x.name
            for x in REGISTRY[name].inputs
            if not x.optional or (x.name in RARE) == (x.name in changed)
            if x.name not in given
        )
        words = (f"{key}={x}" for key, x in given.items() if isinstance(x, str | int))
        held = ("contacts",) if "contacts" in given else ()
        label = ", ".join((name, *held, *words, *changed))
        yield Function(name, arguments, given, label)


def _all_frames(model: dtau.Model) -> list[str]:
    return list(model.frames)


def _last_frame(model: dtau.Model) -> str:
    return str(model.bodies[-1])


def _first_joint_of_several(model: dtau.Model) -> list[str]:
    return [joint.name for joint in model.joints[:1]] if len(model.joints) > 1 else []


def _all_driven(model: dtau.Model) -> Any:
    return np.ones(model.nv, bool)


AXES, KINDS = list(FRAME_AXES), list(KINDS_OF_ACCELERATION)
FRAMES: dict[str, Any] = {"frames": _all_frames}
PRESCRIBED: dict[str, Any] = {"prescribed": _first_joint_of_several}
# Rows of the contacts of a robot with few joints depend on each other, and agree.
HELD: dict[str, Any] = {"contacts": contacts, "regularization": 1.0}
POSITIONED = HELD | {"contacts": held_contacts}
DRIVEN: dict[str, Any] = {"contacts": contacts, "inputs": _all_driven}
INVERSE, FORWARD = "inverse_dynamics_time_derivatives", "forward_dynamics_time_derivatives"

IN_BODY_AXES: tuple[Function, ...] = (
    *rows(" ".join(PLAIN)),
    # Dynamics
    *rows("inverse_dynamics_vjp forward_dynamics_vjp", "f_ext"),
    *rows("inverse_dynamics forward_dynamics inverse_dynamics_derivatives", "parameters"),
    *rows("inverse_dynamics_hessian forward_dynamics_hessian inverse_dynamics_second_derivatives"),
    *rows("inverse_dynamics_second_derivatives", layout="pattern", symmetric=True),
    *rows("mass_matrix coriolis_matrix inverse_dynamics_derivatives", layout="pattern"),
    *rows("forward_dynamics_second_derivatives"),
    *rows(
        "inverse_dynamics_regressor inverse_dynamics_parameter_vjp "
        "forward_dynamics_parameter_derivatives forward_dynamics_parameter_vjp",
        joint_parameters=[False, True],
    ),
    *rows("inverse_dynamics_parameter_jvp forward_dynamics_parameter_jvp"),
    *rows("hybrid_dynamics", **PRESCRIBED),
    # Time derivatives
    *rows(f"{INVERSE} {FORWARD}"),
    *rows("hybrid_dynamics_time_derivatives", **PRESCRIBED),
    *rows(INVERSE, order=1),
    *rows("hybrid_dynamics_time_derivatives", **PRESCRIBED, order=0),
    *rows(INVERSE, f_ext_axes=["mixed", "world"]),
    *rows("hybrid_dynamics_time_derivatives", **PRESCRIBED, f_ext_axes=["mixed", "world"]),
    *rows("inverse_dynamics_derivatives_time_derivatives", f_ext_axes=AXES),
    *rows("inverse_dynamics_derivatives_time_derivatives", order=1),
    *rows("forward_dynamics_derivatives_time_derivatives", f_ext_axes=AXES),
    *rows("linearize_time_derivatives"),
    *rows("linearize_time_derivatives", "inputs"),
    *rows(f"{INVERSE}_derivatives {FORWARD}_derivatives", f_ext_axes=AXES, order=ROWS - 1),
    *rows(f"{INVERSE}_jvp {INVERSE}_vjp"),
    *rows(f"{INVERSE}_vjp", "f_ext_derivatives", order=0),
    *rows(f"{FORWARD}_jvp {FORWARD}_vjp"),
    *rows(f"{FORWARD}_vjp", "f_ext_derivatives", order=1),
    *rows("mass_matrix_time_derivatives"),
    *rows("mass_matrix_time_derivatives", order=1),
    *rows("coriolis_matrix_time_derivatives gravity_torque_time_derivatives"),
    *rows("bias_torque_time_derivatives", "f_ext_derivatives"),
    *rows("momentum_time_derivatives centroidal_momentum_time_derivatives"),
    *rows("kinematics_time_derivatives"),
    # Linearizations and time steps
    *rows("linearize"),
    *rows("linearize", "inputs"),
    *rows("linearize_discrete", integrator=list(INTEGRATORS)),
    *rows("linearize_discrete", "inputs", integrator="rk4"),
    *rows("linearize_stages"),
    *rows("linearize_stages", "inputs"),
    *rows("step step_jvp step_vjp", integrator=list(INTEGRATORS)),
    *rows("step_vjp", "f_ext", integrator="rk4"),
    *rows("step_hessian", integrator=list(INTEGRATORS)),
    *rows("step_hessian", "inputs", integrator="semi_implicit"),
    # Contacts and loops
    *rows(
        "constrained_dynamics constrained_dynamics_derivatives constrained_dynamics_jvp "
        "constrained_dynamics_vjp constrained_dynamics_hessian "
        "constrained_dynamics_second_derivatives impulse_dynamics impulse_dynamics_derivatives "
        "impulse_dynamics_jvp impulse_dynamics_vjp",
        "active",
        **HELD,
    ),
    *rows("linearize", "inputs", "active", **HELD),
    *rows("linearize_discrete", "inputs", "active", **HELD, integrator=["semi_implicit", "rk4"]),
    *rows("linearize_stages", "inputs", "active", **HELD),
    *rows("step", "active", **HELD, integrator=["euler", "rk4"]),
    *rows("step_vjp", "active", **HELD, integrator=["semi_implicit", "rk4"]),
    *rows("constrained_dynamics_derivatives", "active", **HELD, forces=True),
    *rows("constrained_dynamics_derivatives", "active", "positions", **POSITIONED),
    *rows("step", "active", "positions", **POSITIONED, integrator="rk4"),
    *rows(
        *("linearize_discrete", "inputs", "active"),
        **HELD,
        integrator=["semi_implicit", "rk4"],
        forces=True,
    ),
    *rows("impulse_dynamics_second_derivatives impulse_dynamics_hessian", "active", **HELD),
    *rows("step_hessian", "inputs", "active", **HELD, integrator=["semi_implicit", "rk4"]),
    *rows("constrained_inverse_dynamics", "active", **DRIVEN),
    *rows("constrained_dynamics_time_derivatives", "active", **HELD),
    *rows("constrained_inverse_dynamics_time_derivatives", "active", **DRIVEN),
    # Frames
    *rows("frame_placements", **FRAMES),
    *rows("frame_jacobians", **FRAMES, axes=AXES),
    *rows("frame_errors", **FRAMES),
    *(
        replace(row, options=row.options | {"symmetric": row.options["axes"] == "mixed"})
        for row in rows("frame_jacobians_derivatives", **FRAMES, axes=AXES)
    ),
    *rows("frame_velocities frame_velocities_derivatives", **FRAMES, axes=AXES),
    *rows("frame_accelerations frame_accelerations_derivatives", **FRAMES, axes=AXES, kind=KINDS),
    *rows("frame_kinematics_time_derivatives", **FRAMES, axes=AXES),
    *rows("frame_jacobians_time_derivatives", **FRAMES, axes=AXES),
    *rows("wrench_at_frame", frame=_last_frame, axes=AXES),
)


def _along_the_world(row: Function, axes: str) -> Function:
    options = {**row.options, "f_ext_axes": axes}
    return replace(row, options=options, label=f"{row}, f_ext_axes={axes}")


def _in_body_axes(row: Function) -> bool:
    """Whether wrenches of the row, if it takes any, are in body axes, and may be in others."""
    wrenches = {x.name for x in REGISTRY[row.name].inputs if x.name.startswith("f_ext")}
    options = REGISTRY[row.name].options.keys() - row.options.keys()
    return "f_ext_axes" in options and wrenches <= {*row.arguments}


FUNCTIONS = IN_BODY_AXES + tuple(
    _along_the_world(row, axes)
    for row in IN_BODY_AXES
    if _in_body_axes(row) and not row.name.endswith("time_derivatives")
    for axes in ("mixed", "world")
    if axes == "mixed" or row.name.startswith("inverse_dynamics")
)

# Public functions without a row: of files; of no array; what is computed by others of these.
OTHERS = {
    *("lqr", "from_mujoco", "from_pinocchio", "load", "load_mechanism", "load_motors"),
    *("neutral", "configuration", "random_state", "transfer_state", "pattern", "project"),
    *("equilibrium", "wrench_at_frame_derivatives", "frame_jacobians_rate"),
    *("kinetic_energy_regressor", "potential_energy_regressor", "momentum_regressor"),
    *("subtree_centers_of_mass", "set_result_cache_limit", "generate", "compile", "view"),
}

everywhere = pytest.mark.parametrize("function", FUNCTIONS, ids=str)
# What only arrays and their memory matter to, whichever axes wrenches are along.


def function_named(name: str) -> Function:
    """The first row of a function."""
    return next(function for function in FUNCTIONS if function.name == name)
