"""Files without end, and larger than is allowed."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

import pytest
from test_urdf import arm

import dtau

ARM = arm()


def padded(size: int) -> str:
    return ARM + " " * (size - len(ARM))


@pytest.mark.parametrize("given", ["path", "text"])
def test_the_limit_can_be_chosen(given: str, tmp_path: Path) -> None:
    def load(size: int, **options: Any) -> dtau.Model:
        path = tmp_path / "arm.urdf"
        path.write_text(padded(size))
        return dtau.load(path if given == "path" else padded(size), **options)

    label = "XML text" if given == "text" else str(tmp_path / "arm.urdf")
    assert load(1000, max_size=1000).nv == 1
    message = f"{label}: expected at most 1000 bytes, got more; "
    message += "max_size= of dtau.load allows larger files"
    with pytest.raises(dtau.ModelError) as caught:
        load(1001, max_size=1000)
    assert str(caught.value) == message
    assert load(3_000_000, max_size=10**12).nv == 1
    assert load(3_000_000, max_size=2**70).nv == 1


def test_bytes_are_counted_not_letters() -> None:
    text = ARM.replace('"r"', f'"{"ä" * 100}"')
    assert dtau.load(text, max_size=len(text) + 100).nv == 1
    with pytest.raises(dtau.ModelError, match="at most"):
        dtau.load(text, max_size=len(text) + 99)


def test_the_limit_by_default() -> None:
    dtau.load(padded(64_000_000))
    with pytest.raises(dtau.ModelError, match="XML text: expected at most 64000000 bytes"):
        dtau.load(padded(64_000_001))


@pytest.mark.parametrize("value", [0, -1, 1.5, None, "1", True])
def test_wrong_limits(value: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="max_size: expected an integer"):
        dtau.load(ARM, max_size=value)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no file without end")
def test_a_file_without_end_is_refused() -> None:
    with pytest.raises(dtau.ModelError, match="/dev/zero: expected at most 64000000 bytes"):
        dtau.load("/dev/zero")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes in the file system")
def test_a_pipe_without_end(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    written = 0

    def write() -> None:
        nonlocal written
        with path.open("wb", buffering=0) as pipe:
            try:
                while True:
                    written += pipe.write(b"<a/>" * 1000)
            except BrokenPipeError:
                pass

    thread = threading.Thread(target=write)
    thread.start()
    with pytest.raises(dtau.ModelError, match="pipe: expected at most 5000000 bytes"):
        dtau.load(path, max_size=5_000_000)
    thread.join()
    assert written < 7_000_000
