"""Contacts that hold by turns: contacts that do not cost nothing, and footholds of each state."""

from __future__ import annotations

import timeit
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from cases import State, random_state, robot, rows
from compare import assert_same_results
from contact_oracle import gait
from core import INSTRUCTION_SETS, using_instruction_set
from functions import FUNCTIONS, Function
from trees import Array

import dtau
from dtau.registry import FUNCTIONS as REGISTRY

COUNT = 11
FEET = dtau.robots.QUADRUPED_FEET
WITH_CONTACTS = [f for f in FUNCTIONS if "active" in f.arguments]


def states(contacts: dtau.Contacts, seed: int) -> State:
    """States that each have some contacts: all and none among them."""
    rng = np.random.default_rng(seed)
    state = random_state(contacts.model, seed, (COUNT,))
    state["active"] = rng.integers(0, 2, (COUNT, len(contacts)))
    state["active"][3], state["active"][4] = 1, 0
    state["positions"] = rng.uniform(-1.0, 1.0, (COUNT, len(contacts), 3))
    for weights in ("lam_forces", "lam_impulses"):
        state[weights] = rng.uniform(-1.0, 1.0, (COUNT, contacts.nrows))
    return state


def on(function: Function, contacts: dtau.Contacts, **options: Any) -> Function:
    """The function with other contacts."""
    return replace(function, options={**function.options, "contacts": contacts, **options})


@pytest.mark.parametrize("instruction_set", INSTRUCTION_SETS)
@pytest.mark.parametrize("function", WITH_CONTACTS, ids=str)
def test_inactive_contacts_leave_no_trace(function: Function, instruction_set: str) -> None:
    """All numbers are as with the active contacts alone; forces of the others are 0."""
    contacts = gait(robot("quadruped"))
    state = states(contacts, 3)
    with using_instruction_set(instruction_set):
        for regularization in (0.0, 1e-3) if function.solves else (None,):
            options = {} if regularization is None else {"regularization": regularization}
            got = on(function, contacts, **options)(contacts.model, state)
            for i in range(COUNT):
                here, holds = rows(state, i), state["active"][i] == 1
                found = [x[i] for x in got]
                assert_same_results(on(function, contacts, **options)(contacts.model, here), found)
                held = [contact for contact, on_ in zip(contacts, holds, strict=True) if on_]
                which = np.concatenate(
                    [np.repeat(x, c.rows) for c, x in zip(contacts, holds, strict=True)]
                )
                here["active"] = np.ones(len(held))
                here["positions"] = here["positions"][holds]
                for weights in ("lam_forces", "lam_impulses"):
                    here[weights] = here[weights][which]
                alone = on(function, dtau.Contacts(contacts.model, held), **options)
                want = alone(contacts.model, here)
                for x, y, axes in zip(found, want, function.results, strict=True):
                    if axes[:1] == ("nrows",):
                        assert np.all(x[~which] == 0.0)
                        x = x[which]
                    elif "nrows" in axes:  # a stack of time derivatives
                        assert np.all(x[:, ~which] == 0.0)
                        x = x[:, which]
                    np.testing.assert_array_equal(x, y, f"{function}, state {i}")


@pytest.mark.parametrize("function", WITH_CONTACTS, ids=str)
def test_states_with_the_same_contacts_share_lanes(function: Function) -> None:
    """A batch is sorted by its contacts on its way into lanes: no bit and no place changes."""
    contacts = gait(robot("quadruped"))
    model, few = contacts.model, states(contacts, 6)
    held = on(function, contacts, regularization=0.0) if function.solves else on(function, contacts)
    count = 2 * 1100  # more than one window of the sort
    rng = np.random.default_rng(7)
    which = rng.integers(0, COUNT, count)
    lone = held(model, few)
    batch = held(model, {name: x[which] for name, x in few.items()})
    assert_same_results(batch, [x[which] for x in lone])
    shape = (4, 550)  # two batch axes, and contacts that are the same along the first
    which = np.broadcast_to(which[:550], shape)
    batch = held(
        model, {name: x[which[:1] if name == "active" else which] for name, x in few.items()}
    )
    assert_same_results(batch, [x[which] for x in lone])


def rests(counts: dict[int, int], contacts: int) -> Array:
    """So many states, scattered, with the contacts whose bits are set in each key."""
    masks = [[key >> c & 1 for c in range(contacts)] for key in counts]
    active = np.repeat(np.array(masks, float), list(counts.values()), axis=0)
    return np.random.default_rng(9).permutation(active)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("instruction_set", INSTRUCTION_SETS)
