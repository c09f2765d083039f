"""`dtau view`."""

from __future__ import annotations

import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import dtau


@contextmanager
def served(arm: Path, interrupts: signal.Handlers) -> Iterator[subprocess.Popen[str]]:
    """`dtau view` with a page to serve, started by a process that treats SIGINT so."""
    pytest.importorskip("viser")
    process = subprocess.Popen(
        [sys.executable, "-u", "-m", "dtau", "view", str(arm), "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=partial(signal.signal, signal.SIGINT, interrupts),
    )
    assert process.stdout is not None
    try:
        name, _, url = process.stdout.readline().strip().partition(": ")
        assert name == "arm"
        assert url.startswith("http://127.0.0.1:")
        with urllib.request.urlopen(url, timeout=300) as page:
            assert b"<html" in page.read()
        process.stdout.readline()
        yield process
    finally:
        process.kill()
        process.communicate()


def test_the_page_is_served_until_it_is_interrupted(arm: Path) -> None:
    """Whether or not this process ignores SIGINT, as background jobs of scripts do."""
    with served(arm, signal.SIG_DFL) as process:
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=300)
        assert (process.returncode, errors) == (0, "")


def test_a_background_job_is_ended_by_termination_alone(arm: Path) -> None:
    with served(arm, signal.SIG_IGN) as process:
        process.send_signal(signal.SIGINT)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=0.5)
        process.terminate()
        assert process.wait(timeout=300) == -signal.SIGTERM


def test_a_picture(run: Any, arm: Path) -> None:
    out = arm.parent / "arm.png"
    done = run("view", arm, "--picture", out)
    assert (done.code, done.out.strip(), done.err) == (0, f"written: {out}", "")
    assert out.read_bytes()[:4] == b"\x89PNG"


def test_a_picture_of_a_posture(run: Any, arm: Path) -> None:
    srdf, out = arm.with_suffix(".srdf"), arm.parent / "arm.png"
    name = dtau.load(arm).joints[0].name
    srdf.write_text(
        f'<robot name="arm"><group_state name="bent" group="all"><joint name="{name}" value="0.9"/>'
        "</group_state></robot>"
    )
    pictures = []
    for options in ((), ("--srdf", srdf), ("--srdf", srdf, "--posture", "bent")):
        done = run("view", arm, "--picture", out, *options)
        assert (done.code, done.out.strip(), done.err) == (0, f"written: {out}", "")
        pictures.append(out.read_bytes())
    assert pictures[0] == pictures[1] != pictures[2]
    for options, code, message in (
        (("--posture", "bent"), 2, "no posture named 'bent'"),
        (("--srdf", srdf, "--posture", "bend"), 2, "no posture named 'bend'; close names: 'bent'"),
        (("--srdf", "gone.srdf"), 3, "gone.srdf: no such file"),
    ):
        done = run("view", arm, "--picture", out, *options)
        assert done.code == code
        assert message in done.err


def test_what_cannot_be_shown_is_told(run: Any, arm: Path) -> None:
    text = arm.read_text(encoding="utf-8")
    mesh = '<visual><geometry><mesh filename="package://far/away.stl"/></geometry></visual>'
    arm.write_text(text.replace('<link name="upper">', f'<link name="upper">{mesh}'))
    done = run("view", arm, "--picture", arm.parent / "arm.png")
    assert done.code == 0
    assert "package://far/away.stl" in done.out
    assert "and those of --meshes: " in done.out.replace("\n", " ")


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("--meshes", "nowhere"), 3, "'nowhere' does not exist"),
        (("--port", "70000"), 3, "70000 is not in the range"),
        (("--picture", "arm.jpg"), 3, "expected a name that ends in .png, got arm.jpg"),
        (("--picture", "nowhere/arm.png"), 3, "nowhere/arm.png: no such folder: nowhere"),
    ],
)
def test_mistakes(run: Any, arm: Path, words: tuple[str, ...], code: int, message: str) -> None:
    done = run("view", arm, *words)
    assert (done.code, done.out) == (code, "")
    assert message in done.err


def test_without_viser_a_sentence(run: Any, arm: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "viser", None)
    done = run("view", arm)
    assert done.code == 3
    assert "pip install 'viser>=1.1'" in done.err
