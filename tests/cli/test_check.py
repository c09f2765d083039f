"""`dtau check`: each finding by a fault in a sound arm, severities, and no false alarms."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from arms import ARM

import dtau
from dtau.cli.checks import numerics
from dtau.cli.checks.inertias import density

NOTES = {"ignored", "fixed-to-the-world", "loader", "wide-range", "repaired"}


def found(run: Any, path: Path, *options: object) -> tuple[int, dict[str, Any]]:
    """The exit code, and findings by code."""
    done = run("check", path, "--json", *options)
    data = json.loads(done.out)
    assert data["severity"] == next(
        (x for x in ("error", "warning", "note") if x in {f["severity"] for f in data["findings"]}),
        None,
    )
    return done.code, {finding["code"]: finding for finding in data["findings"]}


def test_a_sound_arm(run: Any, arm: Path) -> None:
    assert found(run, arm) == (0, {})
    done = run("check", arm)
    assert (done.code, done.err) == (0, "")
    assert "No findings." in done.out
    assert "At 64 random states: cond(M) up to" in done.out
    measured = json.loads(run("check", arm, "--json").out)["measured"]
    assert measured["states"] == 64
    assert 1 < measured["condition"] < 1e3
    assert max(measured["inverse"], measured["forward"]) < 1e-8


# A fault, the code it is found by, the severity, and a joint or link that is named
FAULTS = {
    "triangle": ('izz="0.002"', 'izz="0.05"', "triangle-inequality", "warning", "lower"),
    "large": ('ixx="0.01" iyy="0.01" izz="0.002"', 'ixx="9" iyy="9" izz="9"', "inertia-large",
              "warning", "lower"),
    "small": ('ixx="0.03" iyy="0.03" izz="0.004"', 'ixx="3e-8" iyy="3e-8" izz="3e-8"',
              "inertia-small", "warning", "upper"),
    "no mass": ('<mass value="0.2"/>', '<mass value="0"/>', "moments-without-mass", "warning",
                "tool"),
    "grams": ('"2"/>\n    <inertia ixx="0.03" iyy="0.03" izz="0.004"',
              '"2000"/>\n    <inertia ixx="900" iyy="900" izz="90"', "grams", "warning", "upper"),
    "millimeters": ("0 0 0.4", "0 0 400", "millimeters", "warning", "joint elbow"),
    "com": ("0 0 0.2", "0 0 200", "millimeters", "warning", "center of mass of upper"),
    "degrees": ('upper="2.5"', 'upper="145"', "degrees", "warning", "elbow"),
    "degrees/s": ('velocity="3"', 'velocity="180"', "degrees-per-second", "warning", "shoulder"),
    "no range": ('lower="-2" upper="2"', "", "empty-range", "warning", "shoulder"),
    "no effort": ('effort="50"', 'effort="0"', "zero-limits", "warning", "shoulder"),
    "wide": ('lower="-2" upper="2"', 'lower="-1e9" upper="1e9"', "wide-range", "note", "shoulder"),
    "colours": ("</robot>", '<material name="red"/></robot>', "ignored", "note", ""),
    "friction": ('<axis xyz="0 1 0"/>', '<axis xyz="0 1 0"/><dynamics friction="1"/>', "loader",
                 "note", ""),
    "base": ('<link name="base"/>', '<link name="base"><inertial><mass value="1"/><inertia '
             'ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>',
             "fixed-to-the-world", "note", "base"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found_by_its_code_alone(run: Any, arm: Path, fault: str) -> None:
    sound, wrong, code, severity, name = FAULTS[fault]
    assert sound in ARM
    arm.write_text(ARM.replace(sound, wrong))
    exit_code, findings = found(run, arm)
    assert set(findings) == {code}
    assert findings[code]["severity"] == severity
    assert exit_code == {"note": 0, "warning": 1, "error": 2}[severity]
    assert name in findings[code]["where"] or not name
    shown = run("check", arm).out
    assert findings[code]["message"] in shown
    assert f"[{code}]" in shown


def test_ranges_of_whole_turns_are_no_degrees(run: Any, arm: Path) -> None:
    arm.write_text(ARM.replace('upper="2.5"', f'upper="{6 * math.pi}"'))
    assert found(run, arm) == (0, {})


def test_moments_of_all_links_in_another_unit_are_named(run: Any, arm: Path) -> None:
    text = ARM
    for moment in ("0.03", "0.004", "0.01", "0.002", "1e-4"):
        text = text.replace(f'="{moment}"', f'="{1e6 * float(moment)}"')
    arm.write_text(text)
    _, findings = found(run, arm)
    assert "They look like kg mm²" in findings["inertia-large"]["way_out"]


def test_massless_joints_are_errors(run: Any, arm: Path) -> None:
    start = ARM.index('<link name="lower">')
    end = ARM.index('<joint name="shoulder"')
    arm.write_text(f'{ARM[:start]}<link name="lower"/><link name="tool"/>{ARM[end:]}')
    code, findings = found(run, arm)
    assert code == 2
    assert list(findings["massless-joint"]["where"]) == ["elbow"]
    lines = [line.strip() for line in run("check", arm).out.splitlines()]
    assert "elbow" in lines, "a place without numbers"
    assert found(run, arm, "--armature", "0.01") == (0, {})


def test_refused_files_are_checked_by_the_way_out(run: Any, arm: Path) -> None:
    text = ARM.replace('ixx="0.01"', 'ixx="-0.01"').replace('effort="50"', 'effort="0"')
    arm.write_text(text)
    code, findings = found(run, arm)
    assert code == 2
    assert "--inertia repair" in findings["refused"]["message"]
    assert "lower" in findings["repaired"]["where"]
    assert "zero-limits" in findings
    arm.write_text(text.replace("</robot>", ""))
    done = run("check", arm)
    assert done.code == 2
    assert "cannot be read" in done.out
    assert "Nothing else can be checked before that." in done.out


def test_joints_that_mimic(run: Any, arm: Path) -> None:
    mimic = '<mimic joint="shoulder"/></joint>\n  <joint name="flange"'
    arm.write_text(ARM.replace('</joint>\n  <joint name="flange"', mimic))
    code, findings = found(run, arm)
    assert (code, set(findings)) == (1, {"mimic"})
    assert found(run, arm, "--mimic", "exact") == (0, {})


def test_a_nearly_singular_mass_matrix(run: Any, arm: Path) -> None:
    text = ARM.replace('<origin xyz="0 0 0.2"/><mass value="2"/>', '<mass value="1e-4"/>')
    text = text.replace('"0.03"', '"3e-10"').replace('"0.004"', '"3e-10"')
    arm.write_text(text.replace('<origin xyz="0 0 0.4"/>', ""))
    code, findings = found(run, arm)  # a speck between two joints about one axis
    assert (code, set(findings)) == (1, {"condition"})
    assert set(findings["condition"]["where"]) == {"shoulder, elbow"}


def test_wrong_derivatives_would_be_found(
    run: Any, arm: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = numerics.forward_dynamics_derivatives

    def wrong(*arguments: Any) -> Any:
        d = right(*arguments)
        return (1.001 * d[0], *d[1:])

    monkeypatch.setattr(numerics, "forward_dynamics_derivatives", wrong)
    code, findings = found(run, arm)
    assert (code, set(findings)) == (2, {"derivatives"})


@pytest.mark.parametrize("number", ["1e300", "1e150", "1e-300", "-1e300"])
def test_numbers_of_any_size(run: Any, arm: Path, number: str) -> None:
    for sound in ('value="1"', '"0.01"', '0 0 0.4"', 'lower="-2"', 'effort="50"'):
        wrong = sound.replace(sound.split('"')[-2].split()[-1], number)
        arm.write_text(ARM.replace(sound, wrong))
        for words in (["check", arm], ["check", arm, "--json"], ["info", arm]):
            done = run(*words)
            assert done.code in (0, 1, 2)
            assert "Warning" not in done.err


def test_robots_that_would_take_minutes(
    run: Any, arm: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(numerics, "_MOST", 1)
    assert "Left out cond(M) and differences" in run("check", arm).out
    assert json.loads(run("check", arm, "--json").out)["measured"]["condition"] is None


def stl(size: float) -> bytes:
    """A binary STL file with one triangle."""
    facet = np.zeros((), [("numbers", "<f4", 12), ("flags", "<u2")])
    facet["numbers"][3:] = [0, 0, 0, size, 0, 0, 0, size / 2, 0]
    return b"solid".ljust(80) + (1).to_bytes(4, "little") + facet.tobytes()


TEXT = b"solid part\n facet\n outer loop\n vertex 0 0 0\n vertex %b 0 0\n vertex 0 1 0\n"


@pytest.mark.parametrize(
    ("content", "scale", "code"),
    [
        (stl(250.0), None, "large-mesh"),
        (TEXT % b"250", None, "large-mesh"),
        (stl(250.0), "0.001 0.001 0.001", None),
        (stl(0.25), None, None),
        (stl(0.25), "0.001 0.001 0.001", "small-mesh"),
        (stl(math.inf), None, None),
        (b"solid", None, None),
        (TEXT % b"x", "a b c", None),
    ],
)
def test_meshes(
    run: Any, tmp_path: Path, content: bytes, scale: str | None, code: str | None
) -> None:
    for folder in ("hand/meshes", "hand/urdf"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "hand/meshes/Tool.STL").write_bytes(content)
    (tmp_path / "secret.stl").write_bytes(stl(1e6))
    path = tmp_path / "hand/urdf/arm.urdf"
    for name, expected in {
        "package://hand/meshes/Tool.STL": {code} - {None},
        "package://hand/../secret.stl": set(),  # outside the package
        "../meshes/Tool.STL": set(),  # outside the folder, and no package
        "nowhere.stl": set(),
    }.items():
        scaled = f' scale="{scale}"' if scale else ""
        mesh = f'<visual><geometry><mesh filename="{name}"{scaled}/></geometry></visual>'
        text = ARM.replace('<link name="tool">', f'<link name="tool">{mesh}')
        path.write_text(text, encoding="utf-8")
        _, findings = found(run, path)
        assert set(findings) - NOTES == expected
        if expected:
            assert "Tool.STL, line 7" in findings[str(code)]["where"]["tool"]


@pytest.mark.parametrize(("step", "stiff"), [(1e-3, {"finger"}), (1e-5, set())])
def test_damping_that_is_stiff_at_the_time_step(
    run: Any, tmp_path: Path, step: float, stiff: set[str]
) -> None:
    pytest.importorskip("mujoco")
    path = tmp_path / "hand.xml"
    path.write_text(
        f'''<mujoco><option timestep="{step}"/><worldbody><body>
        <joint name="wrist" damping="0.1"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
        <body><joint name="finger" axis="1 0 0" damping="1"/>
        <inertial pos="0 0 0" mass="0.01" diaginertia="1e-5 1e-5 1e-5"/></body>
        </body></worldbody></mujoco>''',
        encoding="utf-8",
    )
    _, findings = found(run, path)
    assert ("stiff-step" in findings) == bool(stiff)
    assert not stiff or set(findings["stiff-step"]["where"]) == stiff
    assert not stiff or findings["stiff-step"]["message"].startswith("At neutral, the file's time")


def test_density_of_a_ball() -> None:
    mass = 1000 * 4 / 3 * math.pi * 0.1**3
    moment = 0.4 * mass * 0.1**2
    ball = dtau.Inertia(mass, (0, 0, 0), [[moment, 0, 0], [0, moment, 0], [0, 0, moment]])
    assert math.isclose(density(ball), 1000)


SOUND = ["a1", "go2", "g1_29dof_rev_1_0", "solo12", "ur5_robot", "xarm7", "z1", "talos_reduced"]


@pytest.mark.parametrize("name", SOUND)
def test_no_false_alarms(run: Any, name: str) -> None:
    files = pytest.importorskip("pinocchio_pair").FILES
    path = next(path for file, path in files.items() if path.stem == name)
    code, findings = found(run, path)
    assert code == 0
    assert set(findings) <= NOTES
