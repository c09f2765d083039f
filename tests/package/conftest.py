"""What tests of scripts share."""

from __future__ import annotations

import importlib
from typing import Any

import pytest
from files import ROOT
from scripts import Script


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Script:
    """Import a script of a folder as it would be run: the folder's files are its neighbors."""

    def load(path: str) -> Any:
        folder, name = path.split("/")
        monkeypatch.syspath_prepend(str(ROOT / folder))
        return importlib.import_module(name)

    return load
