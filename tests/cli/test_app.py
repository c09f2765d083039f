"""The command line as a whole: help, mistakes, exit codes, colors, what is imported."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import click
import pytest
from rich.console import Console

import dtau
import dtau.cli
from dtau.cli import output
from dtau.cli.app import commands
from dtau.cli.robot import as_typed

COMMANDS = sorted(commands.commands)
OF_ROBOTS = sorted({*COMMANDS} - {"docs"})


@pytest.mark.parametrize("words", [(), ("--help",), ("-h",)])
def test_the_help_lists_the_commands_and_the_exit_codes(run: Any, words: tuple[str, ...]) -> None:
    done = run(*words)
    assert done.code == 0
    for name in (*COMMANDS, "Exit codes", "Examples", "URDF", "mujoco-core"):
        assert name in done.out


def test_the_version(run: Any) -> None:
    assert run("--version").out == f"dtau {dtau.__version__}\n"


@pytest.mark.parametrize("name", OF_ROBOTS)
def test_each_command_teaches_by_examples(run: Any, name: str) -> None:
    done = run(name, "--help")
    assert done.code == 0
    for word in ("Examples:", f"  dtau {name} ", "--root", "--mimic", "--inertia"):
        assert word in done.out
    assert "...\n" not in run("--help").out.partition("Commands:")[2], "not cut off"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["inof", "arm.urdf"], "No such command 'inof'. Did you mean 'info'? Try: dtau --help\n"),
        (["arm.urdf"], "arm.urdf is not a command: dtau info arm.urdf shows it."),
        (["--inffo"], "No such option"),
    ],
)
def test_mistakes_before_the_command(run: Any, words: list[str], message: str) -> None:
    done = run(*words)
    assert (done.code, done.out) == (3, "")
    assert done.err.startswith("Error: ")
    assert message in done.err


@pytest.mark.parametrize("name", OF_ROBOTS)
def test_mistakes_with_any_command(run: Any, arm: Path, name: str) -> None:
    rest = {"convert": ["out.urdf"], "generate": ["out.c"]}.get(name, [])
    mistakes = {
        ("arn.urdf", 3, "no such file; close names: "): ["--root", "free"],
        ("arm.urdf", 3, "--root: expected 'fixed' or 'free', got 'floating': that is 'free'"): [
            "--root",
            "floating",
        ],
        ("arm.urdf", 3, "No such option '--gravty'. Did you mean '--gravity'?"): ["--gravty", "0"],
        ("arm.urdf", 3, f"requires 3 arguments. Try: dtau {name} --help\n"): [
            "--gravity",
            "0",
            "0",
        ],
        ("arm.urdf", 3, "--friction: expected --friction-speed V beside it"): ["--friction", "1"],
        ("", 3, "expected a file, got a folder; robots in it: arm.urdf"): [],
        ("no/arm.urdf", 3, "no such file, and no folder"): [],
    }
    for (file, code, message), options in mistakes.items():
        done = run(name, arm.parent / file, *rest, *options)
        assert (done.code, done.out) == (code, "")
        assert message in done.err
        assert "Traceback" not in done.err


@pytest.mark.parametrize("package", ["click", "rich"])
def test_what_is_missing_is_said(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    assert dtau.cli.main(["info", "arm.urdf"]) == 3
    said = capsys.readouterr().err
    assert f"needs the package {package}" in said
    assert "python -m pip install 'click>=8.2' 'rich>=13'" in said


@pytest.mark.parametrize(
    ("package", "file", "text"),
    [
        ("mujoco", "arm.xml", "<mujoco><worldbody><body><joint/></body></worldbody></mujoco>"),
        ("xacrodoc", "arm.urdf.xacro", '<robot xmlns:xacro="http://ros.org/wiki/xacro" name="a"/>'),
    ],
)
def test_what_a_format_needs_is_said(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str, file: str, text: str
) -> None:
    (tmp_path / file).write_text(text)
    monkeypatch.setitem(sys.modules, package, None)
    done = run("info", tmp_path / file)
    assert done.code == 3
    assert re.search(rf"pip install '?{package}", done.err)


def test_a_missing_posture_says_which_there_are(run: Any, arm: Path) -> None:
    assert "no posture named 'up'; there are none" in run("view", arm, "--posture", "up").err


def test_the_package_does_not_import_it() -> None:
    code = "import dtau, sys; print([x for x in sys.modules if x.startswith(('dtau.cli', 'rich'))])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_python_m_dtau_reads_standard_input_and_gives_the_exit_code(arm: Path) -> None:
    command = [sys.executable, "-m", "dtau", "check", "-"]
    for text, code in ((arm.read_text(), 0), (arm.read_text().replace('"2.5"', '"0"'), 1)):
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stderr
        assert done.stdout.startswith("standard input: arm")
    done = subprocess.run(command, input="robot", capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "Traceback" not in done.stdout + done.stderr


def test_terminals_that_have_ascii_only(tmp_path: Path) -> None:
    dtau.robots.quadruped().to_urdf(tmp_path / "quadruped.urdf")
    done = subprocess.run(
        [sys.executable, "-m", "dtau", "info", "quadruped.urdf", "--root", "free"],
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        cwd=tmp_path,
        capture_output=True,
        check=True,
    )
    assert b"|- LF_HIP" in done.stdout
    assert b"m/s?" in done.stdout
    assert done.stderr == b""


@pytest.mark.skipif(os.name == "nt", reason="has no shell with pipes of this kind")
def test_a_reader_that_has_seen_enough_is_no_error(arm: Path) -> None:
    command = f"{sys.executable} -m dtau info {arm} --json | head -n 1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["{", "0"]
    assert done.stderr == ""


@pytest.mark.parametrize(
    "words",
    [
        ["info", "{arm}"],
        ["info", "{arm}", "--json"],
        ["check", "{arm}"],
        ["convert", "{arm}", "{arm}.urdf"],
        ["view", "{arm}", "--picture", "{arm}.png"],
        ["info", "--help"],
        ["--version"],
    ],
)
def test_a_full_disk_is_a_sentence(arm: Path, words: list[str]) -> None:
    if not Path("/dev/full").exists():
        return  # this system cannot pretend
    command = [sys.executable, "-m", "dtau", *(word.format(arm=arm) for word in words)]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    said = "Error: standard output: No space left on device.\n"
    assert (done.returncode, done.stderr) == (3, said)


def test_standard_output_may_be_closed(arm: Path) -> None:
    command = f"{sys.executable} -m dtau info {arm} >&-"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name", OF_ROBOTS)
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--damping", "-1"], "'--damping': expected a finite number of at least 0, got -1"),
        (["--armature", "nan"], "'--armature': expected a finite number of at least 0, got nan"),
        (["--armature", "inf"], "'--armature': expected a finite number of at least 0, got inf"),
        (["--gravity", "nan", "0", "0"], "'--gravity': expected a finite number, got nan"),
        (["--gravity", "0", "0", "x"], "'--gravity': 'x' is not a valid float"),
        (["-f", "foo"], "foo"),
    ],
)
def test_values_that_an_option_does_not_take(
    run: Any, arm: Path, name: str, options: list[str], message: str
) -> None:
    rest = {"convert": [arm.parent / "out.urdf"], "generate": [arm.parent / "out.c"]}
    done = run(name, arm, *rest.get(name, []), *options)
    assert (done.code, done.out) == (3, "")
    assert (message if name in ("bench", "generate") or "-f" not in options else "") in done.err


HOSTILE = "a\x1b[2J\x9b31m\u202e\u2028z"  # clears a terminal, turns its text around
SHOWN = r"a\x1b[2J\x9b31m\u202e\u2028z"


def hostile_arm(tmp_path: Path, text: str) -> Path:
    """An MJCF: MuJoCo, unlike XML, allows any character in a name."""
    pytest.importorskip("mujoco")
    name = "".join(f"&#{ord(x)};" for x in HOSTILE)
    path = tmp_path / "arm.xml"
    path.write_text(text.replace("NAME", name), encoding="utf-8")
    return path


def test_names_are_no_orders_to_the_terminal(run: Any, tmp_path: Path) -> None:
    body = '<body name="NAME{0}"><joint name="NAME{0}" range="0 1000"/>{1}</body>'
    ball = '<geom type="sphere" size="0.1"/><site name="NAME{0}"/>'
    inner = body.format(1, ball.format(1))
    path = hostile_arm(
        tmp_path,
        '<mujoco><compiler autolimits="true"/><worldbody>'
        f"{body.format(0, ball.format(0) + inner)}</worldbody></mujoco>",
    )
    commands = {
        "info": [],
        "check": [],
        "bench": ["-f", "gravity_torque", "--states", "1"],
        "convert": [tmp_path / "arm.urdf"],
        "generate": [tmp_path / "arm.c", "-f", "frame_jacobians", "-o", f"frames={HOSTILE}"],
        "view": ["--picture", tmp_path / "arm.png"],
    }
    for name, words in commands.items():
        done = run(name, path, *words)
        for text in (done.out, done.err):
            assert all(x.isprintable() or x == "\n" for x in text), (name, text)
        if name in ("info", "check", "convert"):
            assert SHOWN in " ".join((done.out + done.err).split()), name
        assert "Traceback" not in done.err
    for name in ("info", "check"):
        told = run(name, path, "--json")
        assert all(x.isprintable() or x == "\n" for x in told.out)
        assert HOSTILE in json.dumps(json.loads(told.out), ensure_ascii=False).replace(
            r"\u001b", "\x1b"
        )


def test_a_robot_named_by_its_path_is_no_order_either(run: Any) -> None:
    done = run("info", f"{HOSTILE}.urdf")
    assert done.code == 3
    assert SHOWN in done.err
    assert "\x1b" not in done.err


def test_warnings_are_sentences(run: Any, arm: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def warned(*_: object, **__: object) -> None:
        warnings.warn("the mesh\x1b is far below meshes=", stacklevel=1)
        raise OSError("none")

    monkeypatch.setattr("dtau.cli.generate.dtau.generate", warned)
    done = run("generate", arm, arm.parent / "out.c")
    assert done.err.splitlines()[0] == r"Warning: the mesh\x1b is far below --meshes"
    assert warnings.showwarning.__module__ != "dtau.cli.app"


def test_ctrl_c_is_a_sentence(run: Any, arm: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("dtau.cli.robot.load", interrupted)
    done = run("info", arm)
    assert (done.code, done.err.strip()) == (130, "Error: interrupted.")


def test_colours_are_for_terminals_and_can_be_refused(
    run: Any, arm: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "\x1b" not in run("check", arm).out
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(Console, "is_terminal", True)
    colourful = run("check", arm).out
    assert "\x1b[32mNo findings." in colourful
    assert "\x1b[32m0" not in colourful
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[3" not in run("check", arm).out


def test_progress_appears_on_terminals_if_it_takes_long(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def shown(patience: float) -> str:
        monkeypatch.setattr(output, "_PATIENCE", patience)
        with output.progress("Counting", 2) as ticks:
            ticks.tick("sheep")
            ticks.tick()
        got = capsys.readouterr()
        assert got.out == ""
        return got.err

    assert shown(-1.0) == ""
    monkeypatch.setattr(Console, "is_terminal", True)
    assert shown(60.0) == ""
    assert "Counting" in shown(-1.0)


def test_messages_name_options_as_they_are_typed() -> None:
    assert as_typed("root='free' lets the robot move") == "--root free lets the robot move"
    assert as_typed("inertia='repair' and mimic='exact'") == "--inertia repair and --mimic exact"


def test_options_have_the_words_of_the_package() -> None:
    for name in OF_ROBOTS:
        kinds = {p.name: p.type for p in commands.commands[name].params}
        assert isinstance(kinds["root"], click.Choice)
        assert list(kinds["root"].choices) == ["fixed", "free"]
