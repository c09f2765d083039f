"""Parameters of bodies and joints as arrays: many models in one call are a loop over models.

Every function with the argument ``parameters`` takes part, with all its options.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any, get_args

import cases
import complex_step
import numpy as np
import pytest
from cases import ROBOTS, State, lone, random_state, robot, rows
from compare import TOLERANCE, assert_close, assert_same_bits, assert_same_results, solved
from core import complex_core
from derivative_laws import Point
from derivative_laws import check as check_derivatives
from function import Function
from functions import FUNCTIONS
from hypothesis import given
from hypothesis import strategies as st
from trees import SEEDS, Array, Tree, random_tensor, trees

import dtau
from dtau.registry import FUNCTIONS as REGISTRY
from dtau.registry import arrays_of

TAKING = {
    name for name, row in REGISTRY.items() if any(x.name == "parameters" for x in row.arguments)
}
ROWS = tuple(x for x in FUNCTIONS if x.name in TAKING and "parameters" not in x.arguments)
every_row = pytest.mark.parametrize("function", ROWS, ids=str)
SOME = ("every joint in a chain", "free root, branches", "joints that mimic others")
on_some = pytest.mark.parametrize("name", SOME)
DYNAMICS = ("inverse_dynamics", "forward_dynamics", "inverse_dynamics_derivatives", "step")
WITH_MORE_PASSES = ("constrained_dynamics_hessian", "linearize_stages", "step_hessian")


with_joints = pytest.mark.parametrize("of_joints", [False, True], ids=["bodies", "joints"])


def other_joints(model: dtau.Model, seed: int, shape: tuple[int, ...] = ()) -> Array:
    """Armature, damping, stiffness and friction of other joints, where they can have them."""
    rng = np.random.default_rng(seed)
    low, high = np.array([[0.01, 0.0, 0.3, 0.1], [0.2, 0.5, 2.0, 0.5]])[:, :, None]
    found = rng.uniform(low, high, (*shape, 4, model.nv))
    found[..., 3, :] *= model.friction_speed > 0.0
    for joint in model.joints:
        if isinstance(joint.type, dtau.Free | dtau.Planar):
            found[..., 2, joint.v] = 0.0
        if isinstance(joint.type, dtau.Spherical):
            found[..., 2, joint.v] = found[..., 2, joint.v.start, None]
    return found.reshape(*shape, -1)


def other_parameters(
    model: dtau.Model, seed: int, shape: tuple[int, ...] = (), of_joints: bool = False
) -> Array:
    """Of other bodies that exist, and of other joints."""
    if of_joints:
        both = other_parameters(model, seed, shape), other_joints(model, seed, shape)
        return np.concatenate(both, axis=-1)
    rng = np.random.default_rng(seed)
    found = np.empty((*shape, model.nbodies, 10))
    for at in np.ndindex(found.shape[:-1]):
        mass = rng.uniform(0.3, 3.0)
        com = rng.uniform(-0.2, 0.2, 3)
        found[at] = dtau.Inertia(mass, com, random_tensor(rng, mass)).parameters
    return found.reshape(*shape, 10 * model.nbodies)


def model_with(model: dtau.Model, parameters: Array) -> dtau.Model:
    bodies, joints = np.split(parameters, [10 * model.nbodies])
    if joints.size:
        kinds = ("armature", "damping", "stiffness", "friction")
        given = dict(zip(kinds, joints.reshape(4, -1), strict=True))
        model = model.replace(**given)  # type: ignore[arg-type]
    return model.replace(parameters=bodies.reshape(-1, 10))


def differentiates_by_joints(function: Function) -> bool:
    """Whether given parameters of joints leave the shapes of results and variations as they are."""
    if "dparameters" in function.arguments:
        return False
    return bool(function.options.get("joint_parameters", True))


def close(
    function: Function, other: dtau.Model, state: State, got: tuple[Array, ...], tolerance: float
) -> None:
    """Results are as of another model; where a matrix solves, up to its condition."""
    want = function(other, state)
    if function.solves:
        tolerance = solved(tolerance, dtau.mass_matrix(other, state["q"])) * function.steps
    scale = max(function.terms, *(float(np.abs(x).max(initial=0.0)) for x in want))
    for k, (x, y) in enumerate(zip(got, want, strict=True)):
        assert_close(x, y, tolerance, f"{function} {k}", floor=1e-2 * scale)


# A loop over models


@pytest.mark.parametrize("joints", [1, 2])
def test_friction_of_mimic_joints_acts_at_the_speed_of_the_joint_they_mimic(joints: int) -> None:
    """Which the model has too if its speed is the other one, times the multiplier's magnitude."""
    arm = dtau.robots.chain(joints + 1)
    last = arm.links[-1]
    mimic = dtau.Mimic(arm.joints[0].name, -1.7)
    for speed, is_the_models in ((0.17, True), (0.4, False)):
        finger = dataclasses.replace(last, mimic=mimic, friction=0.3, friction_speed=speed)
        links = [*arm.replace(friction_speed=0.1, friction=0.2).links[:-1], finger]
        model = dtau.Model("gripper", links)
        q, v, a = dtau.random_state(model, np.random.default_rng(3))
        numbers = np.r_[model.parameters.ravel(), model.joint_parameters.ravel()]
        found = dtau.inverse_dynamics(model, q, 0.1 * v, a, parameters=numbers)
        other = model.replace(friction=model.friction)
        assert np.array_equal(other.friction, model.friction)
        assert_close(found, dtau.inverse_dynamics(other, q, 0.1 * v, a), TOLERANCE["long sums"])
        off = np.abs(found - dtau.inverse_dynamics(model, q, 0.1 * v, a)).max()
        assert (off < TOLERANCE["long sums"]) == is_the_models


