"""`Model.postures`: MJCF keyframes beside MuJoCo, SRDF group states beside Pinocchio."""

from __future__ import annotations

import importlib.metadata
import pickle
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import test_urdf as urdf
from mjcf_files import GANTRY, WALKER

import dtau

FOLLOWS = (
    '<limit lower="-9" upper="9" effort="1" velocity="1"/>'
    '<mimic joint="elbow" multiplier="2" offset="0.1"/>'
)
ARM = urdf.robot(
    *map(urdf.link, ("base", "upper", "lower", "finger")),
    urdf.joint("shoulder", "base", "upper", kind="continuous"),
    urdf.joint("elbow", "upper", "lower", kind="continuous"),
    urdf.joint("grip", "lower", "finger", FOLLOWS, "prismatic"),
)


def srdf(*states: str) -> str:
    return f"<robot name='arm'>{''.join(states)}</robot>"


def state(name: str, group: str, **joints: str) -> str:
    inside = "".join(f"<joint name='{joint}' value='{x}'/>" for joint, x in joints.items())
    return f"<group_state name='{name}' group='{group}'>{inside}</group_state>"


def load(*states: str, **options: Any) -> dtau.Model:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dtau.ModelWarning)
        return dtau.load(ARM, srdf=srdf(*states), **options)


class TestSRDF:
    def test_joints_that_are_left_out_are_neutral(self) -> None:
        model = load(state("up", "all", elbow="0.5"), root="free")
        want = dtau.configuration(model, {"elbow": 0.5})
        np.testing.assert_array_equal(model.postures["up"], want)
        assert list(model.postures) == ["up"]

    def test_groups_of_one_name_are_one_posture(self) -> None:
        model = load(
            state("up", "a", shoulder="1", elbow="2"), state("up", "b", elbow="3", grip="4")
        )
        want = dtau.configuration(model, {"shoulder": 1, "elbow": 3, "grip": 4})
        np.testing.assert_array_equal(model.postures["up"], want)
        assert (
            "posture 'up': several group states place joints 'elbow': the last one counts"
            in model.notes
        )

    def test_notes_about_joints_that_do_not_fit(self) -> None:
        model = load(state("up", "a", shoulder="1", elbow="0.1 0.2", other="3", root_joint="0"))
        np.testing.assert_array_equal(model.postures["up"], [1, 0, 0])
        assert model.notes == (
            "posture 'up': ignored joints with coordinates that do not fit: 'elbow'",
            "posture 'up': ignored joints that do not move or do not exist: 'other', 'root_joint'",
            "link 'base' is fixed to the world: its inertia has no effect",
        )

    @pytest.mark.parametrize(("grip", "fits"), [("1.1", True), ("1.2", False)])
    def test_mimic_joints(self, grip: str, fits: bool) -> None:
        model = load(state("up", "a", elbow="0.5", grip=grip), mimic="exact")
        np.testing.assert_array_equal(model.postures["up"], [0, 0.5])
        assert any("'grip'" in note for note in model.notes) != fits

    def test_quaternions_are_normalized(self) -> None:
        model = load(
            state("up", "a", root_joint="1 2 3 0 0 0.7 0.7"),
            state("zero", "a", root_joint="1 2 3 0 0 0 0"),
            root="free",
        )
        half = np.sqrt(0.5)
        np.testing.assert_allclose(model.postures["up"][:7], [1, 2, 3, 0, 0, half, half])
        np.testing.assert_array_equal(model.postures["zero"], dtau.neutral(model))

    def test_rotor_parameters_become_armature(self) -> None:
        rotors = (
            "<rotor_params><joint name='elbow' mass='1e-4' gear_ratio='100'/>"
            "<joint name='other' mass='1' gear_ratio='1'/></rotor_params>"
        )
        model = load(rotors)
        np.testing.assert_allclose(model.armature[model.joint("elbow").v], 1.0, rtol=1e-15)
        assert np.count_nonzero(model.armature) == 1
        assert "ignored rotor_params, no joints with one velocity: 'other'" in model.notes
        assert not load(rotors, armature=0).armature.any()

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("<mujoco/>", "line 1: expected an SRDF, got <mujoco>"),
            (ARM, "line 1: expected an SRDF, got a URDF"),
            ("<robot><group_state/></robot>", "expected the attribute 'name' in <group_state>"),
            (srdf(state("up", "a", elbow="0,5")), "value of <joint>: expected a finite number"),
            (
                "<robot><rotor_params><joint name='elbow' mass='-1' gear_ratio='1'/>"
                "</rotor_params></robot>",
                "rotor_params: armature of 'elbow'",
            ),
        ],
    )
    def test_refused_files(self, text: str, message: str) -> None:
        with (
            pytest.warns(dtau.ModelWarning, match="mimic"),
            pytest.raises(dtau.ModelError, match=message),
        ):
            dtau.load(ARM, srdf=text)

    def test_refused_arguments(self) -> None:
        with pytest.raises(ValueError, match="srdf: expected it with a URDF, got an MJCF"):
            dtau.load(GANTRY, srdf=srdf())
        with (
            pytest.warns(dtau.ModelWarning, match="mimic"),
            pytest.raises(TypeError, match="srdf: expected a path or XML text, got int"),
        ):
            dtau.load(ARM, srdf=3)  # type: ignore[arg-type]


