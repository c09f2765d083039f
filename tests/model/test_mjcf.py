"""Reading MJCF: the robot that MuJoCo has of a file, and what is said to be left out."""

from __future__ import annotations

import os
import re
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cases import random_state
from compare import TOLERANCE, assert_close
from mjcf_files import GANTRY, ROBOTS, SHOULDER, WALKER
from mujoco_pair import Peer, check_derivatives, check_values

import dtau

mujoco = pytest.importorskip("mujoco")

GEOM = '<geom size="0.1"/>'


def compiled(text: str) -> Any:
    """MuJoCo's model without what only its constraint solver adds."""
    mj_model = mujoco.MjModel.from_xml_string(text)
    mj_model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    return mj_model


def mjcf(worldbody: str, *others: str) -> str:
    compiler = '<compiler angle="radian"/>'
    return f"<mujoco>{compiler}<worldbody>{worldbody}</worldbody>{''.join(others)}</mujoco>"


def arm(joint: str = '<joint name="j" axis="0 1 0"/>', *others: str, more: str = "") -> str:
    return mjcf(f'<body name="b">{joint}<geom size="0.1" pos="0 0 1"/>{more}</body>', *others)


TWO = """<body name="a"><joint name="x" axis="0 1 0" ref="0.2"/><geom size="0.1" pos="0 0 1"/>
<body name="b" pos="0 0 1"><joint name="y" axis="0 1 0" ref="-0.3"/>
<geom size="0.1" pos="0 0 1"/></body></body>"""


class TestAgainstMujoco:
    @pytest.mark.parametrize("robot", ROBOTS)
    def test_values(self, robot: str) -> None:
        """Torques, accelerations, mass matrix, bias, wrenches."""
        check_values(dtau.load(ROBOTS[robot]), compiled(ROBOTS[robot]), 1)

    @pytest.mark.parametrize("robot", ROBOTS)
    def test_derivatives(self, robot: str) -> None:
        check_derivatives(dtau.load(ROBOTS[robot]), compiled(ROBOTS[robot]), 2)

    @pytest.mark.parametrize("text", [GANTRY, SHOULDER], ids=["gantry", "shoulder"])
    def test_transitions(self, text: str) -> None:
        """A and B of a step, beside mjd_transitionFD; a free base moves otherwise in its steps."""
        model, mj_model = dtau.load(text), compiled(text)
        mj_model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_EULERDAMP
        convention, data = dtau.conventions.mujoco(model, mj_model), mujoco.MjData(mj_model)
        s = random_state(model, 3)
        data.qpos[:], data.qvel[:], _ = convention.from_dtau(s["q"], s["v"], s["a"])
        data.qfrc_applied[:] = convention.convert(s["tau"], of="tau", at={"q": s["q"]})
        theirs = np.zeros((2 * model.nv, 2 * model.nv))
        mujoco.mjd_transitionFD(mj_model, data, 1e-6, True, theirs, None, None, None)
        lin = dtau.linearize_discrete(
            model, s["q"], s["v"], s["tau"], mj_model.opt.timestep, "semi_implicit"
        )
        got = convention.convert(lin, at={"q": s["q"], "v": s["v"], "inputs": None}).A
        assert_close(got, theirs, 1e-7, "A")  # its differences have a step of 1e-6

    @pytest.mark.parametrize("robot", ROBOTS)
    def test_frames(self, robot: str) -> None:
        model, mj_model = dtau.load(ROBOTS[robot]), compiled(ROBOTS[robot])
        s, peer = random_state(model, 4), Peer(mj_model)
        peer.forward(*dtau.conventions.mujoco(model, mj_model).from_dtau(s["q"], s["v"], s["a"]))
        places = [peer.data.body(i) for i in range(1, mj_model.nbody)]
        places += [peer.data.site(i) for i in range(mj_model.nsite)]
        places = [place for place in places if place.name]
        assert len(places) >= 4
        pose = dtau.frame_placements(model, s["q"], [place.name for place in places])
        for i, place in enumerate(places):
            matrix = np.reshape(place.xmat, (3, 3))
            assert_close(pose.rotation[i], matrix, TOLERANCE["mujoco"], place.name)
            assert_close(pose.translation[i], place.xpos, TOLERANCE["mujoco"], place.name)

    def test_masses(self) -> None:
        for text in ROBOTS.values():
            model, mj_model = dtau.load(text), compiled(text)
            moving = mj_model.body_weldid != 0
            assert model.mass == pytest.approx(mj_model.body_mass[moving].sum(), rel=1e-14)

    def test_coordinates_are_those_of_qpos(self) -> None:
        """The ref of a joint included, and in MuJoCo's order."""
        model, mj_model = dtau.load(GANTRY), compiled(GANTRY)
        assert mj_model.qpos0.any()
        q = np.random.default_rng(5).uniform(-1, 1, model.nq)
        v = np.random.default_rng(6).uniform(-1, 1, model.nv)
        assert dtau.conventions.mujoco(model, mj_model).from_dtau(q).q.tolist() == q.tolist()
        torque = Peer(mj_model).inverse(q, v, np.zeros(model.nv))
        assert_close(dtau.bias_torque(model, q, v), torque, TOLERANCE["mujoco"])

    def test_a_model_of_other_making_has_the_ref_in_its_coordinates(self) -> None:
        joint = '<joint name="j" axis="0 1 0" pos="0 0 0.5" ref="0.7"/>'
        mj_model = compiled(mjcf(f'<body pos="1 0 2" euler="0.1 0 0">{joint}{GEOM}</body>'))
        model = dtau.load(mjcf(f'<body pos="1 0 2" euler="0.1 0 0">{joint}{GEOM}</body>'))
        convention = dtau.conventions.mujoco(model, mj_model)
        assert convention.from_dtau([0.25]).q.tolist() == [0.25]
        builder = dtau.ModelBuilder("without ref")
        placement = dtau.Pose.from_rpy((0.1, 0, 0), (1, 0, 2)) @ dtau.Pose(translation=(0, 0, 0.5))
        inertia = dtau.Inertia(1.0, (0, 0, -0.5), np.eye(3))
        builder.add(dtau.Revolute((0, 1, 0)), name="j", placement=placement, inertia=inertia)
        convention = dtau.conventions.mujoco(builder.build(), mj_model)
        assert convention.from_dtau([0.25]).q.tolist() == [0.95]


