"""Every function against its Jacobians by complex step: derivatives, products with them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest
from cases import ROBOTS, random_state, robot
from contact_oracle import contradicting, flat_feet, random_contacts
from derivative_laws import DYNAMICS, WITH_CONTACTS, Point, check, check_second
from function import FRAME_AXES, KINDS_OF_ACCELERATION
from hypothesis import given, settings
from trees import SEEDS, Tree, trees

import dtau
from dtau.registry import FUNCTIONS

# Functions whose results are no points of a manifold and no stacks, of which other tests are.
LINKED = [
    name
    for name, row in FUNCTIONS.items()
    if "derivatives" in row.links
    and not any(x.axes == ("nq",) for x in row.results)
    and not any(x.rows is not None for x in row.inputs)
    and name not in ("difference", "center_of_mass")
]
FREE = [name for name in LINKED if name not in WITH_CONTACTS]
every_free_function = pytest.mark.parametrize("function", FREE)
every_constrained_function = pytest.mark.parametrize("function", WITH_CONTACTS)


def switches(name: str, model: dtau.Model) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    """Optional inputs that are given, and options."""
    options = FUNCTIONS[name].options
    if name in DYNAMICS:
        yield (), {}
        yield from ((("f_ext",), {"f_ext_axes": axes}) for axes in FRAME_AXES)
    elif "frames" in options:
        kinds = KINDS_OF_ACCELERATION if "kind" in options else ("",)
        for axes, kind in product(FRAME_AXES, kinds):
            of_kind = {"kind": kind} if kind else {}
            yield (), {"frames": list(model.frames), "axes": axes, **of_kind}
    else:
        yield (), {}


def check_free(name: str, model: dtau.Model, seed: int) -> None:
    for optional, options in switches(name, model):
        check(Point(name, model, random_state(model, seed), optional, **options))


def check_free_twice(name: str, model: dtau.Model, seed: int) -> None:
    for optional, options in switches(name, model):
        check_second(Point(name, model, random_state(model, seed), optional, **options))


@pytest.mark.parametrize("name", ROBOTS)
@every_free_function
def test_robots(function: str, name: str) -> None:
    check_free(function, robot(name), 1)


@every_free_function
@given(tree=trees(), seed=SEEDS)
def test_trees(function: str, tree: Tree, seed: int) -> None:
    check_free(function, tree.model(), seed)


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("function", DYNAMICS)
def test_second_derivatives_of_robots(function: str, name: str) -> None:
    check_free_twice(function, robot(name), 2)


@pytest.mark.parametrize("function", DYNAMICS)
@given(tree=trees(max_bodies=6), seed=SEEDS)
def test_second_derivatives_of_trees(function: str, tree: Tree, seed: int) -> None:
    check_free_twice(function, tree.model(), seed)


# Contacts


def check_contacts(point: Point, *tolerances: float) -> None:
    """First derivatives and second ones."""
    check(point, *tolerances[:1])
    check_second(point, *tolerances[1:])


def check_independent(name: str, model: dtau.Model, seed: int, **options: Any) -> None:
    """Of independent rows, some of which are not active."""
    s = random_state(model, seed)
    contacts = random_contacts(model, [s], seed)
    s["active"] = (np.random.default_rng(seed).integers(0, 4, len(contacts)) > 0).astype(float)
    check_contacts(Point.with_contacts(name, contacts, s, seed, **options))


@pytest.mark.parametrize("name", ROBOTS)
@every_constrained_function
def test_robots_with_contacts(function: str, name: str) -> None:
    for seed in range(4):
        check_independent(function, robot(name), seed)


@pytest.mark.parametrize("axes", ["mixed", "world"])
@pytest.mark.parametrize("name", ["free root, branches", "forest"])
def test_contacts_with_wrenches_along_the_world(name: str, axes: str) -> None:
    check_independent("constrained_dynamics", robot(name), 3, f_ext_axes=axes)


@every_constrained_function
@given(tree=trees(), seed=SEEDS)
@settings(max_examples=40)
def test_trees_with_contacts(function: str, tree: Tree, seed: int) -> None:
    check_independent(function, tree.model(), seed)


def check_contradicting(name: str, model: dtau.Model, seed: int) -> None:
    """Of rows that want what the robot cannot do."""
    s = random_state(model, seed)
    contacts, s["active"], regularization = contradicting(model, s, seed)
    point = Point.with_contacts(name, contacts, s, seed, regularization=regularization)
    check_contacts(point, 1e-7, 1e-6)


@pytest.mark.parametrize("name", ROBOTS)
@every_constrained_function
def test_robots_with_contacts_that_contradict_each_other(function: str, name: str) -> None:
    for seed in range(4):
        check_contradicting(function, robot(name), seed)


@every_constrained_function
@given(tree=trees(), seed=SEEDS)
@settings(max_examples=40)
def test_trees_with_contacts_that_contradict_each_other(
    function: str, tree: Tree, seed: int
) -> None:
    check_contradicting(function, tree.model(), seed)


@pytest.mark.parametrize("active", [None, np.array([1.0, 0.0, 1.0, 1.0])])
@pytest.mark.parametrize("axes", ["body", "mixed"])
def test_four_flat_feet(axes: str, active: Any) -> None:
    """24 rows for 18 velocities."""
    contacts = flat_feet(robot("quadruped"), axes)
    s = random_state(contacts.model, 2) | {"active": active}
    point = Point.with_contacts("constrained_dynamics", contacts, s, 1, regularization=1e-3)
    check_contacts(point, 1e-7, 1e-7)


@every_constrained_function
def test_rows_that_are_there_twice(function: str) -> None:
    """Along both kinds of axes, and loops between the same points: of the shortest forces."""
    model = robot("quadruped")
    held = [
        dtau.FrameContact("LF_FOOT", kd=2.0),
        dtau.PointContact("LF_FOOT", name="again", kd=2.0),
        dtau.FrameContact("LF_FOOT", name="and again", axes="mixed", kd=2.0),
        dtau.Loop("RF_FOOT", "LH_FOOT", 3, kd=1.0),
        dtau.Loop("LH_FOOT", "RF_FOOT", 3, axes="mixed", kd=1.0),
    ]
    s = random_state(model, 5)
    del s["active"]
    contacts = dtau.Contacts(model, held)
    check(Point.with_contacts(function, contacts, s, regularization=1e-3), 1e-9)
