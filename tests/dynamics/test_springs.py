"""Springs of joints: what they add to torques, where they act, and where models keep them.

The trees of the tests have springs, so that the tests of all functions and of their derivatives
cover them.
"""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from cases import TREES, contacts, random_state, robot, spring_torque
from compare import TOLERANCE, assert_close, assert_same_bits, solved
from hypothesis import given
from trees import SEEDS, Tree, trees

import dtau

IDENTITY = TOLERANCE["identity"]


def without_springs(model: dtau.Model) -> dtau.Model:
    return model.replace(stiffness=0.0, rest_position=0.0)


@given(trees(), SEEDS)
def test_torques(tree: Tree, seed: int) -> None:
    sprung = tree.model()
    plain = without_springs(sprung)
    s = random_state(sprung, seed)
    q, v, a, f_ext = s["q"], s["v"], s["a"], s["f_ext"]
    springs = spring_torque(sprung, q)
    for got, want in (
        (
            dtau.inverse_dynamics(sprung, q, v, a, f_ext),
            dtau.inverse_dynamics(plain, q, v, a, f_ext),
        ),
        (dtau.bias_torque(sprung, q, v), dtau.bias_torque(plain, q, v)),
        (dtau.gravity_torque(sprung, q), dtau.gravity_torque(plain, q)),
        (dtau.potential_energy_derivatives(sprung, q), dtau.potential_energy_derivatives(plain, q)),
    ):
        assert_close(got - want, springs, IDENTITY, "torque", floor=float(np.abs(want).max()))

    energy = 0.5 * (springs**2 / np.where(sprung.stiffness > 0.0, sprung.stiffness, 1.0)).sum()
    want = dtau.potential_energy(plain, q) + energy
    got = dtau.potential_energy(sprung, q)
    assert_close(got, want, IDENTITY, "energy", floor=float(sprung.mass * 10.0))
    mass = dtau.mass_matrix(sprung, q)
    assert_same_bits(mass, dtau.mass_matrix(plain, q))
    got = dtau.forward_dynamics(sprung, q, v, s["tau"], f_ext)
    want = dtau.forward_dynamics(plain, q, v, s["tau"] - springs, f_ext)
    assert_close(got, want, solved(IDENTITY, mass), "forward_dynamics")


@pytest.mark.parametrize("name", ["free root, branches", "joints that mimic others"])
def test_impulses_do_not_feel_springs(name: str) -> None:
    sprung = robot(name)
    assert sprung.stiffness.any()
    s = random_state(sprung, 3)
    lam, forces = s["lam"], np.linspace(-1.0, 1.0, contacts(sprung).nrows)
    options = {"regularization": 1e-6}
    one, other = (
        (
            *dtau.impulse_dynamics(m, s["q"], s["v"], contacts(m), **options),
            *dtau.impulse_dynamics_derivatives(m, s["q"], s["v"], contacts(m), **options),
            *dtau.impulse_dynamics_hessian(m, s["q"], s["v"], lam, forces, contacts(m), **options),
        )
        for m in (sprung, without_springs(sprung))
    )
    for got, want in zip(one, other, strict=True):
        assert_same_bits(got, want)


def finger(**options: float) -> dtau.Model:
    builder = dtau.ModelBuilder("finger")
    link = dtau.Inertia(0.2, (0.05, 0.0, 0.0), 1e-3 * np.eye(3))
    one = builder.add(
        dtau.Revolute((0, 0, 1)), name="one", inertia=link, stiffness=3.0, rest_position=0.4
    )
    mimic = dtau.Mimic("one", -0.5, 0.1)
    builder.add(
        dtau.Revolute((0, 0, 1)), name="two", parent=one, inertia=link, mimic=mimic, **options
    )
    return builder.build()


