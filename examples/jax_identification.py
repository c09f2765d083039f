"""Friction and motor constants of 32 arms at once, from motions that were recorded.

Every arm of a series is a little different: viscous friction, Coulomb friction and the constant of
each motor, 18 numbers an arm. A controller made them move, which is known, and the joints' angles
were recorded, with noise, and nothing else. What fits is found by simulating: Gauss-Newton on the
difference between recorded and simulated angles, whose Jacobian is forward mode through 300 steps
of `dtau.jax.step`, for all arms in one program by `vmap`.

    python examples/jax_identification.py                      # what is found (needs JAX)
    python examples/jax_identification.py --plot friction.png  # found against true (matplotlib)
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import payload_identification
import program

import dtau
import dtau.jax

STEPS, DT = 300, 0.005  # of a recording
NOISE = 2e-4  # of the angles, rad
GAIN = np.array([40.0, 60.0, 40.0, 12.0, 8.0, 3.0])  # of the controller, A/rad
SWING = 0.4  # of its references, rad
STICTION = 0.05  # the rate at which Coulomb friction has set in, rad/s
NAMES = ("viscous friction (N m s/rad)", "Coulomb friction (N m)", "motor constant (N m/A)")
TYPICAL = np.concatenate([np.full(6, 1.5), np.full(6, 1.0), np.full(6, 8.0)])  # data sheet


def arm() -> dtau.Model:
    """The arm of `payload_identification` without a load; its friction is not known yet."""
    flange = dtau.Inertia(0.8, (0, 0, 0.03), np.diag([0.00104, 0.00104, 0.0008]))
    model = payload_identification.arm(flange, np.zeros(6))
    return model.replace(armature=0.1, friction_speed=STICTION)


def simulate(model: dtau.Model, parameters: jax.Array, reference: jax.Array) -> jax.Array:
    """Angles after each step (steps, 6), from rest, under the controller that was in use."""
    viscous, coulomb, motor = parameters[:6], parameters[6:12], parameters[12:]
    joints = model.armature, viscous, model.stiffness, coulomb
    changed = jnp.concatenate([model.parameters.ravel(), *joints])

    def move(state: Any, goal: jax.Array) -> Any:
        q, v = state
        tau = motor * GAIN * (goal - q - 0.1 * v)
        after = dtau.jax.step(model, q, v, tau, DT, "semi_implicit", parameters=changed)
        return tuple(after), after.q

    start = jnp.zeros(6), jnp.zeros(6)
    return jax.lax.scan(move, start, reference)[1]


def recordings(model: dtau.Model, arms: int, seed: int) -> tuple[Any, Any, Any]:
    """True parameters, the controller's references and noisy angles of many arms."""
    rng = np.random.default_rng(seed)
    truth = TYPICAL * np.exp(0.25 * rng.normal(size=(arms, 18)))
    time = DT * np.arange(1, STEPS + 1)
    rates = 2 * np.pi * rng.uniform(0.4, 2.0, size=(arms, 6, 3, 1))
    waves = SWING * np.sin(rates * time).sum(2) * np.sign(rng.normal(size=(arms, 6, 1)))
    reference = np.swapaxes(waves, 1, 2)
    angles = jax.jit(jax.vmap(lambda p, r: simulate(model, p, r)))(truth, reference)
    return truth, reference, angles + NOISE * rng.normal(size=angles.shape)


def identify(
    model: dtau.Model, references: jax.Array, angles: jax.Array, iterations: int
) -> tuple[jax.Array, jax.Array, list[float]]:
    """Parameters of every arm, their standard errors, and the misfit before each iteration."""

    def misfit(logarithms: jax.Array, reference: jax.Array, angle: jax.Array) -> jax.Array:
        parameters = TYPICAL * jnp.exp(logarithms)  # positive, whatever the step
        return ((simulate(model, parameters, reference) - angle) / NOISE).ravel()

    def improve(x: jax.Array, damping: jax.Array, reference: jax.Array, angle: jax.Array) -> Any:
        r = misfit(x, reference, angle)
        jacobian = jax.jacfwd(misfit)(x, reference, angle)
        normal = jacobian.T @ jacobian
        scaled = normal + damping * jnp.diag(jnp.diag(normal))
        step = -jnp.linalg.solve(scaled, jacobian.T @ r)
        new = x + jnp.clip(step, -0.5, 0.5)
        better = jnp.sum(misfit(new, reference, angle) ** 2) < jnp.sum(r**2)
        covariance = jnp.linalg.inv(normal)
        kept = jnp.where(better, new, x)
        damping = jnp.where(better, 0.1 * damping, 10 * damping)
        return kept, damping, jnp.sqrt(jnp.mean(r**2)), jnp.sqrt(jnp.diag(covariance))

    step = jax.jit(jax.vmap(improve))
    x, damping = jnp.zeros((len(references), 18)), jnp.full(len(references), 1e-2)
    history = []
    for _ in range(iterations):
        x, damping, size, error = step(x, damping, references, angles)
        history.append(float(jnp.median(size)))
    parameters = TYPICAL * jnp.exp(x)
    return parameters, parameters * error, history


def plot(truth: Any, found: Any, errors: Any, path: Path) -> None:
    """Draw what was found over what is true."""
    plt = program.pyplot()
    figure, all_axes = plt.subplots(1, 3, figsize=(11, 4))
    for k, (axes, name) in enumerate(zip(all_axes, NAMES, strict=True)):
        part = slice(6 * k, 6 * k + 6)
        x, y, e = (np.asarray(z)[:, part].ravel() for z in (truth, found, errors))
        axes.errorbar(x, y, yerr=2 * e, fmt="o", markersize=3, linewidth=0.8, color="C0")
        axes.axline((x.mean(), x.mean()), slope=1, color="black", linewidth=0.8, linestyle=":")
        axes.axhline(TYPICAL[6 * k], color="0.7", linewidth=0.8)
        axes.set(title=name, xlabel="true")
    all_axes[0].set_ylabel("found (two standard errors); grey: data sheet")
    program.save(figure, path)


def main() -> None:
    parser = program.options(__doc__, "draw what was found")
    program.number(parser, "--arms", 32, "how many")
    args = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    model = arm()
    truth, references, angles = recordings(model, args.arms, seed=0)
    found, errors, history = identify(model, references, angles, iterations=10)
    print("misfit in standard deviations of the noise, median over the arms:")
    print("  " + "  ".join(f"{x:.3g}" for x in history))
    off = np.abs(np.asarray(found) / truth - 1)
    for k, name in enumerate(NAMES):
        part = off[:, 6 * k : 6 * k + 6]
        print(f"{name:30} off by {100 * np.median(part):5.2f}% (median)")
    within = np.mean(np.abs(found - truth) < 2 * errors)
    print(f"within two standard errors: {100 * within:.0f}%")
    if args.plot:
        plot(truth, found, errors, args.plot)


if __name__ == "__main__":
    main()
