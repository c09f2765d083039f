"""Bad arguments of every function: the message names the argument, what was expected, what came."""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from argument_laws import INTEGERS, MODELS, OPTIONS, WRONG_ROOM, Call, outcome, room
from cases import CONFIGURATIONS, NEAR, lone, random_state, robot
from compare import assert_same_results
from function import Function
from functions import IN_BODY_AXES
from messages import has_words, message
from odd_arrays import DAMAGE, DISGUISES
from selection import (
    ARGUMENTS,
    ARGUMENTS_IN_FULL,
    EACH,
    IN_FULL,
    RESULTS,
    RESULTS_IN_FULL,
    adding,
    in_turn,
)

import dtau

# Arguments of numbers; inputs may be a mask or None, too: tests/steps/test_linearization.py
PLAIN = [(function, name) for function, name in ARGUMENTS if name != "inputs"]


@pytest.mark.parametrize(
    ("function", "name", "kind"), in_turn(PLAIN, DISGUISES | DAMAGE, ARGUMENTS_IN_FULL), ids=str
)
def test_odd_arrays(function: Function, name: str, kind: str) -> None:
    """Other dtypes, layouts and objects with the same numbers; other shapes, types and numbers."""
    rng = np.random.default_rng(1)
    for batch in ((), (2,), (2, 3)):
        call = Call.right(function, robot(NEAR), 1, batch)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # of NumPy, which makes numbers of another type
            call.arrays[name] = (DISGUISES | DAMAGE)[kind](rng, call.arrays[name])
        outcome(call, robot(NEAR))


# None means no wrenches, all contacts, their own positions, and the model's parameters
WITH_NONE = (
    *("f_ext", "df_ext", "f_ext_derivatives", "df_ext_derivatives"),
    *("active", "positions", "parameters", "ddt", "drestitution"),
)
NEEDED = [(function, name) for function, name in PLAIN if name not in WITH_NONE]


@pytest.mark.parametrize(("function", "name"), NEEDED, ids=str)
def test_none_is_no_array(function: Function, name: str) -> None:
    state = random_state(robot(NEAR), 1)
    state[name] = None  # type: ignore[assignment]
    said = message(TypeError, function, robot(NEAR), state)
    assert said.startswith(name), said  # a list of all parameters would not tell which one


@pytest.mark.parametrize(
    ("function", "o", "kind"), in_turn(RESULTS, WRONG_ROOM, RESULTS_IN_FULL), ids=str
)
def test_odd_memory_for_results(function: Function, o: int, kind: str) -> None:
    for batch in ((), (3,), (2, 3)):
        call = Call.right(function, robot(NEAR), 8, batch)
        arrays = [room(call, shape) for shape in function.shapes(robot(NEAR), batch)]
        if arrays[o].ndim:
            others = [*call.arrays.values(), *arrays]
            arrays[o] = WRONG_ROOM[kind](np.random.default_rng(8), arrays[o], others)
        call.given["out"] = arrays[0] if len(arrays) == 1 else tuple(arrays)
        outcome(call, robot(NEAR))


@pytest.mark.parametrize(
    ("function", "k"), in_turn(EACH, range(len(INTEGERS)), IN_FULL[:1]), ids=str
)
def test_odd_numbers_of_threads(function: Function, k: int) -> None:
    for batch in ((), (0,), (1,), (9,)):
        call = Call.right(function, robot(NEAR), 6, batch)
        call.given["threads"] = INTEGERS[k]
        outcome(call, robot(NEAR))


@pytest.mark.parametrize(("function", "k"), in_turn(EACH, range(len(MODELS)), IN_FULL), ids=str)
def test_odd_models(function: Function, k: int) -> None:
    call = Call.right(function, robot(NEAR), 1, ())
    call.model = MODELS[k]
    assert outcome(call, robot(NEAR)) == "refused"


OF_EACH_FUNCTION = adding(
    [(function, name) for function in IN_BODY_AXES for name in OPTIONS.keys() & function.options],
    lambda case: {(case[0].name, case[1])},
)
OPTION_CASES = [
    case
    for option, row in OPTIONS.items()
    for with_it in [[case for case in OF_EACH_FUNCTION if case[1] == option]]
    for case in in_turn(with_it, range(len(row.values)), with_it[:1])
]


