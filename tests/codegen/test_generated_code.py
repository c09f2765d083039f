"""Generated C: every function, compiled by the system's compiler, gives the core's numbers."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cases import State, random_state, robot, serial
from compare import TOLERANCE, assert_close, solved
from compiled import CXX, Code, needs_compiler, operations, run
from core import counting_core, take_counts
from function import Function
from functions import FUNCTIONS

import dtau
from dtau.registry import arrays_of

pytestmark = needs_compiler

SMALL = {
    "one revolute": 10_000,
    "one spherical": 3_000,
    "one planar": 3_000,
    "prismatic and revolute": 2_500,
    "cylindrical and helical": 700,
    "universal and free": 1_000,
    "joints that mimic others": 800,
    "quadruped": 1_000,
}  # robots, and the most operations of a function that is compiled
PARAMETERS = ("f_ext", "active", "positions")
IN_THE_CORE_SELECTION = ("universal and free", "quadruped")


def model_of(name: str) -> dtau.Model:
    if " and " in name:
        return serial(*name.split(" and "), seed=3).model()
    return robot(name)


def options_of(function: Function, model: dtau.Model, state: dict[str, Any]) -> dict[str, Any]:
    """Options of a row of the table, with options that generated code needs beforehand."""
    options = function.options_for(model)
    if "_time_derivatives" in function.name:
        options = {"order": 2, **options}
    if "inputs" in function.arguments:
        options["inputs"] = state["inputs"]
    return options


def is_far_longer(function: Function, model: dtau.Model, state: State, most: int) -> bool:
    """Whether generated code has certainly more operations: at least a fifteenth of the core's.

    To record takes a fraction of the time of writing code that nobody compiles.
    """
    if function.name not in counting_core:
        return False
    take_counts()
    function.in_core(counting_core, model, state)
    return sum(take_counts()) > 15 * most


def asked(
    model: dtau.Model, most: int, tmp_path: Path, more: Sequence[str] = PARAMETERS
) -> dict[str, Any]:
    """The functions of the table with at most so many operations, by names in C.

    ``more``: the parameters that become arguments, of functions that take them.
    """
    state = random_state(model, seed=4)
    rows = {
        f"f{k}_{row.name}": (row, (row.name, options_of(row, model, state)))
        for k, row in enumerate(FUNCTIONS)
        if not (row.solves and model.massless_joints)
        and "parameters" not in row.arguments
        and not is_far_longer(row, model, state, most)
    }
    counts = operations(
        model,
        {name: what for name, (_, what) in rows.items()},
        tmp_path / "all.c",
        prefix="r_",
        parameters=[x for x in more if x not in PARAMETERS or x in parameters_of(rows)],
    )
    return {name: value for name, value in rows.items() if counts[f"r_{name}"] <= most}


def parameters_of(rows: dict[str, Any]) -> list[str]:
    """The parameters that one of the functions takes."""
    taken = {argument for row, _ in rows.values() for argument in row.arguments}
    return [name for name in PARAMETERS if name in taken]


def floor_of(function: Function, want: tuple[Any, ...]) -> float:
    """What counts as the largest of a result that vanishes, but for roundings of other terms."""
    return max(function.floor([x for x in want if x.size]), 1e-3)


def stacks_cut(model: dtau.Model, state: dict[str, Any], code: Code, name: str) -> dict[str, Any]:
    """Longer stacks are cut as the core does."""
    wanted = {x.name: x.shape for x in code.written[name].arguments}
    return {
        key: x[: wanted[key][0]] if key.endswith("_derivatives") and key in wanted else x
        for key, x in state.items()
    }


@pytest.mark.parametrize(
    "name",
    [
        name if name in IN_THE_CORE_SELECTION else pytest.param(name, marks=pytest.mark.compilers)
        for name in SMALL
    ],
)
def test_every_function_gives_the_numbers_of_the_core(name: str, tmp_path: Path) -> None:
    model = model_of(name)
    rows = asked(model, SMALL[name], tmp_path)
    assert len(rows) >= 25
    functions = {key: what for key, (_, what) in rows.items()}
    code = Code(model, functions, tmp_path / "robot.c", parameters=parameters_of(rows))
    assert code.library.r_check() == 0
    mass_matrix = dtau.mass_matrix(model, random_state(model, seed=5)["q"])
    for key, (row, _) in rows.items():
        state = stacks_cut(model, random_state(model, seed=5), code, key)
        options = options_of(row, model, random_state(model, seed=4))
        arrays = {x: state[x] for x in row.arguments if x != "inputs"}
        wrenches = ("f_ext", "df_ext", "f_ext_derivatives", "df_ext_derivatives")
        for array in (*wrenches, "active", "positions"):
            if array in {x.name for x in code.written[key].arguments}:
                arrays[array] = state[array]
        want = arrays_of(getattr(dtau, row.name)(model, **arrays, **options))
        got = code(key, **arrays)
        tolerance = solved(1e-13, mass_matrix) if row.solves else 1e-13
        for one, other in zip(got, want, strict=True):
            assert_close(one, other, row.steps * tolerance, str(row), floor=floor_of(row, want))


@pytest.mark.compilers
def test_sanitizers_find_nothing(tmp_path: Path) -> None:
    model = model_of("one planar")
    rows = asked(model, 300, tmp_path)
    source = tmp_path / "robot.c"
    functions = {key: what for key, (_, what) in rows.items()}
    dtau.generate(model, functions, source, prefix="r_", parameters=parameters_of(rows))
    main = tmp_path / "main.c"
    main.write_text('#include "robot.h"\nint main(void) { return r_check(); }\n')
    sanitized = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
    run("-std=c99", "-O0", *sanitized, main, source, "-o", tmp_path / "main", "-lm")
    subprocess.run([tmp_path / "main"], check=True, timeout=300)


@pytest.mark.compilers
def test_it_is_c_plus_plus_too(tmp_path: Path) -> None:
    model = model_of("one planar")
    rows = asked(model, 800, tmp_path)
    functions = {key: what for key, (_, what) in rows.items()}
    code = Code(model, functions, tmp_path / "robot.c", CXX, parameters=parameters_of(rows))
    assert code.library.r_check() == 0


FEW = ("inverse_dynamics", "forward_dynamics", "inverse_dynamics_derivatives", "mass_matrix")


@pytest.mark.compilers
@pytest.mark.parametrize("name", ["prismatic and revolute", "quadruped"])
def test_single_precision(name: str, tmp_path: Path) -> None:
    model = model_of(name)
    code = Code(model, FEW, tmp_path / "robot.c", scalar="float")
    assert code.library.r_check() == 0
    state = random_state(model, seed=6)
    for key, row in code.written.items():
        arrays = [state[x.name] for x in row.arguments]
        want = arrays_of(getattr(dtau, key)(model, *arrays))
        for got, one in zip(code(key, **state), want, strict=True):
            assert_close(got, one, 1e-5 if key != "forward_dynamics" else 1e-4, key)


@pytest.mark.compilers
def test_pieces_and_optimized_code(tmp_path: Path) -> None:
    model = robot("quadruped")
    flags = ("-std=c99", "-O1")
    name = "inverse_dynamics_derivatives"
    code = Code(model, [name], tmp_path / "robot.c", flags)
    assert code.code.stack > 0
    assert f"r_{name}_piece2(" in code.code.source.read_text()
    state = random_state(model, seed=7)
    want = dtau.inverse_dynamics_derivatives(model, state["q"], state["v"], state["a"])
    for got, one in zip(code(name, **state), want, strict=True):
        assert_close(got, one, 1e-13)


def test_a_joint_that_turns_against_another(tmp_path: Path) -> None:
    mimics = {"revolute1": dtau.Mimic("revolute0", -1.0)}
    model = serial("revolute", "revolute", seed=6).model(mimics)
    q = random_state(model, seed=7)["q"]
    code = Code(model, ["gravity_torque"], tmp_path / "robot.c")
    assert_close(code("gravity_torque", q=q)[0], dtau.gravity_torque(model, q), 1e-13)


def test_large_angles_are_the_library_s(tmp_path: Path) -> None:
    model = model_of("one revolute")
    code = Code(model, ["inverse_dynamics"], tmp_path / "robot.c")
    for angle in (-3e4, 99999.0, 1e5, -7e9, 1e300):
        state = [np.array([x]) for x in (angle, 0.3, -0.2)]
        want = dtau.inverse_dynamics(model, *state)
        (got,) = code("inverse_dynamics", q=state[0], v=state[1], a=state[2])
        assert_close(got, want, TOLERANCE["short sums"])


def test_gravity_as_a_parameter(tmp_path: Path) -> None:
    model = robot("quadruped")
    names = ["inverse_dynamics", "mass_matrix", "potential_energy", "linearize"]
    code = Code(model, names, tmp_path / "robot.c", parameters=["gravity", "f_ext"])
    state = random_state(model, seed=8)
    gravity = np.array([0.3, -1.0, -3.7])
    on_mars = model.replace(gravity=gravity)
    for key in names:
        arguments = [x.name for x in code.written[key].arguments]
        assert ("gravity" in arguments) == (key != "mass_matrix")
        arrays = {x: state[x] for x in arguments if x != "gravity"}
        want = arrays_of(getattr(dtau, key)(on_mars, **arrays))
        for got, one in zip(code(key, **arrays, gravity=gravity), want, strict=True):
            assert_close(got, one, 1e-12, key)
