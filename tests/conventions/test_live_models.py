"""`dtau.from_pinocchio`, `dtau.from_mujoco`: models of other packages, as they are in memory."""

from __future__ import annotations

import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from mjcf_files import ROBOTS

import dtau

pin = pytest.importorskip("pinocchio")

AXIS = np.array([0.6, 0.0, 0.8])


def some_inertia(rng: np.random.Generator) -> Any:
    root = 0.2 * rng.normal(size=(3, 3))
    return pin.Inertia(
        rng.uniform(1, 2), 0.1 * rng.normal(size=3), np.sum(root**2) * np.eye(3) - root @ root.T
    )


def every_joint() -> Any:
    """A tree of all joints that both packages know: composite, continuous, mimic, of equal name."""
    rng = np.random.default_rng(0)
    pin.seed(1)
    leg = pin.JointModelComposite(pin.JointModelRX())
    leg.addJoint(pin.JointModelSpherical(), pin.SE3.Random())
    leg.addJoint(pin.JointModelRUBZ(), pin.SE3.Random())
    kinds = [
        *(pin.JointModelFreeFlyer(), pin.JointModelRX(), pin.JointModelRUBY()),
        *(pin.JointModelRevoluteUnaligned(AXIS), pin.JointModelPZ()),
        *(pin.JointModelPrismaticUnaligned(AXIS), pin.JointModelHX(0.3)),
        *(pin.JointModelHelicalUnaligned(AXIS, 0.2), pin.JointModelSpherical()),
        *(pin.JointModelSphericalZYX(), pin.JointModelTranslation(), pin.JointModelPlanar()),
        *(pin.JointModelUniversal(np.eye(3)[0], np.array([0.0, 0.6, 0.8])), leg),
    ]
    peer = pin.Model()
    peer.name = "all"
    peer.gravity.linear = np.array([1.0, 2.0, -9.0])
    made = [0]

    def add(parent: int, joint: Any, name: str) -> None:
        i = peer.addJoint(parent, joint, pin.SE3.Random(), name)
        peer.appendBodyToJoint(i, some_inertia(rng), pin.SE3.Random())
        made.append(i)

    for k, kind in enumerate(kinds):
        add(made[int(rng.integers(len(made)))] if k > 1 else k, kind, f"joint {k}")
    for k in (2, 3, 5, 6):
        add(3, pin.JointModelMimic(peer.joints[k], 1.5, 0.3), f"mimic of {k}")
    add(4, pin.JointModelRZ(), "joint 1")
    peer.armature = rng.uniform(0, 1, peer.nv)
    peer.damping = rng.uniform(0, 1, peer.nv)
    peer.addFrame(pin.Frame("tip", 5, 0, pin.SE3.Random(), pin.FrameType.OP_FRAME))
    peer.referenceConfigurations["neutral"] = pin.neutral(peer)
    return peer


def check(model: dtau.Model, peer: Any, posture: str) -> tuple[Any, Any]:
    """Torques, damping and a posture are the same; some states, ours and theirs."""
    convention, data = dtau.conventions.pinocchio(model, peer), peer.createData()
    ours = dtau.random_state(model, np.random.default_rng(2), (20,))
    theirs = convention.from_dtau(*ours)
    tau = dtau.inverse_dynamics(model, *ours) - model.damping * ours.v
    want = [pin.rnea(peer, data, *state) for state in zip(*theirs, strict=True)]
    got = convention.convert(tau, of="tau", at={"q": ours.q})
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-12 * np.abs(want).max())
    damping = convention.convert(model.damping, of="tau", at={"q": ours.q[0]})
    np.testing.assert_array_equal(damping, peer.damping)
    posed = convention.from_dtau(model.postures[posture]).q
    np.testing.assert_allclose(posed, peer.referenceConfigurations[posture], atol=1e-12)
    return ours, theirs


def test_every_joint_of_pinocchio() -> None:
    peer = every_joint()
    model, data = dtau.from_pinocchio(peer), peer.createData()
    ours, theirs = check(model, peer, "neutral")
    convention = dtau.conventions.pinocchio(model, peer)
    np.testing.assert_allclose(
        convention.convert(ours.v, of="tau", at={"q": ours.q}), theirs.v, atol=0
    )
    back = convention.from_dtau(*convention.to_dtau(*theirs))
    np.testing.assert_allclose(back.q, theirs.q, rtol=0, atol=1e-12)
    tips = dtau.frame_placements(model, ours.q, "tip").translation
    for q, place in zip(theirs.q, tips, strict=True):
        pin.framesForwardKinematics(peer, data, q)
        at = data.oMf[peer.getFrameId("tip")].translation
        np.testing.assert_allclose(place, at, atol=1e-12)
    assert pickle.loads(pickle.dumps(model)) == model == dtau.from_pinocchio(peer)


