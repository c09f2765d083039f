"""Generated code as CasADi finds it: values, Jacobians, adjoints, Hessians, patterns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cases import random_state, robot, serial
from compare import assert_close
from compiled import C99, CXX, compiled, needs_compiler

import dtau

casadi = pytest.importorskip("casadi")
pytestmark = [needs_compiler, pytest.mark.compilers]


def external(
    model: dtau.Model,
    asked: Any,
    source: Path,
    order: int,
    parameters: tuple[str, ...] = (),
    flags: tuple[str, ...] = C99,
) -> Any:
    """The one function that is asked for, as CasADi's."""
    code = dtau.generate(model, asked, source, prefix="r_", casadi=order, parameters=parameters)
    library = compiled(source, flags)
    assert library.r_check() == 0
    name = next(iter(code.operations))
    return casadi.external(name.replace("r_", "r_casadi_"), library._name)


def numbers(x: Any) -> Any:
    return np.array(x)


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("one free", "inverse_dynamics"),
        ("two", "inverse_dynamics"),
        ("two", "forward_dynamics"),
        ("free root, branches", "gravity_torque"),
    ],
)
def test_derivatives_are_those_of_the_package(name: str, function: str, tmp_path: Path) -> None:
    import dtau.casadi

    model = serial("spherical", "helical", seed=2).model() if name == "two" else robot(name)
    ours = external(model, [function], tmp_path / "robot.c", 2)
    theirs = dtau.casadi.function(model, function)
    assert ours.name_in() == theirs.name_in()
    assert ours.name_out() == theirs.name_out()
    for derived in (ours.jacobian(), ours.reverse(1), ours.reverse(1).jacobian()):
        assert derived.class_name() == "External"
    state = random_state(model, seed=3)
    inputs = [casadi.MX.sym(x, ours.size1_in(x)) for x in ours.name_in()]
    seed = casadi.MX.sym("seed", ours.size1_out(0))
    given = [1.1 * state[x] for x in ours.name_in()]  # quaternions need no unit norm

    def derivatives(f: Any) -> Any:
        result = f(*inputs)
        weighted = casadi.dot(seed, result)
        gradient = casadi.vertcat(*(casadi.gradient(weighted, y) for y in inputs))
        jacobian = casadi.horzcat(*(casadi.jacobian(result, y) for y in inputs))
        second = casadi.horzcat(*(casadi.jacobian(gradient, y) for y in inputs))
        made = casadi.Function("d", [*inputs, seed], [result, jacobian, gradient, second])
        return made(*given, state["lam"])

    for got, want in zip(derivatives(ours), derivatives(theirs), strict=True):
        assert_close(numbers(got), numbers(want), 1e-11)
        assert got.nnz() <= want.nnz()


@pytest.mark.parametrize(
    ("function", "joints", "held", "options"),
    [
        ("constrained_dynamics", ("free", "revolute"), 10.0, {}),
        ("impulse_dynamics", ("free", "revolute"), 10.0, {}),
        ("step", ("spherical", "planar"), None, {"integrator": "euler"}),
        ("step", ("planar", "revolute"), None, {"integrator": "rk4"}),
        ("step", ("free", "revolute"), 0.0, {"integrator": "semi_implicit"}),
    ],
)
def test_hessians_are_those_of_the_package(
    function: str,
    joints: tuple[str, ...],
    held: float | None,
    options: dict[str, Any],
    tmp_path: Path,
) -> None:
    """By the core's Hessian; with wrenches too, which it lacks, by reverse mode."""
    import dtau.casadi

    model = serial(*joints, seed=4).model()
    model = model.add_frame("tip", model.bodies[-1], dtau.Pose(translation=(0.1, 0.2, -0.3)))
    state = random_state(model, seed=5)
    if held is not None:
        points = [dtau.PointContact("tip", axes="mixed", kp=held, kd=5.0)]
        at = random_state(model, seed=6)["q"] if held else None
        options = {**options, "contacts": dtau.Contacts(model, points, at=at)}
    state |= {"dt": np.array(0.03), "restitution": np.array(0.4)}
    ours = external(model, {"held": (function, options)}, tmp_path / "held.c", 2)
    theirs = dtau.casadi.function(model, function, **options)
    assert ours.name_in() == theirs.name_in()
    given = [1.1 * state[x] for x in ours.name_in()]  # quaternions need no unit norm
    others = [(ours, ())]
    if function == "constrained_dynamics":
        wrenched = {"held": (function, options)}
        wrenches = np.zeros((model.nbodies, 6))
        others.append((external(model, wrenched, tmp_path / "w.c", 2, ("f_ext",)), (wrenches,)))
    inputs = [casadi.MX.sym(x, ours.size1_in(x)) for x in ours.name_in()]
    sizes = [ours.size1_out(k) for k in range(ours.n_out())]
    seed = casadi.MX.sym("seed", sum(sizes))

    def derivatives(f: Any, *more: Any) -> Any:
        result = casadi.vertcat(*f(*inputs, *more))
        gradient = casadi.vertcat(*(casadi.gradient(casadi.dot(seed, result), y) for y in inputs))
        by = [*inputs, seed]
        jacobian = casadi.horzcat(*(casadi.jacobian(result, y) for y in inputs))
        second = casadi.horzcat(*(casadi.jacobian(gradient, y) for y in by))
        made = casadi.Function("d", [*inputs, seed], [result, jacobian, gradient, second])
        return made(*given, np.linspace(-1.0, 2.0, sum(sizes)))

    want = derivatives(theirs)
    for f, more in others:
        for got, expected in zip(derivatives(f, *more), want, strict=True):
            assert_close(numbers(got), numbers(expected), 1e-10)
            assert got.nnz() <= expected.nnz()


