"""`dtau.compile`: models some of whose functions run code that was compiled for them."""

from __future__ import annotations

import pickle
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cases import random_state, robot
from compare import assert_close
from compiled import needs_compiler

import dtau
from dtau import _core
from dtau.codegen import compiled
from dtau.registry import arrays_of

pytestmark = needs_compiler


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder where code is kept."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "dtau"


def results(function: str, model: dtau.Model, *arrays: Any, **options: Any) -> tuple[Any, ...]:
    return arrays_of(getattr(dtau, function)(model, *arrays, **options))


FUNCTIONS = {
    "inverse_dynamics": ("q", "v", "a"),
    "inverse_dynamics_derivatives": ("q", "v", "a"),
    "linearize": ("q", "v", "tau"),
    "difference": ("q0", "q1"),
    "center_of_mass": ("q",),
}


@pytest.mark.parametrize("name", ["quadruped", "joints that mimic others", "one planar"])
def test_results_are_the_core_s_and_the_same_alone_and_in_batches(name: str) -> None:
    model = robot(name)
    names = [x for x in FUNCTIONS if name == "one planar" or x != "linearize"]
    fast = dtau.compile(model, names)
    assert fast == model
    for function in names:
        for shape in ((), (1,), (3, 7)):
            state = random_state(model, 3, shape)
            arrays = [state[x] for x in FUNCTIONS[function]]
            want = results(function, model, *arrays)
            got = results(function, fast, *arrays)
            for one, other in zip(got, want, strict=True):
                assert one.shape == other.shape
                assert_close(one, other, 1e-12, function)
            if shape == (3, 7):
                lone = results(function, fast, *(x[1, 2] for x in arrays))
                assert all(np.array_equal(x, y[1, 2]) for x, y in zip(lone, got, strict=True))
                several = results(function, fast, *arrays, threads=3)
                assert all(np.array_equal(x, y) for x, y in zip(several, got, strict=True))


def test_the_code_is_run_by_the_calls_that_it_was_compiled_for_alone() -> None:
    model = robot("one free")
    asked = {"step": ("step", {"integrator": "semi_implicit"})}
    fast = dtau.compile(model, asked, parameters=["f_ext"])
    state = random_state(model, 4, (99,))
    arrays = {x: state[x] for x in ("q", "v", "tau", "dt")}

    def same(**given: Any) -> bool:
        pairs = zip(*(dtau.step(x, **arrays, **given) for x in (fast, model)), strict=True)
        return all(np.array_equal(x, y) for x, y in pairs)

    f_ext = state["f_ext"]
    assert not same(f_ext=f_ext, integrator="semi_implicit"), "other sums, other roundings"
    assert same(f_ext=f_ext, integrator="euler")
    assert same(integrator="semi_implicit")
    assert same(f_ext=f_ext, integrator="semi_implicit", f_ext_axes="world")
    fast = pickle.loads(pickle.dumps(fast))
    assert same(f_ext=f_ext, integrator="semi_implicit")


def test_angles_that_are_huge_and_numbers_that_are_none() -> None:
    model = robot("one revolute")
    fast = dtau.compile(model, "inverse_dynamics")
    q = np.array([[0.3], [1e5], [-7e9], [1e300], [-1.2], [99999.0], [2.0], [-3.0], [0.1]])
    v = np.full_like(q, 0.3)
    assert_close(dtau.inverse_dynamics(fast, q, v, v), dtau.inverse_dynamics(model, q, v, v), 1e-14)
    q[4] = np.nan
    assert np.isnan(dtau.inverse_dynamics(fast, q, v, v)[:, 0]).tolist() == [
        k == 4 for k in range(9)
    ]


def test_every_instruction_set_has_code_of_its_own(cache: Path) -> None:
    model = robot("one spherical")
    before = _core.instruction_set()
    state = random_state(model, 5, (20,))
    arrays = [state[x] for x in ("q", "v", "a")]
    try:
        for chosen in _core.instruction_sets():
            _core.use_instruction_set(chosen)
            fast = dtau.compile(model, "inverse_dynamics")
            want = dtau.inverse_dynamics(model, *arrays)
            assert_close(dtau.inverse_dynamics(fast, *arrays), want, 1e-13)
            dtau.compile(model, "inverse_dynamics")
    finally:
        _core.use_instruction_set(before)
    assert len(list(cache.glob("*.so"))) == len(_core.instruction_sets())
    assert len(list(cache.iterdir())) == len(_core.instruction_sets())


