"""Every URDF of example-robot-data loads, or is refused with one message whose way out works."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compare import TOLERANCE, assert_close
from pinocchio_pair import FILES, pin

import dtau

# Robots that do not load: the message, and the options that it names.
INDEFINITE = (
    r"line \d+: inertias with negative principal moments, which no body has: -\S+ of link '\w+' "
    r"\(line \d+\), -\S+ of link .*; inertia='repair' takes"
)
REFUSED: dict[tuple[str, str], tuple[str, dict[str, Any]]] = {
    **{
        (file, root): (INDEFINITE, {"root": root, "inertia": "repair"})
        for file in ("tiago.urdf", "tiago_dual.urdf", "tiago_no_hand.urdf", "romeo_laas_small.urdf")
        for root in ("fixed", "free")
    },
    **{
        (file, "fixed"): ("expected a joint that moves, got none; root='free'", {"root": "free"})
        for file in ("quadrotor_base.urdf", "iris_simple.urdf")
    },
}
EMPTY = "ur3.urdf"  # a xacro file that defines macros and uses none, expanded


def load(path: Path | str, **options: Any) -> tuple[dtau.Model, list[str]]:
    """The model, and what it warns of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = dtau.load(path, **options)
    return model, [str(warning.message) for warning in caught]


@pytest.mark.parametrize("file", [file for file, path in FILES.items() if path.name != EMPTY])
def test_each_written_robot_loads_as_an_equal_model(file: str) -> None:
    path = FILES[file]
    for root in ("fixed", "free"):
        options: dict[str, Any] = {"root": root}
        if (path.name, root) in REFUSED:
            said, way_out = REFUSED[path.name, root]
            with pytest.raises(dtau.ModelError, match=said):
                load(path, **options)
            options = way_out
        model, warned = load(path, **options)
    for warning in warned:
        assert warning.startswith(("joints that mimic others", "joints that move no inertia"))
    again, _ = load(model.to_urdf(), root="free")
    assert again == model


LOST = "alex_psyonic_hands.urdf"  # its fingers mimic joints that are not in it


def test_exact_followers() -> None:
    with_followers = 0
    for path in FILES.values():
        if "<mimic" in path.read_text(encoding="utf-8", errors="replace") and path.name != LOST:
            options = REFUSED.get((path.name, "fixed"), ("", {}))[1]
            model, _ = load(path, **{**options, "mimic": "exact"})
            assert load(model.to_urdf(), mimic="exact")[0] == model
            with_followers += any(link.mimic for link in model.links)
    assert with_followers > 5


def test_followers_of_joints_that_are_not_there() -> None:
    (path,) = (path for path in FILES.values() if path.name == LOST)
    said = "no joint named 'index_q1'; close names: 'Left_index_q1'.*mimic='independent' makes"
    with pytest.raises(dtau.ModelError, match=said):
        load(path, mimic="exact")
    _, (warning,) = load(path)
    assert "(mimic='exact' would not load: mimic of joint 'Left_index_q2': no joint" in warning


def test_a_file_without_a_robot() -> None:
    (path,) = (path for path in FILES.values() if path.name == EMPTY)
    with pytest.raises(dtau.ModelError, match="line 6: expected at least one <link>, got none"):
        load(path)


def test_repaired_inertias_are_noted() -> None:
    (path,) = (path for path in FILES.values() if path.name == "tiago.urdf")
    model, _ = load(path, inertia="repair")
    notes = [note for note in model.notes if note.startswith("repaired the inertia of link ")]
    assert notes[0] == (
        "repaired the inertia of link 'base_antenna_left_link' (line 176): principal moments "
        "-3.53486e-08, 3.50085e-08, 9.08701e-08 became 1.02565e-08, 8.06136e-08, 9.08701e-08, by "
        "at most 4.56e-08 kg m²"
    )


def test_other_programs_read_what_is_written() -> None:
    """Pinocchio, of a robot with a rotation whose nine numbers stand beside the angles."""
    tilted = dtau.Spherical().placement(np.array([1, 2, 3, 4]) / np.sqrt(30))
    model = dtau.robots.quadruped().replace(placements={"LF_HFE": tilted})
    text = model.to_urdf()
    assert "dtau:rotation" in text
    peer = pin.buildModelFromXML(text, pin.JointModelFreeFlyer())
    q, v, a = dtau.random_state(model, np.random.default_rng(3))
    want = pin.rnea(peer, peer.createData(), q, v, a)
    assert_close(dtau.inverse_dynamics(model, q, v, a), want, TOLERANCE["pinocchio"], "tau")