@pytest.mark.parametrize(
    "counts",
    [
        {1: 9, 2: 17, 4: 25},  # one state of each is left: alone
        {1: 10, 2: 18, 4: 2, 8: 3},  # two or three: a group, or alone where results are large
        {7: 4, 15: 3, 14: 5, 8: 12},  # groups whose contacts differ
        {key: 1 + key % 3 for key in range(16)},  # no group is full of one kind
        {0: 1, 15: 1},
        {k % 16: 130 for k in range(16)},  # more than one window of the sort
    ],
    ids=str,
)
def test_rests_of_states_with_the_same_contacts(
    counts: dict[int, int], instruction_set: str, threads: int
) -> None:
    """States with too few of the same contacts for whole groups have the bits of lone calls."""
    contacts = gait(robot("quadruped"))
    active = rests(counts, len(contacts))
    rng = np.random.default_rng(10)
    few = states(contacts, 11)
    which = rng.integers(0, COUNT, len(active))
    given = [few[x][which] for x in ("q", "v", "tau")]
    with using_instruction_set(instruction_set):
        for function in (dtau.constrained_dynamics, dtau.constrained_dynamics_derivatives):
            batch = function(contacts.model, *given, contacts, active=active, threads=threads)
            for k in range(0, len(active), 1 if len(active) < 100 else 37):
                lone = function(contacts.model, *(x[k] for x in given), contacts, active=active[k])
                assert_same_results([x[k] for x in batch], lone, f"state {k}")


@pytest.mark.parametrize(
    "name", ["constrained_dynamics", "constrained_dynamics_derivatives", "step_hessian"]
)
def test_inactive_contacts_take_no_time(name: str) -> None:
    """Sixteen contacts of which four hold take 1.2 to 1.5 times as long as the four.

    If all were computed, it would be 19 times or more.
    """
    model = robot("quadruped")
    function = next(f for f in WITH_CONTACTS if f.name == name)
    seconds = []
    for count, first in ((4, 0), (16, 8)):
        points = [dtau.PointContact(FEET[k % 4], name=str(k), kd=1.0) for k in range(count)]
        state = random_state(model, 1, (40,))
        state["active"] = np.zeros((40, count))
        state["active"][:, first : first + 4] = 1.0
        given = on(function, dtau.Contacts(model, points), regularization=0.0)
        call = partial(given, model, state, threads=1)
        seconds.append(min(timeit.repeat(call, number=1, repeat=15)))
    assert seconds[1] < 5.0 * seconds[0]


POSITIONED = [f for f in WITH_CONTACTS if "positions" in {x.name for x in REGISTRY[f.name].inputs}]


@pytest.mark.parametrize("function", POSITIONED, ids=str)
def test_footholds_of_each_state(function: Function) -> None:
    """The bits of contacts that are held there themselves."""
    contacts = gait(robot("quadruped"))
    model, state = contacts.model, states(contacts, 4)
    if "positions" not in function.arguments:
        function = replace(function, arguments=(*function.arguments, "positions"))
    got = on(function, contacts, regularization=0.0)(model, state)
    plain = replace(function, arguments=function.arguments[:-1])
    for i in range(COUNT):
        held = []
        for contact, position in zip(contacts, state["positions"][i], strict=True):
            if isinstance(contact, dtau.PointContact):
                contact = replace(contact, position=position)
            elif isinstance(contact, dtau.FrameContact):
                contact = replace(contact, placement=dtau.Pose(translation=position))
            held.append(contact)
        there = on(plain, dtau.Contacts(model, held), regularization=0.0)
        assert_same_results([x[i] for x in got], there(model, rows(state, i)), f"state {i}")


def test_positions_broadcast_and_are_checked() -> None:
    contacts = gait(robot("quadruped"))
    model, s = contacts.model, states(contacts, 5)
    one = s["positions"][0]

    def call(positions: Any) -> tuple[Array, ...]:
        given = (model, s["q"], s["v"], s["tau"], contacts)
        return dtau.constrained_dynamics(*given, positions=positions)

    assert_same_results(call(one), call(np.tile(one, (COUNT, 1, 1))))
    with pytest.raises(
        ValueError, match=r"^positions has shape \(3, 3\), expected \(\.\.\., 4, 3\)"
    ):
        call(one[:3])
    with pytest.raises(ValueError, match=r"^positions: goes with contacts=, which is not given$"):
        dtau.step(model, s["q"], s["v"], s["tau"], 0.01, positions=one)
    wrong = s["positions"].copy()
    wrong[2, 0, 0] = np.nan
    assert np.isnan(call(wrong)[0]).all(axis=1).tolist() == [k == 2 for k in range(COUNT)]


def test_projection_onto_footholds() -> None:
    model = robot("quadruped")
    q = dtau.neutral(model)
    contacts = dtau.Contacts(model, [dtau.PointContact(foot) for foot in FEET])
    home = dtau.frame_placements(model, q, FEET).translation
    footholds = home + np.random.default_rng(6).uniform(-0.05, 0.05, (7, 4, 3))
    active = np.array([1, 0, 1, 1])
    found = dtau.project(model, q, contacts, active=active, positions=footholds)
    assert found.error.max() < 1e-10
    feet = dtau.frame_placements(model, found.q, FEET).translation
    np.testing.assert_allclose(feet[:, active == 1], footholds[:, active == 1], atol=1e-9)
