"""Running commands, and files for them."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import pytest
from arms import ARM

from dtau.cli import main

if any(find_spec(package) is None for package in ("click", "rich")):
    collect_ignore_glob = ["test_*.py"]


class Done(NamedTuple):
    """What a command gave."""

    code: int
    out: str
    err: str


Run = Callable[..., Done]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """A function that runs a command as if its words were typed."""
    for name in ("COLUMNS", "FORCE_COLOR", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)

    def run_words(*words: object) -> Done:
        capsys.readouterr()
        code = main([str(word) for word in words])
        return Done(code, *capsys.readouterr())

    return run_words


@pytest.fixture
def arm(tmp_path: Path) -> Path:
    """The file of a sound arm."""
    path = tmp_path / "arm.urdf"
    path.write_text(ARM, encoding="utf-8")
    return path
