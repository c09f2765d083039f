"""Test MuJoCo's step with parameters in PyTorch and JAX, against `dtau.mujoco.StepParameters`."""

from __future__ import annotations

import copy
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from mujoco_creature import close, creature, states_of

pytest.importorskip("mujoco")

import dtau.mujoco

NAMES = ("geom_friction", "body_inertial", "dof_damping")  # in another order than the columns


@pytest.fixture(scope="module")
def case() -> SimpleNamespace:
    mj_model, data = creature("implicitfast", "elliptic")
    x, u = states_of(mj_model, data)
    x, u, rng = x[:3], u[:3], np.random.default_rng(0)
    step = dtau.mujoco.StepFunction(mj_model, data)
    values = dtau.mujoco.parameter_values(mj_model, NAMES)
    changed = {name: value * 1.02 for name, value in values.items()}
    other = dtau.mujoco.StepFunction(with_values(mj_model, changed), data)
    return SimpleNamespace(
        **{"step": step, "x": x, "u": u, "values": values, "changed": changed, "other": other},
        weights=rng.normal(size=x.shape),
    )


def with_values(mj_model: Any, values: dict[str, Any]) -> Any:
    found = copy.copy(mj_model)
    dtau.mujoco.set_parameters(found, values)
    return found


def products(case: SimpleNamespace) -> tuple[Any, Any, dict[str, Any]]:
    by_state, by_ctrl = case.other.vjp(case.x, case.u, case.weights)
    by = dtau.mujoco.StepParameters(case.other, NAMES).vjp(case.x, case.u, case.weights)
    return by_state, by_ctrl, {name: found.sum(axis=0) for name, found in by.items()}


@pytest.mark.parametrize("way", ["eager", pytest.param("compiled", marks=pytest.mark.jit)])
def test_torch_backward_by_parameters(case: SimpleNamespace, way: str) -> None:
    torch = pytest.importorskip("torch")
    import dtau.torch

    def step(x: Any, u: Any, parameters: Any) -> Any:
        return dtau.torch.mujoco_step(case.step, x, u, parameters=parameters)

    x, u = (torch.tensor(part, requires_grad=True) for part in (case.x, case.u))
    parameters = {k: torch.tensor(v, requires_grad=True) for k, v in case.changed.items()}
    after = (step if way == "eager" else torch.compile(step, fullgraph=True))(x, u, parameters)
    np.testing.assert_array_equal(after.detach().numpy(), case.other(case.x, case.u))
    (after * torch.from_numpy(case.weights)).sum().backward()
    by_state, by_ctrl, by = products(case)
    for got, expected in ((x.grad, by_state), (u.grad, by_ctrl)):
        close(got.numpy(), expected)
    for name, expected in by.items():
        close(parameters[name].grad.numpy(), expected)


def test_torch_parameters_of_each_state(case: SimpleNamespace) -> None:
    torch = pytest.importorskip("torch")
    import dtau.torch

    x, u = torch.from_numpy(case.x), torch.from_numpy(case.u)
    damping = torch.from_numpy(
        np.stack([case.values["dof_damping"], case.changed["dof_damping"]])[[0, 1, 0]]
    )

    def step(x: Any, u: Any, damping: Any) -> Any:
        return dtau.torch.mujoco_step(case.step, x, u, parameters={"dof_damping": damping})

    one = [step(x[k], u[k], damping[k]).numpy() for k in range(3)]
    np.testing.assert_array_equal(step(x, u, damping).numpy(), one)
    np.testing.assert_array_equal(torch.func.vmap(step)(x, u, damping).numpy(), one)
    by = [torch.func.jacrev(step, argnums=2)(x[k], u[k], damping[k]).numpy() for k in range(3)]
    for jacobian in (torch.func.jacrev, torch.func.jacfwd):
        close(torch.func.vmap(jacobian(step, argnums=2))(x, u, damping).numpy(), by)
    both = step(torch.stack([x, x]), u, damping)
    np.testing.assert_array_equal(both.numpy(), [one, one])


def test_torch_rollout_by_parameters(case: SimpleNamespace) -> None:
    torch = pytest.importorskip("torch")
    import dtau.torch

    u = np.tile(case.u[0], (6, 1))
    weights = np.random.default_rng(1).normal(size=(6, case.step.nstate))
    parameters = {k: torch.tensor(v, requires_grad=True) for k, v in case.changed.items()}
    state, ctrl = torch.from_numpy(case.x[0]), torch.from_numpy(u)
    after = dtau.torch.mujoco_rollout(case.step, state, ctrl, parameters=parameters)
    np.testing.assert_array_equal(after.detach().numpy(), case.other.rollout(case.x[0], u))
    (after * torch.from_numpy(weights)).sum().backward()
    expected = dtau.mujoco.StepParameters(case.other, NAMES).rollout_vjp(case.x[0], u, weights)
    for name, by in expected.items():
        close(parameters[name].grad.numpy(), by)

    def last(damping: Any) -> Any:
        own = {"dof_damping": damping}
        return dtau.torch.mujoco_rollout(case.step, state, ctrl, parameters=own)[..., -1, :]

    damping = torch.from_numpy(
        np.stack(
            [case.values["dof_damping"], case.changed["dof_damping"], case.values["dof_damping"]]
        )
    )
    one = [last(own).numpy() for own in damping]
    np.testing.assert_array_equal(last(damping).numpy(), one)
    by = [torch.func.jacfwd(last)(own).numpy() for own in damping]
    for jacobian in (torch.func.jacfwd, torch.func.jacrev):
        close(torch.func.vmap(jacobian(last))(damping).numpy(), by)
    none = dtau.torch.mujoco_rollout(case.step, state, ctrl[:0], parameters=parameters)
    assert none.shape == (0, case.step.nstate)


