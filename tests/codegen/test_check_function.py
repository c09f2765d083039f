"""`PREFIX_check()`: 0 where results are right, whatever cancels in them, and not 0 elsewhere."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compiled import C99, CXX, compiled, needs_compiler

import dtau

pytestmark = pytest.mark.compilers

QUADRUPED = dtau.robots.quadruped()
FUSED = ("-O2", "-march=native")
FEET = ("LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT")


def on(*feet: str) -> dtau.Contacts:
    return dtau.Contacts(QUADRUPED, [dtau.PointContact(x) for x in feet])


def flat_arm(turned: Any = None) -> dtau.Model:
    """An arm in a plane: of a point's three rows one depends on the others in every state."""
    turned = np.eye(3) if turned is None else turned
    builder = dtau.ModelBuilder("flat")
    last = None
    for k in range(3):
        last = builder.add(
            dtau.Revolute(turned[:, 2]),
            name=f"l{k}",
            parent=last,
            placement=dtau.Pose(np.eye(3), 0.3 * turned[:, 0]),
            inertia=dtau.Inertia(1.0, (0.1, 0, 0), np.eye(3)),
        )
    return builder.build()


@needs_compiler
@pytest.mark.parametrize(
    ("flags", "scalar"),
    [(C99, "double"), (CXX, "float"), (FUSED, "double"), (FUSED, "float")],
    ids=["c99", "c++ float", "fused", "fused float"],
)
def test_the_check_accepts_results_that_are_rounding_errors(
    flags: tuple[str, ...], scalar: Any, tmp_path: Path
) -> None:
    every = {
        "_".join(feet).lower(): ("constrained_dynamics", {"contacts": on(*feet)})
        for feet in (FEET[:1], FEET[:2], FEET[1:3], FEET[:3])
    }
    for name, asked in every.items():
        path = tmp_path / f"{name}.c"
        dtau.generate(QUADRUPED, {"f": asked}, path, prefix="r_", scalar=scalar)
        assert compiled(path, flags).r_check() == 0, name


@needs_compiler
@pytest.mark.parametrize(("integrator", "root"), [("semi_implicit", "free"), ("rk4", "fixed")])
def test_derivatives_by_further_variables(integrator: str, root: Any, tmp_path: Path) -> None:
    options = {"by": ("dt", "f_ext"), "integrator": integrator}
    asked = {
        "columns": ("linearize_discrete", options),
        "gradient": ("step_vjp", {**options, "by": "dt"}),
        "hessian": ("step_hessian", options),
    }
    dtau.generate(dtau.robots.chain(2, root=root), asked, tmp_path / "r.c")
    assert compiled(tmp_path / "r.c", ("-std=c99", "-O1")).r_check() == 0


@needs_compiler
@pytest.mark.parametrize("result", ["a", "forces", "residual"])
def test_the_check_finds_wrong_results(result: str, tmp_path: Path) -> None:
    path = tmp_path / "r.c"
    asked = {"f": ("constrained_dynamics", {"contacts": on(*FEET[:2])})}
    dtau.generate(QUADRUPED, asked, path)
    text = path.read_text()
    changed = re.sub(rf"\b({result}\[3\]) = (.*);", r"\1 = \2 + 1e-7;", text, count=1)
    assert changed != text
    path.write_text(changed)
    assert compiled(path, ("-std=c99", "-O1")).r_check() == 1


def test_results_without_cancellation_are_held_to_their_largest_number(tmp_path: Path) -> None:
    functions = ["inverse_dynamics", "mass_matrix"]
    code = dtau.generate(dtau.robots.chain(6), functions, tmp_path / "r.c")
    text = code.source.read_text()
    for name in ("tau", "M"):
        found = re.search(rf"{name}_want\[\d+\] = {{(.*?)}};\n.*?, ([\d.e+-]+)\);", text, re.DOTALL)
        assert found
        assert float(found[2]) == max(abs(float(x)) for x in found[1].split(","))
    assert "error <= 1e-11 * scale" in text


@pytest.mark.parametrize("function", ["constrained_dynamics", "impulse_dynamics"])
def test_rows_that_always_depend_are_refused(function: str, tmp_path: Path) -> None:
    model = flat_arm()
    contacts = dtau.Contacts(model, [dtau.PointContact("l2")])
    with pytest.raises(
        ValueError, match=r"gives NaN or rounding errors in each of 20 random states"
    ) as told:
        dtau.generate(model, {"hit": (function, {"contacts": contacts})}, tmp_path / "flat.c")
    assert f"'hit', dtau.{function} with contacts=" in str(told.value)
    assert not list(tmp_path.iterdir())


@needs_compiler
@pytest.mark.parametrize("seed", [0, 1, 3])
def test_rounding_errors_divided_by_damping(seed: int, tmp_path: Path) -> None:
    """Forces of rows that depend on each other, where frames are turned as from CAD."""
    turned, _ = np.linalg.qr(np.random.default_rng(seed).standard_normal((3, 3)))
    model = flat_arm(turned * np.linalg.det(turned))
    contacts = dtau.Contacts(model, [dtau.PointContact("l2")])
    for function in ("constrained_dynamics", "constrained_dynamics_derivatives"):
        asked = {"f": (function, {"contacts": contacts, "regularization": 1e-6})}
        dtau.generate(model, asked, tmp_path / "r.c")
        assert compiled(tmp_path / "r.c").r_check() == 0


@needs_compiler
def test_another_state_is_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where rows depend on each other in the first states that are tried."""
    from dtau.codegen import check

    of_core, tried = check._of_core, []

    def singular(model: dtau.Model, request: Any) -> Any:
        regular = of_core(model, request)

        def results(given: Any) -> Any:
            tried.append(given["q"])
            found = regular(given)
            return tuple(np.nan * x for x in found) if len(tried) < 5 else found

        return results

    monkeypatch.setattr(check, "_of_core", singular)
    asked = {"f": ("constrained_dynamics", {"contacts": on("LF_FOOT")})}
    dtau.generate(QUADRUPED, asked, tmp_path / "r.c")
    assert len({x.tobytes() for x in tried[:5]}) == 5
    assert compiled(tmp_path / "r.c").r_check() == 0


@needs_compiler
def test_contacts_that_hold_some_at_a_time(tmp_path: Path) -> None:
    """Both of them at once depend on each other: a state in which one holds is chosen."""
    twice = [dtau.PointContact("LF_FOOT", name=x) for x in ("once", "again")]
    contacts = dtau.Contacts(QUADRUPED, twice)
    asked = {"f": ("constrained_dynamics", {"contacts": contacts})}
    path = tmp_path / "r.c"
    with pytest.raises(ValueError, match="gives NaN or rounding errors"):
        dtau.generate(QUADRUPED, asked, path)
    dtau.generate(QUADRUPED, asked, path, parameters=["active"])
    assert compiled(path).r_check() == 0
