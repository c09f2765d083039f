"""Derivatives by the numbers of q, `coordinates="numbers"`, of every function that has them.

First derivatives are tangent-space derivatives times T, which is written here a second time.
Second ones are compared with complex step of the first, so with nothing that converts them.
"""

from __future__ import annotations

from typing import Any

import complex_step
import numpy as np
import pytest
from cases import random_q, robot
from compare import assert_close
from core import complex_core
from law_robots import robot as robot_of_laws

import dtau
from dtau.registry import FUNCTIONS, Function, arrays_of

BY_NUMBERS = [name for name, row in FUNCTIONS.items() if "coordinates" in row.options]
HESSIANS = {
    "inverse_dynamics_hessian": "inverse_dynamics_vjp",
    "forward_dynamics_hessian": "forward_dynamics_vjp",
    "constrained_dynamics_hessian": "constrained_dynamics_vjp",
    "impulse_dynamics_hessian": "impulse_dynamics_vjp",
    "step_hessian": "step_vjp",
}
TENSORS = {
    "inverse_dynamics_second_derivatives": "inverse_dynamics_derivatives",
    "forward_dynamics_second_derivatives": "forward_dynamics_derivatives",
    "constrained_dynamics_second_derivatives": "constrained_dynamics_derivatives",
    "impulse_dynamics_second_derivatives": "impulse_dynamics_derivatives",
}
SECOND = {**HESSIANS, **TENSORS}
FIRST = [name for name in BY_NUMBERS if name not in SECOND]
MODELS = ("every joint in a chain", "free root, branches", "forest", "joints that mimic others")
STATES = 5
ROWS, STACK = 2, 3  # of contacts and frames; of time derivatives

Numbers = np.ndarray[Any, np.dtype[Any]]


class Case:
    """A batch of states of a function."""

    def __init__(self, name: str, model: dtau.Model, seed: int = 0, **options: Any) -> None:
        self.row: Function = FUNCTIONS[name]
        self.model = model
        rng = np.random.default_rng([seed, len(name)])
        frames = [joint.name for joint in model.joints][-ROWS:]
        known: dict[str, Any] = {"frames": frames, "order": STACK - 1}
        if "contacts" in self.row.options and self.row.options["contacts"].required:
            known["contacts"] = dtau.Contacts(
                model, [dtau.PointContact(frames[-1], direction=(1, 2, 3))]
            )
        known |= options
        self.options = {x: y for x, y in known.items() if x in self.row.options}
        held = self.options.get("contacts")
        size = {"nq": model.nq, "nv": model.nv, "nbodies": model.nbodies, "ninputs": model.nv}
        size |= {"nframes": ROWS, "nrows": 0 if held is None else held.nrows}
        size["nparameters"] = 10 * model.nbodies
        self.given: dict[str, Numbers] = {}
        left_out = {"parameters", "positions", "inputs", "active"}
        for x in self.row.inputs:
            if x.name in left_out:
                continue
            shape = tuple(size[n] if isinstance(n, str) else n for n in x.axes)
            if x.rows is not None:
                shape = (STACK - 1 + x.rows, *shape)
            array = rng.uniform(-1.0, 1.0, (STATES, *shape))
            if x.axes == ("nq",):
                array = random_q(model, rng, (STATES,))
            elif x.name == "targets":
                array[..., 3:] /= np.linalg.norm(array[..., 3:], axis=-1, keepdims=True)
            elif x.name in {"dt", "restitution"}:
                array = rng.uniform(0.01, 0.1, STATES)
            self.given[x.name] = array

    def __call__(self, name: str = "", **changed: Any) -> list[Any]:
        name = name or self.row.name
        known = FUNCTIONS[name]
        taken = {x.name for x in known.inputs} | set(known.options)
        given = {**self.given, **self.options, **changed}
        given = {x: y for x, y in given.items() if x in taken}
        result = getattr(dtau, name)(self.model, **given)
        return list(arrays_of(result))

    def T(self, name: str = "q") -> Numbers:
        """The map from rates of the numbers to velocities, (states, nv, nq)."""
        units = np.eye(self.model.nq)
        return np.array(
            [[complex_step.tangent(self.model, q, x) for x in units] for q in self.given[name]]
        ).swapaxes(-1, -2)

    def F(self, q: Numbers) -> Numbers:
        """The rates of the numbers at unit velocities, (states, nq, nv)."""
        moved = [complex_step.moved(self.model, x, np.eye(self.model.nv)) for x in q]
        rates: Numbers = np.array(moved).imag.swapaxes(-1, -2) / complex_step.STEP
        return rates


