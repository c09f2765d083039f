"""Files of formats that are not read: a sentence that says what to do."""

from __future__ import annotations

from pathlib import Path

import pytest
from messages import message

import dtau


@pytest.mark.parametrize("before", ["", '<?xml version="1.0"?>\n'])
def test_sdf(before: str, tmp_path: Path) -> None:
    text = before + '<sdf version="1.9"><model name="arm"/></sdf>'
    path = tmp_path / "arm.sdf"
    path.write_text(text)
    for source in (text, path):
        said = message(dtau.ModelError, dtau.load, source)
        assert "expected <robot>, the root of a URDF" in said
        assert "got <sdf>; SDF is not read: load the URDF that it was made from, or make" in said


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("robot.usda", b'#usda 1.0\n(\n    defaultPrim = "robot"\n)\n'),
        ("robot.usd", b"PXR-USDC\0\0\0"),
        ("robot.usdz", b"PK\x03\x04"),
    ],
)
def test_usd(name: str, content: bytes, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    said = message(dtau.ModelError, dtau.load, path)
    assert said.startswith(f"{path}: USD is not read: load the URDF or MJCF that it was made from")


def test_compiled_mjcf(tmp_path: Path) -> None:
    path = tmp_path / "robot.mjb"
    path.write_bytes(b"\x13\xd4\0\0")
    assert message(dtau.ModelError, dtau.load, path) == (
        f"{path}: MuJoCo's compiled form is not read: load the MJCF that it was made from"
    )
