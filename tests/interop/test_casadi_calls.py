"""How CasADi calls the functions of `dtau.casadi`: threads, memory, slots."""

from __future__ import annotations

import gc

import numpy as np
import pytest
from adapter_cases import arrays, near, robot
from compare import assert_same_bits
from messages import has_words, message
from through_casadi import DYNAMICS, TERMS, arguments, check_memory, dense, state, vector

import dtau

ca = pytest.importorskip("casadi")
import dtau.casadi as dc  # noqa: E402

RATES = ("inverse_dynamics_time_derivatives", "forward_dynamics_time_derivatives")


@pytest.mark.parametrize("function", ["forward_dynamics", "mass_matrix"])
def test_threads_and_columns_have_the_bits_of_lone_calls(function: str) -> None:
    model = robot("forest")
    states = 40
    q, v, a = dtau.random_state(model, np.random.default_rng(3), (states,))
    given = (q.T, v.T, a.T) if function == "forward_dynamics" else (q.T,)
    f = dc.function(model, function)
    for derived in (f, f.jacobian(), f.reverse(1), f.reverse(1).jacobian()):
        inputs = [
            ca.DM(given[k]) if k < len(given) else ca.DM(derived.sparsity_in(k), 0.7)
            for k in range(derived.n_in())
        ]
        inputs = [x if k < len(given) else ca.repmat(x, 1, states) for k, x in enumerate(inputs)]
        together = derived.map(states, "thread", 4)(*inputs)
        together = together if isinstance(together, tuple) else (together,)
        for k in range(0, states, 7):
            one = derived(
                *(x[:, k * derived.size2_in(i) : (k + 1) * derived.size2_in(i)]
                  for i, x in enumerate(inputs))
            )  # fmt: skip
            for i, (a_, b_) in enumerate(
                zip(one if len(together) > 1 else (one,), together, strict=True)
            ):
                n = derived.size2_out(i)
                assert_same_bits(dense(b_[:, k * n : (k + 1) * n]), dense(a_))
    if function == "forward_dynamics":
        assert_same_bits(
            dense(dc.forward_dynamics(model, *given)).T.copy(),
            dtau.forward_dynamics(model, q, v, a),
        )


@pytest.mark.parametrize("function", [*DYNAMICS, *TERMS, *RATES])
@pytest.mark.parametrize("name", ["panda", "every joint in a chain"])
def test_calls_keep_to_the_memory_that_they_ask_for(name: str, function: str) -> None:
    model = robot(name)
    wrenches = function in (*DYNAMICS, *RATES, "bias_torque")
    rates = function in RATES
    f = dc.function(model, function, f_ext=wrenches, **({"order": 2} if rates else {}))
    x = arrays(function, model, 1) if rates else arguments(function, state(model), wrenches)
    derivatives = {"jac_": f.jacobian(), "adj1_": f.reverse(1)}
    if not rates:
        second = f.reverse(1).jacobian(), f.jacobian().jacobian()
        derivatives |= zip(("jac_adj1_", "jac_jac_"), second, strict=True)
    check_memory(f, derivatives, [np.ravel(y, order="F") for y in x])


def test_a_gradient_calls_the_adjoint_once_and_no_value() -> None:
    model = robot("panda")
    s = [ca.MX.sym(n, 9) for n in "qva"]
    lam = ca.MX.sym("lam", 9)
    H, _ = ca.hessian(ca.dot(lam, dc.inverse_dynamics(model, *s)), ca.vertcat(*s))
    f = ca.Function("H", [*s, lam], [H])
    called = [
        f.instruction_MX(k) for k in range(f.n_instructions()) if f.instruction_id(k) == ca.OP_CALL
    ]
    assert [call.which_function().name().rsplit("dtau")[0] for call in called] == ["jac_adj1_"]


def test_functions_keep_their_model() -> None:
    model = dtau.robots.chain(3)
    q = np.array([0.3, -0.2, 0.1])
    want = dtau.gravity_torque(model, q)
    by_q = dtau.inverse_dynamics_derivatives(model, q, np.zeros(3), np.zeros(3)).dtau_dq
    jacobian = dc.function(model, "gravity_torque").jacobian()
    f = dc.function(model, "gravity_torque")
    del model
    gc.collect()
    assert_same_bits(vector(f(q)), want)
    del f
    gc.collect()
    near(dense(jacobian(q, 0)), by_q, 1e-14)


def test_functions_are_made_once() -> None:
    model = robot("forest")
    f = dc.function(model, "forward_dynamics")
    assert dc.function(robot("forest"), "forward_dynamics") is f
    steps = dc.function(model, "step", integrator="rk4")
    called = [
        steps.instruction_MX(k).which_function().name()
        for k in range(steps.n_instructions())
        if steps.instruction_id(k) == ca.OP_CALL
    ]
    assert len(called) == 1
    assert called[0].startswith("dtau_slot")
    assert dc.function(model, "step", integrator="rk4") is steps
    assert dc.function(model, "step", integrator="euler") is not steps


def test_slots_run_out_with_a_sentence_and_come_back() -> None:
    kept = []

    def take_all() -> None:
        for n in range(1, 100):
            kept.append(dc.function(dtau.robots.chain(1).replace(damping=0.01 * n), "mass_matrix"))

    has_words(message(RuntimeError, take_all), "all 64 slots", "let go of those")
    assert len(kept) >= 60
    kept = kept[:1]
    assert dense(dc.mass_matrix(dtau.robots.chain(2), [0.0, 0.0])).shape == (2, 2)


def test_many_gradients_multiply_one_jacobian() -> None:
    """Seeds at once are a product with the matrix, also where CasADi works backwards."""
    model = dtau.robots.quadruped()
    f = dc.function(model, "step")
    x = ca.vertcat(*(ca.MX.sym(f.name_in(k), *f.size_in(k)) for k in range(3)))
    q, v, tau = ca.vertsplit(x, [0, model.nq, model.nq + model.nv, x.numel()])
    jacobian = ca.Function("jacobian", [x], [ca.jacobian(ca.vertcat(*f(q, v, tau, 0.03)), x)])
    called = [
        jacobian.instruction_MX(k).which_function().name()
        for k in range(jacobian.n_instructions())
        if jacobian.instruction_id(k) == ca.OP_CALL
    ]
    assert len(called) == 1
    assert called[0].startswith("jac_dtau_slot")
