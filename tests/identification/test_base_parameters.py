"""Regressors with joint terms, and their base parameters: Pinocchio's ranks, sums by hand."""

from __future__ import annotations

import numpy as np
import pytest
from compare import assert_close
from complex_step import by_q, by_vector
from core import complex_core

import dtau
from dtau import identification
from dtau.identification import Regressor

TERMS = ("armature", "damping", "coulomb", "stiffness", "offset")


def arm() -> dtau.Model:
    return dtau.robots.chain(5, joints=("revolute", "prismatic", "helical"))


@pytest.mark.parametrize(
    ("file", "root", "rank"),
    [
        ("ur5_robot.urdf", "fixed", 36),
        ("panda.urdf", "fixed", 51),
        ("talos_reduced.urdf", "free", 234),
    ],
)
def test_ranks_equal_those_of_pinocchios_stacked_regressor(file: str, root: str, rank: int) -> None:
    pairs = pytest.importorskip("pinocchio_pair")
    (name,) = (name for name in pairs.FILES if name.endswith("/" + file))
    robot = pairs.pair(name, root)
    base = identification.base_parameters(Regressor(robot.model))
    data, rng = robot.peer.createData(), np.random.default_rng(1)
    states = [x[:, None] for x in dtau.random_state(robot.model, rng, shape=(60,))]
    stacked = [
        pairs.pin.computeJointTorqueRegressor(
            robot.peer, data, robot.q(q[0]), v[0][robot.iv], a[0][robot.iv]
        ).copy()
        for q, v, a in zip(*states, strict=True)
    ]
    sizes = np.linalg.svd(np.concatenate(stacked), compute_uv=False)
    assert base.rank == rank == int((sizes > 1e-9 * sizes[0]).sum())
    assert len(base.alone) + len(base.combined) + len(base.unidentifiable) == base.map.shape[1]


def test_base_parameters_give_the_torques_of_all_parameters() -> None:
    regressor = Regressor(arm(), TERMS, coulomb_speed=0.5)
    base = identification.base_parameters(regressor)
    rng = np.random.default_rng(2)
    states = dtau.random_state(regressor.model, rng, shape=(4, 3))
    parameters = rng.standard_normal(len(regressor.names))
    want = regressor.matrix(*states) @ parameters
    assert_close(base.matrix(*states) @ (base.map @ parameters), want, 1e-11, "torque")
    values = rng.standard_normal(base.rank)
    assert_close(base.map @ base.nearest(values, parameters), values, 1e-11, "nearest")


def test_two_links_in_a_plane_have_the_sums_of_the_textbook() -> None:
    """Mass of the second link goes over into the first link's moments; spins add with armature."""
    builder = dtau.ModelBuilder("double pendulum")
    rod = dtau.Inertia(1.0, (0.5, 0, 0), 0.1 * np.eye(3))
    builder.add(dtau.Revolute((0, 0, 1)), name="a", inertia=rod)
    place = dtau.Pose(translation=(0.8, 0, 0))
    builder.add(dtau.Revolute((0, 0, 1)), name="b", parent="a", placement=place, inertia=rod)
    model = builder.build().replace(gravity=(0, -9.81, 0))
    base = identification.base_parameters(Regressor(model, ["damping"]))
    assert base.sums == (
        *("a.mc_x + 0.8 b.m", "a.mc_y", "a.I_zz + 0.64 b.m"),
        *("b.mc_x", "b.mc_y", "b.I_zz", "a.damping", "b.damping"),
    )
    assert base.combined == ("a.mc_x", "a.I_zz", "b.m")
    assert set(base.alone) >= {"a.mc_y", "b.I_zz", "b.damping"}
    assert {"a.m", "b.I_xx", "b.mc_z"} <= set(base.unidentifiable)
    assert str(base).startswith("8 base parameters of 22: 6 parameters alone, 3 only in sums, 13 w")


