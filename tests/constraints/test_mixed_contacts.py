"""Batches whose states have different contacts, and states without results among them.

Each state has the bits that it has in a batch of one: nothing of a state shows in those computed
after or beside it, whichever contacts these have, in every layout.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from cases import State, random_state, rows
from compare import assert_same_bits, assert_same_results
from contact_oracle import gait
from core import INSTRUCTION_SETS, using_instruction_set
from function import Function
from functions import FUNCTIONS, HELD
from functions import rows as rows_of
from trees import Array

import dtau

MODEL = dtau.robots.quadruped()
FEET = dtau.robots.QUADRUPED_FEET
CONTACTS = gait(MODEL, dtau.PointContact(FEET[0], name="again"))
SIZES = (2, 3, 5, 8, 9, 12, 17, 40)
COUNT = max(SIZES)
KINDS = ("healthy", "failed", "not finite", "overflow")
LEGS_DRIVEN = "constrained_inverse_dynamics, legs driven"
WITH_OTHER_INTEGRATORS = (
    *rows_of("step", "active", **HELD, integrator="semi_implicit"),
    *rows_of("linearize_discrete step_vjp", "active", **HELD, integrator="euler"),
)


def _cases() -> list[Function]:
    """All functions with contacts that are switched: with a regularization, and without."""
    found = []
    for function in (*FUNCTIONS, *WITH_OTHER_INTEGRATORS):
        if "active" not in function.arguments:
            continue
        options = {**function.options, "contacts": CONTACTS}
        if not function.solves:
            driven = {name: x for name, x in options.items() if name != "inputs"}
            found.append(replace(function, options=options))
            found.append(replace(function, options=driven, label=LEGS_DRIVEN))
            continue
        for regularization in (0.0, 1e-3):
            label = f"{function}, regularization {regularization}"
            given = {**options, "regularization": regularization}
            found.append(replace(function, options=given, label=label))
    return found


CASES = _cases()


def fails(function: Function) -> bool:
    """Whether some contacts give no results."""
    return str(function) == LEGS_DRIVEN or function.options.get("regularization") == 0.0


def states(function: Function, seed: int) -> tuple[State, Array]:
    """States of all kinds in random order, with contacts that change from one to the next."""
    rng = np.random.default_rng(seed)
    state = random_state(MODEL, seed, (COUNT,))
    kinds = rng.choice(KINDS, COUNT, p=(0.7, 0.1, 0.1, 0.1))
    active = rng.integers(0, 2, (COUNT, len(CONTACTS))).astype(float)
    active[:, -1] = 0.0  # the foot is held once, or twice if that is to fail
    if str(function) == LEGS_DRIVEN:
        active[:, 2] = 1.0  # the sole reaches all velocities of the base, and a point does not
        active[kinds == "failed"] = (1.0, 0.0, 0.0, 0.0, 0.0)
    elif fails(function):
        active[kinds == "failed"] = (1.0, 0.0, 0.0, 1.0, 1.0)
    else:
        active[::7] = 1.0  # all hold
    state["active"] = active
    state["v"][kinds == "overflow", rng.integers(MODEL.nv)] = 1e200
    state["q"][kinds == "not finite", -1] = np.nan
    state["positions"] = rng.uniform(-1.0, 1.0, (COUNT, len(CONTACTS), 3))
    for weights in ("lam_forces", "lam_impulses"):
        state[weights] = rng.uniform(-1.0, 1.0, (COUNT, CONTACTS.nrows))
    return state, kinds


def lone_results(function: Function, state: State, count: int = COUNT) -> list[Array]:
    """The results of batches of one."""
    each = [function(MODEL, rows(state, slice(i, i + 1))) for i in range(count)]
    return [np.concatenate(x) for x in zip(*each, strict=True)]


def result_names(function: Function, state: State) -> tuple[str, ...]:
    """Names in the order of the results, names that only an option gives among them."""
    returned = function.returned(MODEL, rows(state, slice(1)))
    return tuple(returned._asdict()) if isinstance(returned, tuple) else ("H",)


def kept(function: Function, name: str) -> int:
    """How many rows of a result depend on no acceleration, at Euler's step or in linearize."""
    by_euler = function.options.get("integrator") == "euler"
    if name in ("A", "B") and (by_euler or function.name == "linearize"):
        return MODEL.nv
    return MODEL.nq if by_euler and name == "q" else 0


