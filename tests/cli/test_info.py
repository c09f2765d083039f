"""`dtau info`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from arms import ARM

import dtau


def test_tree(run: Any, arm: Path) -> None:
    done = run("info", arm)
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[:6] == [
        "arm: fixed root, 3.2 kg",
        "2 moving bodies of 4 links, nq 2, nv 2, gravity 0 0 -9.81 m/s²",
        "",
        "body   joint     type        q  v   kg  range     velocity  effort",
        "upper  shoulder  revolute y  0  0    2  -2 .. 2          3      50",
        "lower  elbow     revolute y  1  1  1.2  0 .. 2.5         3      30",
    ]
    assert "- lower: tool" in done.out
    assert not any(line.endswith(" ") for line in done.out.splitlines())


def test_narrow_terminals_get_two_tables(
    run: Any, arm: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "50")
    lines = run("info", arm).out.splitlines()
    assert "body   joint     type        q  v   kg" in lines
    assert "joint     v  range     velocity  effort" in lines
    monkeypatch.setenv("COLUMNS", "30")
    assert "body   type        q  v   kg" in run("info", arm).out


def test_branches_are_drawn(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "quadruped.urdf"
    dtau.robots.quadruped().to_urdf(path)
    lines = run("info", path, "--root", "free").out.splitlines()
    assert lines[0].startswith("quadruped: free root")
    bodies = [line[:11].rstrip() for line in lines[4:17]]
    assert bodies[:5] == ["base", "├─ LF_HIP", "│  LF_THIGH", "│  LF_SHANK", "├─ LH_HIP"]
    assert bodies[-3:] == ["└─ RH_HIP", "   RH_THIGH", "   RH_SHANK"]


def test_json_has_everything(run: Any, arm: Path) -> None:
    done = run("info", arm, "--json", "--gravity", 0, 0, -1.62, "--damping", 0.5)
    data = json.loads(done.out)
    model = dtau.load(arm, gravity=(0, 0, -1.62), damping=0.5)
    assert data["gravity"] == [0, 0, -1.62]
    assert (data["nq"], data["nv"], data["nbodies"]) == (2, 2, 2)
    assert data["mass"] == model.mass
    elbow = data["joints"][1]
    assert (elbow["name"], elbow["parent"], elbow["body"]) == ("elbow", "upper", "lower")
    assert (elbow["q"], elbow["v"], elbow["damping"]) == ([1, 2], [1, 2], [0.5])
    assert elbow["limits"] == {"lower": 0, "upper": 2.5, "velocity": [3], "effort": [30]}
    assert data["bodies"][1]["merged"] == ["tool"]
    assert data["bodies"][1]["inertia"] == model.inertias[1].tensor.tolist()
    assert data["fixed_to_the_world"] == ["base"]


def test_json_of_what_has_no_limit(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "arm.urdf"
    path.write_text(ARM.replace('type="revolute"', 'type="continuous"'), encoding="utf-8")
    limits = json.loads(run("info", path, "--json").out)["joints"][0]["limits"]
    assert (limits["lower"], limits["upper"]) == (None, None)


@pytest.mark.parametrize(
    ("text", "note"),
    [
        (
            ARM.replace('<limit lower="-2"', '<dynamics friction="0.2"/><limit lower="-2"'),
            "ignored friction (--friction-speed smooths and includes it): 1",
        ),
        (
            ARM.replace('ixx="0.01"', 'ixx="1"'),
            "no rigid body has (--inertia repair takes the nearest ones of rigid bodies)",
        ),
    ],
)
def test_notes_say_what_to_type(run: Any, tmp_path: Path, text: str, note: str) -> None:
    path = tmp_path / "arm.urdf"
    path.write_text(text, encoding="utf-8")
    assert note in " ".join(run("info", path).out.split())
    assert any(note in each for each in json.loads(run("info", path, "--json").out)["notes"])


def test_warnings_are_shown_and_say_what_to_type(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "arm.urdf"
    mimic = '<mimic joint="shoulder"/></joint>\n  <joint name="flange"'
    path.write_text(ARM.replace('</joint>\n  <joint name="flange"', mimic), encoding="utf-8")
    assert "(--mimic exact ties them): elbow" in run("info", path).out
    tied = run("info", path, "--mimic", "exact").out
    assert "Warnings" not in tied
    assert "revolute y mimics shoulder" in tied


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("# a robot\n", [], "not well-formed XML"),
        (ARM.replace("</joint>", "", 1), [], "arm.urdf, line 16: not well-formed XML"),
        (
            ARM.replace('type="revolute"', 'type="fixed"'),
            [],
            "expected a joint that moves, got none; --root free lets",
        ),
        (ARM.replace('ixx="0.01"', 'ixx="-1"'), [], "--inertia repair takes the nearest"),
    ],
)
def test_what_cannot_be_read(
    run: Any, tmp_path: Path, text: str, options: list[str], message: str
) -> None:
    path = tmp_path / "arm.urdf"
    path.write_text(text, encoding="utf-8")
    done = run("info", path, *options)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert "Traceback" not in done.err