@every_row
@with_joints
@on_some
def test_many_models_are_a_loop_over_models(name: str, of_joints: bool, function: Function) -> None:
    model, count = robot(name), 5
    states = random_state(model, 1, (count,))
    of_joints &= differentiates_by_joints(function)
    parameters = other_parameters(model, 2, (count,), of_joints)
    got = function(model, states, parameters=parameters)
    for k in range(count):
        other, state = model_with(model, parameters[k]), rows(states, k)
        results = tuple(x[k] for x in got)
        close(function, other, state, results, TOLERANCE["identity"])
        alone = function(model, state, parameters=parameters[k])
        assert_same_results(alone, results, "alone")


@pytest.mark.parametrize("name", ROBOTS)
@with_joints
@pytest.mark.parametrize("function", DYNAMICS + WITH_MORE_PASSES)
def test_robots(name: str, of_joints: bool, function: str) -> None:
    row = next(x for x in ROWS if x.name == function)
    model = robot(name)
    state, parameters = random_state(model, 3), other_parameters(model, 4, (), of_joints)
    got = row(model, state, parameters=parameters)
    close(row, model_with(model, parameters), state, got, TOLERANCE["long sums"])


@given(tree=trees(), seed=SEEDS, of_joints=st.booleans())
def test_trees(tree: Tree, seed: int, of_joints: bool) -> None:
    model = tree.model()
    state, parameters = random_state(model, seed), other_parameters(model, seed, (), of_joints)
    for name in DYNAMICS:
        row = next(x for x in ROWS if x.name == name)
        got = row(model, state, parameters=parameters)
        close(row, model_with(model, parameters), state, got, TOLERANCE["identity"])


@every_row
@with_joints
@pytest.mark.parametrize("name", ["forest", "joints that mimic others"])
def test_the_parameters_of_the_model_itself(name: str, of_joints: bool, function: Function) -> None:
    """Springs of mimic joints too; their friction acts at other speeds than the joint's own."""
    model = robot(name)
    if name == "joints that mimic others":
        model = model.replace(friction=0.0)
    state = random_state(model, 5)
    of_joints &= differentiates_by_joints(function)
    joints = model.joint_parameters.ravel() if of_joints else []
    got = function(model, state, parameters=np.r_[model.parameters.ravel(), joints])
    close(function, model, state, got, TOLERANCE["identity"])


# The results are linear in the parameters, whatever they are


