"""Loops of MJCF: their rows beside MuJoCo's, row by row, and what is made of each equality."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from compare import TOLERANCE, assert_close
from contact_oracle import pieces, sides
from trees import Array

import dtau

mujoco = pytest.importorskip("mujoco")

# Bodies on one branch and on others, a free one, a ball, one that is fixed to the world; and
# equalities of all of them, by anchors, poses and sites.
ROBOT = """<mujoco model="closed">
  <worldbody>
    <site name="hook" pos="0.1 0.2 2" euler="10 20 30"/>
    <body name="wall" pos="0 1 0.5" euler="0 0 40">
      <geom size="0.1"/>
      <site name="on wall" pos="0.1 0 0" euler="0 50 0"/>
    </body>
    <body name="upper" pos="0 0 1">
      <joint name="shoulder" axis="0 1 0.2" ref="20"/>
      <geom type="capsule" size="0.05" fromto="0 0 0 0.5 0 0"/>
      <body name="fore" pos="0.5 0 0" euler="0 10 0">
        <joint name="elbow" axis="0 1 0" pos="0 0 0.1" ref="-30"/>
        <geom type="capsule" size="0.04" fromto="0 0 0 0.4 0 0"/>
        <body name="plate" pos="0.4 0 0">
          <geom size="0.05"/>
          <site name="on plate" pos="0.1 0.2 0" euler="20 0 30"/>
        </body>
      </body>
    </body>
    <body name="ball" pos="0.3 0.5 1" euler="30 0 0">
      <joint name="ball" type="ball"/>
      <geom type="box" size="0.1 0.2 0.3" pos="0.2 0 0"/>
    </body>
    <body name="drone" pos="-0.5 0 1" euler="0 0 20">
      <freejoint name="flies"/>
      <geom type="box" size="0.2 0.2 0.1"/>
      <site name="on drone" pos="0 0.1 0.1" euler="0 0 70"/>
    </body>
  </worldbody>
  <equality>
    <connect name="point" body1="fore" body2="ball" anchor="0.1 0.2 0.3"/>
    <connect name="held" body1="fore" anchor="0.1 0.2 0.3"/>
    <connect name="other way" body1="wall" body2="drone" anchor="0.1 0.2 0.3"/>
    <connect name="sites" site1="on drone" site2="on plate"/>
    <connect name="hooked" site1="hook" site2="on drone"/>
    <weld name="rigid" body1="upper" body2="drone" anchor="0.3 0.1 0.2" torquescale="0.7"/>
    <weld name="posed" body1="drone" body2="ball" relpose="0.1 0.2 0.3 0.5 0.5 -0.5 0.5"/>
    <weld name="both" body1="ball" body2="fore" anchor="0 0.1 0"
          relpose="0.1 0.2 0.3 0.8 0 0.6 0"/>
    <weld name="in the world" body1="plate" relpose="0.3 -0.2 1 0.6 0 0 0.8"/>
    <weld name="poses" site1="on plate" site2="on wall"/>
    <weld name="plate" body1="ball" body2="plate" torquescale="0"/>
    <connect body1="ball" body2="drone" anchor="0 0 0" active="false"/>
    <connect name="equality_11" body1="ball" body2="drone" anchor="0 0 0" active="false"/>
    <connect name="within" body1="fore" body2="plate" anchor="0 0 0"/>
  </equality>
