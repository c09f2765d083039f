"""Steps on feet and their gradients in JAX and PyTorch beside NumPy: checked, then yielded.

NumPy computes the step, its vjp, and the tangent maps that turn gradients into those by the numbers
of q.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

import dtau
from benchmarks.checks import Array, WrongResultError, require_close
from benchmarks.experiments.library_calls import GRADIENT, NUMPY, OURS, Ways
from benchmarks.experiments.step_hessians import FEET, contacts_of
from benchmarks.robots import Robot
from dtau.timing import DT, Contender, loop, random_inputs

STATES = 1024
STEP = f"{STATES} states on feet"
GRADIENTS = {x: f"gradient by {x}, {STEP}" for x in ("products", "matrices")}


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
        q, _ = self.values()
        to_numbers = dtau.tangent_map(self.model, self.state[0], threads=1).to_tangent
        lam = self.weights[0][:, None] @ dtau.tangent_map(self.model, q, threads=1).from_tangent
        given = (*self.state, DT, lam[:, 0], self.weights[1])
        found = dtau.step_vjp(self.model, *given, contacts=self.contacts, threads=1)
        return (found.by_q[:, None] @ to_numbers)[:, 0], found.by_v, found.by_tau

    def check(self, got: Sequence[Any], what: str) -> None:
        """Raise unless gradients are NumPy's."""
        for x, want in zip(got, self.gradient(), strict=True):
            require_close(np.asarray(x), want, GRADIENT, what)

    def check_bits(self, got: Sequence[Any], what: str) -> None:
        """Raise unless states are NumPy's, to the last bit."""
        if not all(np.array_equal(x, y) for x, y in zip(got, self.values(), strict=True)):
            raise WrongResultError(f"{what}: differs from the result through NumPy")


def _called(f: Any) -> Contender:
    return Contender(loop("f()", f=f), 1)


def jax_ways(robot: Robot) -> Iterator[Ways]:
    """Jitted steps on feet, and their gradients by products and by matrices."""
    if robot.key not in FEET:
        return
    import jax
    import jax.numpy as jnp

    import dtau.jax

    steps = Steps(robot)
    x = [jnp.asarray(y) for y in steps.state]

    def stepped(*x: Any, **more: Any) -> Any:
        return dtau.jax.step(steps.model, *x, DT, contacts=steps.contacts, **more)

    step = jax.jit(stepped)
    steps.check_bits(step(*x), f"{robot.label}, steps on feet in JAX")
    ours = _called(lambda: jax.block_until_ready(step(*x)))
    yield Ways("step", STEP, {NUMPY: _called(steps.values), OURS: ours})
    for how, way in GRADIENTS.items():

        def weighed(*x: Any, products: bool = how == "products") -> Any:
            return sum(map(jnp.vdot, steps.weights, stepped(*x, products=products)))

        gradient = jax.jit(jax.grad(weighed, argnums=(0, 1, 2)))
        steps.check(gradient(*x), f"{robot.label}, {way} in JAX")
        ours = _called(lambda gradient=gradient: jax.block_until_ready(gradient(*x)))
        yield Ways("step", way, {NUMPY: _called(steps.gradient), OURS: ours})


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

    steps.check_bits([y.detach() for y in stepped()], f"{robot.label}, steps on feet in PyTorch")
    yield Ways("step", STEP, {NUMPY: _called(steps.values), OURS: _called(stepped)})
    steps.check(gradient(), f"{robot.label}, gradient of steps on feet in PyTorch")
    ours = _called(gradient)
    yield Ways("step", GRADIENTS["products"], {NUMPY: _called(steps.gradient), OURS: ours})
