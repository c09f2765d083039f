"""Times of contenders in turns, random inputs from the registry's axes, and the words of calls."""

from __future__ import annotations

import gc
from itertools import pairwise

import numpy as np
import pytest

import dtau
from dtau.cli.timing import DT, Call, Contender, Effort, given, interleaved, loop, random_inputs
from dtau.registry import FUNCTIONS

MODEL = dtau.robots.quadruped()


class Clock:
    """A clock that contenders move; and which of them ran."""

    def __init__(self) -> None:
        self.now, self.ran = 0.0, ""

    def __call__(self) -> float:
        return self.now

    def contender(self, name: str, seconds: float, states: int = 1) -> Contender:
        def run(passes: int) -> None:
            self.now += passes * seconds
            self.ran += name

        return Contender(run, states)


def test_contenders_take_turns() -> None:
    clock = Clock()
    contenders = {"a": clock.contender("a", 0.5), "b": clock.contender("b", 3.0, states=6)}
    seconds = interleaved(contenders, Effort(3, 1.0), clock)
    assert {name: list(x) for name, x in seconds.items()} == {"a": [0.5] * 3, "b": [0.5] * 3}
    assert clock.ran.endswith("abbaab")  # the order is reversed every other round
    assert gc.isenabled()


def test_blocks_take_their_seconds() -> None:
    """Also where the first call takes long, because it loads and compiles."""
    clock = Clock()
    contender = clock.contender("a", 1e-3)

    def run(passes: int) -> None:
        clock.now += 0.0 if clock.ran else 5.0
        contender.run(passes)

    interleaved({"a": Contender(run, 1)}, Effort(1, 0.1), clock=clock)
    assert clock.now == pytest.approx(5.0 + 1e-3 * (1 + 1 + 4 + 16 + 64 + 100))


def test_slow_contenders_have_fewer_rounds() -> None:
    slow = {"a": Contender(loop("sleep(0.02)", sleep=__import__("time").sleep), 1)}
    seconds = interleaved(slow, Effort(50, 1e-3, longest=0.05))
    assert 1 <= len(seconds["a"]) < 10


def test_inputs_have_the_axes_of_the_registry() -> None:
    """Every function takes what is drawn for it, but what options of its own say the sizes of."""
    feet = dtau.Contacts(MODEL, [dtau.PointContact(MODEL.bodies[-1])])
    made = {"contacts": feet, "frames": MODEL.bodies[:2], "frame": MODEL.bodies[2], "order": 2}
    made["prescribed"] = np.arange(MODEL.nv) > 11
    for name, function in FUNCTIONS.items():
        at = random_inputs(MODEL, [name], 3, order=2, nrows=feet.nrows, nframes=2)
        asked = ("order",) if "order" in function.options else ()
        options = {
            x.name: made[x.name]
            for x in function.arguments
            if x.name in made and (x.required or x.name in asked)
        }
        results = Call(name, MODEL, at, options)()
        assert all(len(x) == 3 for x in results), name


def test_inputs_are_of_one_state() -> None:
    names = ("forward_dynamics", "step", "difference", "inverse_dynamics_vjp")
    at = random_inputs(MODEL, names, 5)
    assert set(at) == {"q", "v", "a", "tau", "dt", "q0", "q1", "lam"}
    np.testing.assert_array_equal(
        at["tau"], dtau.inverse_dynamics(MODEL, at["q"], at["v"], at["a"])
    )
    assert (at["dt"] == DT).all()
    assert not any(np.array_equal(at[x], at[y]) for x, y in pairwise(("q", "q0", "q1")))
    more = random_inputs(MODEL, names, 5, also=["f_ext"])
    assert more["f_ext"].shape == (5, MODEL.nbodies, 6)


def test_words_of_a_call() -> None:
    at = random_inputs(MODEL, ["step", "frame_jacobians"], 4)
    frame = {"frames": MODEL.bodies[-1], "axes": "mixed"}
    assert Call("frame_jacobians", MODEL, at, frame).words == "model, q, frames, axes"
    step = Call("step", MODEL, at, {"dt": 0.1, "f_ext_axes": "world"})
    assert step.words == "model, q, v, tau, dt, f_ext_axes=f_ext_axes"
    assert list(step.arrays) == ["q", "v", "tau"]
    assert step.part(slice(2)).count == 2


def test_calls_alone_and_in_batches() -> None:
    at = random_inputs(MODEL, ["inverse_dynamics_derivatives"], 4)
    call = Call("inverse_dynamics_derivatives", MODEL, at)
    assert [x.shape for x in call.part(0)()] == [(MODEL.nv, MODEL.nv)] * 3
    for into in (False, True):
        lone, batch = call.alone(3, into=into), call.batch(into=into)
        assert (lone.states, batch.states) == (3, 4)
        lone.run(2)
        batch.run(2)
    assert isinstance(given(call()), tuple)
    assert isinstance(given(call()[:1]), np.ndarray)
