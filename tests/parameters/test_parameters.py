"""Regressor of inverse dynamics and derivatives by parameters.

Torques are linear in the parameters, so that another model's torque is the complete check. Products
and forward dynamics' derivatives are of the law of derivatives (`test_many_models`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from cases import (
    GRIPPERS,
    MIMICS,
    TREES,
    friction_torque,
    lone,
    on_robots,
    random_state,
    robot,
    spring_torque,
)
from compare import TOLERANCE, assert_close, assert_same_bits
from hypothesis import given
from hypothesis import strategies as st
from trees import SEEDS, Array, Tree, trees

import dtau

with_joints = pytest.mark.parametrize("of_joints", [False, True], ids=["bodies", "joints"])


class Case:
    """A state of a model, and all its parameters."""

    def __init__(self, model: dtau.Model, seed: int, of_joints: bool) -> None:
        s = random_state(model, seed)
        self.model, self.of_joints = model, of_joints
        self.q, self.v, self.a, self.f_ext = (s[x] for x in ("q", "v", "a", "f_ext"))
        bodies, joints = model.parameters.ravel(), model.joint_parameters.ravel()
        self.parameters = np.concatenate([bodies, joints]) if of_joints else bodies

    def regressor(self) -> Array:
        return dtau.inverse_dynamics_regressor(
            self.model, self.q, self.v, self.a, joint_parameters=self.of_joints
        )


def check_torque(case: Case) -> None:
    """tau = Y pi without the joints' own torques, or with them."""
    m, Y = case.model, case.regressor()
    if case.of_joints:  # of which mimic joints have none of their own
        kinds = ("armature", "damping", "stiffness", "friction")
        m = m.replace(**dict(zip(kinds, m.joint_parameters, strict=True)))  # type: ignore[arg-type]
    want = dtau.inverse_dynamics(m, case.q, case.v, case.a)
    if not case.of_joints:
        want = want - spring_torque(m, case.q) - friction_torque(m, case.v)
        want = want - m.armature * case.a - m.damping * case.v
    floor = float((np.abs(Y) @ np.abs(case.parameters)).max())
    assert_close(Y @ case.parameters, want, TOLERANCE["long sums"], "Y pi", floor=floor)


def check_zeros(case: Case) -> None:
    """Exact zeros in the rows of joints that do not carry a body, and off the joints' diagonals."""
    Y, n = case.regressor(), case.model.nbodies
    carries = np.zeros((case.model.nv, n), dtype=bool)
    for joint in case.model.joints:
        body = joint.body
        while body >= 0:
            carries[case.model.joints[body].v, joint.body] = True
            body = case.model.joints[body].parent
    assert not Y[:, : 10 * n].reshape(-1, n, 10)[~carries].any()
    if not case.of_joints:
        return
    by_a, by_v, by_stretch, by_sign = np.split(Y[:, 10 * n :], 4, axis=1)
    assert_same_bits(by_a, np.diag(case.a), "armature")
    assert_same_bits(by_v, np.diag(case.v), "damping")
    speed = case.model.friction_speed
    sign = np.tanh(np.divide(case.v, speed, out=np.zeros_like(speed), where=speed > 0.0))
    assert_close(by_sign, np.diag(sign), TOLERANCE["rounding"], "friction")
    for joint in case.model.joints:
        if joint.mimic is None:
            rows, first = by_stretch[joint.v], isinstance(joint.type, dtau.Spherical)
            own = np.zeros_like(rows, dtype=bool)
            own[:, joint.v] = [[1, 0, 0]] * 3 if first else np.eye(joint.type.nv)
            assert not rows[~own].any()


CHECKS = {f.__name__[6:]: f for f in (check_torque, check_zeros)}
every_check = pytest.mark.parametrize("check", CHECKS)


@every_check
@with_joints
@on_robots
def test_robots(name: str, of_joints: bool, check: str) -> None:
    CHECKS[check](Case(robot(name), 1, of_joints))


@every_check
@given(tree=trees(), seed=SEEDS, of_joints=st.booleans())
def test_trees(check: str, tree: Tree, seed: int, of_joints: bool) -> None:
    CHECKS[check](Case(tree.model(), seed, of_joints))


# Other models


def rebuilt(
    tree: Tree, parameters: Array, mimics: dict[str, dtau.Mimic] | None = None
) -> dtau.Model:
    """The tree with these parameters of its moving bodies; without links that are fixed."""
    model = tree.model(mimics)
    names = {body.name: k for k, body in enumerate(tree.bodies)}
    bodies = list(tree.bodies)
    builder = dtau.ModelBuilder("other", gravity=tree.gravity)
    for k, name in enumerate(model.bodies):
        joint, body = model.joints[k], bodies[names[name]]
        builder.add(
            joint.type,
            name=name,
            parent=None if joint.parent < 0 else model.bodies[joint.parent],
            placement=joint.placement,
            inertia=dtau.Inertia.from_parameters(parameters[k]),
            armature=body.armature,
            damping=body.damping,
            stiffness=body.stiffness,
            rest_position=body.rest,
            friction=body.friction,
            friction_speed=body.speed,
            mimic=(mimics or {}).get(name),
        )
    return builder.build()


