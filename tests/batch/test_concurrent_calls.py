"""Calls from many threads at once, on a model that they share: the bits of calls one by one.

The thread sanitizer runs this file too (`tests/thread_sanitized.sh`), and free-threaded Python.
"""

from __future__ import annotations

import signal
import sysconfig
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from compare import assert_same_bits
from processes import python, script

import dtau

THREADS = 6
STATES = 40

Arrays = list[Any]
Call = Callable[[dtau.Model, dtau.Contacts], Any]


def flat(result: Any) -> Arrays:
    """The arrays of a result."""
    if isinstance(result, tuple):
        return [x for part in result for x in flat(part)]
    return [] if result is None else [result]


def fresh() -> tuple[dtau.Model, dtau.Contacts]:
    """A model that no call has seen, and contacts of it."""
    model = dtau.robots.quadruped()
    feet = [dtau.PointContact(foot) for foot in dtau.robots.QUADRUPED_FEET]
    return model, dtau.Contacts(model, feet, at=dtau.neutral(model))


MODEL, _ = fresh()
FOOT, HEAD = dtau.robots.QUADRUPED_FEET[0], MODEL.bodies[0]
LONE = dtau.random_state(MODEL, np.random.default_rng(1))
BATCH = dtau.random_state(MODEL, np.random.default_rng(2), shape=(STATES,))
MASKS = np.random.default_rng(3).integers(0, 2, (STATES, 4)).astype(bool)
DRIVEN = np.arange(MODEL.nv) >= 6


def on(state: Any, function: Any, *arguments: str, **options: Any) -> Call:
    def call(model: dtau.Model, _: dtau.Contacts) -> Any:
        return function(model, *(getattr(state, x) for x in arguments), **options)

    return call


def with_contacts(function: Any, **options: Any) -> Call:
    def call(model: dtau.Model, contacts: dtau.Contacts) -> Any:
        tau = np.zeros_like(BATCH.v)
        given = {"contacts": contacts, "active": MASKS, "regularization": 1e-6}
        return function(model, BATCH.q, BATCH.v, tau, **given, **options)

    return call


def into_own_arrays(model: dtau.Model, _: dtau.Contacts) -> Any:
    out = np.full_like(BATCH.v, np.nan)
    assert dtau.inverse_dynamics(model, *BATCH, out=out) is out
    return out


def into_several(model: dtau.Model, _: dtau.Contacts) -> Any:
    n = model.nv
    out = [np.full((n, n), np.nan) for _ in range(3)]
    dtau.inverse_dynamics_derivatives(model, *LONE, out=out)
    return tuple(out)


CALLS: dict[str, Call] = {
    "lone": on(LONE, dtau.inverse_dynamics, "q", "v", "a"),
    "lone derivatives": on(LONE, dtau.inverse_dynamics_derivatives, "q", "v", "a"),
    "lone frame": on(LONE, dtau.frame_jacobians, "q", frames=FOOT),
    "lone other frame": on(LONE, dtau.frame_jacobians, "q", frames=HEAD, axes="mixed"),
    "lone step": on(LONE, dtau.step, "q", "v", "a", dt=0.01, integrator="rk4"),
    "lone into several": into_several,
    "batch": on(BATCH, dtau.forward_dynamics, "q", "v", "a", threads=2),
    "batch frames": on(BATCH, dtau.frame_jacobians, "q", frames=[FOOT, HEAD], axes="world"),
    "batch into own arrays": into_own_arrays,
    "batch linearized": on(BATCH, dtau.linearize, "q", "v", "a", inputs=DRIVEN, threads=3),
    "pattern": on(BATCH, dtau.inverse_dynamics_derivatives, "q", "v", "a", layout="pattern"),
    "pattern of steps": on(
        BATCH, dtau.linearize_discrete, "q", "v", "a", dt=0.01, layout="pattern"
    ),
    "contacts": with_contacts(dtau.constrained_dynamics, threads=2),
    "linearized contacts": with_contacts(dtau.linearize),
    "poses": lambda *_: dtau.poses.compose(BATCH.q[:, :7], BATCH.q[:, :7]),
}


@pytest.fixture(scope="module")
def want() -> dict[str, Arrays]:
    """The results of calls one by one."""
    return {name: flat(call(*fresh())) for name, call in CALLS.items()}


def at_once(work: Callable[[int], object], count: int = THREADS) -> None:
    start = threading.Barrier(count)

    def begin(k: int) -> None:
        start.wait(timeout=300)
        work(k)

    with ThreadPoolExecutor(count) as pool:
        for done in [pool.submit(begin, k) for k in range(count)]:
            done.result(timeout=300)


