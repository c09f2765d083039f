"""Momentum: by its definition, by other functions, far from the world's origin, without mass."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import taylor
from cases import TREES, State, on_robots, random_state, robot
from compare import TOLERANCE, assert_close, assert_same_bits
from complex_step import by_q
from core import complex_core
from hypothesis import given
from trees import SEEDS, Array, Tree, skew, trees

import dtau

Centroidal = Callable[[dtau.Model, State], Array]
CENTROIDAL: tuple[Centroidal, ...] = (
    lambda model, s: dtau.centroidal_momentum(model, s["q"], s["v"]),
    lambda model, s: dtau.centroidal_momentum_matrix(model, s["q"]),
    lambda model, s: dtau.centroidal_momentum_time_derivatives(model, s["q"], s["v_derivatives"]),
    lambda model, s: dtau.centroidal_momentum_rate(model, s["q"], s["v"], s["a"]),
    lambda model, s: np.array(dtau.centroidal_momentum_derivatives(model, s["q"], s["v"])),
    lambda model, s: np.array(
        dtau.centroidal_momentum_rate_derivatives(model, s["q"], s["v"], s["a"])
    ),
)
NAMES = ["h", "A", "time derivatives", "rate", "derivatives of h", "derivatives of the rate"]
on_centroidal = pytest.mark.parametrize("function", CENTROIDAL, ids=NAMES)

SKEW = dtau.Pose([[0.6, 0.0, 0.8], [0.0, 1.0, 0.0], [-0.8, 0.0, 0.6]], (0.3, -0.2, 0.5))
BRICK = dtau.Inertia(mass=2.0, com=(0.1, 0.05, -0.2), tensor=np.diag([0.02, 0.03, 0.04]))


def check_definition(tree: Tree, seed: int) -> None:
    """Sums over the bodies of m c', m c x c' and their spins."""
    model = tree.model()
    s = random_state(model, seed)
    q, v = s["q"], s["v"]
    about_origin, about_centre = taylor.momentum(tree, model, q, v[np.newaxis])
    tolerance = TOLERANCE["independent"]
    assert_close(dtau.momentum(model, q, v), about_origin[0], tolerance, "momentum")
    got = dtau.centroidal_momentum(model, q, v)
    assert_close(got, about_centre[0], tolerance, "centroidal", floor=np.abs(about_origin).max())


@pytest.mark.parametrize("name", TREES)
def test_definition(name: str) -> None:
    check_definition(TREES[name], 1)


@given(tree=trees(), seed=SEEDS)
def test_definition_on_trees(tree: Tree, seed: int) -> None:
    check_definition(tree, seed)


@on_robots
def test_matrix(name: str) -> None:
    """Its columns are the momenta of unit velocities; its linear rows the center's Jacobian."""
    model = robot(name)
    q = random_state(model, 2)["q"]
    A = dtau.centroidal_momentum_matrix(model, q)
    columns = dtau.centroidal_momentum(model, q, np.eye(model.nv)).T
    assert_close(A, columns, TOLERANCE["identity"], "columns")
    jacobian = by_q(model, q, lambda x: complex_core("center_of_mass", model, x))
    assert_close(A[:3] / model.mass, jacobian, TOLERANCE["complex_step"], "centre's Jacobian")
    J = dtau.center_of_mass_jacobian(model, q)
    assert_close(J, jacobian, TOLERANCE["complex_step"], "J")


@on_robots
def test_about_the_origin_is_about_the_centre_and_its_orbit(name: str) -> None:
    model = robot(name)
    s = random_state(model, 3)
    h = dtau.centroidal_momentum(model, s["q"], s["v"])
    h[3:] += np.cross(dtau.center_of_mass(model, s["q"]), h[:3])
    assert_close(dtau.momentum(model, s["q"], s["v"]), h, TOLERANCE["identity"], "momentum")


@pytest.mark.parametrize("name", ["one free", "free root, branches"])
def test_rows_of_a_free_root(name: str) -> None:
    """A is the root's rows of the mass matrix, seen from the center of mass."""
    model = TREES[name].bare().model()
    q = random_state(model, 4)["q"]
    root = dtau.forward_kinematics(model, q)
    R, arm = root.rotation[0], root.translation[0] - dtau.center_of_mass(model, q)
    to_centre = np.block([[R, np.zeros((3, 3))], [skew(arm) @ R, R]])
    want = to_centre @ dtau.mass_matrix(model, q)[:6]
    got = dtau.centroidal_momentum_matrix(model, q)
    assert_close(got, want, TOLERANCE["identity"], "A")


# Far from the world's origin


def check_far(function: Centroidal, model: dtau.Model, near: State, far: State) -> None:
    assert_same_bits(function(model, far) + 0.0, function(model, near) + 0.0, "far away")


@on_centroidal
def test_moving_several_robots_together_changes_no_bit(function: Centroidal) -> None:
    """1000 km, in numbers whose sums and differences are exact."""
    builder = dtau.ModelBuilder("two robots")
    for name in ("first", "second"):
        base = builder.add(dtau.Free(), name=name, parent=None, inertia=BRICK)
        arm = dtau.Revolute((0, 0.6, 0.8))
        builder.add(arm, name=f"arm of {name}", parent=base, placement=SKEW, inertia=BRICK)
    model = builder.build()
    near = random_state(model, 9, (5,))
    for k in range(3):
        for base in ("first", "second"):
            x = near["q"][:, model.joint(base).q.start + k]
            x[:] = np.round(x * 2**20) / 2**20
    far = {**near, "q": near["q"].copy()}
    shift = 2.0**20 * np.array([1.0, -0.5, 0.25])
    for base in ("first", "second"):
        start = model.joint(base).q.start
        far["q"][:, start : start + 3] += shift
    check_far(function, model, near, far)


def test_a_robot_without_mass() -> None:
    """The sums are zero, and energies are the rotors'; what is divided by the mass is NaN."""
    link = dtau.Link("link", None, dtau.Revolute((0, 0, 1)), "joint", armature=2.0)
    model = dtau.Model("massless", [link])
    q, v, a = [0.3], [3.0], [0.2]
    assert (dtau.momentum(model, q, v) == 0.0).all()
    assert (dtau.momentum_time_derivatives(model, q, [v, a]) == 0.0).all()
    for h in (
        dtau.centroidal_momentum(model, q, v),
        dtau.centroidal_momentum_matrix(model, q)[:, 0],
        *dtau.centroidal_momentum_time_derivatives(model, q, [v, a]),
        dtau.centroidal_momentum_rate(model, q, v, a),
        *(x[:, 0] for x in dtau.centroidal_momentum_derivatives(model, q, v)),
        *(x[:, 0] for x in dtau.centroidal_momentum_rate_derivatives(model, q, v, a)),
    ):
        assert (h[:3] == 0.0).all()
        assert np.isnan(h[3:]).all()
    for x in (
        dtau.center_of_mass(model, q),
        dtau.center_of_mass_velocity(model, q, v),
        dtau.center_of_mass_acceleration(model, q, v, a),
        dtau.center_of_mass_jacobian(model, q),
        *dtau.center_of_mass_velocity_derivatives(model, q, v),
        *dtau.center_of_mass_acceleration_derivatives(model, q, v, a),
    ):
        assert np.isnan(x).all()
    assert dtau.kinetic_energy(model, q, v) == 9.0
    assert dtau.potential_energy(model, q) == 0.0
    assert [x.item() for x in dtau.kinetic_energy_derivatives(model, q, v)] == [0.0, 6.0]