COMPILERS = [x for x in ("gcc", "clang", "clang-16") if shutil.which(x)]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("compiler", COMPILERS)
def test_compilers_that_are_here(compiler: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = robot("one revolute")
    state = random_state(model, 5, (20,))
    arrays = [state[x] for x in ("q", "v", "a")]
    monkeypatch.setenv("CC", compiler)
    got = dtau.inverse_dynamics(dtau.compile(model, "inverse_dynamics"), *arrays)
    assert_close(got, dtau.inverse_dynamics(model, *arrays), 1e-13)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("nothing", ["", "  "])
def test_a_compiler_named_nothing_is_the_system_s(
    nothing: str, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CC", nothing)
    dtau.compile(robot("one revolute"), "gravity_torque")
    assert len(list(cache.glob("*.so"))) == 1


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", ["alone", "in_lanes", "alone_0", "sine_cosine"])
def test_any_name_will_do(name: str, cache: Path) -> None:
    model = robot("one spherical")
    q = random_state(model, 5, (20,))["q"]
    fast = dtau.compile(model, {name: "gravity_torque"})
    assert_close(dtau.gravity_torque(fast, q), dtau.gravity_torque(model, q), 1e-13)
    assert len(list(cache.glob("*.so"))) == 1


def test_without_a_compiler_the_core_computes(monkeypatch: pytest.MonkeyPatch) -> None:
    model = robot("one spherical")
    state = random_state(model, 5, (20,))
    arrays = [state[x] for x in ("q", "v", "a")]
    want = dtau.inverse_dynamics(model, *arrays)
    for compiler, message in (
        ("no-such-compiler", "there is no C compiler 'no-such-compiler'"),
        ('"cc', "there is no C compiler '\"cc'"),
        ("false", "inverse_dynamics was not compiled, the core computes it"),
    ):
        monkeypatch.setenv("CC", compiler)
        with pytest.warns(dtau.ModelWarning, match=re.escape(message)):
            slow = dtau.compile(model, "inverse_dynamics")
        assert np.array_equal(dtau.inverse_dynamics(slow, *arrays), want)


def test_a_compiler_that_fails_fails_other_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the settings in pyproject.toml: elsewhere it is a warning, and the core computes."""
    monkeypatch.setenv("CC", "false")
    with pytest.raises(dtau.ModelWarning, match="was not compiled"):
        dtau.compile(robot("one spherical"), "inverse_dynamics")


def test_large_functions_are_compiled_with_a_word(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = robot("one spherical")
    state = random_state(model, 5, (20,))
    arrays = [state[x] for x in ("q", "v", "a")]
    monkeypatch.setattr(compiled, "LARGE", 30)
    said = r"inverse_dynamics has \d+ operations for this robot: from some 30 on, the core was"
    with pytest.warns(dtau.ModelWarning, match=said) as found:
        fast = dtau.compile(model, ["inverse_dynamics", "normalize"])
    assert [x.filename for x in found] == [__file__]
    got, want = dtau.inverse_dynamics(fast, *arrays), dtau.inverse_dynamics(model, *arrays)
    assert_close(got, want, 1e-13)
    assert len(list(cache.glob("*.so"))) == 2


def test_functions_by_the_numbers_of_q() -> None:
    """Code for one does not serve calls by the other."""
    model, options = robot("free root, branches"), {"coordinates": "numbers"}
    names = ("inverse_dynamics_derivatives", "inverse_dynamics_jvp")
    fast = dtau.compile(model, {name: (name, options) for name in names})
    rng = np.random.default_rng(0)
    q, v, a = (random_state(model, 3, (9,))[x] for x in ("q", "v", "a"))
    changes = rng.standard_normal((9, model.nq)), v, a
    for some in (slice(None), 4):
        state = [x[some] for x in (q, v, a)]
        along = [x[some] for x in changes]
        for name, arrays in zip(names, (state, [*state, *along]), strict=True):
            want = results(name, model, *arrays, **options)
            for one, other in zip(results(name, fast, *arrays, **options), want, strict=True):
                assert_close(one, other, 1e-12, name)
    by_tangents = dtau.inverse_dynamics_derivatives(fast, q, v, a).dtau_dq
    assert by_tangents.shape == (9, model.nv, model.nv)


def test_mistakes() -> None:
    model = robot("quadruped")
    with pytest.raises(ValueError, match="no function named 'inverse_dynamic'"):
        dtau.compile(model, "inverse_dynamic")
    with pytest.raises(ValueError, match=r"would take the compiler about \d+ s, more"):
        dtau.compile(model, "inverse_dynamics", limit=0.01)
    with pytest.raises(ValueError, match="limit: expected a positive number of seconds, got 0"):
        dtau.compile(model, "inverse_dynamics", limit=0)
    for name in ("step_hessian", "linearize_discrete", "step_vjp"):  # calls without it would run it
        for by in ("dt", ("dt", "f_ext")):
            with pytest.raises(ValueError, match=rf"{name} with by=.* cannot be compiled: only"):
                dtau.compile(model, {"f": (name, {"by": by})})
    with pytest.raises(ValueError, match=r"frame_placements with frames=.* cannot be compiled"):
        dtau.compile(model, {"x": ("frame_placements", {"frames": ["LF_FOOT"]})})
    with pytest.raises(ValueError, match="gravity is the model's"):
        dtau.compile(model, "inverse_dynamics", parameters=["gravity"])
