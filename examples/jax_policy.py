"""A falling quadruped learns to level its trunk with its legs: gradients through 200 steps.

Nothing holds a robot in free fall, and yet it can turn: what the legs swing one way, the trunk
turns the other way. Robots are let go with trunks tilted at random, and have one second until they
land. A small neural network sees tilt, rates and joints and says where the legs should go; a stiff
controller takes them there. The loss looks at the end of the fall alone: a level trunk at rest,
legs where they can land. Its gradient runs back through all 200 time steps of `dtau.jax.step` for
all robots at once, by the core's O(N) products, and Adam does the rest.

    python examples/jax_policy.py                    # what is learnt (needs JAX)
    python examples/jax_policy.py --plot policy.png  # and the falls before and after (matplotlib)
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import program

import dtau
import dtau.jax

STEPS, DT = 200, 0.005  # of a fall: one second
STIFFNESS, DAMPING, REACH = 60.0, 2.0, 0.9  # N m/rad, N m s/rad, rad
TILT = 0.25  # standard deviation of the tilts in roll and pitch, rad
STANCE = np.tile([0.0, 0.6, -1.2], 4) * np.repeat([1, -1, 1, -1], 3)  # the hind knees point forward
Parameters = dict[str, jax.Array]


class Fall(NamedTuple):
    """What is seen of a fall; leading axes are the robots."""

    tilt: jax.Array  # of the trunk at each step, rad
    q: jax.Array  # in the end
    v: jax.Array


def network(seed: int, hidden: int = 48) -> Parameters:
    """A network that leaves the legs alone at first."""
    rng = np.random.default_rng(seed)
    seen = 3 + 3 + 12 + 12 + 2
    return {
        "W1": jnp.asarray(rng.normal(size=(hidden, seen)) / np.sqrt(seen)),
        "b1": jnp.zeros(hidden),
        "W2": jnp.asarray(0.1 * rng.normal(size=(12, hidden)) / np.sqrt(hidden)),
    }


def up(q: jax.Array) -> jax.Array:
    """The world's vertical in the trunk's axes."""
    x, y, z, w = q[3], q[4], q[5], q[6]
    return jnp.array([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)])


def torque(parameters: Parameters, q: jax.Array, v: jax.Array, time: jax.Array) -> jax.Array:
    """Of all joints, none of the trunk."""
    joints, rates = q[7:] - STANCE, v[6:]
    clock = jnp.array([time, 1.0])
    seen = jnp.concatenate([up(q), 0.3 * v[3:6], joints, 0.1 * rates, clock])
    hidden = jnp.tanh(parameters["W1"] @ seen + parameters["b1"])
    goal = REACH * jnp.tanh(parameters["W2"] @ hidden)
    drive = STIFFNESS * (goal - joints) - DAMPING * rates
    return jnp.concatenate([jnp.zeros(6), drive])


def fall(model: dtau.Model, parameters: Parameters, start: jax.Array) -> Fall:
    """One fall from rest, with derivatives."""

    def move(state: Any, time: jax.Array) -> Any:
        q, v = state
        tau = torque(parameters, q, v, time)
        after = dtau.jax.step(model, q, v, tau, DT, "semi_implicit")
        return tuple(after), jnp.arctan2(jnp.hypot(*up(after.q)[:2] + 1e-12), up(after.q)[2])

    times = jnp.arange(STEPS) / STEPS
    (q, v), tilt = jax.lax.scan(move, (start, jnp.zeros(model.nv)), times)
    return Fall(tilt, q, v)


def loss(model: dtau.Model, parameters: Parameters, starts: jax.Array) -> jax.Array:
    """How badly the robots land, on average."""
    ends = jax.vmap(lambda q: fall(model, parameters, q))(starts)
    level = jax.vmap(up)(ends.q)[:, :2]
    turning, legs = ends.v[:, 3:6], ends.q[:, 7:] - STANCE
    each = (level**2).sum(1) + 0.02 * (turning**2).sum(1)
    return jnp.mean(each + 0.002 * (legs**2).sum(1) + 5e-5 * (ends.v[:, 6:] ** 2).sum(1))


def tilted(count: int, seed: int) -> jax.Array:
    """Configurations from which they fall."""
    rng = np.random.default_rng(seed)
    turn = TILT * rng.normal(size=(count, 2))
    angle = np.linalg.norm(turn, axis=1, keepdims=True)
    q = np.zeros((count, 19))
    q[:, 3:5], q[:, 6:7] = np.sin(angle / 2) * turn / angle, np.cos(angle / 2)
    q[:, 7:] = STANCE
    return jnp.asarray(q)


def learn(
    model: dtau.Model,
    iterations: int,
    robots: int = 16,
    rate: float = 0.005,
    say: Callable[[str], None] = print,
) -> tuple[Parameters, list[float]]:
    """[Adam], with falls of other robots in every iteration."""

    @jax.jit
    def update(k: jax.Array, parameters: Any, mean: Any, square: Any, starts: jax.Array) -> Any:
        value, gradient = jax.value_and_grad(lambda p: loss(model, p, starts))(parameters)
        mean = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, mean, gradient)
        square = jax.tree.map(lambda s, g: 0.99 * s + 0.01 * g * g, square, gradient)
        slower = rate * (0.1 + 0.9 * (1 - k / iterations))

        def moved(p: jax.Array, m: jax.Array, s: jax.Array) -> jax.Array:
            return p - slower * m / (1 - 0.9**k) / (jnp.sqrt(s / (1 - 0.99**k)) + 1e-8)

        return value, jax.tree.map(moved, parameters, mean, square), mean, square

    parameters = network(seed=0)
    mean = square = jax.tree.map(jnp.zeros_like, parameters)
    losses = []
    for k in range(1, iterations + 1):
        value, parameters, mean, square = update(k, parameters, mean, square, tilted(robots, k))
        losses.append(float(value))
        if k % max(iterations // 10, 1) == 0:
            say(f"iteration {k:4}: loss {np.mean(losses[-20:]):.4f}")
    return parameters, losses


def plot(before: Fall, after: Fall, losses: list[float], path: Path) -> None:
    """Draw tilts of robots that were never seen, and the loss."""
    plt = program.pyplot()
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4))
    time = DT * np.arange(1, STEPS + 1)
    for falls, color, label in ((before, "0.7", "legs held"), (after, "C0", "learnt")):
        tilt = np.rad2deg(falls.tilt)
        left.plot(time, tilt.T, color=color, linewidth=0.8)
        left.plot([], [], color=color, label=label)
    left.set(title="tilt of the trunk (degrees)", xlabel="time (s)")
    left.set_ylim(bottom=0)
    left.legend()
    right.semilogy(losses, color="C0", linewidth=1)
    right.set(title="loss", xlabel="iteration")
    program.save(figure, path)


def main() -> None:
    parser = program.options(__doc__, "draw falls and loss")
    program.number(parser, "--iterations", 500, "of learning")
    args = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    model = dtau.robots.quadruped()
    parameters, losses = learn(model, args.iterations)
    starts = tilted(32, seed=10**6)
    falls = jax.jit(jax.vmap(lambda p, q: fall(model, p, q), in_axes=(None, 0)))
    before, after = falls(network(seed=0), starts), falls(parameters, starts)
    for name, found in (("before", before), ("after", after)):
        ends = np.rad2deg(np.sort(found.tilt[:, -1]))
        print(f"{name:7} tilt on landing: median {ends[16]:5.2f}, largest {ends[-1]:5.2f} degrees")
    if args.plot:
        plot(before, after, losses, args.plot)


if __name__ == "__main__":
    main()
