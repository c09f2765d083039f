"""Rows of the table of functions: linearizations and time steps."""

from __future__ import annotations

from function import INTEGRATORS, Function

_V = ("v",)
FUNCTIONS: tuple[Function, ...] = (
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
    Function(
        "linearize_stages",
        ("q", "v", "tau", "dt", "f_ext"),
        (("z", "z"), ("z", "u"), ("q",), _V, (4, "z", "z"), (4, "z", "u"), (4, "q"), (4, "v")),
        solves=True,
        sees_positions=True,
    ),
    Function(
        "linearize_stages",
        ("q", "v", "tau", "dt", "f_ext", "inputs"),
        (("z", "z"), ("z", 2), ("q",), _V, (4, "z", "z"), (4, "z", 2), (4, "q"), (4, "v")),
        solves=True,
        sees_positions=True,
        label="linearize_stages, a map",
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
            "step_jvp",
            ("q", "v", "tau", "dt", "dq", "dv", "dtau", "f_ext", "df_ext", "ddt"),
            (_V, _V),
            {"integrator": integrator},
            solves=True,
            label=f"step_jvp {integrator}",
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
)
