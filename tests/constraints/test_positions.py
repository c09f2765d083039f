"""Rows of `positions` that a state reads: of contacts with the world that have kp and hold."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from cases import State, random_state, rows
from compare import assert_same_results
from core import INSTRUCTION_SETS, using_instruction_set
from functions import FUNCTIONS, Function
from trees import Array

import dtau
from dtau.registry import FUNCTIONS as REGISTRY

COUNT = 11
GAINS: dict[str, Any] = {"kp": 6.0, "kd": 2.0}
PLACED = dtau.Pose.from_rpy((0.3, -0.2, 0.4), (0.1, 0.5, -0.3))
POSITIONED = [f for f in FUNCTIONS if "positions" in {x.name for x in REGISTRY[f.name].inputs}]


def legs_and_post(mimic: bool) -> dtau.Model:
    """A free body with three legs, a post in the world, and a body that slides there."""
    builder = dtau.ModelBuilder("legs")
    inertia = dtau.Inertia(1.0, (0.1, 0.05, -0.1), np.diag([0.2, 0.3, 0.25]))
    builder.add(dtau.Free(), name="body", inertia=inertia)
    for leg in range(3):
        parent = "body"
        for k, axis in enumerate(np.eye(3)):
            name = f"leg{leg}{k}"
            place = dtau.Pose.from_rpy((0.4 * leg, 0.3 * k, 0.2), (0.3, 0.1 * leg, -0.2))
            follows = dtau.Mimic(parent, -0.6, 0.1) if mimic and k == 2 else None
            builder.add(
                dtau.Revolute(axis), name=name, parent=parent, placement=place,
                inertia=inertia, mimic=follows,
            )  # fmt: skip
            parent = name
    builder.add(dtau.Fixed(), name="post", placement=PLACED)
    builder.add(dtau.Prismatic((0.0, 0.6, 0.8)), name="slide", placement=PLACED, inertia=inertia)
    return builder.build()


@pytest.fixture(scope="module", params=[False, True], ids=["independent", "mimic"])
def contacts(request: pytest.FixtureRequest) -> dtau.Contacts:
    """Contacts of all kinds, loops that are closed to the world, to a body, and to another tree."""
    point: Any = {"position": (0.4, -0.2, 0.3), **GAINS}
    held: list[Any] = [
        dtau.PointContact("leg02", "mixed", **point),
        dtau.Loop("leg12", "post", 3, axes="mixed", **GAINS),
        dtau.Loop("leg22", "post", 5, "y", **GAINS, placement=PLACED),
        dtau.Loop("body", "post", 6, **GAINS),
        dtau.FrameContact("leg11", **GAINS, placement=PLACED, acceleration="spatial"),
        dtau.FrameContact("leg21", "mixed", **GAINS, placement=PLACED),
        dtau.Loop("leg01", "slide", 3, **GAINS),
        dtau.Loop("leg11", "leg21", 3, **GAINS, name="legs"),
        dtau.PointContact("leg01", kd=2.0),
        dtau.PointContact("slide", "mixed", **point, direction=(1.0, 2.0, 2.0)),
        dtau.PointContact("leg22", "body", **point, direction=(1.0, 2.0, 2.0)),
    ]
    return dtau.Contacts(legs_and_post(request.param), held)


def states(contacts: dtau.Contacts, function: Function, seed: int) -> State:
    rng = np.random.default_rng(seed)
    state = random_state(contacts.model, seed, (COUNT,))
    state["active"] = rng.integers(0, 2, (COUNT, len(contacts)))
    state["active"][3], state["active"][4] = 1, 0
    state["positions"] = rng.uniform(-1.0, 1.0, (COUNT, len(contacts), 3))
    state["lam_forces"] = rng.uniform(-1.0, 1.0, (COUNT, contacts.nrows))
    return state


def call(function: Function, contacts: dtau.Contacts, state: State, *names: str) -> Any:
    """Results with these arguments beside the required ones. Rows may depend on each other."""
    plain = tuple(x for x in function.arguments if x not in ("active", "positions"))
    options = {**function.options, "contacts": contacts, "regularization": 1e-3}
    return replace(function, arguments=(*plain, *names), options=options)(contacts.model, state)


def held_at(contacts: dtau.Contacts, positions: Array) -> dtau.Contacts:
    """Contacts that are held there themselves; loops stay."""
    held = []
    for contact, position in zip(contacts, positions, strict=True):
        if isinstance(contact, dtau.PointContact):
            contact = replace(contact, position=position)
        elif isinstance(contact, dtau.FrameContact):
            assert contact.placement is not None
            contact = replace(contact, placement=dtau.Pose(contact.placement.rotation, position))
        held.append(contact)
    return dtau.Contacts(contacts.model, held)


def read(contacts: dtau.Contacts, active: Array) -> Array:
    held = [not isinstance(c, dtau.Loop) and c.kp > 0.0 for c in contacts]
    return np.array(held) & (active == 1)


@pytest.mark.parametrize("instruction_set", INSTRUCTION_SETS)
@pytest.mark.parametrize("function", POSITIONED, ids=str)
def test_loops_stay_where_they_are(
    function: Function, contacts: dtau.Contacts, instruction_set: str
) -> None:
    """Also loops that are closed to the world: the bits of contacts that are held there."""
    state = states(contacts, function, 4)
    with using_instruction_set(instruction_set):
        got = call(function, contacts, state, "positions")
        for i in range(COUNT):
            there = held_at(contacts, state["positions"][i])
            want = call(function, there, rows(state, i))
            assert_same_results([x[i] for x in got], want, f"state {i}")


@pytest.mark.parametrize("instruction_set", INSTRUCTION_SETS)
@pytest.mark.parametrize("masked", [False, True], ids=["all", "masked"])
@pytest.mark.parametrize("function", POSITIONED, ids=str)
def test_rows_that_nothing_reads_may_be_nan(
    function: Function, masked: bool, contacts: dtau.Contacts, instruction_set: str
) -> None:
    state = states(contacts, function, 5)
    names = ("active", "positions") if masked else ("positions",)
    on = state["active"] if masked else np.ones_like(state["active"])
    spoiled = state | {"positions": state["positions"].copy()}
    unread = np.argwhere(~read(contacts, on))
    kinds = np.array([np.nan, np.inf, -np.inf])[np.arange(len(unread)) % 3]
    spoiled["positions"][tuple(unread.T)] = kinds[:, np.newaxis]
    with using_instruction_set(instruction_set):
        want = call(function, contacts, state, *names)
        assert all(np.isfinite(x).all() for x in want)
        assert_same_results(call(function, contacts, spoiled, *names), want)
        for i in (0, 3, 4):
            alone = call(function, contacts, rows(spoiled, i), *names)
            assert_same_results(alone, [x[i] for x in want])
        spoiled["positions"][3, -1, 1] = np.nan  # all contacts of this state hold
        for x, y in zip(call(function, contacts, spoiled, *names), want, strict=True):
            assert np.isnan(x[3]).all()
            np.testing.assert_array_equal(np.delete(x, 3, 0), np.delete(y, 3, 0))
        assert all(np.isnan(x).all() for x in call(function, contacts, rows(spoiled, 3), *names))


def test_projection_reads_what_must_hold(contacts: dtau.Contacts) -> None:
    """Positions of all contacts with the world, whether they have kp or not."""
    model, q = contacts.model, dtau.neutral(contacts.model)
    some = dtau.Contacts(
        model, [*contacts.contacts[:2], dtau.FrameContact("leg21"), contacts.contacts[8]]
    )
    rng = np.random.default_rng(6)
    positions = rng.uniform(-0.5, 0.5, (4, len(some), 3))
    active = np.array([[1, 1, 1, 1], [0, 1, 1, 1], [1, 0, 1, 0], [0, 0, 0, 0]])
    want = dtau.project(model, q, some, active=active, positions=positions)
    assert np.isfinite(want.error).all()
    spoiled = positions.copy()
    spoiled[:, 1:3] = np.nan  # a loop, and a frame without a placement
    spoiled[active == 0] = np.inf
    assert_same_results(dtau.project(model, q, some, active=active, positions=spoiled), want)
    spoiled[2, 0, 2] = np.nan
    found = dtau.project(model, q, some, active=active, positions=spoiled)
    assert np.isnan(found.error).tolist() == [False, False, True, False]