@pytest.mark.parametrize(("function", "name", "k"), OPTION_CASES, ids=str)
def test_odd_options(function: Function, name: str, k: int) -> None:
    for batch in ((), (2,)):
        call = Call.right(function, robot(NEAR), 3, batch)
        value = OPTIONS[name].values[k]
        call.options[name] = value(call.model) if inspect.isfunction(value) else value
        outcome(call, robot(NEAR))


WITH_Q = [
    (function, name)
    for function, name in ARGUMENTS
    if name in CONFIGURATIONS and function.name != "normalize"
]


SOME_Q = [case for case in WITH_Q if case in ARGUMENTS_IN_FULL]
NORMS = [0.0, 1.2, 1.0 + 3e-6, 1.0 - 3e-6, 0.5, 1e-200, 1e200]


@pytest.mark.parametrize(
    ("function", "name", "norm"), in_turn(WITH_Q, NORMS, ARGUMENTS_IN_FULL), ids=str
)
def test_quaternions_without_unit_norm_are_refused(
    function: Function, name: str, norm: float
) -> None:
    model = robot(NEAR)
    for joint, start in (("free0", 3), ("spherical2", 0)):
        state = random_state(model, 2, (4,))
        first = model.joint(joint).q.start + start
        state[name][2, first : first + 4] *= norm
        said = message(ValueError, function, model, state)
        has_words(said, name, joint, "norm", "1e-6")


@pytest.mark.parametrize(("function", "name"), SOME_Q, ids=str)
@pytest.mark.parametrize("norm", [1.0 + 9e-7, 1.0 - 9e-7])
def test_quaternions_nearly_unit_are_taken(function: Function, name: str, norm: float) -> None:
    state = random_state(robot(NEAR), 2)
    state[name][3:7] *= norm
    assert all(np.isfinite(x).all() for x in function(robot(NEAR), state))


@pytest.mark.parametrize("name", ["neutral", "random_state"])
def test_the_model_comes_first_here_too(name: str) -> None:
    arguments = [np.random.default_rng(0)] if name == "random_state" else []
    said = message(TypeError, getattr(dtau, name), "anymal.urdf", *arguments)
    has_words(said, "model", "Model", "str")


# Frames and axes


FRAME_MOTION = {"frame_velocities": ("v",), "frame_accelerations": ("v", "a")}


def with_frames(name: str, frames: Any, q: Any = None, **options: Any) -> Any:
    model = robot(NEAR)
    s = random_state(model, 3)
    arguments = [s["q"] if q is None else q, frames]
    if name.endswith("_time_derivatives"):
        arguments.insert(1, s["v_derivatives"])
    if name == "wrench_at_frame":
        arguments.append(s["wrench"])
    if name == "frame_errors":
        one = isinstance(frames, str)  # else two frames, in any kind of list
        arguments.append(np.broadcast_to(np.eye(7)[6], (7,) if one else (2, 7)))
    plain = name.removesuffix("_derivatives")
    arguments[1:1] = [s[x] for x in FRAME_MOTION.get(plain, ())]
    return getattr(dtau, name)(model, *arguments, **options)


def as_tuple(results: Any) -> tuple[Any, ...]:
    return tuple(results) if isinstance(results, tuple) else (results,)


def functions_with(*options: str) -> list[str]:
    """Names of the functions that take any of these options."""
    return list({f.name: 0 for f in IN_BODY_AXES if f.options.keys() & set(options)})


WITH_FRAMES = functions_with("frame", "frames")
WITH_AXES = functions_with("axes")


@pytest.mark.parametrize("name", WITH_FRAMES)
def test_unknown_frame(name: str) -> None:
    frame = "revolut1"
    for frames in (frame, ["free0", frame]) if name != "wrench_at_frame" else (frame,):
        said = message(ValueError, with_frames, name, frames)
        has_words(said, frame, "revolute1")  # and what it may have meant


