"""`dtau.conventions.mujoco`: one physical state through both packages."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cases import random_state
from compare import TOLERANCE, assert_close
from hypothesis import given
from hypothesis import strategies as st
from mujoco_pair import Peer, check_derivatives, check_values
from numpy.typing import ArrayLike
from trees import Array, Tree, grow

import dtau

mujoco = pytest.importorskip("mujoco")

KINDS = ("fixed", "revolute", "prismatic", "spherical", "free")
MJCF = {"revolute": "hinge", "prismatic": "slide", "spherical": "ball", "free": "free"}


def numbers(values: ArrayLike) -> str:
    return " ".join(repr(float(x)) for x in np.ravel(values))


def quaternion(rotation: Array) -> Array:
    """(w, x, y, z)"""
    out = np.zeros(4)
    mujoco.mju_mat2Quat(out, np.ravel(rotation))
    return out


def mjcf(tree: Tree, at: int = -1, free_joint: str | None = None) -> str:
    """The tree as MuJoCo's XML, siblings the other way round."""
    text = ""
    for i in reversed(range(len(tree.bodies))):
        body = tree.bodies[i]
        if body.parent != at:
            continue
        kind = MJCF.get(body.kind)
        name = body.name if kind != "free" or free_joint is None else free_joint
        axis = f'axis="{numbers(body.axis)}"' if kind in ("hinge", "slide") else ""
        t = body.tensor
        moments = numbers([t[0, 0], t[1, 1], t[2, 2], t[0, 1], t[0, 2], t[1, 2]])
        text += f'<body name="{body.name}" pos="{numbers(body.translation)}" '
        text += f'quat="{numbers(quaternion(body.rotation))}">'
        text += f'<inertial pos="{numbers(body.com)}" mass="{body.mass!r}" '
        text += f'fullinertia="{moments}"/>'
        if kind:
            text += f'<joint name="{name}" type="{kind}" {axis} '
            text += f'armature="{float(body.armature[0])!r}" '
            text += f'damping="{float(body.damping[0])!r}" '
            text += f'stiffness="{float(body.stiffness[0])!r}" '
            rest = 0.0 if kind == "ball" else float(body.rest[0])  # MuJoCo has it in qpos_spring
            text += f'springref="{rest!r}"/>'
        text += mjcf(tree, i, free_joint) + "</body>"
    if at >= 0:
        return text
    gravity = f'<compiler angle="radian"/><option gravity="{numbers(tree.gravity)}"/>'
    return f"<mujoco>{gravity}<worldbody>{text}</worldbody></mujoco>"


def shaped(kinds: list[str], parents: list[int], seed: int) -> Tree:
    """A tree that MuJoCo can have: free joints at roots, one armature and damping a joint."""
    fitting = [
        "spherical" if kind == "free" and parent >= 0 else kind
        for kind, parent in zip(kinds, parents, strict=True)
    ]
    tree = grow(fitting, parents, seed, friction=False)
    bodies = [
        replace(
            body,
            armature=np.full_like(body.armature, body.armature[:1].sum() * (body.kind != "free")),
            damping=np.full_like(body.damping, body.damping[:1].sum()),
            rest=body.rest * (body.kind != "spherical"),
        )
        for body in tree.bodies
    ]
    return replace(tree, bodies=tuple(bodies), recipe=f"shaped({kinds}, {parents}, {seed})")


@st.composite
def fitting_trees(draw: st.DrawFn) -> Tree:
    some = st.lists(st.sampled_from(KINDS), min_size=1, max_size=5)
    kinds = draw(some.filter(lambda drawn: any(kind != "fixed" for kind in drawn)))
    parents = [draw(st.integers(-1, i - 1)) for i in range(len(kinds))]
    return shaped(kinds, parents, draw(st.integers(0, 2**16)))


@given(fitting_trees(), st.integers(0, 2**16))
def test_values(tree: Tree, seed: int) -> None:
    check_values(tree.model(), mujoco.MjModel.from_xml_string(mjcf(tree)), seed)


@given(fitting_trees(), st.integers(0, 2**16))
def test_derivatives(tree: Tree, seed: int) -> None:
    check_derivatives(tree.model(), mujoco.MjModel.from_xml_string(mjcf(tree)), seed)


