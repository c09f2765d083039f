"""CasADi's solvers and integrators use the functions of `dtau.casadi` as their own."""

from __future__ import annotations

import sys
from functools import cache
from typing import Any

import numpy as np
import pytest
from compare import assert_close

import dtau

ca = pytest.importorskip("casadi")
import dtau.casadi as dc  # noqa: E402

ARM = dtau.robots.chain(3)
STEPS, DT = 12, 0.05
START = np.array([0.5, -0.3, 0.2, 0.0, 0.0, 0.0])


def swing() -> tuple[dict[str, Any], list[bool]]:
    """A short problem of optimal control, stage by stage; and which constraints are equations."""
    after = dc.function(ARM, "step", integrator="rk4")
    states = [ca.MX.sym(f"x{k}", 6) for k in range(STEPS + 1)]
    torques = [ca.MX.sym(f"u{k}", 3) for k in range(STEPS)]
    variables, constraints, cost = [], [], 0.0
    for k, x in enumerate(states):
        variables.append(x)
        cost += ca.sumsqr(x[:3]) + 0.01 * ca.sumsqr(x[3:])
        if k < STEPS:
            variables.append(torques[k])
            q, v = after(x[:3], x[3:], torques[k], DT)
            constraints.append(states[k + 1] - ca.vertcat(q, v))
            cost += 1e-3 * ca.sumsqr(torques[k])
        if k == 0:
            constraints.append(x - START)
    g = ca.vertcat(*constraints)
    return {"x": ca.vertcat(*variables), "f": cost, "g": g}, [True] * g.numel()


@cache
def solved(solver: str, **options: Any) -> Any:
    problem, equations = swing()
    if solver == "fatrop":
        options = {"structure_detection": "auto", "equality": equations, "fatrop.print_level": 0}
    else:
        options = {"ipopt.print_level": 0, "ipopt.sb": "yes", **options}
    solve = ca.nlpsol("solve", solver, problem, {"print_time": False, **options})
    found = solve(x0=0.0, lbg=0.0, ubg=0.0)
    return solve.stats(), np.array(found["x"])


def test_ipopt_converges_in_fewer_iterations_with_exact_hessians() -> None:
    exact, x = solved("ipopt")
    limited, y = solved("ipopt", **{"ipopt.hessian_approximation": "limited-memory"})
    assert exact["success"]
    assert limited["success"]
    assert 2 * exact["iter_count"] < limited["iter_count"]
    assert_close(y, x, 1e-4)


def test_a_solver_runs_nothing_in_python() -> None:
    problem, _ = swing()
    quiet = {"print_time": False, "ipopt.print_level": 0, "ipopt.sb": "yes"}
    solve = ca.nlpsol("solve", "ipopt", problem, quiet)
    began: list[str] = []
    sys.setprofile(lambda frame, event, _: began.append(frame.f_code.co_filename))
    try:
        solve(x0=0.0, lbg=0.0, ubg=0.0)
    finally:
        sys.setprofile(None)
    assert not [name for name in began if "dtau" in name and "test_" not in name]
    assert solve.stats()["n_call_nlp_hess_l"] > 2


def test_fatrop_which_has_no_other_hessians_agrees() -> None:
    if not ca.has_nlpsol("fatrop"):
        pytest.skip("this CasADi has no fatrop")
    stats, x = solved("fatrop")
    assert stats["success"]
    assert_close(x, solved("ipopt")[1], 1e-6)


@pytest.mark.parametrize("name", ["collocation", "rk"])
def test_integrators_have_second_derivatives(name: str) -> None:
    q, v, u = (ca.MX.sym(name, 3) for name in "qvu")
    ode = {"x": ca.vertcat(q, v), "p": u, "ode": ca.vertcat(v, dc.forward_dynamics(ARM, q, v, u))}
    end = ca.integrator("end", name, ode, 0.0, 0.1, {"number_of_finite_elements": 2})
    z = ca.MX.sym("z", 6)
    cost = ca.sumsqr(end(x0=z, p=u)["xf"])
    gradient = ca.gradient(cost, u)
    g = ca.Function("g", [z, u], [gradient])
    H = ca.Function("H", [z, u], [ca.jacobian(gradient, u)])
    at = np.array([0.1, 0.2, -0.1])
    steps = 1e-4 * np.eye(3)
    slopes = [(np.array(g(START, at + d)) - np.array(g(START, at - d)))[:, 0] / 2e-4 for d in steps]
    assert_close(np.array(H(START, at)), np.stack(slopes, 1), 1e-6)  # the differences' own error
