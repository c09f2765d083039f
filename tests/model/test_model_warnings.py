"""Models that the package makes for itself warn of nothing, and keep no other thread from it."""

from __future__ import annotations

import ast
import threading
import warnings
from pathlib import Path

import pytest

import dtau
from dtau.support.errors import without_model_warnings

PACKAGE = Path(dtau.__file__).parent


def massless() -> dtau.Model:
    builder = dtau.ModelBuilder("massless")
    builder.add(dtau.Revolute((0, 0, 1)), name="joint")
    return builder.build()


def test_the_warning_is_of_the_thread_and_the_time() -> None:
    with pytest.warns(dtau.ModelWarning, match="move no inertia"):
        massless()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with without_model_warnings():
            massless()
            with without_model_warnings():
                massless()
            massless()
    with pytest.warns(dtau.ModelWarning, match="move no inertia") as caught:
        massless()
    assert [Path(x.filename) for x in caught] == [Path(__file__)]


def test_an_error_ends_the_silence() -> None:
    with pytest.raises(ZeroDivisionError), without_model_warnings():
        raise ZeroDivisionError
    with pytest.warns(dtau.ModelWarning):
        massless()


def test_threads_that_overlap() -> None:
    """Each leaves after the other has come: filters of the process would stay changed."""
    steps = threading.Barrier(2, timeout=60)
    before = list(warnings.filters)

    def other() -> None:
        steps.wait()  # the first thread is quiet
        with without_model_warnings():
            steps.wait()
            steps.wait()  # the first thread is not any more
        steps.wait()

    thread = threading.Thread(target=other)
    thread.start()
    with without_model_warnings():
        steps.wait()
        steps.wait()
    with pytest.warns(dtau.ModelWarning):
        massless()
    steps.wait()
    steps.wait()
    thread.join(timeout=60)
    assert list(warnings.filters) == before


def test_no_function_changes_the_filters_of_the_process() -> None:
    """The command line does: its process is its own."""
    found = []
    for path in PACKAGE.rglob("*.py"):
        names = {
            node.attr
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.Attribute)
        }
        if names & {"catch_warnings", "simplefilter", "filterwarnings", "resetwarnings"}:
            found.append(path.relative_to(PACKAGE).parts[0])
    assert set(found) == {"cli"}