def test_a_helical_mimic_is_where_pinocchio_has_it() -> None:
    # Pinocchio 4.1 leaves the pitch out of this joint's velocity, so placements are compared
    peer = pin.Model()
    screw = peer.addJoint(0, pin.JointModelHX(0.3), pin.SE3.Random(), "screw")
    mimic = pin.JointModelMimic(peer.joints[screw], -1.5, 0.3)
    other = peer.addJoint(screw, mimic, pin.SE3.Random(), "other")
    peer.appendBodyToJoint(other, some_inertia(np.random.default_rng(1)), pin.SE3.Identity())
    model, data = dtau.from_pinocchio(peer), peer.createData()
    pin.forwardKinematics(peer, data, np.array([0.7]))
    place = dtau.frame_placements(model, [0.7], "other")
    np.testing.assert_allclose(place.translation, data.oMi[other].translation, atol=1e-12)
    np.testing.assert_allclose(place.rotation, data.oMi[other].rotation, atol=1e-12)


def test_a_urdf_by_way_of_pinocchio() -> None:
    text = dtau.robots.quadruped().to_urdf()
    peer = pin.buildModelFromXML(text, pin.JointModelFreeFlyer())
    model, loaded = dtau.from_pinocchio(peer), dtau.load(text, root="free")
    assert set(model.frames) == set(loaded.frames)
    assert {link.joint_name for link in model.links} == {link.joint_name for link in loaded.links}
    np.testing.assert_allclose(model.parameters, loaded.parameters, atol=1e-12)
    for name in ("lower_limits", "upper_limits", "velocity_limits", "effort_limits", "damping"):
        np.testing.assert_array_equal(getattr(model, name), getattr(loaded, name))


@pytest.mark.parametrize("there_and_back", [False, True])
def test_written_for_pinocchio(there_and_back: bool) -> None:
    rng = np.random.default_rng(4)
    builder = dtau.ModelBuilder("all", gravity=(1, 2, -9))
    kinds: list[dtau.JointType] = [
        *(dtau.Free(), dtau.Revolute((0, 0, 1)), dtau.Revolute(AXIS), dtau.Prismatic((0, -1, 0))),
        *(dtau.Helical(AXIS, 0.3), dtau.Cylindrical(AXIS), dtau.Universal(AXIS, (0, 1, 1))),
        *(dtau.Fixed(), dtau.Spherical(), dtau.Planar()),
    ]
    last = None
    for k, joint in enumerate(kinds):
        inertia = dtau.Inertia(rng.uniform(1, 2), rng.normal(size=3), np.eye(3))
        own = rng.uniform(size=joint.nv)
        numbers = {"armature": own, "damping": own} if joint.nv else {}
        place = dtau.Pose.exp(rng.normal(size=6))
        last = builder.add(
            joint, name=f"link {k}", parent=last, placement=place, inertia=inertia, **numbers
        )
    for k, sign in ((1, 1.0), (2, -1.0)):
        axis = sign * np.array(kinds[k].axis)  # type: ignore[attr-defined]
        builder.add(
            dtau.Revolute(axis),
            name=f"mimic {k}",
            parent="link 1",
            inertia=inertia,
            mimic=dtau.Mimic(f"link {k}", 1.5, 0.2),
        )
    model = builder.build()
    there = dtau.random_state(model, np.random.default_rng(5)).q
    by_joint = {joint.name: there[joint.q] for joint in model.joints if joint.mimic is None}
    postures = {"some": by_joint}
    model = dtau.Model("all", model.links, gravity=model.gravity, postures=postures)
    peer = model.to_pinocchio()
    if there_and_back:
        model = dtau.from_pinocchio(peer)
        assert set(model.frames) >= {f"link {k}" for k in range(len(kinds))}
    check(model, peer, "some")
    tilted = dtau.ModelBuilder("tilted")
    tilted.add(dtau.Planar((0, 1, 0)), name="sled", inertia=dtau.Inertia(1.0, tensor=np.eye(3)))
    with pytest.raises(ValueError, match=r"to_pinocchio: joint 'sled': expected the normal"):
        tilted.build().to_pinocchio()


def test_joints_that_a_model_cannot_have_are_named() -> None:
    peer = pin.Model()
    peer.addJoint(0, pin.JointModelEllipsoid(0.1, 0.2, 0.3), pin.SE3.Identity(), "hip")
    with pytest.raises(dtau.ModelError, match=r"joint 'hip': no joint .* JointModelEllipsoid"):
        dtau.from_pinocchio(peer)
    with pytest.raises(TypeError, match=r"pin_model: expected a pinocchio\.Model, got dtau\.Model"):
        dtau.from_pinocchio(dtau.robots.quadruped())
    spinning = every_joint()
    spinning.gravity.angular = np.ones(3)
    with pytest.raises(dtau.ModelError, match=r"pin_model\.gravity: expected no angular part"):
        dtau.from_pinocchio(spinning)


