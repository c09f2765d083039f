"""Rows of the table of functions: time derivatives, and derivatives of them."""

from __future__ import annotations

from cases import ROWS
from function import FRAME_AXES, Function

import dtau

_WRENCH_STACKS = ("f_ext_derivatives", "df_ext_derivatives")
_V = ("v",)


def _first_joint_of_several(model: dtau.Model) -> list[str]:
    return [joint.name for joint in model.joints[:1]] if len(model.joints) > 1 else []


_PRESCRIBED = {"prescribed": _first_joint_of_several}

FUNCTIONS: tuple[Function, ...] = (
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
)
