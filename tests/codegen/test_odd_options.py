"""Options of generated functions that are of another kind than the functions take."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from cases import robot

import dtau


@pytest.mark.parametrize(
    ("function", "options", "error", "message"),
    [
        (
            "inverse_dynamics_regressor",
            {"joint_parameters": None},
            TypeError,
            "joint_parameters: expected bool, got NoneType",
        ),
        (
            "inverse_dynamics_second_derivatives",
            {"layout": "csr"},
            ValueError,
            "layout: expected 'dense' or 'pattern', got 'csr'",
        ),
        (
            "inverse_dynamics_hessian",
            {"symmetric": 1},
            TypeError,
            "symmetric: expected bool, got int",
        ),
        (
            "bias_torque_time_derivatives",
            {"order": 1.5},
            TypeError,
            "order: expected an integer, got 1.5",
        ),
        (
            "bias_torque_time_derivatives",
            {"order": 10**30},
            ValueError,
            "order: expected an integer of 0 to 100",
        ),
        (
            "constrained_dynamics",
            {"contacts": object.__new__(dtau.Contacts)},
            TypeError,
            "contacts: expected a Contacts",
        ),
        (
            "constrained_dynamics",
            {"contacts": 3},
            TypeError,
            "contacts: expected Contacts, got int",
        ),
    ],
)
def test_options_of_another_kind(
    function: str, options: dict[str, Any], error: type, message: str, tmp_path: Path
) -> None:
    with pytest.raises(error, match=message):
        dtau.generate(robot("one revolute"), {"f": (function, options)}, tmp_path / "robot.c")
    assert not list(tmp_path.iterdir())