def test_the_regressor_gives_the_torques_of_the_model_and_friction() -> None:
    springs = {"stiffness": [4.0, 0.0, 2.0, 1.0, 4.0], "rest_position": [0.2, 0.0, -0.4, 0.0, 1.0]}
    model = arm().replace(damping=0.3, armature=0.2, **springs)
    regressor = Regressor(model, TERMS, coulomb_speed=0.1)
    rng = np.random.default_rng(3)
    q, v, a = dtau.random_state(model, rng, shape=(6,))
    parameters = regressor.model_parameters
    own = dtau.inverse_dynamics(model, q, v, a)
    assert_close(regressor.torque(parameters, q, v, a), own, 1e-12, "torque of the model")
    assert regressor.model_with(parameters) == model.replace(parameters=model.parameters)
    coulomb, stiffness, offset = rng.uniform(0.5, 1.5, (3, 5))
    parameters[-15:-10] = coulomb
    parameters[-10:] += np.concatenate([stiffness, offset])
    want = own + coulomb * np.tanh(v / 0.1) + stiffness * q + offset
    assert_close(regressor.torque(parameters, q, v, a), want, 1e-12, "torque")
    assert_close(regressor.matrix(q, v, a) @ parameters, want, 1e-12, "Y pi")
    assert regressor.joint_values(parameters, "offset")["body3"] == offset[2] + 0.8
    made = regressor.model_with(parameters)
    moved = dtau.inverse_dynamics(made, q, v, a)
    assert_close(moved, want, 1e-12, "torque of the model made")


@pytest.mark.parametrize("root", ["fixed", "free"])
def test_its_gradient_equals_complex_step_for_any_parameters(root: str) -> None:
    """With masses below zero, too."""
    model = dtau.robots.chain(4, root=root)
    model = model.replace(damping=0.7, friction=0.5, friction_speed=0.01)
    regressor = Regressor(model, TERMS, coulomb_speed=0.3)
    rng = np.random.default_rng(4)
    q, v, a = dtau.random_state(model, rng)
    lam = rng.standard_normal(model.nv)
    parameters = rng.standard_normal(len(regressor.names))
    got = regressor.vjp(parameters, q, v, a, lam)
    bodies = parameters[: 10 * model.nbodies]
    at = [model.joint(name).v.start for name in regressor.joints]
    armature, damping, coulomb, stiffness, _ = parameters[10 * model.nbodies :].reshape(5, -1)

    def torque(q, v, a):
        return complex_core("inverse_dynamics_regressor", model, q, v, a, False) @ bodies @ lam

    by_v = by_vector(v, lambda x: torque(q, x, a))
    by_v[at] += lam[at] * (damping + coulomb / 0.3 / np.cosh(v[at] / 0.3) ** 2)
    by_a = by_vector(a, lambda x: torque(q, v, x))
    by_a[at] += lam[at] * armature
    by_configuration = by_q(model, q, lambda x: torque(x, v, a))
    by_configuration[at] += lam[at] * stiffness
    assert_close(got.by_q, by_configuration, 1e-12, "by_q")
    assert_close(got.by_v, by_v, 1e-12, "by_v")
    assert_close(got.by_a, by_a, 1e-12, "by_a")


def test_mistakes_are_named() -> None:
    model = arm()
    with pytest.raises(ValueError, match=r"coulomb_speed: expected the speed, in rad/s"):
        Regressor(model, ["coulomb"])
    with pytest.raises(ValueError, match=r"joint_terms: expected 'armature', .* got 'friction'"):
        Regressor(model, ["friction"])  # type: ignore[list-item]
    with pytest.raises(ValueError, match=r"joint_terms: expected each term once"):
        Regressor(model, ["damping", "damping"])
    with pytest.raises(TypeError, match=r"regressor: expected Regressor, got dtau.Model"):
        identification.base_parameters(model)  # type: ignore[arg-type]
