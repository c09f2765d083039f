"""Steps on feet and their derivatives in the array libraries beside NumPy: checked, then yielded.

For JAX and PyTorch, NumPy computes the step, its vjp, and the tangent maps that turn gradients into
those by the numbers of q. For CasADi, whose steps are also without contacts, it computes the core's
Jacobian and Hessian of one step.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

import dtau
from benchmarks.checks import Array, require_close
from benchmarks.experiments import library_calls
from benchmarks.experiments.library_calls import NUMPY, OURS, Ways, called, require_bits
from benchmarks.robots import FEET, Robot, contacts_of
from dtau.cli.timing import DT, Contender, loop, random_inputs
from dtau.support.options import Integrator

STATES = 1024
STEP = f"{STATES} states on feet"
METHOD: Integrator = "semi_implicit"  # of CasADi's steps
SECOND = 1e-10  # of CasADi's Hessians
GRADIENT = f"gradient, {STEP}"


class Steps:
    """Steps of a robot on its feet, and weights of the states after them."""

    def __init__(self, robot: Robot) -> None:
        self.model, self.contacts = robot.model, contacts_of(robot)
        at = random_inputs(self.model, ("step",), STATES)
        self.state = at["q"], at["v"], at["tau"]
        after = self.values()
        self.weights = [np.cos(np.arange(x.size)).reshape(x.shape) for x in after]

    def values(self) -> tuple[Array, Array]:
        """Step through NumPy."""
        after = dtau.step(self.model, *self.state, DT, contacts=self.contacts, threads=1)
        return after.q, after.v

    def gradient(self) -> tuple[Array, Array, Array]:
        """Step through NumPy, and pull the weights back."""
        self.values()
        options = {"contacts": self.contacts, "coordinates": "numbers", "threads": 1}
        found = dtau.step_vjp(self.model, *self.state, DT, *self.weights, **options)
        return found.by_q, found.by_v, found.by_tau

    def check(self, got: Sequence[Any], what: str) -> None:
        """Raise unless gradients are NumPy's."""
        for x, want in zip(got, self.gradient(), strict=True):
            require_close(np.asarray(x), want, library_calls.GRADIENT, what)


def jax_ways(robot: Robot) -> Iterator[Ways]:
    """Jitted steps on feet, and their gradients."""
    if robot.key not in FEET:
        return
    import jax
    import jax.numpy as jnp

    import dtau.jax

    steps = Steps(robot)
    x = [jnp.asarray(y) for y in steps.state]

    def stepped(*x: Any) -> Any:
        return dtau.jax.step(steps.model, *x, DT, contacts=steps.contacts)

    step = jax.jit(stepped)
    require_bits(step(*x), steps.values(), f"{robot.label}, steps on feet in JAX")
    ours = called(lambda: jax.block_until_ready(step(*x)))
    yield Ways("step", STEP, {NUMPY: called(steps.values), OURS: ours})

    def weighed(*x: Any) -> Any:
        return sum(map(jnp.vdot, steps.weights, stepped(*x)))

    gradient = jax.jit(jax.grad(weighed, argnums=(0, 1, 2)))
    steps.check(gradient(*x), f"{robot.label}, gradient of steps on feet in JAX")
    ours = called(lambda: jax.block_until_ready(gradient(*x)))
    yield Ways("step", GRADIENT, {NUMPY: called(steps.gradient), OURS: ours})


def torch_ways(robot: Robot) -> Iterator[Ways]:
    """Steps on feet, and their gradients, in one thread."""
    if robot.key not in FEET:
        return
    import torch

    import dtau.torch

    torch.set_num_threads(1)
    steps = Steps(robot)
    x = [torch.from_numpy(y).requires_grad_() for y in steps.state]
    weights = [torch.from_numpy(y) for y in steps.weights]

    def stepped() -> Any:
        return tuple(dtau.torch.step(steps.model, *x, DT, contacts=steps.contacts))

    def gradient() -> Any:
        return torch.autograd.grad(stepped(), x, weights)

    found = tuple(y.detach() for y in stepped())
    require_bits(found, steps.values(), f"{robot.label}, steps on feet in PyTorch")
    yield Ways("step", STEP, {NUMPY: called(steps.values), OURS: called(stepped)})
    steps.check(gradient(), f"{robot.label}, gradient of steps on feet in PyTorch")
    ours = called(gradient)
    yield Ways("step", GRADIENT, {NUMPY: called(steps.gradient), OURS: ours})


def casadi_ways(robot: Robot) -> Iterator[Ways]:
    """Jacobians and Hessians of a step by `ca.jacobian` and `ca.hessian`, through `buffer()`."""
    yield from _casadi_derivatives(robot, "of a step")
    if robot.key in FEET:
        yield from _casadi_derivatives(robot, "of a step on feet", contacts=contacts_of(robot))


def _casadi_derivatives(robot: Robot, way: str, **options: Any) -> Iterator[Ways]:
    import casadi as ca

    import dtau.casadi
    from benchmarks.peers.casadi_code import Called

    model, n = robot.model, robot.model.nv
    at = random_inputs(model, ("step",), 1)
    state = [at[name][0] for name in ("q", "v", "tau")]
    weights = np.cos(np.arange(n))  # of velocities, so that both Hessians by v and tau agree
    x = ca.MX.sym("x", model.nq + 2 * n)
    q, v, tau = ca.vertsplit(x, [0, model.nq, model.nq + n, model.nq + 2 * n])
    after = dtau.casadi.step(model, q, v, tau, DT, METHOD, **options)
    inputs = {"inputs": np.ones(n, dtype=bool), "threads": 1, **options}

    def first() -> Any:
        return dtau.linearize_discrete(model, *state, DT, METHOD, **inputs)

    def second() -> Array:
        return dtau.step_hessian(model, *state, DT, 0.0 * weights, weights, METHOD, **inputs)

    d, hessian = first(), second()
    to_tangent = dtau.tangent_map(model, d.q).to_tangent
    for name, expression, through_numpy in (
        ("Jacobian", ca.jacobian(ca.vertcat(*after), x), first),
        ("Hessian", ca.hessian(ca.dot(weights, after[1]), x)[0], second),
    ):
        found = Called(
            ca.Function(name, [x], [ca.densify(expression)]), np.concatenate(state)[None]
        )
        got = found.all()[0].reshape(expression.shape, order="F")
        what = f"{robot.label}, {name} {way} in CasADi"
        if name == "Jacobian":
            by_inputs = np.vstack([to_tangent @ got[: model.nq], got[model.nq :]])[:, model.nq :]
            want = np.hstack([d.A[:, n:], d.B])
            require_close(by_inputs, want, library_calls.GRADIENT, what)
        else:
            require_close(got[model.nq :, model.nq :], hessian[n:, n:], SECOND, what)
        ours = Contender(loop("call()", call=found.call, found=found), 1)
        yield Ways("step", f"{name} {way}", {NUMPY: called(through_numpy), OURS: ours})