@given(fitting_trees(), st.integers(0, 2**16))
def test_values_of_a_model_from_the_same_file(tree: Tree, seed: int) -> None:
    text = mjcf(tree)
    check_values(dtau.load(text), mujoco.MjModel.from_xml_string(text), seed)


FOREST = shaped(  # with links that are fixed to fixed ones
    ["free", "revolute", "fixed", "fixed", "spherical", "free", "prismatic", "fixed", "revolute"],
    [-1, 0, 1, 2, 3, -1, 5, -1, 7],
    3,
)


def test_forest() -> None:
    model, mj_model = FOREST.model(), mujoco.MjModel.from_xml_string(mjcf(FOREST))
    check_values(model, mj_model, 3)
    check_derivatives(model, mj_model, 4)


def quadruped(fuse: bool) -> Any:
    """The package's URDF on a free joint; its fixed links fused into their bodies, or not."""
    path = Path(dtau.robots.__file__).parent / "quadruped.urdf"
    spec = mujoco.MjSpec.from_string(path.read_text(encoding="utf-8"))
    spec.compiler.fusestatic = False  # the root link would become a part of the world
    spec.worldbody.first_body().add_freejoint()
    if fuse:
        spec = mujoco.MjSpec.from_string(spec.to_xml())
        spec.compiler.fusestatic = True
    for geom in spec.geoms:
        geom.contype = geom.conaffinity = 0
    for joint in spec.joints:
        joint.limited = mujoco.mjtLimited.mjLIMITED_FALSE
    return spec.compile()


@pytest.mark.parametrize("fuse", [False, True], ids=["as links", "fused"])
def test_quadruped(fuse: bool) -> None:
    model, mj_model = dtau.robots.quadruped(), quadruped(fuse)
    assert (mj_model.nbody == 1 + model.nbodies) is fuse
    assert mj_model.joint(0).name == ""  # the free joint
    check_values(model, mj_model, 1)
    check_derivatives(model, mj_model, 2)


def test_its_own_derivatives_are_transposed() -> None:
    """What docs/conventions.md says of mjd_inverseFD."""
    model, mj_model = FOREST.model(), mujoco.MjModel.from_xml_string(mjcf(FOREST))
    convention, peer = dtau.conventions.mujoco(model, mj_model), Peer(mj_model)
    s = random_state(model, 5)
    state = s["q"], s["v"], s["a"]
    peer.inverse(*convention.from_dtau(*state))
    theirs = [np.zeros((model.nv, model.nv)) for _ in range(3)]
    mujoco.mjd_inverseFD(mj_model, peer.data, 1e-6, False, *theirs, None, None, None, None)
    got = convention.convert(
        dtau.inverse_dynamics_derivatives(model, *state),
        at=dtau.results.State(*state)._asdict() | {"tau": dtau.inverse_dynamics(model, *state)},
    )
    for name, x, y in zip(got._fields, got, theirs, strict=True):
        assert_close(x, y.T, 1e-5, name)  # differences of first order, with a step of 1e-6


def test_columns_of_a_linearization_stand_in_its_order() -> None:
    """B by the torques of its joints, which come in another order there."""
    model, mj_model = FOREST.model(), mujoco.MjModel.from_xml_string(mjcf(FOREST))
    convention, peer = dtau.conventions.mujoco(model, mj_model), Peer(mj_model)
    assert (convention._maps.order.from_dtau(np.arange(model.nv)) != np.arange(model.nv)).any()
    s = random_state(model, 7)
    q, v, tau = s["q"], s["v"], s["tau"]
    got = convention.convert(dtau.linearize(model, q, v, tau), at={"q": q, "v": v, "inputs": None})
    free = mj_model.jnt_type[mj_model.dof_jntid] == mujoco.mjtJoint.mjJNT_FREE
    there, torque = convention.from_dtau(q, v), convention.convert(tau, of="tau", at={"q": q})
    still = peer.forward(there.q, there.v, torque)
    moved = [peer.forward(there.q, there.v, torque + e) for e in np.eye(model.nv)[~free]]
    want = np.stack([a - still for a in moved], axis=-1)
    assert_close(got.B[model.nv :], want, 1e-8, "B")


def one(kind: str, name: str = "joint", more: str = "") -> Any:
    inertial = '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
    body = f'<body name="b"><joint name="{name}" type="{kind}" {more}/>{inertial}</body>'
    return mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{body}</worldbody></mujoco>")


