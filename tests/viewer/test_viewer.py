"""The page's server: what it shows, and that nothing of it is left."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator

import numpy as np
import pytest
from compare import assert_close
from messages import has_words, message

import dtau

pytest.importorskip("viser")

MODEL = dtau.robots.quadruped()


@pytest.fixture(autouse=True)
def no_thread_is_left() -> Iterator[None]:
    before = set(threading.enumerate())
    yield
    end = time.monotonic() + 60.0
    while left := set(threading.enumerate()) - before:
        assert time.monotonic() < end, left
        time.sleep(0.01)


def swing(frames: int = 50) -> np.ndarray:
    """The quadruped's legs and base, in motion."""
    dq = 0.3 * np.sin(np.linspace(0, 6, frames))[:, None] * np.ones(MODEL.nv)
    return dtau.integrate(MODEL, dtau.neutral(MODEL), dq)


def poses(viewer: object, robot: int = 0) -> np.ndarray:
    """Where the scene has the bodies, through its tree."""
    nodes = viewer.robots[robot]._nodes  # type: ignore[attr-defined]
    found: list[dtau.Pose] = []
    for node, joint in zip(nodes, MODEL.joints, strict=True):
        pose = dtau.Pose.from_quaternion(node.wxyz, node.position, order="wxyz")
        found.append(pose if joint.parent < 0 else found[joint.parent] @ pose)
    return np.stack([pose.translation for pose in found])


def test_the_page_is_served_to_this_machine_alone() -> None:
    with dtau.view(MODEL, port=0) as viewer:
        assert viewer.url.startswith("http://127.0.0.1:")
        with urllib.request.urlopen(viewer.url, timeout=60) as page:
            assert b"<html" in page.read()
        assert viewer.url in viewer._repr_html_()
        assert "quadruped" in repr(viewer)
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(viewer.url, timeout=2)
    assert "closed" in viewer._repr_html_()
    assert "closed" in repr(viewer)
    viewer.close()


def test_nothing_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    dtau.view(MODEL, port=0).close()
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "")


def test_frames_are_those_of_the_motion() -> None:
    q = swing()
    with dtau.view(MODEL, q, port=0, dt=0.1) as viewer:
        for frame in (0, 7, 7, 49, 3):
            viewer.seek(0.1 * frame)
            assert_close(viewer.robots[0].q, q[frame], 1e-15)
            places = dtau.forward_kinematics(MODEL, q[frame]).translation
            assert_close(poses(viewer), places, 1e-4)
        viewer.seek(1000.0)
        assert_close(viewer.robots[0].q, q[-1], 1e-15)


def test_it_plays_and_pauses() -> None:
    with dtau.view(MODEL, swing(), port=0) as viewer:
        before = viewer.robots[0].q
        viewer.play()
        end = time.monotonic() + 60
        while (viewer.robots[0].q == before).all():
            assert time.monotonic() < end
            time.sleep(0.01)
        viewer.pause()
        time.sleep(0.05)
        at = viewer.robots[0].q
        time.sleep(0.1)
        assert (viewer.robots[0].q == at).all()


def test_it_closes_while_it_plays() -> None:
    viewer = dtau.view(MODEL, swing(), port=0)
    viewer.play()
    viewer.close()
    viewer.play()
    has_words(message(RuntimeError, viewer.add, MODEL), "closed")


def test_a_configuration_can_be_set() -> None:
    with dtau.view(MODEL, swing(), port=0) as viewer:
        robot = viewer.robots[0]
        q = dtau.random_state(MODEL, np.random.default_rng(0)).q
        viewer.play()
        robot.set(q)
        time.sleep(0.1)
        assert_close(robot.q, q, 1e-15)
        assert_close(poses(viewer), dtau.forward_kinematics(MODEL, q).translation, 1e-4)
        for slider, handle in robot._sliders:
            assert handle.value == pytest.approx(q[slider.at])
        has_words(message(ValueError, robot.set, [0.0]), "q", "(19,)")


def test_sliders_have_the_joints_names_and_limits() -> None:
    model = MODEL.replace(limits={"LF_HFE": dtau.Limits(lower=-0.5, upper=0.75)})
    with dtau.view(model, port=0) as viewer:
        handles = {slider.label: handle for slider, handle in viewer.robots[0]._sliders}
        assert list(handles) == [joint.name for joint in MODEL.joints[1:]]
        assert (handles["LF_HFE"].min, handles["LF_HFE"].max) == (-0.5, 0.75)


def test_a_base_is_moved_by_hand() -> None:
    """As if its handles were dragged on the page."""
    with dtau.view(MODEL, swing(), port=0) as viewer:
        robot = viewer.robots[0]
        gizmo = robot._gizmos[0]
        pose = dtau.Pose.from_rpy((0.1, 0.2, 0.3), (1.0, 2.0, 3.0))
        gizmo.wxyz, gizmo.position = pose.quaternion(order="wxyz"), pose.translation
        viewer.play()
        for callback in gizmo._impl_aux.update_cb:
            asyncio.run(callback(None))
        time.sleep(0.1)
        assert_close(robot.q[:7], dtau.Free().coordinates(pose), 1e-9)
        assert_close(poses(viewer), dtau.forward_kinematics(MODEL, robot.q).translation, 1e-4)


