"""Test MuJoCo's step as an operation of PyTorch and JAX, against `dtau.mujoco.StepFunction`."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from mujoco_creature import close, creature, states_of

pytest.importorskip("mujoco")

import dtau.mujoco


def case_of(option: str = "") -> SimpleNamespace:
    mj_model, data = creature("Euler", "elliptic", option)
    x, u = states_of(mj_model, data)
    step = dtau.mujoco.StepFunction(mj_model, data)
    after, rng = step(x, u), np.random.default_rng(0)
    weights = rng.normal(size=after.shape)
    a, b = step.vjp(x[0], u[0], np.eye(step.nstate), after=after[0])  # by columns of the result
    return SimpleNamespace(
        **{"step": step, "x": x, "u": u, "after": after, "weights": weights},
        **{"by": step.vjp(x, u, weights), "a": a, "b": b, "rng": rng},
    )


@pytest.fixture(scope="module")
def case() -> SimpleNamespace:
    return case_of()


@pytest.fixture(scope="module")
def noslip() -> SimpleNamespace:
    return case_of('noslip_iterations="3"')


# ------------------------------------------------------------------ PyTorch


def tensors(case: SimpleNamespace, *, grad: bool = False) -> tuple[Any, Any]:
    torch = pytest.importorskip("torch")
    return tuple(torch.tensor(x, requires_grad=grad) for x in (case.x, case.u))  # type: ignore[return-value]


@pytest.mark.parametrize("way", ["eager", pytest.param("compiled", marks=pytest.mark.jit)])
def test_torch_backward(case: SimpleNamespace, way: str) -> None:
    torch = pytest.importorskip("torch")
    import dtau.torch

    def loss(x: Any, u: Any) -> Any:
        return (dtau.torch.mujoco_step(case.step, x, u) * torch.from_numpy(case.weights)).sum()

    x, u = tensors(case, grad=True)
    (loss if way == "eager" else torch.compile(loss, fullgraph=True))(x, u).backward()
    for got, expected in ((x.grad, case.by[0]), (u.grad, case.by[1])):
        close(got.numpy(), expected)


def test_torch_noslip_solver(noslip: SimpleNamespace) -> None:
    test_torch_backward(noslip, "eager")


def test_torch_transforms(case: SimpleNamespace) -> None:
    torch = pytest.importorskip("torch")
    import dtau.torch

    def step(x: Any, u: Any) -> Any:
        return dtau.torch.mujoco_step(case.step, x, u)

    x, u = tensors(case)
    for jacobian in (torch.func.jacrev, torch.func.jacfwd):
        close(jacobian(step)(x[0], u[0]).numpy(), case.a)
        close(jacobian(step, argnums=1)(x[0], u[0]).numpy(), case.b)
        close(torch.func.vmap(jacobian(step))(x, u)[0].numpy(), case.a)
        shared = torch.func.vmap(jacobian(step), in_dims=(0, None))(x, u[0])
        close(shared[0].numpy(), case.a)
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(x[0], x[1])
        found = torch.autograd.forward_ad.unpack_dual(step(dual, u[0])).tangent
        close(found.numpy(), case.a @ case.x[1])


def test_torch_rollout(case: SimpleNamespace) -> None:
    torch = pytest.importorskip("torch")
    import dtau.torch

    x, u = tensors(case, grad=True)
    many = dtau.torch.mujoco_rollout(case.step, x[:2], u[:3])
    assert many.shape == (2, 3, case.step.nstate)
    weights = torch.from_numpy(case.rng.normal(size=many.shape))
    states, total = x[:2], 0.0
    for k in range(3):
        states = dtau.torch.mujoco_step(case.step, states, u[k])
        total = total + (states * weights[:, k]).sum()
    expected = torch.autograd.grad(total, (x, u))
    for got, theirs in zip(
        torch.autograd.grad((many * weights).sum(), (x, u)), expected, strict=True
    ):
        close(got.numpy(), theirs.numpy(), 1e-7)


def test_torch_refuses(case: SimpleNamespace) -> None:
    torch = pytest.importorskip("torch")
    import dtau.torch

    x, u = tensors(case, grad=True)
    step = dtau.torch.mujoco_step
    assert step(case.step, x.float(), u.float()).dtype == torch.float32
    assert step(case.step, x.float(), u).dtype == torch.float64
    for kind, arguments, message in (
        (TypeError, (3, x, u), "step: expected a dtau.mujoco.StepFunction, got int"),
        (TypeError, (case.step, case.x, u), "state: expected a torch.Tensor, got ndarray"),
        (TypeError, (case.step, x, u.int()), "ctrl: expected torch.float64"),
        (TypeError, (case.step, x.detach().to_sparse(), u), "state: expected a dense tensor"),
        (ValueError, (case.step, x[:, 1:], u), "state: expected shape"),
        (ValueError, (case.step, x[:2], u[:3]), "state and ctrl: expected leading axes that"),
        (ValueError, (case.step, x * torch.nan, u), "state: expected finite numbers"),
    ):
        with pytest.raises(kind, match=message):
            step(*arguments)
    (gradient,) = torch.autograd.grad(step(case.step, x, u).sum(), x, create_graph=True)
    with pytest.raises(NotImplementedError, match="first derivatives alone"):
        gradient.sum().backward()
    with pytest.raises(NotImplementedError, match="first derivatives alone"):
        torch.func.hessian(lambda x: step(case.step, x, u[0].detach()).sum())(x[0].detach())


# ------------------------------------------------------------------ JAX


@pytest.fixture(scope="module")
def jax() -> Any:
    jax = pytest.importorskip("jax")
    with jax.enable_x64(True):
        yield jax


def test_jax_noslip_solver(noslip: SimpleNamespace, jax: Any) -> None:
    import dtau.jax

    def loss(x: Any, u: Any) -> Any:
        return (dtau.jax.mujoco_step(noslip.step, x, u) * noslip.weights).sum()

    for got, expected in zip(
        jax.jit(jax.grad(loss, (0, 1)))(noslip.x, noslip.u), noslip.by, strict=True
    ):
        close(got, expected)


def test_jax_transforms(case: SimpleNamespace, jax: Any) -> None:
    import dtau.jax

    def step(x: Any, u: Any) -> Any:
        return dtau.jax.mujoco_step(case.step, x, u)

    pull = jax.vjp(step, case.x, case.u)[1]
    for got, expected in zip(pull(jax.numpy.asarray(case.weights)), case.by, strict=True):
        close(got, expected)
    for jacobian in (jax.jacrev, jax.jacfwd):
        for found, expected in zip(
            jacobian(step, (0, 1))(case.x[0], case.u[0]), (case.a, case.b), strict=True
        ):
            close(found, expected)
        close(jax.jit(jax.vmap(jacobian(step)))(case.x, case.u)[0], case.a)
        close(jax.vmap(jacobian(step), in_axes=(0, None))(case.x, case.u[0])[0], case.a)


def test_jax_scan_and_rollout(case: SimpleNamespace, jax: Any) -> None:
    import dtau.jax

    weights = case.rng.normal(size=(len(case.u), case.step.nstate))

    def scanned(u: Any) -> Any:
        def body(x: Any, u: Any) -> tuple[Any, Any]:
            after = dtau.jax.mujoco_step(case.step, x, u)
            return after, after

        return (jax.lax.scan(jax.checkpoint(body), case.x[0], u)[1] * weights).sum()

    def rolled_out(u: Any) -> Any:
        return (dtau.jax.mujoco_rollout(case.step, case.x[0], u) * weights).sum()

    one, other = (jax.jit(jax.grad(f))(case.u) for f in (scanned, rolled_out))
    close(one, other, 1e-7)
    moved = jax.jvp(rolled_out, (case.u,), (case.u,))[1]
    close(moved, (other * case.u).sum())


def test_jax_refuses(case: SimpleNamespace, jax: Any) -> None:
    import dtau.jax

    step = dtau.jax.mujoco_step
    single = [x.astype(np.float32) for x in (case.x, case.u)]
    assert step(case.step, *single).dtype == np.float32
    with jax.enable_x64(False):
        assert (
            jax.jit(jax.grad(lambda x: step(case.step, x, single[1]).sum()))(single[0]).dtype
            == np.float32
        )
    for kind, arguments, message in (
        (TypeError, (3, case.x, case.u), "step: expected a dtau.mujoco.StepFunction, got int"),
        (TypeError, (case.step, 1j * case.x, case.u), "state: expected an array of real numbers"),
        (ValueError, (case.step, case.x[:, 1:], case.u), "state: expected shape"),
    ):
        with pytest.raises(kind, match=message):
            step(*arguments)
    with pytest.raises(NotImplementedError, match="first derivatives alone"):
        jax.hessian(lambda x: step(case.step, x, case.u[0]).sum())(case.x[0])