@pytest.mark.parametrize("instruction_set", INSTRUCTION_SETS)
@pytest.mark.parametrize("function", CASES, ids=str)
def test_a_batch_is_its_states(function: Function, instruction_set: str) -> None:
    state, kinds = states(function, 1)
    with using_instruction_set(instruction_set):
        want = lone_results(function, state)
        for count in SIZES:
            got = function(MODEL, rows(state, slice(count)), threads=1)
            assert_same_results(got, [x[:count] for x in want], f"{count} states, result")
        for i in np.flatnonzero(kinds == "healthy")[:5].tolist():
            assert_same_results(function(MODEL, rows(state, i)), [x[i] for x in want], "alone")
    healthy = (kinds == "healthy") | ((kinds == "failed") & (not fails(function)))
    assert 20 < healthy.sum() < COUNT
    for x in want:
        assert np.isfinite(x[healthy]).all()


@pytest.mark.parametrize("function", [f for f in CASES if fails(f)], ids=str)
def test_all_results_of_a_failed_state_are_nan(function: Function) -> None:
    """But for numbers that depend on no acceleration: numbers of a state without contacts."""
    state, kinds = states(function, 2)
    failed = np.flatnonzero(kinds == "failed").tolist()
    got = function(MODEL, state, threads=1)
    assert len(failed)
    for i in failed:
        with pytest.raises(ValueError, match=r"^contacts: .*forces"):
            function(MODEL, rows(state, i))
    free = {**state, "active": np.zeros_like(state["active"])}
    at_rest = function(MODEL, free) if function.solves else got
    for name, x, y in zip(result_names(function, state), got, at_rest, strict=True):
        stays = kept(function, name)
        x, y = (z[failed].reshape(len(failed), *(z.shape[1:] or (1,))) for z in (x, y))
        assert np.isnan(x[:, stays:]).all()
        assert_same_bits(x[:, :stays], y[:, :stays])


@pytest.mark.parametrize("function", ["linearize", "linearize_discrete", "linearize_stages"])
@pytest.mark.parametrize("instruction_set", INSTRUCTION_SETS)
def test_what_others_contacts_overflow_is_computed_again(
    function: str, instruction_set: str
) -> None:
    """A state without contacts, whose velocity is too large for its neighbors' contacts."""
    model = dtau.robots.chain(1)
    contacts = dtau.Contacts(model, [dtau.FrameContact(model.bodies[0])])
    q, v, tau = dtau.random_state(model, np.random.default_rng(0), shape=(19,))
    active = np.ones((19, 1))
    v[4], active[4] = 1e300, 0.0
    options = {"contacts": contacts, "regularization": 1e-6}
    length = {} if function == "linearize" else {"dt": 0.01}
    with using_instruction_set(instruction_set):
        call = getattr(dtau, function)
        batch = call(model, q, v, tau, active=active, **length, **options)
        alone = call(model, q[4], v[4], tau[4], active=active[4], **length, **options)
    for name, x in alone._asdict().items():
        assert_same_bits(getattr(batch, name)[4], x, name)
    if function == "linearize_discrete":  # the four stages of rk4 overflow
        assert np.isfinite(alone.A).all()


def test_torques_of_a_walk_are_those_of_their_definition() -> None:
    """Each foot swings in turn: tau = ID - J^T f, from other functions of the package."""
    contacts = dtau.Contacts(MODEL, [dtau.PointContact(foot) for foot in FEET])
    q, v, a = dtau.random_state(MODEL, np.random.default_rng(0), shape=(64,))
    active = 1.0 - np.eye(4)[np.arange(64) // 16]
    tau, forces = dtau.constrained_inverse_dynamics(MODEL, q, v, a, contacts, active=active)
    J = dtau.frame_jacobians(MODEL, q, list(FEET))[..., :3, :]
    push = np.einsum("nfkv,nfk->nv", J, forces.reshape(64, 4, 3))
    want = dtau.inverse_dynamics(MODEL, q, v, a) - push
    scale = np.abs(want).max(axis=1, keepdims=True)
    assert (np.abs(tau - want) <= 1e-11 * scale).all()
    assert (forces.reshape(64, 4, 3)[active == 0] == 0.0).all()