def test_a_ball_turns_about_its_centre() -> None:
    model = dtau.robots.chain(2, joints=["spherical"])
    with dtau.view(model, port=0) as viewer:
        robot = viewer.robots[0]
        gizmo = robot._gizmos[1]
        turn = dtau.Pose.from_rpy((0.4, 0.0, 0.0)).quaternion(order="wxyz")
        gizmo.wxyz = turn
        for callback in gizmo._impl_aux.update_cb:
            asyncio.run(callback(None))
        placed = dtau.forward_kinematics(model, robot.q)
        still = dtau.forward_kinematics(model, dtau.neutral(model))
        assert_close(placed.translation[1], still.translation[1], 1e-12)
        assert np.abs(placed.rotation[1] - still.rotation[1]).max() > 0.3


def test_several_robots_stand_side_by_side() -> None:
    arm = dtau.robots.chain(3)
    with dtau.view([MODEL, arm], port=0) as viewer:
        other = viewer.add(
            MODEL, swing(), name="second", placement=dtau.Pose(translation=(5, 0, 0))
        )
        first, second = viewer.robots[:2]
        assert second.bounds[0, 1] > first.bounds[1, 1]
        assert other.bounds[0, 0] > 3.0
        assert [robot.name for robot in viewer.robots] == ["quadruped", arm.name, "second"]
        assert viewer.add(MODEL, name="arrows", v=np.ones(MODEL.nv)).model == MODEL


def test_a_robot_that_was_moved_stays_while_others_play() -> None:
    with dtau.view([MODEL, MODEL], [dtau.neutral(MODEL), swing()], port=0) as viewer:
        q = dtau.random_state(MODEL, np.random.default_rng(0)).q
        viewer.robots[0].set(q)
        viewer.seek(0.3)
        assert_close(viewer.robots[0].q, q, 1e-15)


def test_ports_that_are_taken_are_passed_over() -> None:
    with dtau.view(MODEL, port=0) as first:
        port = int(first.url.rpartition(":")[2])
        with dtau.view(MODEL, port=port) as second:
            assert second.url != first.url


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"q": np.zeros(3)}, ValueError, ["q", "(3,)"]),
        ({"q": np.zeros((2, 3, 19))}, ValueError, ["q", "(T, nq)"]),
        ({"v": np.zeros(3)}, ValueError, ["v"]),
        ({"f_ext": np.zeros(3)}, ValueError, ["f_ext"]),
        ({"f_ext_axes": "local"}, ValueError, ["f_ext_axes", "body"]),
        ({"dt": 0.0}, ValueError, ["dt", "positive"]),
        ({"port": -1}, ValueError, ["port"]),
        ({"host": 1}, TypeError, ["host"]),
        ({"host": "203.0.113.1"}, OSError, ["host", "203.0.113.1"]),  # of no machine
        ({"host": "a b"}, OSError, ["host", "a b"]),
        ({"model": "robot.urdf"}, TypeError, ["model"]),
        ({"model": []}, ValueError, ["models"]),
        ({"model": [MODEL, MODEL], "q": [dtau.neutral(MODEL)]}, ValueError, ["q", "2", "1"]),
        ({"model": [MODEL], "v": np.zeros(18)}, ValueError, ["model", "add"]),
        ({"geometry": "none.urdf"}, FileNotFoundError, ["none.urdf"]),
        ({"geometry": 3}, TypeError, ["geometry: expected a path or XML text, got int"]),
        ({"geometry": MODEL.to_urdf(), "meshes": 3}, TypeError, ["meshes: expected a path", "3"]),
        ({"geometry": MODEL.to_urdf(), "meshes": [3]}, TypeError, ["meshes: expected a path", "3"]),
        ({"geometry": MODEL.to_urdf(), "meshes": "none"}, NotADirectoryError, ["meshes", "none"]),
    ],
)
def test_viewer_refuses_wrong_arguments(
    changes: dict[str, object], error: type[Exception], words: list[str]
) -> None:
    arguments = {"model": MODEL, "port": 0, **changes}
    has_words(message(error, dtau.view, **arguments), *words)


def test_without_viser_the_message_names_the_extra() -> None:
    code = """
import sys
sys.modules["viser"] = None
import dtau
try:
    dtau.view(dtau.robots.quadruped())
except ImportError as error:
    assert "pip install 'viser>=1.1'" in str(error), error
else:
    raise AssertionError
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_package_imports_no_viewer_by_itself() -> None:
    code = "import sys, dtau; dtau.view; assert not [m for m in sys.modules if 'dtau.viewer' in m]"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_postures_are_shown_by_name() -> None:
    crouched = {"LF_HFE": 0.5, "LF_KFE": -1.0}
    postures = {"crouched": crouched, "standing": {}}
    model = dtau.Model("posed", MODEL.links, gravity=MODEL.gravity, postures=postures)
    with dtau.view(model, "crouched", port=0) as viewer:
        (robot,) = viewer.robots
        assert (robot.q == model.postures["crouched"]).all()
        assert robot._postures.options == ("", "crouched", "standing")
        robot._postures.value = "standing"
        end = time.monotonic() + 60.0
        while (robot.q != model.postures["standing"]).any():
            assert time.monotonic() < end
            time.sleep(0.01)
        with pytest.raises(ValueError, match="no posture named 'crouch'; close names: 'crouched'"):
            viewer.add(model, "crouch")
    with dtau.view([model, MODEL], ["standing", None], port=0) as viewer:
        assert [hasattr(robot, "_postures") for robot in viewer.robots] == [True, False]
