"""The textbook's algorithms give what the fast ones give, on every robot of the table."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cases import ROBOTS, random_state, robot
from compare import TOLERANCE, assert_close, cancelled, solved
from core import complex_core

import dtau
from dtau import _testing

BATCH = 3
ARGUMENTS = {
    "rnea": ("inverse_dynamics", ("q", "v", "a", "f_ext")),
    "crba": ("mass_matrix", ("q",)),
    "aba": ("forward_dynamics", ("q", "v", "tau", "f_ext")),
    "idsva": ("inverse_dynamics_derivatives", ("q", "v", "a", "f_ext")),
    "idsva_so": ("inverse_dynamics_second_derivatives", ("q", "v", "a", "f_ext")),
}
# [RBDA] table 7.1 has no mimic joints; and the fast algorithm itself, not the batch layer, reduces
# tensors from all joints to the independent ones.
INDEPENDENT_JOINTS_ONLY = ("aba", "idsva_so")


def with_every_term(name: str) -> dtau.Model:
    return robot(name).replace(armature=0.3, damping=0.2, gravity=(1.0, -2.0, -9.0))


def textbook(algorithm: str, model: dtau.Model, state: dict[str, Any]) -> tuple[Any, ...]:
    _, names = ARGUMENTS[algorithm]
    function: Callable[..., Any] = getattr(_testing.textbook, algorithm)
    results = function(model, *(np.asarray(state[name], complex) for name in names))
    return results if isinstance(results, tuple) else (results,)


CASES = [
    (name, algorithm)
    for name in ROBOTS
    for algorithm in ARGUMENTS
    if name != "joints that mimic others" or algorithm not in INDEPENDENT_JOINTS_ONLY
]


@pytest.mark.parametrize(("name", "algorithm"), CASES)
def test_fast_algorithms(name: str, algorithm: str) -> None:
    model = with_every_term(name)
    state = random_state(model, 5, (BATCH,))
    public, names = ARGUMENTS[algorithm]
    fast = getattr(dtau, public)(model, *(state[x] for x in names))
    fields = getattr(fast, "_fields", (public,))
    terms = dtau.bias_torque(model, state["q"], state["v"])
    for field, got, want in zip(
        fields,
        textbook(algorithm, model, state),
        fast if isinstance(fast, tuple) else (fast,),
        strict=True,
    ):
        assert np.isfinite(got).all()
        for k in range(BATCH):
            tolerance = TOLERANCE["identity"]
            if algorithm == "aba":
                tolerance = solved(tolerance, dtau.mass_matrix(model, state["q"][k]))
            floor = cancelled(terms[k])
            assert_close(got[k].real, want[k], tolerance, f"{algorithm} {field}", floor=floor)


def test_tensors_of_joints_that_mimic_others_are_not_there() -> None:
    model = robot("joints that mimic others")
    state = random_state(model, 5, (BATCH,))
    for tensor in textbook("idsva_so", model, state):
        assert tensor.shape == (BATCH, model.nv, model.nv, model.nv)
        assert np.isnan(tensor.real).all()


def test_the_table_has_a_robot_of_each_kind_of_joint() -> None:
    kinds = {type(joint.type) for name in ROBOTS for joint in robot(name).joints}
    assert {dtau.Revolute, dtau.Prismatic, dtau.Helical, dtau.Spherical, dtau.Free} <= kinds
    assert {dtau.Cylindrical, dtau.Planar, dtau.Universal} <= kinds


def test_second_derivatives_are_complex_steps_of_the_first() -> None:
    """Entry [i, j, k]: first along j, then along k, which do not commute inside one joint."""
    model, step = with_every_term("one spherical"), 1e-30
    state = random_state(model, 7)
    tensor = textbook("idsva_so", model, state)[0].real
    q, v, a, f_ext = (np.asarray(state[x], complex) for x in ARGUMENTS["idsva_so"][1])
    for k in range(model.nv):
        moved = complex_core("integrate", model, q, 1j * step * np.eye(model.nv)[k])
        first = _testing.textbook.idsva(model, moved, v, a, f_ext)[0]
        assert_close(first.imag / step, tensor[:, :, k], TOLERANCE["complex_step"], f"along {k}")


def test_the_page_about_algorithms_names_functions_that_are_there() -> None:
    """docs/algorithms.md says in which function and file every equation of the textbook is.

    Every row names functions that its files define, and files that define one of them each.
    """
    root = Path(__file__).parents[2]
    page = (root / "docs/algorithms.md").read_text("utf-8")
    rows = re.findall(r"^\| .* \| (`\w+\(\)`.*) \| (`.*`) \|$", page, flags=re.M)
    assert len(rows) > 50
    for functions, files in rows:
        names = re.findall(r"`(\w+)\(\)`", functions)
        paths = re.findall("`(.*?)`", files)
        defined = [definitions(root / "include/dtau" / path) & set(names) for path in paths]
        assert set().union(*defined) == set(names), (names, paths)
        assert all(defined), (names, paths)


def test_the_page_about_algorithms_names_every_textbook_form() -> None:
    root = Path(__file__).parents[2]
    page = (root / "docs/algorithms.md").read_text("utf-8")
    shown = re.findall(r"literalinclude\} \.\./include/dtau/textbook/(\w+)\.hpp", page)
    assert sorted(shown) == sorted(ARGUMENTS)
    fast = re.findall(r"^\| \[.*\]\(#.*\) \| .* \| `(.*)` \|$", page, flags=re.M)
    assert len(fast) == 7
    assert all((root / "include/dtau" / path).exists() for path in fast)


def definitions(header: Path) -> set[str]:
    """The functions that a header defines: a type comes before the name, and no call does."""
    code = re.sub("//.*", "", header.read_text("utf-8"))
    lines = (line for line in code.splitlines() if not re.search(r"\breturn\b|=.*\(", line))
    return {name for line in lines for name in re.findall(r"[\w>&*] [&*]?(\w+)\(", line)}