def robots() -> list[tuple[Path, Path]]:
    """Pairs of a URDF and an SRDF of example-robot-data."""
    try:
        listed = importlib.metadata.files("example-robot-data") or []
    except importlib.metadata.PackageNotFoundError:
        return []
    paths = {Path(str(f.locate())).name: Path(str(f.locate())) for f in listed}
    names = [
        *(("talos_reduced", "talos"), ("anymal", "anymal"), ("hyq_no_sensors", "hyq")),
        *(("icub_reduced", "icub"), ("pr2", "pr2"), ("panda", "panda")),
    ]
    both = [(paths.get(f"{urdf}.urdf"), paths.get(f"{srdf}.srdf")) for urdf, srdf in names]
    return [(urdf, srdf) for urdf, srdf in both if urdf and srdf]


@pytest.mark.parametrize(("urdf", "described"), robots(), ids=lambda path: path.stem)
def test_beside_pinocchio(urdf: Path, described: Path) -> None:
    pin = pytest.importorskip("pinocchio")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dtau.ModelWarning)
        model = dtau.load(urdf, srdf=described, root="free")
    peer = pin.buildModelFromUrdf(str(urdf), pin.JointModelFreeFlyer())
    pin.loadReferenceConfigurations(peer, str(described), False)
    theirs = {pair.key(): np.array(pair.data()) for pair in peer.referenceConfigurations}
    assert set(model.postures) == set(theirs)
    assert theirs
    convention = dtau.conventions.pinocchio(model, peer)
    for name, q in theirs.items():
        got = convention.from_dtau(model.postures[name]).q
        np.testing.assert_allclose(got, q, rtol=0, atol=1e-12)
    if "rotor_params" in described.read_text(encoding="utf-8"):
        pin.loadRotorParameters(peer, str(described), False)
        got = convention.convert(model.armature, of="tau", at={"q": model.postures[name]})
        np.testing.assert_allclose(got, peer.armature, rtol=1e-12)
        assert model.armature.any()


@pytest.mark.parametrize("text", [GANTRY, WALKER], ids=["gantry", "walker"])
def test_keyframes_beside_mujoco(text: str) -> None:
    mujoco = pytest.importorskip("mujoco")
    nq = mujoco.MjModel.from_xml_string(text).nq
    rows = np.random.default_rng(0).uniform(-1, 1, (3, nq))
    names = ['name="crouch"', "", 'name="leap"']
    keys = "".join(
        f'<key {name} qpos="{" ".join(map(repr, row.tolist()))}"/>'
        for name, row in zip(names, rows, strict=True)
    )
    text = text.replace("</mujoco>", f"<keyframe>{keys}</keyframe></mujoco>")
    mj_model = mujoco.MjModel.from_xml_string(text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dtau.ModelWarning)
        model, live = dtau.load(text), dtau.from_mujoco(mj_model)
    assert list(model.postures) == list(live.postures) == ["crouch", "key_1", "leap"]
    convention, data = dtau.conventions.mujoco(model, mj_model), mujoco.MjData(mj_model)
    for i, (name, q) in enumerate(model.postures.items()):
        np.testing.assert_array_equal(q, live.postures[name])
        mujoco.mj_resetDataKeyframe(mj_model, data, i)
        mujoco.mj_normalizeQuat(mj_model, data.qpos)
        np.testing.assert_allclose(convention.from_dtau(q).q, data.qpos, rtol=0, atol=1e-12)
        mujoco.mj_kinematics(mj_model, data)
        for body in range(1, mj_model.nbody):
            if frame := mj_model.body(body).name:
                place = dtau.frame_placements(model, q, frame).translation
                np.testing.assert_allclose(place, data.xpos[body], rtol=0, atol=1e-12)


def test_there_and_back_by_way_of_pinocchio() -> None:
    pytest.importorskip("pinocchio")
    model = TestModel.model()
    peer = model.to_pinocchio()
    peer.referenceConfigurations["short"] = np.zeros(3)
    back = dtau.from_pinocchio(peer)
    assert set(back.postures) == {"run", "rest"}
    assert any(note.startswith("posture 'short': ignored: q") for note in back.notes)
    for name, q in back.postures.items():
        assert not q.flags.writeable
        np.testing.assert_allclose(
            dtau.frame_placements(back, q, "LF_FOOT").translation,
            dtau.frame_placements(model, model.postures[name], "LF_FOOT").translation,
            atol=1e-12,
        )
    again = pickle.loads(pickle.dumps(back))
    np.testing.assert_array_equal(again.postures["run"], back.postures["run"])