class TestMeaning:
    def test_names_and_order(self) -> None:
        model = dtau.load(GANTRY)
        assert model.name == "gantry"
        assert [joint.name for joint in model.joints] == (
            ["x", "y", "turn", "tilt", "elbow", "arm_joint_2", "body_5_joint", "a"]
        )
        # A body that turns about its own origin has its name; others have the joint's.
        assert model.bodies == ("x", "y", "turn", "tilt", "elbow", "arm", "body_5_joint", "Second")
        frame = model.frame("carriage")
        assert model.bodies[frame.body] == "tilt"
        assert frame.placement.translation.tolist() == [0, 0.1, -0.05]
        assert model.frame("origin").body == model.frame("rail").body == -1
        assert "body_5" in model.frames

    def test_an_axis_through_the_origin(self) -> None:
        model = dtau.load(arm('<joint name="j" axis="0 0.6 0.8" pos="0 -3 -4"/>'))
        assert model.bodies == ("b",)
        assert not model.joint("j").placement.translation.any()

    def test_children_in_file_order(self) -> None:
        right = ["right_hip_x", "right_hip_y", "right_knee"]
        names = [joint.name for joint in dtau.load(WALKER).joints]
        assert names == ["trunk_joint", *right, "left_hip_x", "left_hip_y", "rolling"]

    def test_names_that_clash(self) -> None:
        body = '<body name="{}"><joint name="b" pos="1 0 0"/>' + GEOM + '<site name="a"/>{}</body>'
        model = dtau.load(mjcf(body.format("b", "")))
        assert model.bodies == ("b_",)
        assert model.frames == ("b_", "b", "a")
        inner = f'<body name="a"><joint/><joint type="slide"/>{GEOM}</body>'
        model = dtau.load(mjcf(body.format("a_joint_1", inner)))
        assert model.frames == ("b", "a_joint_1", "a_", "a_joint_1_", "a")
        assert [joint.name for joint in model.joints] == ["b", "a_joint_1", "a_joint_2"]

    @pytest.mark.parametrize("off", [True, False], ids=["with a link", "without"])
    def test_a_site_and_a_joint_of_one_name(self, off: bool) -> None:
        """The frame is the site, wherever the joint is; notes say which frame is which."""
        joint = f'<joint name="tip" axis="0 1 0" pos="0 0 {0.3 * off}"/>'
        sites = '<site name="tip" pos="1 2 3"/><site name="tip_" pos="4 5 6"/>'
        model = dtau.load(arm(joint, more=sites))
        where = {"tip": (1, 2, 3), "tip_": (4, 5, 6)}
        for name, place in where.items():
            found = dtau.frame_placements(model, [0.0], [name]).translation[0]
            assert_close(found, np.array(place, dtype=float), TOLERANCE["rounding"])
        assert model.joint("tip").type == dtau.Revolute((0, 1, 0))
        renamed = [note for note in model.notes if note.startswith("frames renamed")]
        said = "frames renamed, since others have their names: 'tip__' is the link of joint 'tip'"
        assert renamed == [said] * off
        assert model.frames == (("tip__", "b") if off else ("b",)) + ("tip", "tip_")
        assert len({link.joint_name for link in model.links}) == len(model.links)

    def test_a_site_and_a_body_of_one_name(self) -> None:
        model = dtau.load(arm(more='<site name="b" pos="1 2 3"/><site name="b_"/>'))
        assert model.frames == ("b", "b__", "b_")
        assert "frames renamed, since others have their names: 'b__' is the site 'b'" in model.notes
        found = dtau.frame_placements(model, [0.0], ["b__"]).translation[0]
        assert_close(found, np.array([1.0, 2.0, 3.0]), TOLERANCE["rounding"])

    def test_numbers_of_a_joint(self) -> None:
        joint = '<joint name="j" axis="0 2 0" damping="0.3" armature="0.1" {}/>'
        ranges = 'range="-1 2" actuatorfrcrange="-4 3" ref="0.5"'
        motor = '<actuator><motor joint="j" gear="3" armature="0.5" damping="0.2"/></actuator>'
        model = dtau.load(arm(joint.format(ranges), motor))
        assert model.joint("j").type == dtau.Revolute((0, 1, 0))
        assert model.joint("j").limits == dtau.Limits(-1, 2, effort=4)
        assert_close(model.damping, np.array([0.3 + 9 * 0.2]), TOLERANCE["rounding"])
        assert_close(model.armature, np.array([0.1 + 9 * 0.5]), TOLERANCE["rounding"])
        assert dtau.load(arm(joint.format("limited='false' range='-1 2'"))).joint("j").limits == (
            dtau.Limits()
        )

    @pytest.mark.parametrize(
        ("actuators", "joint", "effort"),
        [
            ('<motor joint="j" gear="3" ctrlrange="-1 2"/>', "", 6.0),
            ('<motor joint="j" gear="-3" ctrlrange="-1 2" forcerange="-1 1.5"/>', "", 4.5),
            ('<motor joint="j" gear="3" ctrlrange="-9 9" forcerange="-1 2"/>', "", 6.0),
            ('<position joint="j" kp="5" gear="2" forcerange="-3 4"/>', "", 8.0),
            ('<motor joint="j" ctrlrange="-1 1"/><motor joint="j" ctrlrange="-2 0"/>', "", 3.0),
            ('<general joint="j" gainprm="4" ctrlrange="0 1" dyntype="filter"/>', "", 4.0),
            ('<general joint="j" ctrlrange="0 1" dyntype="integrator"/>', "", np.inf),
            ('<motor joint="j" ctrlrange="-9 9"/>', 'actuatorfrcrange="-4 3"', 4.0),
            ('<motor joint="j" ctrlrange="-9 9"/><motor joint="j"/>', "", np.inf),
            ('<position joint="j" kp="5" ctrlrange="-1 1"/>', "", np.inf),
        ],
    )
    def test_effort_limits_of_actuators(self, actuators: str, joint: str, effort: float) -> None:
        text = arm(f'<joint name="j" {joint}/>', f"<actuator>{actuators}</actuator>")
        assert dtau.load(text).effort_limits.tolist() == [effort]

    def test_effort_limits_are_the_largest_forces_of_mujoco(self) -> None:
        mujoco = pytest.importorskip("mujoco")
        actuators = (
            '<motor joint="j" gear="3" ctrlrange="-1 2"/>'
            '<position joint="j" kp="50" gear="-2" forcerange="-3 4"/>'
        )
        text = arm('<joint name="j"/>', f"<actuator>{actuators}</actuator>")
        m = mujoco.MjModel.from_xml_string(text)
        data, forces = mujoco.MjData(m), []
        for ctrl in np.random.default_rng(0).uniform(-9, 9, (50, 2)):
            data.ctrl[:] = ctrl
            mujoco.mj_forward(m, data)
            forces.append(abs(float(data.qfrc_actuator[0])))
        assert max(forces) == pytest.approx(dtau.load(text).effort_limits[0]) == 12.0

    @pytest.mark.filterwarnings("error")
    def test_springs(self) -> None:
        """Their torque is MuJoCo's, on hinges and slides, with any ref."""
        numbers = 'stiffness="0.75" springref="40" ref="20" damping="0.5"'
        joints = f'<joint axis="0 1 0" {numbers}/><joint type="slide" axis="1 0 0" {numbers}/>'
        text = arm(joints)
        mj_model = mujoco.MjModel.from_xml_string(text)
        model, data = dtau.load(text), mujoco.MjData(mj_model)
        assert model.stiffness.tolist() == [0.75, 0.75]
        assert_close(model.rest_position, mj_model.qpos_spring, TOLERANCE["rounding"])
        data.qpos[:], data.qvel[:] = (0.3, -0.7), (1.0, -2.0)
        mujoco.mj_forward(mj_model, data)
        plain = model.replace(stiffness=0.0, damping=0.0)
        point = data.qpos, data.qvel
        torque = dtau.bias_torque(model, *point) - dtau.bias_torque(plain, *point)
        assert_close(torque, -data.qfrc_passive, TOLERANCE["identity"], "torque", floor=100.0)
        mj_model.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
        mujoco.mj_energyPos(mj_model, data)
        energy = dtau.potential_energy(model, data.qpos)
        assert_close(energy, data.energy[0], TOLERANCE["identity"], "energy", floor=100.0)
        off = '<option><flag spring="disable"/></option>'
        try:
            mujoco.MjModel.from_xml_string(arm(joints, off))
        except ValueError:
            off = '<option><flag passive="disable"/></option>'
        assert not dtau.load(arm(joints, off)).stiffness.any()
        assert dtau.load(text, stiffness=5.0).stiffness.tolist() == [5.0, 5.0]

    def test_gravity(self) -> None:
        assert dtau.load(arm()).gravity.tolist() == [0, 0, -9.81]
        assert dtau.load(GANTRY).gravity.tolist() == [0.5, -1, -9]
        assert dtau.load(GANTRY, gravity=(1, 2, 3)).gravity.tolist() == [1, 2, 3]
        off = '<option><flag gravity="disable"/></option>'
        assert dtau.load(arm("<joint/>", off)).gravity.tolist() == [0, 0, 0]

    def test_damping_that_is_switched_off(self) -> None:
        known = 0
        for flag in ("damper", "passive"):
            text = arm('<joint damping="1"/>', f'<option><flag {flag}="disable"/></option>')
            try:
                mujoco.MjModel.from_xml_string(text)
            except ValueError:  # newer versions have one flag, older ones the other
                continue
            known += 1
            assert not dtau.load(text).damping.any()
        assert known

    def test_root(self) -> None:
        assert isinstance(dtau.load(WALKER).joints[0].type, dtau.Free)
        free = mjcf(f'<body name="b"><freejoint/>{GEOM}</body>')
        assert dtau.load(free, root="free") == dtau.load(free)
        assert dtau.load(GANTRY, root="fixed") == dtau.load(GANTRY)
        with pytest.raises(dtau.ModelError, match=r"root: 'fixed' .* body 'b' has a free joint"):
            dtau.load(free, root="fixed")
        with pytest.raises(dtau.ModelError, match=r"root: 'free' .* body 'rail' has no <freejoint"):
            dtau.load(GANTRY, root="free")

    def test_lock(self) -> None:
        model = dtau.load(SHOULDER)
        assert model.lock({"slip": 0.1}).nv == model.nv - 1

    def test_notes(self) -> None:
        assert dtau.load(GANTRY).notes == (
            "ignored actuators: 1",
            "ignored geoms (except the inertias that MuJoCo made of them): 7",
            "ignored sites without a name: 1",
            "link 'rail' is fixed to the world: its inertia has no effect",
        )
        ball = '<joint name="j" type="ball" range="0 1"/>'
        key = '<keyframe><key qpos="1 0 0 0"/><key name="spin" qvel="0 1 0"/></keyframe>'
        notes = dtau.load(arm(ball, key)).notes
        assert "ignored ranges of ball joints: 'j'" in notes
        assert "ignored velocities, activations and controls of keyframes: 'spin'" in notes
        still = dtau.load(arm().replace("<body", f'<body name="m" mocap="true">{GEOM}</body><body'))
        assert any("mocap bodies" in note and "'m'" in note for note in still.notes)