def assert_right(name: str, got: Any, want: dict[str, Arrays]) -> None:
    arrays = flat(got)
    assert 0 < len(arrays) == len(want[name])
    for x, y in zip(arrays, want[name], strict=True):
        assert_same_bits(x, y)


def test_results_have_the_bits_of_calls_one_by_one(want: dict[str, Arrays]) -> None:
    """Every thread has an order of its own; the first calls fill what a model caches."""
    for round in range(3):
        shared = fresh()

        def work(k: int, round: int = round, shared: Any = shared) -> None:
            for name in np.random.default_rng((round, k)).permutation(list(CALLS)):
                assert_right(name, CALLS[name](*shared), want)

        at_once(work)


@pytest.mark.parametrize("name", CALLS)
def test_all_threads_make_the_first_call_of_a_model(name: str, want: dict[str, Arrays]) -> None:
    for _ in range(3):
        shared = fresh()
        at_once(lambda _, shared=shared: assert_right(name, CALLS[name](*shared), want))


def test_threads_that_end_leave_their_lone_calls_to_new_ones(want: dict[str, Arrays]) -> None:
    """New threads inherit what old ones keep of lone calls, with other models and frames."""
    names = [name for name in CALLS if name.startswith("lone")]
    wrong: list[BaseException] = []

    def work(k: int) -> None:
        try:
            shared = fresh()
            for name in np.random.default_rng(k).permutation(names):
                assert_right(name, CALLS[name](*shared), want)
        except BaseException as error:
            wrong.append(error)

    for group in range(8):
        threads = [threading.Thread(target=work, args=(10 * group + k,)) for k in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout=300)
    assert wrong == []


def test_lone_calls_of_different_models_and_frames() -> None:
    """Every thread repeats the calls of its own robot, of another size, and of its own frame."""
    models = [dtau.robots.quadruped(), dtau.robots.chain(3), dtau.robots.chain(9)]

    def work(k: int) -> None:
        model = models[k % 3]
        state, frame = dtau.random_state(model, np.random.default_rng(k)), model.bodies[k % 2]
        (torque,) = dtau.inverse_dynamics(model, *(x[None] for x in state))  # as a batch
        (jacobian,) = dtau.frame_jacobians(model, state.q[None], frames=frame)
        for _ in range(3000):
            assert np.array_equal(dtau.inverse_dynamics(model, *state), torque)
            assert np.array_equal(dtau.frame_jacobians(model, state.q, frames=frame), jacobian)

    at_once(work)


def test_a_list_of_arrays_that_changes_during_calls(want: dict[str, Arrays]) -> None:
    """A call takes the items that are there when it reads them, and keeps them."""
    n = MODEL.nv
    shared = [np.empty((n, n)) for _ in range(3)]
    stop = threading.Event()

    def change() -> None:
        while not stop.is_set():
            for o in range(3):
                shared[o] = np.empty((n, n))

    changing = threading.Thread(target=change)
    changing.start()
    try:
        for _ in range(2000):
            got = dtau.inverse_dynamics_derivatives(MODEL, *LONE, out=shared)
            assert_right("lone derivatives", got, want)
    finally:
        stop.set()
        changing.join(timeout=300)


# One thread is interrupted in a batch, while others compute.
INTERRUPTED = """
import signal, threading
model = dtau.robots.quadruped()
state = dtau.random_state(model, np.random.default_rng(0))
many = dtau.random_state(model, np.random.default_rng(1), shape=(200_000,))
want = dtau.inverse_dynamics(model, *state)
stop, right = threading.Event(), []
def others():
    same = True
    while not stop.is_set():
        same = same and np.array_equal(dtau.inverse_dynamics(model, *state), want)
    right.append(same)
threads = [threading.Thread(target=others) for _ in range(3)]
for thread in threads:
    thread.start()
signal.signal(signal.SIGALRM, signal.default_int_handler)
ends = 0
for _ in range(3):
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        for _ in range(1000):
            dtau.forward_dynamics_derivatives(model, *many, threads=2)
    except KeyboardInterrupt:
        ends += 1
stop.set()
for thread in threads:
    thread.join()
print(json.dumps([ends, right]))
"""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs POSIX")
def test_an_interrupted_batch_beside_other_calls() -> None:
    assert script(INTERRUPTED) == [3, [True] * 3]


IMPORT = """
import sys
import dtau
from dtau.codegen.recorder import load_recorder
load_recorder()
sys.exit(getattr(sys, "_is_gil_enabled", lambda: False)() and {free_threaded})
"""


def test_the_import_leaves_the_lock_as_it_was() -> None:
    """No warning; free-threaded Python takes the lock back if a module does not do without it."""
    free_threaded = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
    code = IMPORT.format(free_threaded=free_threaded)
    child = python(code, flags="-W error")
    assert (child.returncode, child.stderr) == (0, "")