@pytest.mark.parametrize("name", ROBOTS)
def test_mujoco_from_memory(name: str) -> None:
    mujoco = pytest.importorskip("mujoco")
    mj_model = mujoco.MjModel.from_xml_string(ROBOTS[name])
    mj_model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT  # limits, contacts
    assert dtau.from_mujoco(mj_model) == dtau.load(ROBOTS[name])
    hinges = mj_model.jnt_dofadr[mj_model.jnt_type == mujoco.mjtJoint.mjJNT_HINGE]
    mj_model.dof_armature[hinges] = 0.25
    model = dtau.from_mujoco(mj_model)
    convention = dtau.conventions.mujoco(model, mj_model)
    ours = dtau.random_state(model, np.random.default_rng(3))
    theirs, data = convention.from_dtau(*ours), mujoco.MjData(mj_model)
    data.qpos[:], data.qvel[:], data.qacc[:] = theirs
    mujoco.mj_inverse(mj_model, data)
    tau = convention.convert(dtau.inverse_dynamics(model, *ours), of="tau", at={"q": ours.q})
    np.testing.assert_allclose(tau, data.qfrc_inverse, rtol=0, atol=1e-12 * np.abs(tau).max())


_ODD_INTEGERS = """
import dtau, mujoco, numpy as np, sys, warnings
warnings.simplefilter("ignore")
m = mujoco.MjModel.from_xml_string(sys.argv[1])
arrays = [
    name for name in dir(m) if not name.startswith("_")
    and isinstance(getattr(m, name), np.ndarray) and getattr(m, name).dtype.kind in "iu"
]
for name in arrays:
    x = getattr(m, name)
    for at in {0, x.size // 2, x.size - 1} if x.size else ():
        for value in (-1, 2**31 - 1, -(2**31), 1000):
            before = x.flat[at]
            x.flat[at] = np.array(value).astype(x.dtype)
            print(name, at, value, end=" ", flush=True)
            for make in (
                lambda: dtau.from_mujoco(m, mimic="exact"),
                lambda: dtau.conventions.mujoco(model, m) if "model" in globals() else None,
            ):
                try:
                    make()
                    print("made", end=" ", flush=True)
                except (dtau.ModelError, ValueError) as error:
                    assert str(error).startswith("mj_model"), error
                    print("refused", end=" ", flush=True)
            x.flat[at] = before
            print(flush=True)
    model = dtau.from_mujoco(m, mimic="exact")
"""


def test_odd_integers_of_mujoco_are_refused_or_mean_nothing() -> None:
    """Anyone may write a live model: the process must not end, nor an IndexError escape."""
    pytest.importorskip("mujoco")
    xml = """<mujoco><worldbody><body name="base"><freejoint/><geom size=".1"/>
    <body name="arm"><joint name="a" stiffness="1" damping="1" frictionloss=".1" range="-1 1"/>
    <geom size=".1" pos=".1 0 0"/><site name="s"/></body>
    <body name="leg"><joint name="b" type="ball"/><geom size=".1" pos=".1 0 0"/></body>
    </body><body mocap="true"><site name="t"/></body></worldbody>
    <tendon><fixed name="f"><joint joint="a" coef="1"/></fixed></tendon>
    <actuator><motor name="u" joint="a"/><motor name="w" tendon="f"/></actuator>
    <equality><joint name="e" joint1="a"/><connect name="c" body1="arm" body2="leg" anchor="0 0 0"/>
    <weld name="v" site1="s" site2="t"/></equality>
    <keyframe><key name="k"/></keyframe></mujoco>"""
    child = subprocess.run(
        [sys.executable, "-c", _ODD_INTEGERS, xml], capture_output=True, text=True, check=False
    )
    lines = child.stdout.splitlines()
    assert child.returncode == 0, (child.returncode, lines[-1:], child.stderr[-2000:])
    refused = {line.split()[0] for line in lines if line.split()[3] == "refused"}
    assert len(lines) > 800, len(lines)
    assert refused >= {
        *("body_parentid", "body_weldid", "body_jntnum", "body_jntadr", "jnt_type", "jnt_bodyid"),
        *("jnt_qposadr", "jnt_dofadr", "dof_jntid", "site_bodyid", "eq_type", "eq_obj1id"),
        *("eq_obj2id", "eq_objtype", "actuator_trnid", "name_bodyadr", "name_jntadr"),
        *("name_siteadr", "name_eqadr", "name_keyadr", "name_tendonadr", "name_actuatoradr"),
    }


def test_files_are_no_models_in_memory() -> None:
    pytest.importorskip("mujoco")
    with pytest.raises(TypeError, match=r"expected a mujoco\.MjModel, got str; dtau\.load reads"):
        dtau.from_mujoco(ROBOTS["ball joints"])
