"""The settings of tests/conftest.py, where pytest is asked for tests of this folder alone."""

from __future__ import annotations

import importlib.util

import pytest
from files import ROOT

SETTINGS = str(ROOT / "tests/conftest.py")  # the name under which pytest would register them


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    """Register these settings, if tests of the other folder have not brought them along."""
    if not pluginmanager.has_plugin(SETTINGS):
        spec = importlib.util.spec_from_file_location("tests_conftest", SETTINGS)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        pluginmanager.register(module, SETTINGS)
