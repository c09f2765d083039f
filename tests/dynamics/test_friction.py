"""Coulomb friction of joints: what it adds to torques, where models keep it, what files say of it.

The trees of the tests have friction, so that the tests of all functions and of their derivatives
cover it.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from cases import TREES, friction_torque, lone, random_state, robot, without_friction
from compare import TOLERANCE, assert_close, assert_same_bits
from hypothesis import given
from joint_forces import check_impulses, check_torques, finger, floating, torques_after_rerooting
from trees import SEEDS, Tree, grow, trees

import dtau

IDENTITY = TOLERANCE["identity"]
ONE = {"friction": 3.0, "friction_speed": 0.4}
KINDS = ("free", "revolute", "helical", "spherical", "universal", "prismatic", "planar")


@given(trees(), SEEDS)
def test_torques(tree: Tree, seed: int) -> None:
    rough = tree.model()
    plain = without_friction(rough)
    assert not plain.friction.any()
    s = random_state(rough, seed)
    check_torques(rough, plain, friction_torque(rough, s["v"]), s, at_rest=False)
    assert_same_bits(dtau.potential_energy(rough, s["q"]), dtau.potential_energy(plain, s["q"]))


def test_friction_of_one_joint_leaves_the_others_alone() -> None:
    """Memory that other models used before does not reach results of joints without friction."""
    bare = grow(KINDS, range(-1, len(KINDS) - 1), 5, friction=False).model()
    joint = "revolute1"
    model = bare.replace(friction={joint: 2.0}, friction_speed={joint: 0.3})
    full = bare.replace(friction=3.0, friction_speed=0.5)
    own = model.joint(joint).v
    s = random_state(model, 2, (5,))
    state = s["q"], s["v"], s["a"]
    for at in (0, slice(None)):
        some = tuple(x[at] for x in state)
        dtau.inverse_dynamics_second_derivatives(full, *some)
        got, want = (
            dtau.inverse_dynamics_second_derivatives(m, *some).d2tau_dvdv for m in (model, bare)
        )
        y = np.tanh(some[1][..., own] / 0.3)
        curvature = -2.0 * 2.0 / 0.3**2 * y * (1.0 - y**2)
        want = want.copy()
        want[..., own, own, own] += curvature[..., np.newaxis, np.newaxis]
        assert_close(got, want, IDENTITY, "d2tau_dvdv", floor=float(np.abs(want).max()))


@pytest.mark.parametrize("name", ["free root, branches", "joints that mimic others"])
def test_impulses_do_not_feel_friction(name: str) -> None:
    rough = robot(name)
    assert rough.friction.any()
    check_impulses(rough, without_friction(rough))


def test_small_speeds_huge_velocities_and_nan() -> None:
    """Far above the speed friction is constant, and a NaN spoils its own state alone."""
    model = grow(KINDS, range(-1, len(KINDS) - 1), 5, springs=False).model()
    model = model.replace(friction_speed=np.full(model.nv, 1e-300), friction=np.full(model.nv, 2.0))
    plain = without_friction(model)
    s = random_state(model, 1, (9,))
    s["v"][3, 8] = np.nan
    tau, bare = (dtau.inverse_dynamics(m, s["q"], s["v"], s["a"]) for m in (model, plain))
    kept = np.delete(np.arange(9), 3)
    assert np.isnan(tau[3]).any()
    assert_close(
        tau[kept] - bare[kept],
        2.0 * np.sign(s["v"][kept]),
        IDENTITY,
        "F sign(v)",
        floor=float(np.abs(bare[kept]).max()),
    )
    resting = dtau.inverse_dynamics_derivatives(
        model.replace(friction_speed=np.full(model.nv, 0.5)), s["q"][0], 0.0 * s["v"][0], s["a"][0]
    )
    still = dtau.inverse_dynamics_derivatives(plain, s["q"][0], 0.0 * s["v"][0], s["a"][0])
    assert_close(resting.dtau_dv - still.dtau_dv, 4.0 * np.eye(model.nv), IDENTITY, "at rest")


def test_slow_joints_keep_their_digits() -> None:
    rough = {"friction": 2.0, "friction_speed": 0.5}
    model = lone(dtau.Revolute((0, 0, 1)), gravity=(0, 0, 0), **rough)
    v = np.array([[1e-300], [-1e-18], [1e-12], [-1e-6], [1e-3]])
    got = dtau.bias_torque(model, np.zeros((5, 1)), v)
    np.testing.assert_allclose(got, 2.0 * np.tanh(v / 0.5), rtol=1e-15, atol=0)


def test_mimic_joints_rub_at_their_own_speed() -> None:
    model = finger(ONE, {"friction": 2.0, "friction_speed": 0.1})
    v = np.array([0.3])
    want = np.array([3.0 * np.tanh(0.3 / 0.4) + 0.5 * 2.0 * np.tanh(0.5 * 0.3 / 0.1)])
    got = dtau.bias_torque(model, [0.7], v) - dtau.bias_torque(without_friction(model), [0.7], v)
    assert_close(got, want, IDENTITY, "torque")
    assert model.friction.tolist() == [4.0]
    assert model.friction_speed.tolist() == [0.4]


def test_models_keep_friction() -> None:
    model = finger(ONE, {"friction": 2.0, "friction_speed": 0.1})
    assert model != without_friction(model)
    assert (model.link("one").friction, model.link("one").friction_speed) == ((3.0,), (0.4,))
    other = model.replace(friction={"one": 5.0}, friction_speed={"two": 0.7})
    assert (other.friction.tolist(), other.link("two").friction_speed) == ([6.0], (0.7,))
    smooth = without_friction(model).replace(friction_speed=0)
    assert model.replace(friction=0, friction_speed=0) == smooth
    assert smooth.replace(friction={"one": 3}, friction_speed={"one": 0.4}).friction.any()
    turned = TREES["one universal"].model()
    assert turned.link("universal0").friction[0] != turned.link("universal0").friction[1]


def test_arrays_of_speeds_leave_mimic_joints_alone() -> None:
    model = robot("joints that mimic others")
    other = model.replace(friction_speed=np.full(model.nv, 0.9))
    links = {link.joint_name: link for link in other.links}
    for old in model.links:
        if old.joint.nv:
            own = old.friction_speed if old.mimic else (0.9,) * old.joint.nv
            assert links[old.joint_name].friction_speed == own


def test_rerooted_joints_keep_their_friction() -> None:
    joint = dtau.Universal((1, 0, 0), (0, 1, 0))
    builder = floating(joint, friction=(2, 3), friction_speed=(0.1, 0.2))
    want, got = torques_after_rerooting(builder.build())
    assert_close(got, want[::-1], IDENTITY, "tau", floor=10.0)

    body = dtau.Inertia(1.0, (0.1, 0.2, 0.3), 0.1 * np.eye(3))
    builder.add(
        dtau.Spherical(), name="ball", parent="base", inertia=body, friction=1, friction_speed=1
    )
    with pytest.raises(ValueError, match=r"cannot reverse joint 'ball': .* that has friction"):
        builder.build().with_root("ball")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"friction": -1.0}, "friction: expected numbers of at least 0"),
        ({"friction": np.inf}, "friction: expected finite numbers"),
        ({"friction": 1.0}, "friction_speed: expected the speed that smooths the friction"),
        ({"friction_speed": -1.0}, "friction_speed: expected numbers of at least 0"),
        ({"friction_speed": (1.0, 2.0)}, "friction_speed: expected a number or 1 of them, got 2"),
        ({"friction": 1.0, "friction_speed": 1e-310}, "friction_speed: expected speeds at which"),
        ({"friction": 1e10, "friction_speed": 1e-300}, "friction_speed: expected speeds at which"),
    ],
)
def test_wrong_numbers(options: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        dtau.Link("a", None, dtau.Revolute((0, 0, 1)), "b", **options)


INERTIAL = """<inertial><mass value="1"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>"""
URDF = f"""<robot name="arm"><link name="base"/><link name="a">{INERTIAL}</link>
<link name="b">{INERTIAL}</link>
<joint name="one" type="continuous"><parent link="base"/><child link="a"/>
<dynamics damping="0.1" friction="0.5"/></joint>
<joint name="two" type="continuous"><parent link="a"/><child link="b"/>
<dynamics friction="0.25"/></joint></robot>"""


class TestFiles:
    def test_a_urdf_needs_the_speed(self) -> None:
        model = dtau.load(URDF)
        assert not model.friction.any()
        assert any("friction_speed= of dtau.load" in note for note in model.notes)
        model = dtau.load(URDF, friction_speed=0.01)
        assert model.friction.tolist() == [0.5, 0.25]
        assert model.friction_speed.tolist() == [0.01, 0.01]
        assert not any("friction" in note for note in model.notes)

    def test_a_speed_of_some_joints(self) -> None:
        model = dtau.load(URDF, friction_speed={"two": 0.02})
        assert model.friction.tolist() == [0.0, 0.25]
        assert "ignored friction without a friction_speed: joints 'one'" in model.notes

    def test_other_numbers_than_the_files(self) -> None:
        model = dtau.load(URDF, friction=2.0, friction_speed=0.1)
        assert model.friction.tolist() == [2.0, 2.0]
        model = dtau.load(URDF, friction={"one": 0.0}, friction_speed=0.1)
        assert model.friction.tolist() == [0.0, 0.25]
        with pytest.raises(ValueError, match="friction of 'one': friction_speed: expected the"):
            dtau.load(URDF, friction={"one": 1.0})
        wrong = URDF.replace('"0.25"', '"-0.25"')
        assert not dtau.load(wrong).friction.any()
        with pytest.raises(dtau.ModelError, match="line 8: joint 'two': friction: expected"):
            dtau.load(wrong, friction_speed=0.1)

    @pytest.mark.parametrize("speed", [0.02, {"one": 0.1, "two": 0.2}, {"two": 0.2}])
    @pytest.mark.parametrize("name", ["two", "two--2"])  # -- ends a comment of XML
    def test_what_is_written_is_read(self, speed: float | dict[str, float], name: str) -> None:
        if isinstance(speed, dict):
            speed = {name if joint == "two" else joint: x for joint, x in speed.items()}
        model = dtau.load(URDF.replace('name="two"', f'name="{name}"'), friction_speed=speed)
        text = model.to_urdf()
        options = text.split("dtau.load(..., ")[1].split(") gives")[0]
        made = eval(f"dtau.load(text, {options})", {"dtau": dtau, "text": text})
        assert made == model
        assert made.notes == ()

    def test_planar_joints_have_no_friction_there(self) -> None:
        builder = dtau.ModelBuilder("table")
        body = dtau.Inertia(1.0, (0.1, 0.2, 0.3), 0.1 * np.eye(3))
        builder.add(dtau.Planar((0, 0, 1)), name="a", inertia=body, friction=1, friction_speed=1)
        with pytest.raises(ValueError, match="damping, friction and limits of joints with several"):
            builder.build().to_urdf(root_link="world")

    def test_pinocchio_has_it_but_the_speed(self) -> None:
        pytest.importorskip("pinocchio")
        model = dtau.load(URDF, friction_speed=0.01)
        peer = model.to_pinocchio()
        assert list(peer.friction) == [0.5, 0.25]
        back = dtau.from_pinocchio(peer)
        assert not back.friction.any()
        assert any("friction_speed= of dtau.from_pinocchio" in note for note in back.notes)
        back = dtau.from_pinocchio(peer, friction_speed=0.02)
        assert back.friction.tolist() == [0.5, 0.25]
        assert back.friction_speed.tolist() == [0.02, 0.02]
        assert not any("friction" in note for note in back.notes)
        some = dtau.from_pinocchio(peer, friction_speed={"two": 0.02})
        assert some.friction.tolist() == [0.0, 0.25]
        assert "ignored friction without a friction_speed: joints 'one'" in some.notes
        with pytest.raises(ValueError, match="no joint or link named 'three'") as raised:
            dtau.from_pinocchio(peer, friction_speed={"three": 0.02})
        assert not isinstance(raised.value, dtau.ModelError)

    def test_an_mjcf(self) -> None:
        mujoco = pytest.importorskip("mujoco")
        text = """<mujoco><worldbody><body><joint name="j" axis="0 1 0" frictionloss="2"/>
        <geom size="1"/><body><joint name="k" type="ball" frictionloss="0.5"/><geom size="1"/>
        </body></body></worldbody></mujoco>"""
        with pytest.warns(dtau.ModelWarning, match=r"friction_speed= smooths .* 'j', 'k'"):
            assert not dtau.load(text).friction.any()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model = dtau.load(text, friction_speed=0.1)
            off = '<option><flag frictionloss="disable"/></option></mujoco>'
            none = dtau.load(text.replace("</mujoco>", off), friction_speed=0.1)
        assert model.friction.tolist() == [2.0, 0.5, 0.5, 0.5]
        assert not none.friction.any()
        live = mujoco.MjModel.from_xml_string(text)
        with pytest.warns(dtau.ModelWarning, match=r"friction_speed= smooths .* 'j', 'k'"):
            assert not dtau.from_mujoco(live).friction.any()
        assert dtau.from_mujoco(live, friction_speed=0.1) == model
        live.dof_frictionloss[0] = 3.0
        part = dtau.from_mujoco(live, friction_speed={"j": 0.1})
        assert part.friction.tolist() == [3.0, 0.0, 0.0, 0.0]
        assert "ignored friction without a friction_speed: joints 'k'" in part.notes
        with pytest.raises(ValueError, match="no joint or link named 'l'") as raised:
            dtau.from_mujoco(live, friction_speed={"l": 0.1})
        assert not isinstance(raised.value, dtau.ModelError)


V = (0.05, 0.1, 0.15, 0.2, 0.3, 0.9)  # at a speed of 0.01: 5 to 90 speeds


def slider(speed: float = 0.01) -> dtau.Model:
    rough = {"friction": 1.0, "friction_speed": speed}
    return lone(dtau.Prismatic((0, 0, 1)), gravity=(0, 0, 0), **rough)


@pytest.mark.parametrize("speed", V)
def test_slopes_of_saturated_friction_keep_their_digits(speed: float) -> None:
    """Far above the smoothing speed 1 - tanh^2 would cancel; 1 / cosh^2 does not."""
    model, x = slider(), speed / 0.01
    secant = 1.0 / np.cosh(x) ** 2
    d = dtau.inverse_dynamics_derivatives(model, [0.0], [speed], [0.0])
    np.testing.assert_allclose(d.dtau_dv[0, 0], secant / 0.01, rtol=1e-13)
    second = dtau.inverse_dynamics_second_derivatives(model, [0.0], [speed], [0.0])
    want = -2.0 * np.tanh(x) * secant / 0.01**2
    np.testing.assert_allclose(second.d2tau_dvdv[0, 0, 0], want, rtol=1e-13)
    d = dtau.forward_dynamics_derivatives(model, [0.0], [-speed], [0.0])
    np.testing.assert_allclose(d.da_dv[0, 0], -secant / 0.01, rtol=1e-13)


@pytest.mark.parametrize("speed", V)
def test_time_derivatives_of_saturated_friction_keep_their_digits(speed: float) -> None:
    """To order 8, against the series of 2 / (1 + e) - 1 in exponentials, at constant acceleration.

    With e = exp(-2 x(t)), tanh x - 1 is the sum over k > 0 of 2 (-1)^k e^k, each an exponential.
    """
    a, order = 10.0, 8
    rate, start = a / 0.01, speed / 0.01
    stack = np.zeros((order + 2, 1))
    stack[0], stack[1] = speed, a
    got = dtau.inverse_dynamics_time_derivatives(slider(), [0.0], stack)[:, 0]
    k = np.arange(1, 40)
    terms = 2.0 * (-1.0) ** k * np.exp(-2.0 * k * start)
    want = [(terms * (-2.0 * k * rate) ** n).sum() for n in range(1, order + 1)]
    np.testing.assert_allclose(got[1:], want, rtol=1e-11)


def test_the_least_friction_and_speed_have_finite_derivatives() -> None:
    rough = {"friction": 1e-300, "friction_speed": 1e-308}
    model = lone(dtau.Revolute((0, 0, 1)), gravity=(0, 0, 0), **rough)
    for v in (-1.0, 0.0, 1e-300, 1.0, 1e6):
        second = dtau.inverse_dynamics_second_derivatives(model, [0.0], [v], [0.0])
        assert second.d2tau_dvdv[0, 0, 0] == 0.0
        d = dtau.inverse_dynamics_derivatives(model, [0.0], [v], [0.0])
        assert np.isfinite(d.dtau_dv).all()
        series = dtau.inverse_dynamics_time_derivatives(model, [0.0], [[v], [1.0], [0.0]])
        assert np.isfinite(series).all() or v == 0.0  # at rest the torque's rate is above 1e307