@pytest.mark.parametrize("name", ROBOTS)
def test_bodies_that_do_not_exist(name: str) -> None:
    """The torque is the regressor times any parameters; negative masses, and none at all."""
    model = robot(name)
    s = random_state(model, 6)
    point = model, s["q"], s["v"], s["a"]
    Y = dtau.inverse_dynamics_regressor(*point)
    nothing = np.zeros(10 * model.nbodies)
    rest = dtau.inverse_dynamics(*point, parameters=nothing)
    some = np.random.default_rng(7).uniform(-2.0, 2.0, nothing.size)
    got = dtau.inverse_dynamics(*point, parameters=some) - rest
    floor = float((np.abs(Y) @ np.abs(some)).max() + np.abs(rest).max())
    assert_close(got, Y @ some, TOLERANCE["long sums"], "Y pi", floor=floor)
    mass = dtau.mass_matrix(model, s["q"], parameters=nothing)
    armature = np.diag(model.armature)
    assert_close(mass, armature, TOLERANCE["rounding"], "M without bodies", floor=1.0)


def test_first_moments_without_mass() -> None:
    model = robot("quadruped")
    s = random_state(model, 8)
    parameters = np.zeros((model.nbodies, 10))
    parameters[:, 1:4] = 1.0
    tau = dtau.inverse_dynamics(model, s["q"], s["v"], s["a"], parameters=parameters.ravel())
    assert np.isfinite(tau).all()
    assert tau.any()


def test_a_singular_mass_matrix_spoils_its_own_state() -> None:
    """As forward dynamics says of singular configurations."""
    model = robot("quadruped")
    states = random_state(model, 9, (6,))
    arguments = [states[x] for x in ("q", "v", "tau")]
    parameters = other_parameters(model, 10, (6,))
    want = dtau.forward_dynamics(model, *arguments, parameters=parameters)
    parameters[2] = 0.0
    got = dtau.forward_dynamics(model, *arguments, parameters=parameters)
    assert not np.isfinite(got[2]).all()
    kept = [0, 1, 3, 4, 5]
    assert_same_bits(got[kept], want[kept])


def test_parameters_give_inertia_to_joints_without() -> None:
    with pytest.warns(dtau.ModelWarning):
        model = lone(dtau.Revolute((0, 0, 1)), inertia=None)
    with pytest.raises(ValueError, match="every joint has inertia to accelerate"):
        dtau.forward_dynamics(model, [0.0], [0.0], [3.0])
    disk = dtau.Inertia(1.0, (0, 0, 0), np.diag([0.25, 0.25, 0.5])).parameters
    assert dtau.forward_dynamics(model, [0.0], [0.0], [3.0], parameters=disk).tolist() == [6.0]


# Derivatives


def check_by_parameters(problem: str, model: dtau.Model, seed: int, of_joints: bool) -> None:
    s, parameters = random_state(model, seed), other_parameters(model, seed + 1, (), of_joints)
    change = np.random.default_rng(seed).normal(size=parameters.size)
    s |= {"parameters": parameters, "dparameters": change}
    check_derivatives(Point(problem, model, s, ("f_ext", "parameters")))


@pytest.mark.parametrize("problem", ["inverse_dynamics", "forward_dynamics"])
@with_joints
@pytest.mark.parametrize("name", ROBOTS)
def test_derivatives_match_complex_step(name: str, of_joints: bool, problem: str) -> None:
    """Also derivatives by the parameters, at these parameters."""
    check_by_parameters(problem, robot(name), 11, of_joints)


@pytest.mark.parametrize("problem", ["inverse_dynamics", "forward_dynamics"])
@given(tree=trees(), seed=SEEDS, of_joints=st.booleans())
def test_derivatives_of_trees(problem: str, tree: Tree, seed: int, of_joints: bool) -> None:
    check_by_parameters(problem, tree.model(), seed, of_joints)


