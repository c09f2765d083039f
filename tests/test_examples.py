"""The examples and the validation of the linearization do what they say, on a small scale."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dtau

ROOT = Path(__file__).parents[1]


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Any]:
    """Import a script of a folder as it would be run: the folder's files are its neighbours."""

    def load(path: str) -> Any:
        folder, name = path.split("/")
        monkeypatch.syspath_prepend(str(ROOT / folder))
        return importlib.import_module(name)

    return load


def test_first_contact(script: Callable[[str], Any], capsys: pytest.CaptureFixture[str]) -> None:
    script("examples/first_contact").main()
    assert "(1000, 18, 18)" in capsys.readouterr().out


def test_attitude_sweep_blows_up_in_euler_angles_only(script: Callable[[str], Any]) -> None:
    sweep = script("examples/attitude_sweep")
    pitch = np.pi / 2 - np.array([1e-1, 1e-3, 1e-5])
    largest = sweep.largest_entries(np.full(3, 0.35), pitch)
    for name in ("A, Euler", "B, Euler"):
        growth = largest[name][1:] / largest[name][:-1]
        assert growth[-1] == pytest.approx(100.0, rel=0.05), name
    for name in ("A", "B"):
        assert np.ptp(largest[name]) < 0.1 * largest[name].max(), name


def test_the_regulator_holds_flights_that_begin_upside_down(
    script: Callable[[str], Any], capsys: pytest.CaptureFixture[str]
) -> None:
    lqr = script("examples/hover_lqr")
    flights = lqr.fly(20, seed=1)
    assert flights.tilt[0].max() > np.deg2rad(170)
    assert np.abs(flights.pitch).max() > np.deg2rad(89.9)
    assert lqr.report(flights)
    assert "held:                  20 of 20" in capsys.readouterr().out


def test_six_propellers_push_every_way(script: Callable[[str], Any]) -> None:
    propellers = script("examples/propellers")
    base = propellers.inputs(dtau.robots.aerial_manipulator())[:6, :6]
    assert np.linalg.cond(base) < 10


def test_validation_of_the_linearization(
    script: Callable[[str], Any], capsys: pytest.CaptureFixture[str]
) -> None:
    validation = script("benchmarks/validate_linearization")
    rng = np.random.default_rng(5)
    cases = [validation.Case.draw(rng) for _ in range(20)]
    assert validation.report(validation.Errors.of(cases, 1e-6), 1e-6, 20)
    for i in range(4):
        spoilt = cases[0].derivatives[i]
        error = (1e-2 if i == 1 else 1e-4) * np.abs(spoilt).max()  # the paper allows 5e-3 by s
        spoilt += error
        assert not validation.report(validation.Errors.of(cases, 1e-6), 1e-6, 20)
        spoilt -= error
    assert validation.report(validation.Errors.of(cases, 1e-6), 1e-6, 20)
    assert "LARGER" in capsys.readouterr().out