@pytest.mark.parametrize(
    ("name", "wrong"), in_turn(WITH_FRAMES, [3, None, b"free0", [3]], WITH_FRAMES[:1]), ids=repr
)
def test_a_frame_is_a_name(name: str, wrong: Any) -> None:
    said = message(TypeError, with_frames, name, wrong)
    assert re.match(r"frames?: expected (names|str), got", said), said


@pytest.mark.parametrize("name", functions_with("frames"))
def test_frames_from_any_iterable(name: str) -> None:
    names = ["spherical2", "free0"]
    want = with_frames(name, names)
    for same in (tuple(names), np.array(names), dict.fromkeys(names), iter(names)):
        assert_same_results(as_tuple(with_frames(name, same)), as_tuple(want))
    one = with_frames(name, np.str_("free0"))
    assert_same_results(as_tuple(one), as_tuple(with_frames(name, "free0")))

    def broken() -> Iterator[str]:
        yield "free0"
        raise RuntimeError("no more names")

    with pytest.raises(RuntimeError, match="no more names"):
        with_frames(name, broken())


@pytest.mark.parametrize("name", functions_with("frames"))
def test_frames_that_another_argument_changes(name: str) -> None:
    """Names are read before the code of other arguments runs."""
    names = ["spherical2", "free0"]
    want = with_frames(name, list(names))

    class Changing:
        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            names.clear()
            return random_state(robot(NEAR), 3)["q"]

    assert_same_results(as_tuple(with_frames(name, names, Changing())), as_tuple(want))
    assert not names


@pytest.mark.parametrize("name", functions_with("frames"))
def test_swapped_frames_and_q(name: str) -> None:
    q = random_state(robot(NEAR), 3)["q"]
    for swapped in (q, q.tolist(), np.float64(1.0)):
        said = message(TypeError, with_frames, name, swapped, "free0")
        assert said.startswith("frames: expected names, got"), said


OURS = {"LOCAL": "body", "LOCAL_WORLD_ALIGNED": "mixed", "WORLD": "world"}


@pytest.mark.parametrize(("name", "theirs"), in_turn(WITH_AXES, OURS, WITH_AXES[:1]))
def test_axes_by_their_names_in_pinocchio(name: str, theirs: str) -> None:
    ours = OURS[theirs]
    pin = pytest.importorskip("pinocchio")
    for wrong in (theirs, getattr(pin.ReferenceFrame, theirs)):
        said = message(ValueError, with_frames, name, "free0", axes=wrong)
        assert said.endswith(f"{wrong!r}: that is '{ours}' here")
    said = message(ValueError, dtau.conventions.mixed_twist, robot(NEAR), wrenches=theirs)
    assert said.endswith(f"that is '{ours}' here")


def test_a_wrench_at_the_world_has_no_body() -> None:
    """A frame that is fixed to the world carries no load that a joint could feel."""
    model = robot("every joint in a chain")
    assert model.frame("fixed0").body < 0
    s = random_state(model, 4)
    said = message(ValueError, dtau.wrench_at_frame, model, s["q"], "fixed0", s["wrench"])
    has_words(said, "fixed0", "world")


def test_no_frames_of_endless_states() -> None:
    """Nothing is computed where nothing is asked for."""
    model = robot(NEAR)
    q = np.broadcast_to(random_state(model, 1)["q"], (2**45, model.nq))
    assert dtau.frame_placements(model, q, []).rotation.shape == (2**45, 0, 3, 3)
    assert dtau.frame_jacobians(model, q, [], axes="body").shape == (2**45, 0, 6, model.nv)


def test_no_frames() -> None:
    model = robot(NEAR)
    q = random_state(model, 5, (2,))["q"]
    assert dtau.frame_jacobians(model, q, []).shape == (2, 0, 6, model.nv)
    assert dtau.frame_placements(model, q, []).rotation.shape == (2, 0, 3, 3)


# Joints without inertia


