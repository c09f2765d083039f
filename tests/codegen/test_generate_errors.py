"""Errors of `dtau.generate`, and the text that it writes around the functions."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cases import robot
from compiled import CC, run
from files import ROOT

import dtau
from dtau.codegen.requests import _IN_PYTHON


def test_the_head_says_what_is_in_the_file(tmp_path: Path) -> None:
    model = robot("quadruped")
    asked = {"feet": ("frame_jacobians", {"frames": ["LF_FOOT", "RF_FOOT"], "axes": "mixed"})}
    code = dtau.generate(model, asked, tmp_path / "my robot.c")
    assert code.source.name == "my robot.c"
    assert code.header == tmp_path / "my robot.h"
    assert list(code.operations) == ["my_robot_feet"]
    header = " ".join(code.header.read_text().split())
    for line in (
        "enum { my_robot_nq = 19, my_robot_nv = 18, my_robot_nbodies = 13 };",
        "J[2][6][18] from q[19]",
        "frames=['LF_FOOT', 'RF_FOOT'], axes='mixed'",
        "void my_robot_feet(const double *q, double *J);",
        "int my_robot_check(void);",
        "gravity (0, 0, -9.81) m/s^2",
        "root_joint",
    ):
        assert line in header
    source = code.source.read_text()
    assert [x for x in source.splitlines() if x.startswith("#include")] == [
        '#include "my robot.h"',
        "#include <math.h>",
    ]
    assert "alloc(" not in source


def test_the_hash_is_of_what_results_depend_on(tmp_path: Path) -> None:
    model = robot("quadruped")

    def hash_of(one: dtau.Model) -> str:
        code = dtau.generate(one, "center_of_mass", tmp_path / "robot.c")
        return next(x for x in code.header.read_text().splitlines() if "hash" in x)

    assert hash_of(model) == hash_of(dtau.robots.quadruped())
    others = [
        model.replace(gravity=(0, 0, -3.7)),
        model.replace(armature=0.1),
        model.replace(parameters=model.parameters * 1.01),
    ]
    assert len({hash_of(x).split("gravity")[0] for x in (model, *others)}) == 4


def test_names_of_models_cannot_end_the_comment(tmp_path: Path) -> None:
    model = robot("one revolute")
    odd = dtau.Model("*/ é /* \\", model.links)
    code = dtau.generate(odd, "mass_matrix", tmp_path / "robot.c")
    assert code.header.read_text().count("*/") == code.header.read_text().count("/*")


def test_the_page_names_what_cannot_be_written() -> None:
    page = (ROOT / "docs/generated_code.md").read_text(encoding="utf-8")
    section = page.split("Functions that run in Python")[1].split("Pass a mapping")[0]
    assert {*re.findall(r"`(\w+)`", section)} >= {*_IN_PYTHON}


def of(name: str, **options: Any) -> dict[str, Any]:
    """A request of one function with these options."""
    return {"functions": {"f": (name, options)}}


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (of("inverse_dynamic"), ValueError, "no function named 'inverse_dynamic'"),
        (of("project"), ValueError, "project cannot be written as C: it is an iteration in Python"),
        (
            of("equilibrium"),
            ValueError,
            "equilibrium cannot be written as C: it solves least squares",
        ),
        (
            of("wrench_at_frame_derivatives"),
            ValueError,
            "as C: NumPy makes it of wrench_at_frame and frame_jacobians",
        ),
        (
            of("random_state"),
            ValueError,
            "random_state cannot be written as C: it is not a function of one state",
        ),
        ({"limit": 0}, ValueError, "limit: expected a positive number of seconds, got 0"),
        ({"limit": True}, ValueError, "limit: expected a positive number of seconds, got True"),
        ({"limit": 1e-3}, ValueError, "20 operations, 0.0 MB of C, most of them in robot_inv"),
        ({"functions": []}, ValueError, "expected at least one"),
        ({"functions": 3}, TypeError, "functions: expected names"),
        ({"functions": {"a b": "mass_matrix"}}, ValueError, "expected a name in C, got 'a b'"),
        ({"functions": {"a": ("mass_matrix", 3)}}, TypeError, "name, options"),
        (of("mass_matrix", x=3), ValueError, "takes no option 'x'"),
        (of("step", regularization=1e-6), ValueError, "with contacts alone"),
        ({"functions": ["constrained_step"]}, ValueError, "no function named"),
        (of("frame_placements"), ValueError, "needs the option 'frames'"),
        (
            of("bias_torque_time_derivatives"),
            ValueError,
            "bias_torque_time_derivatives needs the option 'order'",
        ),
        (of("step", integrator="rk5"), ValueError, "integrator"),
        # of another kind than the functions take
        (
            of("inverse_dynamics_regressor", joint_parameters=None),
            TypeError,
            "joint_parameters: expected bool, got NoneType",
        ),
        (
            of("inverse_dynamics_second_derivatives", layout="csr"),
            ValueError,
            "layout: expected 'dense' or 'pattern', got 'csr'",
        ),
        (
            of("inverse_dynamics_hessian", symmetric=1),
            TypeError,
            "symmetric: expected bool, got int",
        ),
        (
            of("bias_torque_time_derivatives", order=1.5),
            TypeError,
            "order: expected an integer, got 1.5",
        ),
        (
            of("bias_torque_time_derivatives", order=10**30),
            ValueError,
            "order: expected an integer of 0 to 100",
        ),
        (
            of("constrained_dynamics", contacts=object.__new__(dtau.Contacts)),
            TypeError,
            "contacts: expected a Contacts",
        ),
        (of("constrained_dynamics", contacts=3), TypeError, "contacts: expected Contacts, got int"),
        ({"path": "robot.cpp"}, ValueError, "path: expected a name that ends in .c"),
        ({"prefix": "7"}, ValueError, "prefix: expected the beginning of names in C, got '7'"),
        ({"scalar": "half"}, ValueError, "scalar: expected 'double' or 'float', got 'half'"),
        ({"parameters": "gravity"}, TypeError, "parameters: expected names"),
        ({"parameters": ["f_extt"]}, ValueError, "no array named 'f_extt'; close names: 'f_ext'"),
        ({"parameters": ["active"]}, ValueError, "'active' is taken by none of inverse_dynamics"),
        ({"model": None}, TypeError, "model: expected Model"),
    ],
)
def test_mistakes(given: dict[str, Any], error: type, message: str, tmp_path: Path) -> None:
    arguments: dict[str, Any] = {
        "model": robot("one revolute"),
        "functions": "inverse_dynamics",
        "path": "robot.c",
        **given,
    }
    path = tmp_path / arguments.pop("path")
    with pytest.raises(error, match=message):
        dtau.generate(path=path, **arguments)
    assert not list(tmp_path.iterdir())


def test_massless_joints_are_refused(tmp_path: Path) -> None:
    model = robot("one revolute")
    with pytest.warns(dtau.ModelWarning):
        massless = model.replace(parameters=np.zeros_like(model.parameters), armature=0)
    with pytest.raises(ValueError, match="forward_dynamics: expected a model in which every joint"):
        dtau.generate(massless, "forward_dynamics", tmp_path / "robot.c")


@pytest.mark.examples
def test_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("casadi")
    if CC is None:
        pytest.skip("there is no C compiler")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    page = (ROOT / "docs/generated_code.md").read_text(encoding="utf-8")
    scope: dict[str, Any] = {}
    for block in re.findall(r"^```python\n(.*?)^```", page, flags=re.DOTALL | re.MULTILINE):
        for line in re.findall(r"^# cc (.*)$", block, flags=re.MULTILINE):
            before, _, block = block.partition(f"# cc {line}\n")
            exec(before, scope)
            run(*line.replace("-O2", "-O0").split())
        exec(block, scope)
    assert scope["tau"].shape == (1000, 18)
    assert scope["f"].size_out(0) == (18, 1)