</mujoco>"""
KINDS = {
    "point": (dtau.Loop, 3),
    "held": (dtau.PointContact, 3),
    "other way": (dtau.Loop, 3),
    "sites": (dtau.Loop, 3),
    "hooked": (dtau.PointContact, 3),
    "rigid": (dtau.Loop, 6),
    "posed": (dtau.Loop, 6),
    "both": (dtau.Loop, 6),
    "in the world": (dtau.FrameContact, 6),
    "poses": (dtau.Loop, 6),
    "plate": (dtau.Loop, 3),
}
SWAPPED = ("other way", "hooked")  # the first body there does not move


@pytest.fixture(scope="module")
def closed() -> dtau.Mechanism:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "rows of these constraints", dtau.ModelWarning)
        return dtau.load_mechanism(ROBOT)


def test_what_each_equality_becomes(closed: dtau.Mechanism) -> None:
    model, contacts, _ = closed
    assert {c.name: (type(c), c.rows) for c in contacts} == KINDS
    assert list(contacts.names) == list(KINDS)
    frames = [c.frame_a if isinstance(c, dtau.Loop) else c.frame for c in contacts]
    assert frames == [name if name != "plate" else "plate_" for name in KINDS]
    assert [c.frame_b for c in contacts if isinstance(c, dtau.Loop)] == [
        *("ball", "wall", "plate", "drone", "ball", "fore", "wall", "plate")
    ]
    assert {"drone", "fore", "plate"} < set(model.frames)
    notes = [note for note in model.notes if note.startswith("ignored connect and weld")]
    assert notes == [
        "ignored connect and weld that are not active: 'equality_11_', 'equality_11'",
        "ignored connect and weld between bodies at rest to each other: 'within'",
    ]


def test_without_the_loops_it_is_the_same_robot(closed: dtau.Mechanism) -> None:
    with pytest.warns(dtau.ModelWarning, match="makes loops of them") as caught:
        plain = dtau.load(ROBOT)
    assert len(caught) == 1
    kept = [link for link in closed.model.links if link.name in plain.frames]
    assert kept == list(plain.links)
    assert np.array_equal(closed.model.parameters, plain.parameters)


def angular(error: dtau.Pose, scale: float) -> tuple[Array, Array]:
    """MuJoCo's residual of a weld, and what it changes by with a turn in the axes of a."""
    x = error.quaternion(order="wxyz")
    w, v = x[0], x[1:]
    rate = 0.5 * (w * np.eye(3) + np.cross(v, np.eye(3)).T)  # w turn + v x turn
    return scale * v, scale * rate


def test_rows_are_those_of_mujoco(closed: dtau.Mechanism) -> None:
    check_rows(ROBOT, closed, SWAPPED)


# Mocap bodies stand where the file has them, with what is fixed to them.
MOCAP = """<mujoco><worldbody>
  <site name="hook" pos="0.1 0.2 2" euler="10 20 30"/>
  <body name="target" mocap="true" pos="0.2 0.3 1" euler="10 30 50">
    <body name="rod" pos="0.1 0 0" euler="0 20 0"><geom size="0.1"/>
      <site name="on rod" pos="0 0.1 0" euler="30 0 0"/></body>
  </body>
  <body name="other" mocap="true" pos="1 0 0"/>
  <body name="post" pos="0 1 0"><geom size="0.1"/></body>
  <body name="arm" pos="0 0 1"><joint name="a" axis="0 1 0"/>
    <geom type="capsule" size="0.02" fromto="0 0 0 0.3 0 0"/>
    <body name="hand" pos="0.3 0 0"><joint name="b" type="ball"/>
      <geom type="capsule" size="0.02" fromto="0 0 0 0.3 0 0"/>
      <site name="on hand" pos="0.1 0.2 0" euler="20 0 30"/></body>
  </body></worldbody>
  <equality>
    <weld name="mocap first" body1="target" body2="hand" relpose="0.1 0.2 0.3 0.5 0.5 -0.5 0.5"/>
    <weld name="mocap second" body1="hand" body2="target" anchor="0.1 0 0"/>
    <weld name="its child" body1="rod" body2="arm"/>
    <weld name="its site" site1="on rod" site2="on hand"/>
    <connect name="point" body1="target" body2="hand" anchor="0.1 0.2 0.3"/>
    <connect name="child's point" body1="rod" body2="hand" anchor="0.1 0.2 0.3"/>
    <connect name="site's point" site1="on rod" site2="on hand"/>
    <connect name="both still" site1="hook" site2="on rod"/>
    <weld name="world and mocap" body1="other"/>
    <weld name="two mocaps" body1="other" body2="target"/>
    <weld name="post and mocap" body1="post" body2="rod"/>
  </equality>
</mujoco>"""


def test_mocap_bodies_do_not_move() -> None:
    closed = dtau.load_mechanism(MOCAP)
    assert [(c.name, type(c), c.rows) for c in closed.contacts] == [
        *((name, dtau.Loop, 6) for name in ("mocap first", "mocap second", "its child")),
        ("its site", dtau.Loop, 6),
        *((name, dtau.Loop, 3) for name in ("point", "child's point", "site's point")),
    ]
    assert (
        "ignored connect and weld between bodies at rest to each other: 'both still', "
        "'world and mocap', 'two mocaps', 'post and mocap'"
    ) in closed.model.notes
    check_rows(MOCAP, closed, [name for name in closed.contacts.names if name != "mocap second"])