def test_springs_of_mimic_joints_add_to_the_mimicked_joint() -> None:
    model = finger(stiffness=2.0, rest_position=-0.3)
    plain = without_springs(model)
    q = np.array([0.7])
    own, other = 3.0 * (0.7 - 0.4), 2.0 * (-0.5 * 0.7 + 0.1 + 0.3)
    want = np.array([own - 0.5 * other])
    got = dtau.gravity_torque(model, q) - dtau.gravity_torque(plain, q)
    assert_close(got, want, IDENTITY, "torque")
    assert model.stiffness.tolist() == [3.5]
    assert_close(model.stiffness * (q - model.rest_position), want, IDENTITY, "sums")
    moved = plain.replace(
        stiffness={"one": model.stiffness}, rest_position={"one": model.rest_position}
    )
    assert_close(dtau.gravity_torque(moved, q) - dtau.gravity_torque(plain, q), want, IDENTITY, "")
    assert finger().rest_position.tolist() == [0.4]


def test_models_keep_springs() -> None:
    model = finger(stiffness=2.0)
    assert pickle.loads(pickle.dumps(model)) == model
    assert model != without_springs(model)
    assert model.link("one").stiffness == (3.0,)
    assert model.link("one").rest_position == (0.4,)
    stiffer = model.replace(stiffness={"one": 5.0})
    assert (stiffer.stiffness.tolist(), stiffer.rest_position[0] > 0.0) == ([5.5], True)
    turned = TREES["one universal"].model()
    assert turned.link("universal0").stiffness[0] != turned.link("universal0").stiffness[1]


def test_rerooted_joints_keep_their_springs() -> None:
    builder = dtau.ModelBuilder("arm")
    body = dtau.Inertia(1.0, (0.1, 0.2, 0.3), 0.1 * np.eye(3))
    base = builder.add(dtau.Free(), name="base", inertia=body)
    joint = dtau.Universal((1, 0, 0), (0, 1, 0))
    builder.add(
        joint, name="tip", parent=base, inertia=body, stiffness=(2, 3), rest_position=(0.1, 0.2)
    )
    model = builder.build()
    other = model.with_root("tip")
    s = random_state(model, 1)
    tau = np.r_[np.zeros(6), s["tau"][6:]]
    a = dtau.forward_dynamics(model, s["q"], s["v"], tau)
    there = dtau.transfer_state(model, other, s["q"], s["v"], a)
    got = dtau.inverse_dynamics(other, there.q, there.v, there.a)
    floor = float(np.abs(dtau.bias_torque(model, s["q"], s["v"])).max())
    assert_close(got, np.r_[np.zeros(6), tau[:5:-1]], IDENTITY, "tau", floor=floor)


@pytest.mark.parametrize("joint", [dtau.Free(), dtau.Spherical(), dtau.Planar((0, 0, 1))])
def test_other_joints_have_no_springs(joint: dtau.JointType) -> None:
    kind = type(joint).__name__
    with pytest.raises(
        ValueError, match=f"stiffness: expected 0, as {kind} joints have no springs"
    ):
        dtau.Link("a", None, joint, "b", stiffness=1.0)
    with pytest.raises(ValueError, match=f"rest_position: expected 0, as {kind}"):
        dtau.Link("a", None, joint, "b", rest_position=1.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"stiffness": -1.0}, "stiffness: expected numbers of at least 0"),
        ({"stiffness": np.inf}, "stiffness: expected finite numbers"),
        ({"stiffness": (1.0, 2.0)}, "stiffness: expected a number or 1 of them, got 2"),
        ({"rest_position": np.nan}, "rest_position: expected finite numbers"),
    ],
)
def test_wrong_numbers(options: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        dtau.Link("a", None, dtau.Revolute((0, 0, 1)), "b", **options)


def test_other_formats_refuse_springs() -> None:
    model = finger()
    with pytest.raises(ValueError, match=r"springs of joints 'one' \(replace\(stiffness=0"):
        model.to_urdf(root_link="world")
    pytest.importorskip("pinocchio")
    with pytest.raises(ValueError, match="expected a model without springs"):
        model.to_pinocchio()