def times(x: Numbers, T: Numbers) -> Numbers:
    """A result by tangents, whose last axis begins with them, times T."""
    n, more = T.shape[-2], x.shape[-1] - T.shape[-2]
    T = T.reshape(STATES, *[1] * max(0, x.ndim - 3), *T.shape[-2:])
    by_q = np.matmul(x[..., None, :n] if x.ndim == 2 else x[..., :n], T)
    by_q = by_q[..., 0, :] if x.ndim == 2 else by_q
    return np.concatenate((by_q, x[..., n:]), axis=-1) if more else by_q


def on_first_axis(F: Numbers, x: Numbers) -> Numbers:
    """F times the displacements of a result, the first of its first axis."""
    n = F.shape[-1]
    turned = np.einsum("sij,sj...->si...", F, x[:, :n])
    return np.concatenate((turned, x[:, n:]), axis=1)


def close(got: list[Any], want: list[Any], tolerance: float = 1e-12) -> None:
    assert len(got) == len(want)
    for a, b in zip(got, want, strict=True):
        assert a.shape == b.shape
        assert_close(a, b, tolerance, "by numbers", floor=float(np.abs(b).max(initial=1.0)))


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", FIRST)
def test_first_derivatives_are_those_by_tangents_times_the_map(name: str, model: str) -> None:
    case = Case(name, robot(model))
    if name in {"step_jvp", "linearize_discrete", "integrate_jacobians", "step_vjp"}:
        return check_step(case)
    T = case.T("q0" if "q0" in case.given else "q")
    if "dq" in case.given:
        changes = np.random.default_rng(1).standard_normal((STATES, case.model.nq))
        want = case(dq=np.einsum("sij,sj->si", T, changes))
        return close(case(dq=changes, coordinates="numbers"), want)
    want, got = case(), case(coordinates="numbers")
    names = [x.name for x in case.row.results][: len(want)]
    maps = {"by_q1": case.T("q1")} if name == "difference_jacobians" else {}
    for k, result in enumerate(names):
        is_by_q = result.endswith(("_dq", "by_q", "by_q0", "by_q1")) or result == "J"
        if is_by_q:
            want[k] = times(want[k], maps.get(result, T))
    close(got, want)
    assert any(x.shape[-1] == case.model.nq for x in got)


@pytest.mark.parametrize("integrator", ["euler", "semi_implicit", "rk4"])
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", ["step_jvp", "linearize_discrete", "step_vjp"])
def test_steps_by_numbers(name: str, model: str, integrator: str) -> None:
    by = {"linearize_discrete": ("dt", "f_ext"), "step_vjp": "dt"}.get(name)
    check_step(Case(name, robot(model), integrator=integrator, by=by))


def check_step(case: Case) -> None:
    T, name = case.T(), case.row.name
    if name == "integrate_jacobians":
        F = case.F(dtau.integrate(case.model, case.given["q"], case.given["dq"]))
        by_q, by_dq = case()
        want = [on_first_axis(F, times(by_q, T)), on_first_axis(F, by_dq)]
        return close(case(coordinates="numbers"), want)
    q_next, _ = case(name="step")
    F = case.F(q_next)
    if name == "step_jvp":
        changes = np.random.default_rng(1).standard_normal((STATES, case.model.nq))
        dq, dv = case(dq=np.einsum("sij,sj->si", T, changes))
        want = [on_first_axis(F, dq), dv]
        return close(case(dq=changes, coordinates="numbers"), want)
    if name == "step_vjp":
        weights = np.random.default_rng(1).standard_normal((STATES, case.model.nq))
        by_q, *others = case(lam_q=np.einsum("sij,si->sj", F, weights))
        got = case(lam_q=weights, coordinates="numbers")
        return close(got, [times(by_q, T), *others])
    A, B, q, v, *further = case()
    want = [on_first_axis(F, times(A, T)), on_first_axis(F, B), q, v]
    want += [on_first_axis(F, x) if k % 2 == 0 else x for k, x in enumerate(further)]
    close(case(coordinates="numbers"), want)
    return None