@pytest.fixture(scope="module")
def weightless() -> dtau.Model:
    """An arm with a finger that weighs nothing, and a finger on that."""
    builder = dtau.ModelBuilder("weightless")
    inertia = dtau.Inertia(1.0, (0.1, 0.0, 0.2), np.diag([0.02, 0.03, 0.04]))
    builder.add(dtau.Revolute((0, 0, 1)), name="arm", inertia=inertia)
    builder.add(dtau.Revolute((0, 1, 0)), name="finger", parent="arm")
    builder.add(dtau.Prismatic((1, 0, 0)), name="nail", parent="finger")
    with pytest.warns(dtau.ModelWarning, match="finger") as caught:
        model = builder.build()
    assert "nail" in str(caught[0].message)
    return model


def test_massless_joints_are_named(weightless: dtau.Model) -> None:
    assert set(weightless.massless_joints) == {"finger", "nail"}


@pytest.mark.parametrize(
    "function", [f for f in EACH if f.solves and "parameters" not in f.arguments], ids=str
)
def test_massless_joints_cannot_be_accelerated(weightless: dtau.Model, function: Function) -> None:
    for shape in ((), (3,), (0,)):
        said = message(ValueError, function, weightless, random_state(weightless, 6, shape))
        has_words(said, "finger", "nail")


@pytest.mark.parametrize("function", [f for f in EACH if not f.solves], ids=str)
def test_massless_joints_do_no_harm_elsewhere(weightless: dtau.Model, function: Function) -> None:
    for x in function(weightless, random_state(weightless, 7, (3,))):
        assert np.isfinite(x).all()


# random_state


@pytest.mark.parametrize("wrong", [0, None, np.random.RandomState(0)], ids=type)
def test_random_state_wants_a_generator(wrong: Any) -> None:
    said = message(TypeError, dtau.random_state, robot(NEAR), wrong)
    has_words(said, "rng", "Generator", type(wrong).__name__)


@pytest.mark.parametrize("wrong", [-1, (2, -1), "3", 1.5, (2, 0.5), None], ids=repr)
def test_random_state_wants_a_shape(wrong: Any) -> None:
    said = message(
        (ValueError, TypeError),
        lambda: dtau.random_state(robot(NEAR), np.random.default_rng(0), wrong),
    )
    has_words(said, "shape")
    assert repr(wrong) in said


def test_random_state_tests_a_shape_without_allocating_it() -> None:
    with pytest.raises(ValueError, match=r"^shape: "):
        dtau.random_state(robot(NEAR), np.random.default_rng(0), (10**14, -1))
    with pytest.raises(MemoryError):  # of the result itself
        dtau.random_state(robot(NEAR), np.random.default_rng(0), (10**14,))


@pytest.mark.parametrize(
    ("limits", "least", "most"),
    [
        (dtau.Limits(-1.7e308, 1.7e308), -1.7e308, 1.7e308),
        (dtau.Limits(lower=10.0), 10.0, 10.0 + 2 * np.pi),
        (dtau.Limits(upper=-10.0), -10.0 - 2 * np.pi, -10.0),
        (dtau.Limits(lower=1.0), 1.0, np.pi),
        (dtau.Limits(2.0, 2.0), 2.0, 2.0),
    ],
)
def test_random_state_of_odd_limits(limits: dtau.Limits, least: float, most: float) -> None:
    model = lone(dtau.Revolute((0, 0, 1)), limits=limits)
    q = dtau.random_state(model, np.random.default_rng(0), (1000,)).q
    assert np.isfinite(q).all()
    assert q.min() >= least
    assert q.max() <= most
    assert 0.5 * q.max() - 0.5 * q.min() >= 0.99 * (0.5 * most - 0.5 * least)


class Unwritable:
    """What cannot be written as UTF-8."""

    def __repr__(self) -> str:
        return "<\ud800>"


@pytest.mark.parametrize(
    "value", ["\ud800", Unwritable(), None, 3], ids=["text", "repr", "none", "3"]
)
def test_options_that_are_no_word(value: Any) -> None:
    model = robot(NEAR)
    state = random_state(model, 0)
    with pytest.raises(ValueError, match=r"integrator: expected 'euler', .*got"):
        dtau.step(model, state["q"], state["v"], state["tau"], 0.01, value)
    frame = next(iter(model.frames))
    with pytest.raises(ValueError, match=r"axes: expected 'body', 'world' or 'mixed', got"):
        dtau.frame_jacobians(model, state["q"], frame, value)