def single(*joints: dtau.JointType) -> dtau.Model:
    builder = dtau.ModelBuilder("single")
    parent = None
    for k, joint in enumerate(joints):
        inertia = dtau.Inertia(1.0, (0, 0, 0), np.eye(3))
        parent = builder.add(
            joint, name=f"joint{k}" if k else "joint", parent=parent, inertia=inertia
        )
    return builder.build()


def test_reference_position() -> None:
    convention = dtau.conventions.mujoco(
        single(dtau.Prismatic((1, 0, 0))), one("slide", more='axis="1 0 0" ref="0.25"')
    )
    assert_close(convention.from_dtau([0.5]).q, np.array([0.75]), 0.0)
    assert_close(convention.to_dtau([0.75]).q, np.array([0.5]), 0.0)


CART = """<mujoco><worldbody><body name="cart" pos="0 0 1">
  <joint name="x" type="slide" axis="1 0 0" armature="0.1"/>
  <joint name="y" type="slide" axis="0 1 0" armature="0.2"/>
  <joint name="turn" type="hinge" axis="0 0 1" armature="0.3"/>
  <inertial pos="0.1 0.2 0.3" mass="2" diaginertia="0.1 0.2 0.25"/>
</body></worldbody></mujoco>"""


def cart() -> dtau.Model:
    builder = dtau.ModelBuilder("cart")
    x = builder.add(
        dtau.Prismatic((1, 0, 0)),
        name="x",
        armature=0.1,
        placement=dtau.Pose(translation=(0, 0, 1)),
    )
    y = builder.add(dtau.Prismatic((0, 1, 0)), name="y", parent=x, armature=0.2)
    inertia = dtau.Inertia(2.0, (0.1, 0.2, 0.3), np.diag([0.1, 0.2, 0.25]))
    builder.add(dtau.Revolute((0, 0, 1)), name="turn", parent=y, armature=0.3, inertia=inertia)
    return builder.build()


def test_a_free_joint_that_the_model_places_elsewhere() -> None:
    builder, place = dtau.ModelBuilder("ball"), dtau.Pose(translation=(1, 2, 3))
    inertia = dtau.Inertia(1.0, (0, 0, 0), 0.1 * np.eye(3))
    builder.add(dtau.Free(), name="j", placement=place, inertia=inertia)
    model, ball = builder.build(), '<body><freejoint name="j"/><geom size=".1"/></body>'
    mj_model = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{ball}</worldbody></mujoco>")
    convention = dtau.conventions.mujoco(model, mj_model)
    assert convention.from_dtau(dtau.neutral(model)).q[:3].tolist() == [1, 2, 3]


@pytest.mark.parametrize("mocap", ["false", "true"])
def test_references_of_joints_on_turned_bodies_that_do_not_move(mocap: str) -> None:
    """Of a loaded model q is `qpos`, whatever the pose of the body that carries the joints."""
    for turn in ("170 0 0", "0 0 90", "0 0 180"):
        for ref in (10, 40, 90, 180):
            text = f"""<mujoco><worldbody>
            <body mocap="{mocap}" pos="1 2 3" euler="{turn}"><geom size=".1"/>
              <body pos=".1 0 0" euler="0 0 60"><geom size=".1"/>
                <body pos="0 0 .5" euler="10 20 30"><geom size=".1"/>
                  <joint name="turns" axis="0 1 0" ref="{ref}" pos="0 .1 .3"/>
                  <joint name="lifts" type="slide" axis="0 0 1" ref="{-0.1 * ref}"/></body></body>
              <body pos="0 0 .5" euler="10 20 30"><geom size=".1"/>
                <joint name="slides" type="slide" axis="0 1 0" ref="{0.1 * ref}"/></body>
            </body></worldbody></mujoco>"""
            model, mj_model = dtau.load(text), mujoco.MjModel.from_xml_string(text)
            convention = dtau.conventions.mujoco(model, mj_model)
            assert convention.from_dtau([0.3, 0.2, 0.1]).q.tolist() == [0.3, 0.2, 0.1]