@pytest.mark.parametrize("integrator", get_args(dtau.support.options.Integrator))
@pytest.mark.parametrize("with_contacts", [False, True])
@with_joints
@on_some
def test_derivatives_of_a_step_by_parameters(
    name: str, of_joints: bool, with_contacts: bool, integrator: dtau.support.options.Integrator
) -> None:
    """Complex step of a step by the parameters, for masks that leave contacts out too."""
    model = robot(name)
    s, parameters = random_state(model, 34), other_parameters(model, 35, (), of_joints)
    point = [s[x] for x in ("q", "v", "tau", "dt")]
    held = {"contacts": cases.contacts(model), "regularization": 1e-8} if with_contacts else {}
    for active in ([1.0, 0.0], [0.0, 1.0]) if with_contacts else (None,):
        options: dict[str, Any] = {"integrator": integrator, "f_ext_axes": "mixed", **held}

        def after(y: Array, active: Any = active, options: Any = options) -> Array:
            given = {"f_ext": s["f_ext"], "parameters": y, **options}
            given |= {} if active is None else {"active": active}
            q, v = complex_core("step", model, *point, **given)
            return np.concatenate([q, v], axis=-1)

        want = complex_step.by_vector(parameters, after)
        reached = after(parameters.astype(complex))[: model.nq].real
        to_tangent = dtau.tangent_map(model, reached).to_tangent
        want = np.concatenate([to_tangent @ want[: model.nq], want[model.nq :]])
        scale = float(np.abs(want).max())
        tolerance = 100 * solved(
            TOLERANCE["complex_step"], dtau.mass_matrix(model, s["q"], parameters=parameters)
        )
        given = {"active": active, "parameters": parameters, **options}
        lam, zero = (s["lam_q"], s["lam_v"]), np.zeros(model.nv)
        change = np.random.default_rng(36).normal(size=parameters.size)
        g = dtau.step_vjp(model, *point, *lam, f_ext=s["f_ext"], by="parameters", **given)
        assert set(vars(g)) == {"by_f_ext", "by_parameters"}
        assert_close(g.by_parameters, np.concatenate(lam) @ want, tolerance, "vjp", floor=scale)
        both = dtau.step_vjp(
            model, *point, *lam, f_ext=s["f_ext"], by=["parameters", "dt"], **given
        )
        assert_same_bits(both.by_parameters, g.by_parameters)
        plain = dtau.step_vjp(model, *point, *lam, f_ext=s["f_ext"], **given)
        assert set(vars(plain)) == {"by_f_ext"}
        assert_same_results(arrays_of(plain), arrays_of(g)[:4], "without by")
        along = dtau.step_jvp(
            model, *point, zero, zero, zero, f_ext=s["f_ext"], dparameters=change, **given
        )
        got = np.concatenate(along)
        assert_close(got, want @ change, tolerance, "jvp", floor=scale)


@pytest.mark.parametrize("problem", ["constrained_dynamics", "impulse_dynamics"])
@with_joints
@on_some
def test_derivatives_with_contacts_by_parameters(name: str, of_joints: bool, problem: str) -> None:
    model = robot(name)
    parameters = other_parameters(model, 37, (), of_joints)
    change = np.random.default_rng(38).normal(size=parameters.size)
    s = random_state(model, 36) | {"parameters": parameters, "dparameters": change}
    mass = dtau.mass_matrix(model, s["q"], parameters=parameters)
    for active in ([1.0, 0.0], [0.0, 1.0]):
        point = Point.with_contacts(
            *(problem, cases.contacts(model), s | {"active": np.array(active)}),
            more=("parameters",),
            regularization=1e-8,
        )
        point.by = ("parameters",)
        check_derivatives(point, 100 * solved(TOLERANCE["complex_step"], mass))


@with_joints
def test_gradients_by_parameters_without_wrenches(of_joints: bool) -> None:
    """There is no gradient by wrenches, and nothing is written in its place."""
    model = robot("free root, branches")
    s, parameters = random_state(model, 36), other_parameters(model, 37, (), of_joints)
    point = [s[x] for x in ("q", "v", "tau")]
    weights = cases.contacts(model), s["lam"], s["lam_forces"]
    given: Any = {"regularization": 1e-8, "by": "parameters", "parameters": parameters}
    none = np.zeros_like(s["f_ext"])
    of_zeros = dtau.constrained_dynamics_vjp(model, *point, *weights, none, **given).by_parameters
    for count in (1, 9):
        repeated = np.broadcast_to(point[0], (count, model.nq))
        g = dtau.constrained_dynamics_vjp(model, repeated, *point[1:], *weights, **given)
        assert set(vars(g)) == {"by_parameters"}
        for x in g.by_parameters:
            assert_close(x, of_zeros, TOLERANCE["rounding"], "no wrenches")