def by_numbers(case: Case, first: str, state: int, variables: tuple[str, ...]) -> list[Numbers]:
    """Derivatives of a function by the numbers of variables of one state, on their last axis."""
    given = {x: np.asarray(y)[state] for x, y in case.given.items()}
    sizes = [given[x].size for x in variables]
    ends = np.cumsum(sizes)
    points = np.eye(ends[-1]) * 1j * complex_step.STEP
    changed = {
        x: given[x] + part.reshape(-1, *given[x].shape)
        for x, part in zip(variables, np.split(points, ends[:-1], 1), strict=True)
    }
    lone = {x: y for x, y in given.items() if x not in variables}
    known = FUNCTIONS[first]
    taken = {x.name for x in known.inputs}
    options = {x: y for x, y in case.options.items() if x in known.options}
    arrays = {x: y for x, y in {**lone, **changed}.items() if x in taken}
    results = complex_core(first, case.model, **arrays, **options, coordinates="numbers")
    return [np.moveaxis(x.imag, 0, -1) / complex_step.STEP for x in arrays_of(results)]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", [x for x in SECOND if x != "step_hessian"])
def test_second_derivatives_are_derivatives_of_the_first(name: str, model: str) -> None:
    case = Case(name, robot(model))
    got = case(coordinates="numbers")
    n, nq = case.model.nv, case.model.nq
    third = "a" if "a" in case.given else "tau"
    for state in range(STATES):
        if name == "impulse_dynamics_hessian":
            by_q = by_numbers(case, SECOND[name], state, ("q", "v"))[0]
            want = [by_q[:, :nq], by_q[:, nq:]]
        elif name in HESSIANS:
            by_q, by_v, *_ = by_numbers(case, SECOND[name], state, ("q", "v", third))
            want = [by_q[:, :nq], by_q[:, nq : nq + n], by_v[:, nq : nq + n], by_q[:, nq + n :].T]
        else:
            impact = name.startswith("impulse")
            inputs = ("q", "v") if impact else ("q", "v", third)
            firsts, want = by_numbers(case, SECOND[name], state, inputs), []
            for k in range(0, len(got) // (2 if impact else 4) * len(inputs), len(inputs)):
                dq, dv = firsts[k], firsts[k + 1]
                want += [dq[..., :nq], dq[..., nq : nq + n]]
                if not impact:
                    by_third = np.swapaxes(dq[..., nq + n :], -1, -2)
                    want += [dv[..., nq : nq + n], by_third]
        close([x[state] for x in got], want, 1e-10)


@pytest.mark.parametrize("by", [None, ("dt", "f_ext")])
@pytest.mark.parametrize("integrator", ["euler", "semi_implicit", "rk4"])
@pytest.mark.parametrize("model", [*MODELS, "standing"])
def test_hessian_of_steps(model: str, integrator: str, by: Any) -> None:
    options: dict[str, Any] = {"integrator": integrator, "by": by}
    if model == "standing":
        tree = robot_of_laws(0)
        options |= {"contacts": tree.contacts[0]}
        case = Case("step_hessian", tree.model, **options)
        case.given["active"] = np.random.default_rng(3).integers(0, 2, (STATES, 4)).astype(float)
    else:
        case = Case("step_hessian", robot(model), **options)
    case.given["lam_q"] = np.random.default_rng(2).standard_normal((STATES, case.model.nq))
    inputs = np.ones(case.model.nv, bool)
    (got,) = case(coordinates="numbers", inputs=inputs)
    for state in range(STATES):
        variables = ("q", "v", "tau", *(by or ()))
        case.options["by"] = "dt" if by else None
        rows = by_numbers(case, "step_vjp", state, variables)
        order = [0, 1, 2, 4, 3] if by else [0, 1, 2]
        want = np.concatenate([rows[k].reshape(-1, rows[k].shape[-1]) for k in order])
        close([got[state]], [want], 1e-10)
        close([got[state]], [got[state].T])


def test_states_that_contacts_cannot_hold_keep_the_same_numbers() -> None:
    model = dtau.robots.quadruped()
    feet = [dtau.FrameContact(foot) for foot in dtau.robots.QUADRUPED_FEET]  # too many rows
    q, v, tau = dtau.random_state(model, np.random.default_rng(0), shape=(9,))
    given: dict[str, Any] = {"contacts": dtau.Contacts(model, feet), "integrator": "euler"}
    by_tangents = dtau.linearize_discrete(model, q, v, tau, 0.01, **given)
    got = dtau.linearize_discrete(model, q, v, tau, 0.01, **given, coordinates="numbers")
    n, nq = model.nv, model.nq
    assert np.isnan(by_tangents.A[:, n:]).all()
    assert np.isfinite(by_tangents.A[:, :n]).all()
    assert np.isnan(got.A[:, nq:]).all()
    assert np.isfinite(got.A[:, :nq]).all()
    assert np.isnan(got.B[:, nq:]).all()


def test_results_without_numbers_have_the_axes_of_numbers() -> None:
    model = dtau.robots.quadruped()
    q, v, a = dtau.random_state(model, np.random.default_rng(0))
    by: dict[str, Any] = {"coordinates": "numbers"}
    none = dtau.linearize_discrete(model, q, v, a, 0.01, inputs=np.zeros(model.nv, bool), **by)
    assert none.B.shape == (model.nq + model.nv, 0)
    nothing = dtau.Contacts(model, [])
    held = dtau.constrained_dynamics_derivatives(model, q, v, a, nothing, **by)
    assert held.dforces_dq.shape == (0, model.nq)
    assert held.da_dq.shape == (model.nv, model.nq)
    of_frames = dtau.frame_velocities_derivatives(model, q, v, [], **by)
    assert of_frames.dtwist_dq.shape == (0, 6, model.nq)


@pytest.mark.parametrize("norm", [2.0, 1e-150, 1e150])
def test_quaternions_of_any_norm(norm: float) -> None:
    """Of the function of normalize(q): derivatives shrink as the quaternion grows."""
    case = Case("inverse_dynamics_derivatives", robot("free root, branches"))
    unit = case(coordinates="numbers")[0]
    longer: dict[str, Any] = {"q": case.given["q"].copy()}
    longer["q"][:, 3:7] *= norm
    got = case(coordinates="numbers", **longer)[0]
    close([got[..., 3:7] * norm], [unit[..., 3:7]])
    close([got[..., 7:], got[..., :3]], [unit[..., 7:], unit[..., :3]])
    with pytest.raises(ValueError, match="norm"):
        case(**longer)
    lone = {x: y[0] for x, y in {**case.given, **longer}.items()}
    alone = dtau.inverse_dynamics_derivatives(case.model, **lone, coordinates="numbers")
    np.testing.assert_array_equal(alone.dtau_dq, got[0])


def test_mistakes() -> None:
    model = dtau.robots.quadruped()
    q, v, a = dtau.random_state(model, np.random.default_rng(0))
    with pytest.raises(ValueError, match=r"coordinates: expected 'tangent' or 'numbers', got 'q'"):
        dtau.inverse_dynamics_derivatives(model, q, v, a, coordinates="q")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="layout: expected 'dense' with coordinates='numbers'"):
        dtau.inverse_dynamics_derivatives(model, q, v, a, layout="pattern", coordinates="numbers")
    with pytest.raises(ValueError, match="symmetric: expected False with coordinates='numbers'"):
        dtau.inverse_dynamics_hessian(model, q, v, a, v, symmetric=True, coordinates="numbers")
    with pytest.raises(ValueError, match=r"dq has shape \(18,\), expected \(..., 19\)"):
        dtau.inverse_dynamics_jvp(model, q, v, a, v, v, v, coordinates="numbers")