def check_rows(text: str, mechanism: dtau.Mechanism, swapped: Sequence[str]) -> None:
    model, contacts, _ = mechanism
    mj_model = mujoco.MjModel.from_xml_string(text)
    mj_data = mujoco.MjData(mj_model)
    convention = dtau.conventions.mujoco(model, mj_model)
    still = np.zeros(model.nv)
    for q in dtau.random_state(model, np.random.default_rng(0), shape=(3,)).q:
        columns = []
        for unit in np.eye(model.nv):
            mj_data.qpos[:], mj_data.qvel[:], _ = convention.from_dtau(q, unit, still)
            mujoco.mj_forward(mj_model, mj_data)
            columns.append(np.array(mj_data.efc_vel))
        J, e, owner = np.stack(columns, axis=1), np.array(mj_data.efc_pos), mj_data.efc_id
        for contact in contacts:
            i = mujoco.mj_name2id(mj_model, mujoco.mjtObj.mjOBJ_EQUALITY, contact.name)
            of_this = (owner == i) & (mj_data.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY)
            frame_a, frame_b, at = sides(contact)
            a = pieces(model, frame_a, dtau.Pose(), q, still, still)
            b = pieces(model, frame_b, at, q, still, still)
            sign = -1.0 if contact.name in swapped else 1.0
            want_e = sign * (a.pose.translation - b.pose.translation)
            want_J = sign * (a.J - b.J)[:3]
            if contact.rows == 6:
                turn = dtau.Pose((b.pose.inverse() @ a.pose).rotation)
                residual, rate = angular(turn, mj_model.eq_data[i, 10])
                flip = np.sign(residual @ e[of_this][3:])  # of a quaternion either sign
                want_e = np.concatenate([want_e, flip * residual])
                turns = a.pose.rotation.T @ (a.J - b.J)[3:]
                want_J = np.vstack([want_J, flip * rate @ turns])
            kept = slice(0, len(want_e))  # of a weld without turns rows of zeros follow
            assert_close(e[of_this][kept], want_e, TOLERANCE["mujoco"], f"{contact.name} e")
            assert_close(J[of_this][kept], want_J, TOLERANCE["mujoco"], f"{contact.name} J")
            assert not J[of_this][len(want_e) :].any()


def test_the_posture_of_the_file_closes_anchors(closed: dtau.Mechanism) -> None:
    model, contacts, q = closed
    mj_model = mujoco.MjModel.from_xml_string(ROBOT)
    convention = dtau.conventions.mujoco(model, mj_model)
    still = np.zeros(model.nv)
    assert_close(convention.from_dtau(q, still, still)[0], mj_model.qpos0, TOLERANCE["rounding"])
    anchored = ["point", "held", "other way", "rigid", "plate"]
    for name in contacts.names:
        one = dtau.Contacts(model, [c for c in contacts if c.name == name])
        closes = dtau.project(model, q, one)
        assert np.array_equal(closes.q, q) == (name in anchored)


LINKAGE = """<mujoco>
  <worldbody>
    <body name="left"><joint axis="0 1 0"/><geom size="0.02" fromto="0 0 0 0 0 -1" type="capsule"/>
    </body>
    <body name="right" pos="0.5 0 0">
      <joint axis="0 1 0"/><geom size="0.02" fromto="0 0 0 0 0 -1" type="capsule"/>
      <body name="bar" pos="0 0 -1">
        <joint type="ball"/><geom size="0.02" fromto="0 0 0 -0.5 0 0" type="capsule"/>
      </body>
    </body>
  </worldbody>
  <equality><connect name="pin" body1="bar" body2="left" anchor="-0.5 0 0"/></equality>
</mujoco>"""


def test_accelerations_keep_to_the_rows_of_mujoco() -> None:
    """A linkage that is let go: MuJoCo's rows do not accelerate, gains or not."""
    model, contacts, start = dtau.load_mechanism(LINKAGE, kp=100, kd=20)
    assert [(c.kp, c.kd) for c in contacts] == [(100.0, 20.0)]
    rng = np.random.default_rng(1)
    got = dtau.project(model, dtau.integrate(model, start, rng.uniform(-0.3, 0.3, 5)), contacts)
    assert got.error < 1e-10
    still = np.zeros(model.nv)
    a = dtau.constrained_dynamics(model, got.q, still, still, contacts).a
    mj_model = mujoco.MjModel.from_xml_string(LINKAGE)
    mj_data = mujoco.MjData(mj_model)
    convention = dtau.conventions.mujoco(model, mj_model)
    mj_data.qpos[:], mj_data.qvel[:], acc = convention.from_dtau(got.q, still, a)
    mujoco.mj_forward(mj_model, mj_data)
    rows = np.zeros(mj_data.nefc)
    mujoco.mj_mulJacVec(mj_model, mj_data, rows, acc)
    assert np.abs(rows[:3]).max() < 1e-9 * np.abs(acc).max()