def test_derivatives_by_parameters_that_do_not_exist() -> None:
    model = robot("free root, branches")
    s = random_state(model, 38)
    point = [s[x] for x in ("q", "v", "tau", "dt")]
    lam, by = (s["lam_q"], s["lam_v"]), "parameters"
    expected = "by: expected 'dt' or 'f_ext', or a sequence .* dtau.step_jvp and dtau.step_vjp have"
    with pytest.raises(ValueError, match=expected):
        dtau.step_hessian(model, *point, *lam, by=by)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=expected):
        dtau.linearize_discrete(model, *point, by=by)  # type: ignore[arg-type]
    contacts = cases.contacts(model)
    weights = s["lam"], s["lam_forces"]
    with pytest.raises(ValueError, match="by: expected 'f_ext' or 'parameters', or a sequence"):
        dtau.constrained_dynamics_vjp(model, *point[:3], contacts, *weights, by="dt")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="by: expected 'parameters', or a sequence"):
        dtau.impulse_dynamics_vjp(model, *point[:2], contacts, *weights, by="f_ext")


# Arguments


def calls(model: dtau.Model, parameters: object) -> Iterator[Callable[[], object]]:
    s = random_state(model, 24)
    yield lambda: dtau.inverse_dynamics(
        model,
        s["q"],
        s["v"],
        s["a"],
        parameters=parameters,  # type: ignore[arg-type]
    )
    yield lambda: dtau.mass_matrix(model, s["q"], parameters=parameters)  # type: ignore[arg-type]


def test_one_body() -> None:
    """A row, and a batch of one flat array, have the same last axes."""
    model = robot("one revolute")
    s = random_state(model, 32)
    point, parameters = (model, s["q"], s["v"], s["a"]), other_parameters(model, 33, (4,))
    got = dtau.inverse_dynamics(*point, parameters=parameters)
    for k in range(4):
        want = dtau.inverse_dynamics(*point, parameters=parameters[k])
        assert_same_bits(got[k], want)
    for bad in (parameters[:1], parameters[:, None]):
        with pytest.raises(
            ValueError,
            match=r"expected \(..., 10\) or \(..., 1, 10\): .* give parameters\[\.\.\., 0, :\]",
        ):
            dtau.inverse_dynamics(*point, parameters=bad)
        assert dtau.inverse_dynamics(*point, parameters=bad[..., 0, :]).shape[-1] == 1
    batch = [x[None] for x in point[1:]]  # in which it does not matter
    got = dtau.inverse_dynamics(model, *batch, parameters=parameters[:1])
    assert_same_bits(got, dtau.inverse_dynamics(model, *batch, parameters=parameters[0]))


def test_errors() -> None:
    model = robot("quadruped")
    n = 10 * model.nbodies
    for shape in ((n + 1,), (12, 10), (13, 11), (10, 13), (n, 1)):
        for call in calls(model, np.zeros(shape)):
            with pytest.raises(
                ValueError,
                match=r"parameters has shape \(\d+,.*\), expected \(..., 130\), \(..., 13, 10\) "
                r"or, with armature, damping, stiffness and friction .* behind, \(..., 202\)$",
            ):
                call()
    s, long = (
        random_state(model, 39),
        np.r_[model.parameters.ravel(), model.joint_parameters.ravel()],
    )
    point = [s[x] for x in ("q", "v", "tau", "dt", "dq", "dv", "dtau")]
    for change, beside, said in (
        (model.parameters, None, "the rows of all bodies one behind the other"),
        (model.parameters, long, "numbers of joints behind those of bodies, as the call has them"),
        (long, None, "numbers of joints go with such numbers in parameters="),
    ):
        with pytest.raises(ValueError, match=rf"dparameters has shape .*: {said}"):
            dtau.step_jvp(model, *point, dparameters=change, parameters=beside)
    for call in calls(model, np.zeros(n, complex)):
        with pytest.raises(TypeError, match="parameters"):
            call()
