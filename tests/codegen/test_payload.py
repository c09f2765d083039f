"""A payload as an argument of generated C: the core's numbers of a model that has it for good."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cases import random_state, robot
from compare import assert_close, solved
from compiled import C99, Code, compiled, needs_compiler
from files import ROOT
from test_generated_code import asked, floor_of, model_of, stacks_cut

import dtau
from dtau.registry import arrays_of

PAYLOAD = dtau.Inertia(0.7, (0.1, -0.2, 0.15), np.diag([0.02, 0.03, 0.025]))


def loaded(model: dtau.Model, link: str, payload: dtau.Inertia = PAYLOAD) -> dtau.Model:
    """The model whose link has it for good."""
    frame = model.frame(link)
    parameters = model.parameters.copy()
    parameters[frame.body] += payload.transformed(frame.placement).parameters
    return model.replace(parameters=parameters)


@pytest.mark.compilers
@needs_compiler
@pytest.mark.parametrize(
    ("name", "most"), [("prismatic and revolute", 2500), ("universal and free", 1200)]
)
def test_every_function_gives_the_numbers_of_the_core(name: str, most: int, tmp_path: Path) -> None:
    model = model_of(name)
    link = model.bodies[-1]
    heavy = loaded(model, link)
    kept = ["f_ext", f"payload={link}"]
    rows = asked(model, most, tmp_path, kept)
    functions = {key: what for key, (_, what) in rows.items()}
    code = Code(model, functions, tmp_path / "robot.c", parameters=kept)
    assert code.library.r_check() == 0
    taking = 0
    for key, (row, (_, options)) in rows.items():
        arguments = [x.name for x in code.written[key].arguments]
        taking += "payload" in arguments
        state = stacks_cut(model, random_state(model, seed=5), code, key)
        arrays = {x: state[x] for x in row.arguments if x != "inputs"}
        arrays |= {x: state[x] for x in arguments if x.endswith("f_ext") or x.startswith("f_ext")}
        options = {
            x: dtau.Contacts(heavy, y) if isinstance(y, dtau.Contacts) else y
            for x, y in options.items()
        }
        found: Any = getattr(dtau, row.name)(heavy, **arrays, **options)
        want = arrays_of(found)
        got = code(key, **arrays, payload=PAYLOAD.parameters)
        tolerance = solved(1e-13, dtau.mass_matrix(heavy, state["q"])) if row.solves else 1e-13
        for one, other in zip(got, want, strict=True):
            assert_close(one, other, row.steps * tolerance, str(row), floor=floor_of(row, want))
    assert taking >= 15


@needs_compiler
def test_links_that_are_fixed_to_others_carry_it_too(tmp_path: Path) -> None:
    model = robot("quadruped")
    kept = ["payload=LF_FOOT", "gravity"]
    names = ["inverse_dynamics", "centroidal_momentum_matrix", "inverse_dynamics_regressor"]
    code = Code(model, names, tmp_path / "robot.c", parameters=kept)
    assert "payload on LF_FOOT" in code.code.header.read_text()
    state, gravity = random_state(model, seed=6), np.array([0.2, 0.4, -3.0])
    heavy = loaded(model, "LF_FOOT").replace(gravity=gravity)
    for name in names:
        arguments = [x.name for x in code.written[name].arguments]
        assert ("payload" in arguments) == (name != "inverse_dynamics_regressor")
        arrays = {x: state[x] for x in arguments if x not in ("gravity", "payload")}
        (got,) = code(name, **arrays, gravity=gravity, payload=PAYLOAD.parameters)
        assert_close(got, getattr(dtau, name)(heavy, **arrays), 1e-13, name)
    (got,) = code("inverse_dynamics", **state, gravity=gravity, payload=np.zeros(10))
    light = model.replace(gravity=gravity)
    want = dtau.inverse_dynamics(light, *(state[x] for x in ("q", "v", "a")))
    assert_close(got, want, 1e-13)


@needs_compiler
def test_torques_are_linear_in_it(tmp_path: Path) -> None:
    casadi = pytest.importorskip("casadi")
    model = model_of("prismatic and revolute")
    link, state = model.bodies[0], random_state(model, seed=7)
    kept = [f"payload={link}"]
    names = "inverse_dynamics"
    dtau.generate(model, names, tmp_path / "robot.c", prefix="r_", casadi=1, parameters=kept)
    library = compiled(tmp_path / "robot.c", C99)
    f = casadi.external("r_casadi_inverse_dynamics", library._name)
    assert f.name_in() == ["q", "v", "a", "payload"]
    arrays = [state[x] for x in ("q", "v", "a")]
    by_payload = np.array(f.jacobian()(*arrays, PAYLOAD.parameters, 0)[3])
    assert_close(by_payload, dtau.inverse_dynamics_regressor(model, *arrays)[:, :10], 1e-13)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("payload", "parameters: expected 'payload=LINK', and names alone of others"),
        ("gravity=LF_FOOT", "parameters: expected 'payload=LINK'.*'gravity' of 'LF_FOOT'"),
        ("payload=LF_FOO", "parameters: payload: no frame named 'LF_FOO'"),
    ],
)
def test_mistakes(asked: str, message: str, tmp_path: Path) -> None:
    model = robot("quadruped")
    with pytest.raises(ValueError, match=message):
        dtau.generate(model, "inverse_dynamics", tmp_path / "robot.c", parameters=[asked])


def test_one_link_carries_it(tmp_path: Path) -> None:
    kept = ["payload=LF_FOOT", "payload=RF_FOOT"]
    with pytest.raises(ValueError, match="parameters: expected each of them once"):
        dtau.generate(robot("quadruped"), "inverse_dynamics", tmp_path / "a.c", parameters=kept)


def test_what_cannot_carry_one(tmp_path: Path) -> None:
    model = robot("quadruped")
    with pytest.raises(ValueError, match="payload is the model's in compiled functions"):
        dtau.compile(model, "inverse_dynamics", parameters=["payload=LF_FOOT"])
    held = dtau.load(ROOT / "python/dtau/robots/quadruped.urdf", root="fixed")
    base = next(x for x in held.frames if held.frame(x).body < 0)
    parameters = [f"payload={base}"]
    with pytest.raises(ValueError, match=f"parameters: payload: '{base}' is fixed to the world"):
        dtau.generate(held, "inverse_dynamics", tmp_path / "robot.c", parameters=parameters)