def test_matrices_and_constant_entries(tmp_path: Path) -> None:
    model = robot("quadruped")
    asked = {"feet": ("frame_jacobians", {"frames": ["LF_FOOT", "RH_FOOT"], "axes": "mixed"})}
    f = external(model, asked, tmp_path / "feet.c", 0, flags=CXX)
    q = random_state(model, seed=9)["q"]
    want = dtau.frame_jacobians(model, q, ["LF_FOOT", "RH_FOOT"], axes="mixed")
    assert f.nnz_out() < want.size
    assert_close(numbers(f(q)), want.reshape(12, 18), 1e-13)


def test_wrenches_and_gravity(tmp_path: Path) -> None:
    model = robot("quadruped")
    f = external(model, ["inverse_dynamics"], tmp_path / "legs.c", 1, ("f_ext", "gravity"))
    assert f.name_in() == ["q", "v", "a", "f_ext", "gravity"]
    state = random_state(model, seed=9)
    given = [state[x] for x in ("q", "v", "a", "f_ext")]
    moon = np.array([0.1, 0.2, -1.6])
    want = dtau.inverse_dynamics(model.replace(gravity=moon), *given)
    assert_close(numbers(f(*given, moon))[:, 0], want, 1e-13)
    by = f.jacobian()(*given, moon, 0)
    pulls = [dtau.gravity_torque(model.replace(gravity=x), state["q"]) for x in np.eye(3)]
    assert_close(numbers(by[4]), np.array(pulls).T, 1e-13)
    by_wrench = dtau.inverse_dynamics_wrench_derivatives(model, state["q"])
    assert_close(numbers(by[3]), by_wrench.transpose(0, 2, 1).reshape(18, -1), 1e-13)
    gradient = f.reverse(1)(*given, moon, 0, state["lam"])
    assert_close(numbers(gradient[3]), np.tensordot(state["lam"], by_wrench, 1), 1e-13)


def test_several_results(tmp_path: Path) -> None:
    model = serial("free", "revolute", seed=4).model()
    asked = {"step": ("step", {"integrator": "semi_implicit"})}
    f = external(model, asked, tmp_path / "robot.c", 1)
    assert f.name_out() == ["q_out", "v_out"]
    state = random_state(model, seed=5)
    q, tau, dt = (state[x] for x in ("q", "tau", "dt"))
    for v in (state["v"], 2.0 * state["v"] / dt):  # turns by series, and by closed forms
        want = dtau.step(model, q, v, tau, dt, integrator="semi_implicit")
        for got, one in zip(f(q, v, tau, dt), want, strict=True):
            assert_close(numbers(got)[:, 0], one, 1e-13)
        blocks = f.jacobian()(q, v, tau, dt, 0, 0)
        step = 1e-6 * np.abs(v).max()
        shifted = v + step * np.concatenate([np.eye(model.nv), -np.eye(model.nv)])
        ends = dtau.step(model, q, shifted, tau, dt, integrator="semi_implicit")
        for block, end in zip((blocks[1], blocks[5]), ends, strict=True):
            ahead, behind = np.split(end, 2)
            assert_close(numbers(block), (ahead - behind).T / (2 * step), 1e-7, floor=1.0)
        weights = [np.arange(1.0, 1.0 + x.size) for x in want]
        by_v = f.reverse(1)(q, v, tau, dt, *want, *weights)[1]
        product = sum(
            numbers(x).T @ w for x, w in zip((blocks[1], blocks[5]), weights, strict=True)
        )
        assert_close(numbers(by_v)[:, 0], product, 1e-12)


@pytest.mark.parametrize("wrong", [3, True, "1"])
def test_mistakes(wrong: Any, tmp_path: Path) -> None:
    model, path = robot("one revolute"), tmp_path / "robot.c"
    with pytest.raises(ValueError, match="casadi: expected 0, 1, 2 or None"):
        dtau.generate(model, "mass_matrix", path, casadi=wrong)
    with pytest.raises(ValueError, match="must scalar be"):
        dtau.generate(model, "mass_matrix", path, casadi=0, scalar="float")