def test_torch_refuses_parameters(case: SimpleNamespace) -> None:
    torch = pytest.importorskip("torch")
    import dtau.torch

    x, u = torch.from_numpy(case.x), torch.from_numpy(case.u)
    damping = torch.from_numpy(case.values["dof_damping"])
    for kind, parameters, message in (
        (TypeError, damping, "parameters: expected a dict of names and tensors, got Tensor"),
        (ValueError, {"body_mass": damping}, "parameters: expected one or more of body_inertial"),
        (ValueError, {"dof_damping": damping[1:]}, r"dof_damping: expected shape \(\.\.\., "),
        (TypeError, {"dof_damping": 0.1}, "dof_damping: expected a torch.Tensor, got float"),
        (ValueError, {"dof_damping": damping * torch.nan}, "dof_damping: expected finite numbers"),
        (ValueError, {"dof_damping": damping.expand(2, -1)}, "expected leading axes that"),
    ):
        with pytest.raises(kind, match=message):
            dtau.torch.mujoco_step(case.step, x, u, parameters=parameters)
    single = dtau.torch.mujoco_step(
        case.step, x.float(), u.float(), parameters={"dof_damping": damping.float()}
    )
    assert single.dtype == torch.float32


def test_jax_gradients_by_parameters(case: SimpleNamespace) -> None:
    jax = pytest.importorskip("jax")
    import dtau.jax

    def step(x: Any, u: Any, parameters: Any) -> Any:
        return dtau.jax.mujoco_step(case.step, x, u, parameters=parameters)

    def loss(x: Any, u: Any, parameters: Any) -> Any:
        return (step(x, u, parameters) * case.weights).sum()

    with jax.enable_x64(True):
        np.testing.assert_array_equal(
            step(case.x, case.u, case.changed), case.other(case.x, case.u)
        )
        found = jax.jit(jax.grad(loss, argnums=(0, 1, 2)))(case.x, case.u, case.changed)
        for got, expected in zip(found[:2], products(case)[:2], strict=True):
            close(got, expected)
        for name, expected in products(case)[2].items():
            close(found[2][name], expected)
        each = {k: np.stack([v, case.changed[k], v]) for k, v in case.values.items()}
        mapped = jax.vmap(step)(case.x, case.u, each)
        np.testing.assert_array_equal(mapped[1], case.other(case.x[1], case.u[1]))
        np.testing.assert_array_equal(mapped[::2], case.step(case.x[::2], case.u[::2]))
        along = jax.jvp(
            lambda parameters: step(case.x, case.u, parameters), (case.changed,), (case.values,)
        )[1]
        close(along, dtau.mujoco.StepParameters(case.other, NAMES).jvp(case.x, case.u, case.values))


def test_jax_rollout_by_parameters(case: SimpleNamespace) -> None:
    jax = pytest.importorskip("jax")
    import dtau.jax

    u = np.tile(case.u[0], (6, 1))
    weights = np.random.default_rng(1).normal(size=(6, case.step.nstate))

    def loss(parameters: Any) -> Any:
        after = dtau.jax.mujoco_rollout(case.step, case.x[0], u, parameters=parameters)
        return (after * weights).sum()

    with jax.enable_x64(True):
        found = jax.grad(loss)(case.changed)
    expected = dtau.mujoco.StepParameters(case.other, NAMES).rollout_vjp(case.x[0], u, weights)
    for name, by in expected.items():
        close(found[name], by)


def test_jax_refuses_parameters(case: SimpleNamespace) -> None:
    pytest.importorskip("jax")
    import dtau.jax

    damping = case.values["dof_damping"]
    for kind, parameters, message in (
        (TypeError, damping, "parameters: expected a dict of names and arrays, got"),
        (ValueError, {}, "parameters: expected one or more of body_inertial"),
        (ValueError, {"dof_damping": damping[1:]}, r"dof_damping: expected shape \(\.\.\., "),
        (TypeError, {"dof_damping": "much"}, "dof_damping"),
    ):
        with pytest.raises(kind, match=message):
            dtau.jax.mujoco_step(case.step, case.x, case.u, parameters=parameters)