def test_several_joints_of_one_body() -> None:
    model, mj_model = cart(), mujoco.MjModel.from_xml_string(CART)
    check_derivatives(model, mj_model, 7)
    convention, peer = dtau.conventions.mujoco(model, mj_model), Peer(mj_model)
    s = random_state(model, 8)
    q, v = s["q"], s["v"]
    f_ext = s["f_ext"] * np.array([[0.0], [0.0], [1.0]])
    xfrc = convention.convert(f_ext, of="f_ext", at={"q": q})
    a = dtau.forward_dynamics(model, q, v, s["tau"], f_ext)
    assert_close(a, peer.forward(q, v, s["tau"], xfrc), TOLERANCE["mujoco"], "a")
    assert_close(
        convention.convert(xfrc, of="f_ext", at={"q": q}, to_dtau=True),
        f_ext,
        TOLERANCE["identity"],
        "f_ext",
    )
    said = "result: a wrench acts on 'x', 'y', which the convention does not have"
    with pytest.raises(ValueError, match=said):
        convention.convert(s["f_ext"], of="f_ext", at={"q": q})


class TestErrors:
    def test_missing_joints(self) -> None:
        model = single(dtau.Revolute((0, 0, 1)))
        with pytest.raises(ValueError, match=r"mj_model: no joint named 'joint'.*'joints'"):
            dtau.conventions.mujoco(model, one("hinge", "joints"))
        two = single(dtau.Revolute((0, 0, 1)), dtau.Revolute((0, 0, 1)))
        with pytest.raises(ValueError, match="mj_model: no joint named 'joint1'"):
            dtau.conventions.mujoco(two, one("hinge"))
        with pytest.raises(ValueError, match="model: no joint for mj_model's joint 'x'"):
            dtau.conventions.mujoco(cart().lock({"x": 0.0}), mujoco.MjModel.from_xml_string(CART))

    def test_joints_without_names(self) -> None:
        xml = mjcf(FOREST).replace('name="revolute8" type', "type")
        pattern = "mj_model: no joint named 'revolute8'"
        with pytest.raises(ValueError, match=pattern):
            dtau.conventions.mujoco(FOREST.model(), mujoco.MjModel.from_xml_string(xml))
        xml = mjcf(FOREST).replace('name="spherical4" type', "type")
        model = FOREST.model().lock({"spherical4": (0, 0, 0, 1)})
        with pytest.raises(ValueError, match=r"joint number \d, without a name"):
            dtau.conventions.mujoco(model, mujoco.MjModel.from_xml_string(xml))

    def test_the_free_root_may_have_any_name(self) -> None:
        tree = shaped(["free", "revolute"], [-1, 0], 1)
        for name in ("", "base"):
            xml = mjcf(tree, free_joint=name)
            check_values(tree.model(), mujoco.MjModel.from_xml_string(xml), 9)

    @pytest.mark.parametrize(
        ("joint", "kind"),
        [
            (dtau.Helical((0, 0, 1), 0.1), "hinge"),
            (dtau.Revolute((0, 0, 1)), "slide"),
            (dtau.Prismatic((0, 0, 1)), "hinge"),
            (dtau.Free(), "ball"),
            (dtau.Spherical(), "free"),
        ],
    )
    def test_joints_of_another_kind(self, joint: dtau.JointType, kind: str) -> None:
        pattern = rf"joint 'joint' is a {kind} joint there, .* {type(joint).__name__}"
        with pytest.raises(ValueError, match=pattern):
            dtau.conventions.mujoco(single(joint), one(kind))

    def test_a_free_joint_inside_the_tree(self) -> None:
        model = single(dtau.Revolute((0, 0, 1)), dtau.Free())
        xml = mujoco.MjModel.from_xml_string(
            "<mujoco><worldbody>"
            '<body><joint name="joint"/><geom size="1"/></body>'
            '<body><freejoint name="joint1"/><geom size="1"/></body></worldbody></mujoco>'
        )
        with pytest.raises(ValueError, match="joint 'joint1' is a free joint there"):
            dtau.conventions.mujoco(model, xml)

    def test_what_is_no_model(self) -> None:
        with pytest.raises(TypeError, match=r"mj_model: expected a mujoco.MjModel, got str"):
            dtau.conventions.mujoco(cart(), "model.xml")
        with pytest.raises(TypeError, match="model: expected Model, got int"):
            dtau.conventions.mujoco(1, mujoco.MjModel.from_xml_string(CART))  # type: ignore[arg-type]