class TestMimics:
    EQUALITY = '<equality><joint joint1="y" joint2="x" polycoef="0.4 -2 0 0 0"/></equality>'

    def test_exact_mimic_follows_the_equality(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model = dtau.load(mjcf(TWO, self.EQUALITY), mimic="exact")
        assert model.nq == model.nv == 1
        whole = dtau.load(mjcf(TWO))
        x = 0.7
        y = -0.3 + 0.4 - 2 * (x - 0.2)  # as MuJoCo's documentation has it
        got = dtau.frame_placements(model, [x], ["b"])
        want = dtau.frame_placements(whole, [x, y], ["b"])
        assert_close(got.rotation, want.rotation, TOLERANCE["rounding"])
        along = np.array([1.0, -2.0])
        mass = np.array([[along @ dtau.mass_matrix(whole, [x, y]) @ along]])
        assert_close(dtau.mass_matrix(model, [x]), mass, TOLERANCE["short sums"])

    def test_independent(self) -> None:
        pattern = r"joints that mimic others load as independent joints .*: y$"
        with pytest.warns(dtau.ModelWarning, match=pattern) as caught:
            assert dtau.load(mjcf(TWO, self.EQUALITY)).nv == 2
        assert [warning.filename for warning in caught] == [__file__]

    @pytest.mark.parametrize(
        "equality",
        [
            '<joint name="e" joint1="y" joint2="x" polycoef="0 1 0.5 0 0"/>',
            '<joint name="e" joint1="y"/>',
            '<joint name="e" joint1="y" joint2="x" polycoef="1 0 0 0 0"/>',
        ],
    )
    def test_others_are_not_carried(self, equality: str) -> None:
        text = mjcf(TWO, f"<equality>{equality}</equality>")
        with pytest.warns(dtau.ModelWarning, match=r"equalities \(joint\) 'e'"):
            assert dtau.load(text, mimic="exact").nv == 2

    def test_switched_off(self) -> None:
        off = self.EQUALITY.replace("<joint", '<joint active="false"')
        flag = '<option><flag equality="disable"/></option>'
        for text in (mjcf(TWO, off), mjcf(TWO, self.EQUALITY, flag)):
            assert dtau.load(text, mimic="exact").nv == 2

    def test_a_cycle(self) -> None:
        other = '<joint joint1="x" joint2="y"/></equality>'
        text = mjcf(TWO, self.EQUALITY.replace("</equality>", other))
        with pytest.raises(dtau.ModelError, match="XML text: joints mimic each other in a cycle"):
            dtau.load(text, mimic="exact")


LINE = '<tendon><fixed name="t" {}><joint joint="j" coef="1"/></fixed></tendon>'
# A file, and what of it is said to have no place in a model.
UNCARRIED = {
    "spring": (arm('<joint name="j" type="free" stiffness="2"/>'), "springs of joints 'j'"),
    "friction": (
        arm('<joint name="j" frictionloss="2"/>'),
        "friction loss (friction_speed= smooths and includes it) of joints 'j'",
    ),
    "tendon": (arm('<joint name="j"/>', LINE.format('stiffness="1"')), "tendons 't'"),
    "tendon armature": (arm('<joint name="j"/>', LINE.format('armature="1"')), "tendons 't'"),
    "actuator": (
        arm(
            '<joint name="j"/>',
            LINE.format(""),
            '<actuator><motor name="m" tendon="t" damping="1"/></actuator>',
        ),
        "armature or damping of actuators 'm'",
    ),
    "connect": (
        arm("<joint/>", '<equality><connect body1="b" anchor="0 0 0"/></equality>'),
        "equalities (connect; dtau.load_mechanism makes loops of them) 'number 0'",
    ),
    "weld": (
        arm("<joint/>", '<equality><weld name="w" body1="b"/></equality>'),
        "equalities (weld; dtau.load_mechanism makes loops of them) 'w'",
    ),
    "gravity compensation": (
        arm().replace('name="b"', 'name="b" gravcomp="1"'),
        "gravity compensation of bodies 'b'",
    ),
    "fluid": (arm("<joint/>", '<option density="1.2"/>'), "a medium with 'density'"),
    "free armature": (
        mjcf(f'<body><joint name="j" type="free" armature="1"/>{GEOM}</body>'),
        "armature of free joints, along the world's axes 'j'",
    ),
    "free friction": (
        mjcf(f'<body><joint name="j" type="free" frictionloss="1"/>{GEOM}</body>'),
        "friction loss of free joints, along the world's axes 'j'",
    ),
}


class TestWhatIsNotCarried:
    @pytest.mark.parametrize("case", UNCARRIED)
    def test_named_in_a_warning(self, case: str) -> None:
        text, said = UNCARRIED[case]
        with pytest.warns(dtau.ModelWarning) as caught:
            dtau.load(text)
        (warning,) = caught
        wanted = f"what acts in MuJoCo and is no part of this model: {said}"
        assert str(warning.message) == wanted
        assert warning.filename == __file__

    def test_free_joints_along_the_worlds_axes(self) -> None:
        """The warning names all that is left out: torques are MuJoCo's without these numbers."""
        box = '<geom type="box" size="0.1 0.2 0.3" pos="0.2 0.1 0"/>'
        body = f'<body euler="1 2 3"><joint name="j" type="free" {{}}/>{box}</body>'
        full = mjcf(body.format('armature=".5" damping=".3" frictionloss=".2"'))
        bare = mjcf(body.format('damping=".3"'))
        live = mujoco.MjModel.from_xml_string(full)
        live.dof_damping[:] = 0.3
        uneven = mujoco.MjModel.from_xml_string(mjcf(body.format("")))
        uneven.dof_damping[:] = 0.0, 0.1, 0.0, 0.3, 0.2, 0.1
        still = mujoco.MjModel.from_xml_string(mjcf(body.format("")))
        turning = mujoco.MjModel.from_xml_string(mjcf(body.format("")))
        turning.dof_damping[:] = 0.4, 0.4, 0.4, 0.3, 0.2, 0.1  # along axes of the body: carried
        damped = mujoco.MjModel.from_xml_string(bare)
        uncarried = "damping that differs by the world's axes, of free joints 'j'"
        cases = (
            (lambda: dtau.load(full), damped, "armature of free .*'j'; friction loss (.*) 'j'"),
            (lambda: dtau.load(full, friction_speed=0.1), damped, "friction loss of free .*'j'"),
            (lambda: dtau.from_mujoco(live), damped, "armature of free joints, .*'j'; friction"),
            (lambda: dtau.from_mujoco(uneven), still, uncarried),
            (lambda: dtau.from_mujoco(turning), turning, ""),
        )
        for load, like, said in cases:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                model = load()
            assert len(caught) == (said != "")
            assert re.search(said, "".join(str(each.message) for each in caught))
            assert not model.armature.any()
            assert not model.friction.any()
            data, convention = mujoco.MjData(like), dtau.conventions.mujoco(model, like)
            q, v, a = dtau.random_state(model, np.random.default_rng(0))
            data.qpos[:], data.qvel[:], data.qacc[:] = convention.from_dtau(q, v, a)
            mujoco.mj_inverse(like, data)
            tau = convention.convert(dtau.inverse_dynamics(model, q, v, a), of="tau", at={"q": q})
            np.testing.assert_allclose(tau, data.qfrc_inverse, rtol=0, atol=1e-10)

    def test_all_ignored_forces_are_in_one_warning(self) -> None:
        text = arm('<joint name="j" frictionloss="2"/>', LINE.format('stiffness="1"'))
        free = f'<body><joint name="k" type="free" stiffness="1"/>{GEOM}</body></worldbody>'
        with pytest.warns(dtau.ModelWarning) as caught:
            dtau.load(text.replace("</worldbody>", free))
        (warning,) = caught
        for said in ("springs of joints 'k'", "includes it) of joints 'j'", "tendons 't'"):
            assert said in str(warning.message)

    def test_damping_that_is_not_linear(self) -> None:
        text = arm('<joint name="j" damping="1 2 3"/>')
        try:
            mujoco.MjModel.from_xml_string(text)
        except ValueError:
            pytest.skip("an older MuJoCo")
        with pytest.warns(dtau.ModelWarning, match="damping that is not linear, of joints 'j'"):
            assert dtau.load(text).damping.tolist() == [1]

    @pytest.mark.filterwarnings("error")
    def test_elements_without_force_do_not_warn(self) -> None:
        """Limits, contacts, tendons that only measure, what is switched off."""
        for text in ROBOTS.values():
            dtau.load(text)
        dtau.load(arm('<joint name="j" range="0 1" springref="1"/>', LINE.format('range="0 1"')))
        off = '<option><flag constraint="disable"/></option>'
        weld = '<equality><weld body1="b"/></equality>'
        dtau.load(arm('<joint frictionloss="1"/>', off, weld))


MESH = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n"


class TestFiles:
    def write(self, folder: Path, name: str = "robot.xml") -> Path:
        (folder / "parts").mkdir()
        (folder / "parts/arm.xml").write_text(
            '<mujoco><worldbody><body name="b"><joint name="j"/><geom type="mesh" mesh="m"/></body>'
            "</worldbody></mujoco>"
        )
        (folder / "parts/m.obj").write_text(MESH)
        path = folder / name
        path.write_text(
            '<?xml version="1.0"?><!-- robot -->\n<mujoco model="made of parts">\n'
            '<compiler meshdir="parts"/><asset><mesh name="m" file="m.obj"/></asset>\n'
            '<include file="parts/arm.xml"/></mujoco>'
        )
        return path

    @pytest.mark.parametrize("name", ["robot.xml", "robot.mjcf", "robot", "robot.urdf"])
    def test_files_it_names_are_found_beside_it(
        self, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = self.write(tmp_path, name)
        for folder in (Path.cwd(), tmp_path):
            monkeypatch.chdir(folder)
            model = dtau.load(os.path.relpath(path))
            assert model.mass == pytest.approx(1000 / 6)  # a tetrahedron of water
            assert dtau.load(path) == model

    def test_a_missing_mesh(self, tmp_path: Path) -> None:
        path = self.write(tmp_path)
        (tmp_path / "parts/m.obj").unlink()
        with pytest.raises(dtau.ModelError, match=r"robot.xml: MuJoCo: .*m\.obj"):
            dtau.load(path)

    def test_reading_an_mjcf_writes_and_prints_nothing(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.chdir(tmp_path)
        before = mujoco.get_mju_user_warning()
        text = arm().replace('angle="radian"', 'angle="radian" settotalmass="2"')
        notes = dtau.load(text).notes
        if any(note.startswith("MuJoCo: ") for note in notes):
            assert any("settotalmass" in note for note in notes)
        assert not list(tmp_path.iterdir())
        assert capfd.readouterr() == ("", "")
        assert mujoco.get_mju_user_warning() is before

    def test_without_mujoco(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "mujoco", None)
        with pytest.raises(dtau.ModelError, match=r"XML text: .* pip install mujoco-core"):
            dtau.load(arm())

    def test_size(self, tmp_path: Path) -> None:
        with pytest.raises(dtau.ModelError, match="at most 100 bytes"):
            dtau.load(self.write(tmp_path), max_size=100)


BAD = {
    "not well formed": ("<mujoco><worldbody>", "MuJoCo: XML parse error"),
    "unknown element": ("<mujoco><robot/></mujoco>", "unrecognized element"),
    "no mass": (mjcf("<body><joint/></body>"), "mass and inertia of moving bodies"),
    "nothing moves": (
        mjcf(GEOM),
        "expected a joint that moves, got none; a <freejoint/> in a body",
    ),
    "not a number": (arm('<joint name="j" pos="nan 0 0"/>'), "translation: expected finite"),
    "negative armature": (arm('<joint name="j" armature="-1"/>'), "joint 'j': armature: expected"),
    "include": ('<mujoco><include file="/etc/passwd"/></mujoco>', "Include error"),
    "endless include": ('<mujoco><include file="/dev/zero"/></mujoco>', "MuJoCo: "),
    "document type": ("<!DOCTYPE mujoco><mujoco/>", "got a document type declaration"),
    "huge mass": (mjcf('<body><joint/><geom size="1e99"/></body>'), "inertia"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files(case: str) -> None:
    text, message = BAD[case]
    with pytest.raises(dtau.ModelError, match=f"^XML text.*{re.escape(message)}") as caught:
        dtau.load(text)
    assert "root:" not in str(caught.value)  # of /etc/passwd


def test_a_chain_deeper_than_other_formats_nest() -> None:
    text = mjcf(f'<body pos="0 0 1"><joint axis="1 0 0"/>{GEOM}' * 120 + "</body>" * 120)
    assert dtau.load(text).nv == 120
