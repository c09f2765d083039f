"""Second derivatives of `step` by its Hessian, in JAX and PyTorch, against its composition."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from adapter_cases import near, robot
from cases import random_state

import dtau

SECOND = 1e-10
on_cases = pytest.mark.parametrize(
    ("which", "integrator", "contacts"),
    [
        ("small", "rk4", False),
        ("few joints with mimics", "euler", False),
        ("free, spherical, planar", "semi_implicit", False),
        ("quadruped", "semi_implicit", True),
    ],
)


def contact_options(model: dtau.Model, contacts: bool) -> dict[str, Any]:
    if not contacts:
        return {}
    return {"contacts": dtau.Contacts(model, [dtau.PointContact("LF_FOOT")])}


def state(model: dtau.Model) -> np.ndarray:
    s = random_state(model, 3)
    return np.concatenate([1.3 * s["q"], s["v"], s["tau"]])  # quaternions of any norm


@pytest.mark.jit
@on_cases
def test_in_jax(which: str, integrator: Any, contacts: bool) -> None:
    """``products=True`` in both orders of modes, by the weights of the results too."""
    jax = pytest.importorskip("jax")
    import jax_cases  # noqa: F401  (float64)

    from dtau.jax import step

    jnp, model = jax.numpy, robot(which)
    nq, nv = model.nq, model.nv
    options = contact_options(model, contacts)

    def cost(x: Any, scale: Any, products: bool) -> Any:
        parts = x[:nq], x[nq : nq + nv], x[nq + nv :]
        after = step(model, *parts, 0.02, integrator, products=products, **options)
        return jnp.sum(jnp.sin(scale * after.q)) + jnp.sum(jnp.cos(scale * after.v))

    def gradient(products: bool) -> Any:
        return jax.grad(lambda z: cost(z[:-1], z[-1], products))

    x = np.append(state(model), 0.7)
    want = jax.jit(jax.jacfwd(gradient(False)))(x)
    for jacobian in (jax.jacfwd, jax.jacrev):
        near(jax.jit(jacobian(gradient(True)))(x), want, SECOND)


def test_jax_says_what_products_have_not() -> None:
    jax = pytest.importorskip("jax")
    import jax_cases  # noqa: F401  (float64)

    from dtau.jax import step

    model = robot("small")
    s = random_state(model, 3)

    def cost(v: Any, f_ext: Any) -> Any:
        return step(model, s["q"], v, s["tau"], 0.02, f_ext=f_ext, products=True).v.sum()

    with pytest.raises(NotImplementedError, match="without f_ext; this asks for one by v, with f"):
        jax.eval_shape(jax.hessian(cost), s["v"], s["f_ext"])
    with pytest.raises(NotImplementedError, match="there is no derivative of"):
        jax.eval_shape(jax.jacfwd(jax.hessian(cost)), s["v"], None)


@on_cases
def test_in_pytorch(which: str, integrator: Any, contacts: bool) -> None:
    """A time step with a gradient needs the composition; one without has the same derivatives."""
    torch = pytest.importorskip("torch")
    from dtau.torch import step

    model = robot(which)
    nq, nv = model.nq, model.nv
    options = contact_options(model, contacts)

    def cost(x: Any, dt: Any) -> Any:
        parts = x[..., :nq], x[..., nq : nq + nv], x[..., nq + nv :]
        after = step(model, *parts, dt, integrator, **options)
        return torch.sin(after.q).sum() + torch.cos(after.v).sum()

    x = torch.from_numpy(np.stack([state(model)] * 2)).requires_grad_()
    along = torch.cos(torch.arange(x.numel(), dtype=x.dtype)).reshape(x.shape)

    def product(dt: Any) -> Any:
        (gradient,) = torch.autograd.grad(cost(x, dt), x, create_graph=True)
        return torch.autograd.grad((gradient * along).sum(), x)[0]

    want = product(torch.tensor(0.02, dtype=x.dtype, requires_grad=True))
    near(product(0.02), want, SECOND)
    one = x[0].detach()
    hessians = (
        torch.func.hessian(cost)(one, 0.02),
        torch.func.jacrev(torch.func.grad(cost))(one, 0.02),
    )
    for hessian in hessians:
        near(hessian @ along[0], want[0], SECOND)
    length = torch.tensor(0.02, dtype=x.dtype)
    mixed = torch.func.jacrev(lambda dt: torch.func.grad(cost)(one, dt))(length)
    after, before = (torch.func.grad(cost)(one, length + h) for h in (1e-6, -1e-6))
    near(mixed, (after - before) / 2e-6, 1e-7)


def test_pytorch_has_no_third_derivative() -> None:
    torch = pytest.importorskip("torch")
    from dtau.torch import step

    model = robot("small")
    q, v, tau = (torch.from_numpy(random_state(model, 3)[key]) for key in ("q", "v", "tau"))
    hessian = torch.func.hessian(lambda v: step(model, q, v, tau, 0.02).v.sum())
    assert hessian(v).abs().max() > 0.0
    with pytest.raises(NotImplementedError, match="first and second derivatives, and no third"):
        torch.func.jacrev(hessian)(v)
