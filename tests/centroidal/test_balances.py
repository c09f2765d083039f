"""Motion of the center of mass, rate of momentum and energy: by other functions and by balances."""

from __future__ import annotations

import numpy as np
import pytest
from cases import TREES, friction_torque, on_robots, random_state, robot
from compare import TOLERANCE, assert_close
from hypothesis import given
from trees import SEEDS, Tree, trees

import dtau


def check_values(model: dtau.Model, seed: int) -> None:
    s = random_state(model, seed)
    q, v, a = s["q"], s["v"], s["a"]
    tolerance = TOLERANCE["identity"]
    h = dtau.momentum_time_derivatives(model, q, [v, a])[:, :3]
    velocity = dtau.center_of_mass_velocity(model, q, v)
    acceleration = dtau.center_of_mass_acceleration(model, q, v, a)
    floor = float(np.abs(v).max() + np.abs(a).max())
    assert_close(velocity, h[0] / model.mass, tolerance, "velocity", floor=floor)
    assert_close(acceleration, h[1] / model.mass, tolerance, "acceleration", floor=floor)
    assert_close(
        dtau.center_of_mass_jacobian(model, q) @ v, velocity, tolerance, "J v", floor=floor
    )
    want = dtau.centroidal_momentum_time_derivatives(model, q, [v, a])[1]
    size = float(np.abs(dtau.centroidal_momentum_matrix(model, q)).max()) * floor
    got = dtau.centroidal_momentum_rate(model, q, v, a)
    assert_close(got, want, tolerance, "rate of momentum", floor=size)

    plain = model.replace(stiffness=0.0)
    T, V = dtau.kinetic_energy(model, q, v), dtau.potential_energy(plain, q)
    assert T.shape == V.shape == ()
    assert_close(T, np.array(v @ dtau.mass_matrix(model, q) @ v / 2.0), tolerance, "T")
    centre = dtau.center_of_mass(model, q)
    weight = model.mass * model.gravity
    size = float(np.linalg.norm(weight))
    assert_close(V, np.array(-weight @ centre), tolerance, "V", floor=size)


@on_robots
def test_values(name: str) -> None:
    check_values(robot(name), 1)


@given(tree=trees(), seed=SEEDS)
def test_values_on_trees(tree: Tree, seed: int) -> None:
    check_values(tree.model(), seed)


def check_balance(model: dtau.Model, seed: int) -> None:
    """What the joints' torques do beside damping and friction goes into both energies."""
    s = random_state(model, seed)
    q, v, a = s["q"], s["v"], s["a"]
    by_q, by_v = dtau.kinetic_energy_derivatives(model, q, v)
    terms = [by_q * v, by_v * a, dtau.potential_energy_derivatives(model, q) * v]
    lost = model.damping * v + friction_torque(model, v)
    power = v @ (dtau.inverse_dynamics(model, q, v, a) - lost)
    size = float(np.abs(terms).max())
    assert_close(np.sum(terms), power, TOLERANCE["identity"], "power", floor=size)


@on_robots
def test_energy_balance(name: str) -> None:
    check_balance(robot(name), 2)


@given(tree=trees(), seed=SEEDS)
def test_energy_balance_on_trees(tree: Tree, seed: int) -> None:
    check_balance(tree.model(), seed)


@pytest.mark.parametrize("name", ["one free", "free root, branches", "quadruped"])
def test_external_forces_are_the_rate_of_momentum(name: str) -> None:
    """At the accelerations of the dynamics: wrenches on all bodies, on the root, and the weight."""
    model = robot(name) if name == "quadruped" else TREES[name].bare().model()
    s = random_state(model, 3)
    q, v = s["q"], s["v"]
    a = dtau.forward_dynamics(model, q, v, s["tau"], s["f_ext"])
    wrenches = s["f_ext"].copy()
    wrenches[0] += s["tau"][:6] - model.damping[:6] * v[:6]
    bodies = dtau.forward_kinematics(model, q)
    forces = np.einsum("bij,bj->bi", bodies.rotation, wrenches[:, :3])
    moments = np.einsum("bij,bj->bi", bodies.rotation, wrenches[:, 3:])
    centre = dtau.center_of_mass(model, q)
    moments += np.cross(bodies.translation - centre, forces)
    want = np.hstack([forces.sum(axis=0) + model.mass * model.gravity, moments.sum(axis=0)])
    got = dtau.centroidal_momentum_rate(model, q, v, a)
    size = float(np.abs(forces).max() + np.abs(moments).max())
    assert_close(got, want, TOLERANCE["oracle"], "rate", floor=size)  # a solves with M
    acceleration = dtau.center_of_mass_acceleration(model, q, v, a)
    assert_close(acceleration, got[:3] / model.mass, TOLERANCE["identity"], "acceleration")
