"""Regressors of energies and momentum, and centers of mass of subtrees.

The tests of `oracles/test_pinocchio.py` compare them with Pinocchio's.
"""

from __future__ import annotations

import numpy as np
import pytest
from cases import on_robots, random_state, robot
from compare import TOLERANCE, assert_close, cancelled

import dtau


@on_robots
def test_energies_and_momentum_are_linear_in_the_parameters(name: str) -> None:
    model = robot(name).replace(stiffness=0.0)
    s = random_state(model, 1)
    q, v = s["q"], s["v"]
    still = 0.5 * float(model.armature @ v**2)
    for sum_of, regressor, want in (
        ("T", dtau.kinetic_energy_regressor(model, q, v), dtau.kinetic_energy(model, q, v) - still),
        ("U", dtau.potential_energy_regressor(model, q), dtau.potential_energy(model, q)),
        ("h", dtau.momentum_regressor(model, q, v), dtau.momentum(model, q, v)),
    ):
        terms = regressor * model.parameters.ravel()
        floor = TOLERANCE["pinocchio"] * max(1.0, cancelled(terms))
        assert np.abs(terms.sum(axis=-1) - want).max() <= floor, sum_of


@on_robots
def test_the_subtrees_of_the_trees_make_the_whole(name: str) -> None:
    model = robot(name)
    q = random_state(model, 3)["q"]
    mass, center = dtau.subtree_centers_of_mass(model, q)
    trees = [joint.body for joint in model.joints if joint.parent < 0]
    whole = mass[trees] @ center[trees] / mass[trees].sum()
    assert_close(whole, dtau.center_of_mass(model, q), TOLERANCE["pinocchio"], "center")


def test_a_subtree_without_mass_has_no_center() -> None:
    builder = dtau.ModelBuilder("arm")
    solid = dtau.Inertia(1.0, (0, 0, 0.1), 0.01 * np.eye(3))
    arm = builder.add(dtau.Revolute((0, 1, 0)), name="arm", inertia=solid)
    builder.add(dtau.Revolute((0, 1, 0)), name="needle", parent=arm)
    with pytest.warns(dtau.ModelWarning, match="needle"):
        model = builder.build()
    mass, center = dtau.subtree_centers_of_mass(model, [0.0, 0.0])
    assert mass.tolist() == [1.0, 0.0]
    assert center[0].tolist() == [0.0, 0.0, 0.1]
    assert np.isnan(center[1]).all()


def test_subtrees_of_something_else_are_refused() -> None:
    with pytest.raises(TypeError, match=r"^model: expected Model, got NoneType$"):
        dtau.subtree_centers_of_mass(None, [0.0])  # type: ignore[arg-type]