def heavier(model: dtau.Model, seed: int, size: float) -> Array:
    """Parameters of the bodies with something fixed to each."""
    rng = np.random.default_rng(seed)
    more = [
        dtau.Inertia(
            size * rng.uniform(0.5, 1.0), rng.uniform(-0.3, 0.3, 3), size * 0.02 * np.eye(3)
        )
        for _ in model.bodies
    ]
    return model.parameters + [inertia.parameters for inertia in more]


def pairs(names: Sequence[str]) -> list[tuple[Tree, dict[str, dtau.Mimic]]]:
    return [(TREES[name], {}) for name in names] + [(GRIPPERS, MIMICS)]


SEVERAL = ("every joint in a chain", "free root, branches", "forest", "gantry, branches")
on_pairs = pytest.mark.parametrize(("tree", "mimics"), pairs(SEVERAL), ids=[*SEVERAL, "mimics"])


@on_pairs
def test_the_torque_of_another_model_differs_by_the_regressor(
    tree: Tree, mimics: dict[str, dtau.Mimic]
) -> None:
    model = tree.model(mimics)
    parameters = heavier(model, 3, 1.0)
    other = rebuilt(tree, parameters, mimics)
    assert other.bodies == model.bodies
    assert_close(other.parameters, parameters, TOLERANCE["rounding"], "parameters")
    case = Case(model, 2, False)
    point = case.q, case.v, case.a, case.f_ext
    want = dtau.inverse_dynamics(other, *point) - dtau.inverse_dynamics(model, *point)
    change = (parameters - model.parameters).ravel()
    Y = case.regressor()
    floor = float((np.abs(Y) @ np.abs(parameters.ravel())).max())
    assert_close(Y @ change, want, TOLERANCE["long sums"], "difference", floor=floor)
    # the inertias of the model itself are not read
    assert_same_bits(dtau.inverse_dynamics_regressor(other, *point[:3]), Y, "Y")


def test_parameters_of_joints() -> None:
    """A wheel: tau = (J + armature) a + damping v + stiffness (q - rest) + friction tanh."""
    inertia = dtau.Inertia(1.0, (0.0, 0.0, 0.0), 0.5 * np.eye(3))
    given = {"armature": 1.5, "damping": 3.0, "stiffness": 4.0, "friction": 1.0}
    at = {"rest_position": -0.25, "friction_speed": 5.0}
    model = lone(dtau.Revolute((0, 0, 1)), gravity=(0, 0, 0), inertia=inertia, **given, **at)
    point = model, [0.25], [5.0], [7.0]
    Y = dtau.inverse_dynamics_regressor(*point, joint_parameters=True)
    want = [0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 7, 5, 0.5, np.tanh(1.0)]
    assert_close(Y[0], np.array(want), TOLERANCE["rounding"])
    gradient = dtau.forward_dynamics_parameter_derivatives(*point, joint_parameters=True)
    a = (7.0 - 3.0 * 5.0 - 4.0 * 0.5 - np.tanh(1.0)) / 2.0
    want = [-a / 2, -a / 2, -2.5, -0.25, -np.tanh(1.0) / 2]
    assert_close(gradient[0, 9:], np.array(want), TOLERANCE["rounding"])
    assert not gradient[0, :9].any()


# Inertias and their parameters


@on_robots
def test_parameters_there_and_back(name: str) -> None:
    model = robot(name)
    assert model.parameters.shape == (model.nbodies, 10)
    assert not model.parameters.flags.writeable
    for row in model.parameters:
        inertia = dtau.Inertia.from_parameters(row)
        assert_close(inertia.parameters, row, TOLERANCE["rounding"], "parameters")
        assert not inertia.parameters.flags.writeable
        assert_same_bits(inertia.tensor, inertia.tensor.T, "tensor")


def test_parameters_of_an_inertia_are_about_the_origin() -> None:
    point = dtau.Inertia(2.0, (1.0, 2.0, 3.0))
    assert point.parameters.tolist() == [2, 2, 4, 6, 26, -4, 20, -6, -12, 10]
    assert dtau.Inertia.from_parameters(point.parameters) == point
    nothing = dtau.Inertia()
    assert not nothing.parameters.any()
    assert dtau.Inertia.from_parameters(np.zeros(10)) == nothing
    weightless = dtau.Inertia(0.0, (0, 0, 0), np.diag([0.1, 0.2, 0.25]))
    assert dtau.Inertia.from_parameters(weightless.parameters) == weightless


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (np.zeros(9), r"parameters: expected shape \(10,\), got \(9,\)"),
        (np.full(10, np.nan), "parameters: expected finite numbers, got"),
        ([0, 1, 0, 0, 0, 0, 0, 0, 0, 0], "parameters: expected no first moment of a body without"),
        ([-1, 0, 0, 0, 0, 0, 0, 0, 0, 0], "mass: expected a number of at least 0, got -1.0"),
        ([1, 1, 0, 0, 1, 0, 0.5, 0, 0, 1], "tensor: expected a positive semidefinite matrix, got"),
    ],
)
def test_parameters_of_no_body_are_refused(parameters: Array, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        dtau.Inertia.from_parameters(parameters)


# Arguments


def test_parameters_of_another_number_are_refused() -> None:
    for given_of_joints in (False, True):
        case = Case(robot("forest"), 7, given_of_joints)
        with pytest.raises(
            ValueError, match=r"dparameters has shape \(\d+,\), expected \(..., \d+\)"
        ):
            dtau.inverse_dynamics_parameter_jvp(
                *(case.model, case.q, case.v, case.a, case.parameters),
                joint_parameters=not given_of_joints,
            )
