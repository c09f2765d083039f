"""Rows of the table of functions: contacts and loops."""

from __future__ import annotations

from typing import Any

import numpy as np
from cases import ROWS, contacts, held_contacts
from function import Function

import dtau

# Rows of the contacts of a robot with few joints depend on each other, and agree.
_CONTACTS: dict[str, Any] = {"contacts": contacts, "regularization": 1.0}
_V = ("v",)
_VV = ("v", "v")
_R = ("r",)
_RV = ("r", "v")
_VVV = ("v", "v", "v")
_RVV = ("r", "v", "v")
_STAGES = (4, "z", "z"), (4, "z", 2), (4, "q"), (4, "v")


def _all_driven(model: dtau.Model) -> Any:
    return np.ones(model.nv, bool)


FUNCTIONS: tuple[Function, ...] = (
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
            (
                "constrained_dynamics_second_derivatives",
                ("q", "v", "tau", "f_ext", "active"),
                (_VVV,) * 4 + (_RVV,) * 4,
            ),
            ("impulse_dynamics", ("q", "v", "restitution", "active"), (_V, _R)),
            (
                "impulse_dynamics_derivatives",
                ("q", "v", "restitution", "active"),
                (_VV, _VV, _RV, _RV),
            ),
            (
                "impulse_dynamics_jvp",
                ("q", "v", "dq", "dv", "restitution", "drestitution", "active"),
                (_V, _R),
            ),
            (
                "impulse_dynamics_vjp",
                ("q", "v", "lam", "lam_impulses", "restitution", "active"),
                (_V, _V, ()),
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
            (
                "linearize_stages",
                "",
                ("q", "v", "tau", "dt", "f_ext", "inputs"),
                (("z", "z"), ("z", 2), ("q",), _V, *_STAGES),
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
        "impulse_dynamics_second_derivatives",
        ("q", "v", "restitution", "active"),
        (_VVV,) * 2 + (_RVV,) * 2,
        _CONTACTS,
        solves=True,
        terms=1.0,
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
        "constrained_dynamics_time_derivatives",
        ("q", "v", "tau_derivatives", "f_ext_derivatives", "active"),
        ((ROWS, "v"), (ROWS, "r"), (ROWS, "r")),
        _CONTACTS,
        solves=True,
        vanishes=True,
    ),
    Function(
        "constrained_inverse_dynamics_time_derivatives",
        ("q", "v_derivatives", "f_ext_derivatives", "active"),
        ((ROWS, "v"), (ROWS, "r")),
        {"contacts": contacts, "inputs": _all_driven},
    ),
)
