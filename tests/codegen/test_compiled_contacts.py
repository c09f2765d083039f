"""`dtau.compile` with contacts: masks, positions, loops, and states that contacts do not hold."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cases import random_state, robot
from compare import assert_close
from compiled import needs_compiler

import dtau
from dtau import _core
from dtau.registry import arrays_of

pytestmark = [
    needs_compiler,
    pytest.mark.filterwarnings("ignore:dtau.compile. .* operations for this robot"),
]
FEET = dtau.robots.QUADRUPED_FEET


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def contacts_of(name: str) -> dtau.Contacts:
    """Points, along a direction, and a loop; a point; a frame; a direction."""
    if name == "legs":
        model = robot("quadruped")
        held: list[Any] = [
            dtau.PointContact(FEET[0], kp=40.0, kd=8.0),
            dtau.PointContact(FEET[1], axes="mixed", kd=2.0, direction=(0, 0, 1)),
            dtau.Loop(FEET[2], FEET[3], 3, kp=30.0, kd=9.0),
        ]
    elif name == "mimics":
        model = robot("joints that mimic others")
        held = [dtau.PointContact(model.frames[-1], kp=9.0, kd=6.0)]
    else:
        model = dtau.robots.chain(3)
        held = [
            dtau.FrameContact("body3", kp=9.0, kd=6.0)
            if name == "frame"
            else dtau.PointContact("body3", "mixed", kp=9.0, direction=(1, 2, 3))
        ]
    return dtau.Contacts(model, held, at=random_state(model, 7)["q"])


def results(function: str, model: dtau.Model, arrays: Sequence[Any], **more: Any) -> Any:
    return arrays_of(getattr(dtau, function)(model, *arrays, **more))


FUNCTIONS = {
    "constrained_dynamics": ("q", "v", "tau"),
    "constrained_dynamics_derivatives": ("q", "v", "tau"),
    "impulse_dynamics": ("q", "v"),
    "step": ("q", "v", "tau", "dt"),
    "linearize": ("q", "v", "tau"),
}


@pytest.mark.parametrize("name", ["legs", "mimics", "frame", "chain"])
def test_results_are_the_core_s_and_the_same_alone_and_in_batches(name: str) -> None:
    contacts = contacts_of(name)
    model = contacts.model
    options: dict[str, Any] = {"contacts": contacts, "regularization": 1e-3}
    names = list(FUNCTIONS) if name == "chain" else ["constrained_dynamics"]
    fast = dtau.compile(model, {x: (x, options) for x in names}, parameters=["active"])
    rng = np.random.default_rng(5)
    for function in names:
        state = random_state(model, 3, (3, 7))
        arrays = [state[x] for x in FUNCTIONS[function]]
        active = rng.integers(0, 2, (3, 7, len(contacts))).astype(bool)
        given = {**options, "active": active}
        want = results(function, model, arrays, **given)
        got = results(function, fast, arrays, **given)
        assert not all(np.array_equal(x, y) for x, y in zip(got, want, strict=True)), "the core ran"
        for one, other in zip(got, want, strict=True):
            assert_close(one, other, 1e-9, function, floor=1.0)
        lone = [x[1, 2] for x in arrays]
        for one, other in zip(
            results(function, fast, lone, **{**given, "active": active[1, 2]}), got, strict=True
        ):
            assert np.array_equal(one, other[1, 2])
        several = results(function, fast, arrays, **given, threads=3)
        assert all(np.array_equal(x, y) for x, y in zip(several, got, strict=True))


def test_positions_of_each_state() -> None:
    contacts = contacts_of("legs")
    model = contacts.model
    fast = dtau.compile(
        model, {"f": ("constrained_dynamics", {"contacts": contacts})}, parameters=["positions"]
    )
    state = random_state(model, 3, (9,))
    arrays = [state[x] for x in ("q", "v", "tau")]
    positions = np.random.default_rng(1).standard_normal((9, 3, 3))
    positions[:, 2] = np.nan  # a loop reads none
    want = results("constrained_dynamics", model, arrays, contacts=contacts, positions=positions)
    got = results("constrained_dynamics", fast, arrays, contacts=contacts, positions=positions)
    assert not np.array_equal(got[0], want[0])
    for one, other in zip(got, want, strict=True):
        assert_close(one, other, 1e-9, "positions", floor=1.0)


def test_code_serves_equal_contacts_alone() -> None:
    contacts = contacts_of("legs")
    model, kinds = contacts.model, list(contacts)
    fast = dtau.compile(model, {"f": ("constrained_dynamics", {"contacts": contacts})})
    state = random_state(model, 3, (9,))
    arrays = [state[x] for x in ("q", "v", "tau")]

    def is_compiled(given: dtau.Contacts, **more: Any) -> bool:
        pairs = [
            results("constrained_dynamics", x, arrays, contacts=given, **more)[0]
            for x in (fast, model)
        ]
        return not np.array_equal(*pairs)

    assert is_compiled(contacts)
    assert is_compiled(dtau.Contacts(model, kinds))
    assert is_compiled(dtau.Contacts(fast, kinds))
    others = [
        kinds[:2],
        [kinds[1], kinds[0], kinds[2]],
        [dtau.PointContact(FEET[0], kp=40.0, kd=8.5, position=kinds[0].position), *kinds[1:]],
        [dtau.PointContact(FEET[0], kp=40.0, kd=8.0, position=(1, 2, 3)), *kinds[1:]],
        [kinds[0], dtau.PointContact(FEET[1], axes="mixed", kd=2.0), kinds[2]],
    ]
    for given in others:
        assert not is_compiled(dtau.Contacts(model, given))
    assert not is_compiled(contacts, regularization=1e-6)
    assert not is_compiled(contacts, active=np.ones(3, bool))


def test_states_that_contacts_do_not_hold() -> None:
    """Say why as the core does, and cost the other states of a batch no bit."""
    model = robot("quadruped")
    twice = [dtau.PointContact(FEET[0], name=f"foot {k}") for k in range(2)]
    contacts = dtau.Contacts(model, [*twice, dtau.PointContact(FEET[1])])
    options = {"contacts": contacts}
    fast = dtau.compile(model, {"f": ("constrained_dynamics", options)}, parameters=["active"])
    state = random_state(model, 3, (2 * _core.lanes() + 1,))
    arrays = [state[x] for x in ("q", "v", "tau")]
    active = np.ones((len(arrays[0]), 3), bool)
    active[::2, 1] = False
    want = results("constrained_dynamics", model, arrays, **options, active=active)
    got = results("constrained_dynamics", fast, arrays, **options, active=active)
    assert np.isnan(want[1][1::2]).all()
    for one, other in zip(got, want, strict=True):
        assert np.array_equal(np.isnan(one), np.isnan(other))
    held = [x[::2] for x in arrays]
    alone = results("constrained_dynamics", fast, held, **options, active=active[::2])
    for one, other in zip(alone, got, strict=True):
        assert np.array_equal(one, other[::2])
    messages = []
    for x in (model, fast):
        with pytest.raises(ValueError, match="rows of 'foot 1' depend on the rows of") as raised:
            dtau.constrained_dynamics(x, *(y[1] for y in arrays), **options, active=active[1])
        messages.append(str(raised.value))
    assert messages[0] == messages[1]
