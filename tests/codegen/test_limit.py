"""The limit of what `dtau.generate` writes: counted with all that is written for CasADi."""

from __future__ import annotations

import math
import re
import warnings
from pathlib import Path

import pytest

import dtau
from dtau.codegen import limit as limits

FEET = ("LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT")
ARM = dtau.robots.chain(3)


def test_what_is_written_for_casadi_is_counted(tmp_path: Path) -> None:
    alone = dtau.generate(ARM, "forward_dynamics", tmp_path / "arm.c")
    with_casadi = dtau.generate(ARM, "forward_dynamics", tmp_path / "arm.c", casadi=2)
    name = "arm_casadi_forward_dynamics"
    names = ["arm_forward_dynamics", name, f"jac_{name}", f"adj1_{name}", f"jac_adj1_{name}"]
    assert list(with_casadi.operations) == names
    assert with_casadi.operations["arm_forward_dynamics"] == sum(alone.operations.values())
    source = with_casadi.source.read_text()
    for one, operations in with_casadi.operations.items():
        assert operations > 50
        assert f"{one}(" in source
    lines = sum(x.startswith("    const real t") for x in source.splitlines())
    assert 0.5 * lines < sum(with_casadi.operations.values()) < 1.5 * lines


def test_hessians_of_a_step_of_four_stages_are_refused(tmp_path: Path) -> None:
    """They are about 60 MB of C, of which the functions themselves are 2 %."""
    model = dtau.robots.quadruped()
    contacts = dtau.Contacts(model, [dtau.PointContact(x) for x in FEET])
    asked = {
        "hit": ("impulse_dynamics", {"contacts": contacts}),
        "go": ("step", {"integrator": "rk4"}),
    }
    with pytest.raises(ValueError, match="limit=120") as told:
        dtau.generate(model, asked, tmp_path / "legs.c", casadi=2)
    assert not list(tmp_path.iterdir())
    found = re.fullmatch(
        r"functions: ([\d,]+) operations, (\d+)\.\d MB of C, most of them in "
        r"jac_adj1_legs_casadi_go, would take a compiler about (\d+) s, more than limit=120; ask "
        r"for fewer functions, a lower order of casadi=, or a larger limit=",
        str(told.value),
    )
    assert found
    operations, megabytes, seconds = (int(x.replace(",", "")) for x in found.groups())
    assert seconds == round(operations / 4000)
    assert 40e6 < 1e6 * megabytes < 110 * operations


def test_hessians_of_dynamics_are_those_of_the_core(tmp_path: Path) -> None:
    """By reverse mode, a row at a time, they were some ten times as large."""
    model = dtau.robots.quadruped()
    contacts = dtau.Contacts(model, [dtau.PointContact(x, axes="mixed", kd=40.0) for x in FEET])
    held, method = {"contacts": contacts}, {"integrator": "semi_implicit"}
    asked = {
        "fall": "forward_dynamics",
        "stand": ("constrained_dynamics", held),
        "hit": ("impulse_dynamics", held),
        "go": ("step", method),
        "walk": ("step", {**held, **method}),
    }
    with pytest.warns(dtau.ModelWarning, match="a compiler takes about"):
        code = dtau.generate(model, asked, tmp_path / "legs.c", casadi=2, limit=150)
    sizes = (25_000, 63_000, 45_000, 69_000, 108_000)
    for name, most in zip(asked, sizes, strict=True):
        assert code.operations[f"jac_adj1_legs_casadi_{name}"] < most
    assert code.operations["jac_legs_casadi_stand"] < 35_000  # with none of the residual


def test_what_takes_long_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "_PATIENCE", 0.1)
    with pytest.warns(dtau.ModelWarning, match=r"a compiler takes about \d+ s for them") as told:
        code = dtau.generate(ARM, "forward_dynamics", tmp_path / "arm.c", casadi=2)
    assert told[0].filename == __file__
    seconds = sum(code.operations.values()) / 4000
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        monkeypatch.setattr(limits, "_PATIENCE", seconds)
        dtau.generate(ARM, "forward_dynamics", tmp_path / "arm.c", casadi=2, limit=seconds)
    with pytest.raises(ValueError, match="more than limit="):
        dtau.generate(ARM, "forward_dynamics", tmp_path / "arm.c", casadi=2, limit=0.999 * seconds)


def test_recording_ends_where_the_limit_is_far(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beyond some times the limit nothing more is recorded, and nothing is written."""
    monkeypatch.setitem(limits.COMPILES, "c", 4)
    model = dtau.robots.quadruped()
    with pytest.raises(ValueError, match=r"functions: more than [\d,]+ operations would take"):
        dtau.generate(model, "forward_dynamics", tmp_path / "legs.c", casadi=2)
    assert not list(tmp_path.iterdir())
    dtau.generate(ARM, "mass_matrix", tmp_path / "arm.c", limit=math.inf)