def test_options_of_the_loader() -> None:
    moon = dtau.load_mechanism(LINKAGE, gravity=(0, 0, -1.62), damping=0.1)
    assert moon.model.gravity.tolist() == [0, 0, -1.62]
    assert moon.model.damping.tolist() == [0.1] * 5
    mimic = LINKAGE.replace(
        "<equality>", '<equality><joint joint1="follows" joint2="leads" polycoef="0 1 0 0 0"/>'
    )
    for name in ("leads", "follows"):
        mimic = mimic.replace('<joint axis="0 1 0"/>', f'<joint name="{name}" axis="0 1 0"/>', 1)
    exact = dtau.load_mechanism(mimic, mimic="exact")
    assert exact.model.nv == 4
    assert dtau.project(exact.model, exact.q, exact.contacts).error < 1e-15
    off = LINKAGE.replace("<worldbody>", '<option><flag equality="disable"/></option><worldbody>')
    assert len(dtau.load_mechanism(off).contacts) == 0


@pytest.mark.parametrize(
    ("source", "options", "error", "said"),
    [
        ("<robot name='r'/>", {}, dtau.ModelError, "got <robot>; other formats say no loops: dta"),
        (LINKAGE, {"kp": -1}, ValueError, "kp: expected a number of at least 0, got -1"),
        (LINKAGE, {"mimic": "no"}, ValueError, "mimic: expected 'independent' or 'exact', got"),
        (LINKAGE, {"max_size": 10}, dtau.ModelError, "expected at most 10 bytes, got more"),
        (LINKAGE.replace("bar", "car", 1), {}, dtau.ModelError, "XML text: MuJoCo: "),
        (3, {}, TypeError, "source: expected a path or XML text, got int"),
    ],
)
def test_refusals(source: Any, options: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error) as caught:
        dtau.load_mechanism(source, **options)
    assert said in str(caught.value)


# A four-bar linkage whose hinges are parallel: nothing moves the loop's row along them.
PLANAR = """<mujoco><worldbody>
<body name="crank"><joint axis="0 1 0"/><geom type="capsule" size=".02" fromto="0 0 0 0 0 -1"/>
<body name="rod" pos="0 0 -1"><joint axis="0 1 0"/>
<geom type="capsule" size=".02" fromto="0 0 0 1 0 -.2"/></body></body>
<body name="rocker" pos="1.2 0 0"><joint axis="0 1 0"/>
<geom type="capsule" size=".02" fromto="0 0 0 -.2 0 -1.2"/></body></worldbody>
<equality><connect name="pin" body1="rod" body2="rocker" anchor="1 0 -.2"/>
<weld name="seam" body1="rod" body2="rocker" relpose="0 0 0 0 0 0 0" active="{seam}"/>
</equality></mujoco>"""


@pytest.mark.parametrize("seam", ["false", "true"])
def test_rows_that_depend_on_each_other_are_named(seam: str) -> None:
    with pytest.warns(dtau.ModelWarning, match="depend on rows before them") as caught:
        model, contacts, q = dtau.load_mechanism(PLANAR.format(seam=seam))
    said = str(caught[-1].message)
    assert caught[-1].filename == __file__
    assert "'pin': 1" in said  # along y
    assert ("'seam': 1, 2, 3, 4, 5" in said) == (seam == "true")
    still = np.zeros(model.nv)
    with pytest.raises(ValueError, match=r"row 1 .* of contact 'pin'"):
        dtau.constrained_dynamics(model, q, still, still, contacts)
    fallen = dtau.constrained_dynamics(model, q, still, still, contacts, regularization=1e-6)
    assert np.isfinite(fallen.a).all()
    assert np.abs(fallen.residual).max() < 1e-6 * 9.81
    assert (np.abs(fallen.a).max() < 1e-9) == (seam == "true")  # nothing moves when welded


def test_rows_that_are_independent_are_not_named() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dtau.load_mechanism(
            PLANAR.replace('active="{seam}"', 'active="false"').replace(
                '<body name="rocker" pos="1.2 0 0"><joint axis="0 1 0"/>',
                '<body name="rocker" pos="1.2 0 0"><joint type="ball"/>',
            )
        )
