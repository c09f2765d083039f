"""Rows of the table of functions: dynamics, their derivatives and products."""

from __future__ import annotations

from function import Function

import dtau

_V = ("v",)
_VV = ("v", "v")
_VVV = ("v", "v", "v")


def _first_joint_of_several(model: dtau.Model) -> list[str]:
    return [joint.name for joint in model.joints[:1]] if len(model.joints) > 1 else []


_PRESCRIBED = {"prescribed": _first_joint_of_several}

FUNCTIONS: tuple[Function, ...] = (
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
    *(
        Function(
            name,
            (*arguments, "f_ext", "parameters"),
            results,
            solves=solves,
            label=f"{name}, many models",
        )
        for name, arguments, results, solves in (
            ("inverse_dynamics", ("q", "v", "a"), (_V,), False),
            ("forward_dynamics", ("q", "v", "tau"), (_V,), True),
            ("inverse_dynamics_derivatives", ("q", "v", "a"), (_VV, _VV, _VV), False),
        )
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
        {"layout": "pattern", "symmetric": True},
        label="inverse_dynamics_second_derivatives on its pattern, symmetric",
    ),
    *(
        Function(
            name,
            arguments,
            (("m",),) * results,
            {"layout": "pattern"},
            label=f"{name} on its pattern",
        )
        for name, arguments, results in (
            ("mass_matrix", ("q",), 1),
            ("coriolis_matrix", ("q", "v"), 1),
            ("inverse_dynamics_derivatives", ("q", "v", "a", "f_ext"), 3),
        )
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
)