class TestModel:
    @staticmethod
    def model() -> dtau.Model:
        quadruped = dtau.robots.quadruped()
        q = dtau.random_state(quadruped, np.random.default_rng(0)).q
        by_joint = {joint.name: q[joint.q] for joint in quadruped.joints}
        return dtau.Model("posed", quadruped.links, postures={"run": by_joint, "rest": {}})

    def test_read_only(self) -> None:
        model = self.model()
        with pytest.raises(TypeError):
            model.postures["run"] = dtau.neutral(model)  # type: ignore[index]
        with pytest.raises(ValueError, match="read-only"):
            model.postures["run"][0] = 1.0

    def test_pickle_and_equality(self) -> None:
        model = self.model()
        again = pickle.loads(pickle.dumps(model))
        assert list(again.postures) == ["run", "rest"]
        for name, q in model.postures.items():
            np.testing.assert_array_equal(again.postures[name], q)
            assert not again.postures[name].flags.writeable
        without = dtau.Model("posed", model.links)
        assert without == model == again
        assert hash(without) == hash(model)
        assert not without.postures

    def test_edited_models_keep_their_postures(self) -> None:
        model = self.model()
        edited = model.replace(gravity=(0, 0, -1), damping=0.1).add_frame("tip", "base")
        for name, q in model.postures.items():
            np.testing.assert_array_equal(edited.add_load("tip", 1.0).postures[name], q)
        q = model.postures["run"]
        knee = float(q[model.joint("LF_KFE").q][0])
        locked = model.lock({"LF_KFE": knee})
        assert locked.postures["run"].shape == (model.nq - 1,)
        np.testing.assert_allclose(
            dtau.frame_placements(locked, locked.postures["run"], "LF_FOOT").translation,
            dtau.frame_placements(model, q, "LF_FOOT").translation,
            atol=1e-12,
        )

    def test_another_root(self) -> None:
        model = self.model()
        standing = model.with_root("LF_FOOT")
        for name, q in model.postures.items():
            for frame in ("base", "RH_FOOT"):
                np.testing.assert_allclose(
                    dtau.frame_placements(standing, standing.postures[name], frame).translation,
                    dtau.frame_placements(model, q, frame).translation,
                    atol=1e-12,
                )
            assert not standing.postures[name].flags.writeable
        assert pickle.loads(pickle.dumps(standing)).postures.keys() == model.postures.keys()

    def test_configuration(self) -> None:
        model = self.model()
        np.testing.assert_array_equal(
            dtau.configuration(model, posture="run"), model.postures["run"]
        )
        q = dtau.configuration(model, {"LF_KFE": 0.25}, posture="run")
        assert q[model.joint("LF_KFE").q] == 0.25
        changed = np.flatnonzero(q != model.postures["run"])
        assert changed.tolist() == [model.joint("LF_KFE").q.start]
        with pytest.raises(ValueError, match="posture: no posture named 'rum'; close names: 'run'"):
            dtau.configuration(model, posture="rum")
        with pytest.raises(TypeError, match="posture: expected str, got int"):
            dtau.configuration(model, posture=3)  # type: ignore[call-overload]


class _Traced(TypeError):
    """An error like JAX's: its constructor takes no text."""

    def __init__(self, tracer: object) -> None:
        super().__init__(f"traced with {tracer.shape}")  # type: ignore[attr-defined]


class _Tracer:
    shape = ()

    def __array__(self, *_: object, **__: object) -> np.ndarray:
        raise _Traced(self)


def test_errors_of_classes_that_take_no_text_are_named_too() -> None:
    """As error classes of JAX's traced numbers, whose constructor takes the number."""
    model = dtau.robots.chain(2)
    joint = model.joints[0].name
    replaced = {
        f"{field} of {joint!r}": partial(model.replace, **{field: {joint: _Tracer()}})
        for field in ("stiffness", "damping", "armature", "friction", "rest_position")
    }
    at = f"position of joint {joint!r}"
    up = {"up": {joint: _Tracer()}}
    placed = (
        (f"posture 'up': {at}", lambda: dtau.Model("up", model.links, postures=up)),
        (at, lambda: dtau.configuration(model, {joint: _Tracer()})),
        (at, lambda: model.lock({joint: _Tracer()})),
    )
    for where, call in (*replaced.items(), *placed):
        with pytest.raises(TypeError, match=f"^{where}: .*traced with") as caught:
            call()
        assert type(caught.value) is TypeError
