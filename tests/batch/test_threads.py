"""Threads: the same bits for any number of them, forks, the interpreter's lock, interruption."""

from __future__ import annotations

import os
import re
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from cases import FEW_ROBOTS, random_state, robot, rows
from compare import assert_same_results
from function import Function
from functions import function_named
from messages import has_words
from processes import sanitized, script
from selection import EACH

import dtau

SIZES = (0, 1, 2, 3, 7, 8, 9, 63, 64, 65, 127, 129, 1000)

posix = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs POSIX")
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux")


def sizes(function: Function, model: dtau.Model) -> list[int]:
    """Sizes of batches whose results take little memory."""
    numbers = sum(np.prod(shape) for shape in function.shapes(model))
    return [size for size in SIZES if size <= 9 or size * numbers <= 2e6]


# The same bits


@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics", "integrate"])
def test_batches_of_many_chunks(name: str) -> None:
    """So many states that one thread takes several chunks, and no chunk ends where lanes end."""
    function = function_named(name)
    model, count = robot("quadruped"), 60_001
    state = random_state(model, 3, (count,))
    want = [
        np.concatenate(parts)
        for parts in zip(
            *(function(model, rows(state, slice(at, at + 997))) for at in range(0, count, 997)),
            strict=True,
        )
    ]
    for threads in (None, 1, 2, 5):
        out = np.full(want[0].shape, np.nan)
        assert_same_results(function(model, state, out=out, threads=threads), want, f"{threads}")


@pytest.mark.parametrize("function", EACH, ids=str)
def test_python_threads_call_functions_at_once(function: Function) -> None:
    """Several Python threads, each with threads of its own and a model of another size."""
    names = (*FEW_ROBOTS, "quadruped")
    models = [robot(name) for name in names]
    jobs = [(m, random_state(m, 5, (min(150, sizes(function, m)[-1]),))) for m in models]
    want = [function(model, state) for model, state in jobs]
    start = threading.Barrier(len(jobs))

    def work(k: int) -> None:
        start.wait(timeout=300)
        for threads in (None, 3, 2, 1, 4):
            got = function(*jobs[k], threads=threads)
            assert_same_results(got, want[k], f"{names[k]}, result")

    with ThreadPoolExecutor(len(jobs)) as pool:
        for done in [pool.submit(work, k) for k in range(len(jobs))]:
            done.result(timeout=300)


# Threads between calls


def test_threads_sleep_between_calls() -> None:
    """They stay awake for microseconds: a pause takes no time of the processors."""
    model = robot("quadruped")
    q, v, a = dtau.random_state(model, np.random.default_rng(9), shape=(1000,))
    dtau.inverse_dynamics(model, q, v, a, threads=8)
    time.sleep(0.01)
    start = time.process_time()
    time.sleep(0.3)
    assert time.process_time() - start < 0.03


# The interpreter's lock


@pytest.mark.parametrize("threads", [1, 2])
def test_other_threads_run_during_a_batch(threads: int) -> None:
    """A Python thread counts, while this one gives the lock up in the batch alone."""
    model = robot("quadruped")
    states = dtau.random_state(model, np.random.default_rng(7))
    q, v, a = (np.broadcast_to(x, (600_000, x.size)) for x in states)
    out = np.empty((len(q), model.nv))
    ticks, stop, counting = 0, threading.Event(), threading.Event()

    def count() -> None:
        nonlocal ticks
        while not stop.is_set():
            time.sleep(0.001)
            ticks += 1
            counting.set()

    counter = threading.Thread(target=count)
    counter.start()
    counting.wait()
    interval = sys.getswitchinterval()
    try:
        sys.setswitchinterval(1e6)  # so that no thread is made to give the lock up
        before = ticks
        dtau.inverse_dynamics(model, q, v, a, out=out, threads=threads)
        during = ticks - before
    finally:
        sys.setswitchinterval(interval)
        stop.set()
        counter.join()
    assert during > 0


# In processes of their own


FORK = """
busy = sys.argv[1] == "busy"
model = dtau.robots.quadruped()
q, v, a = dtau.random_state(model, np.random.default_rng(0), shape=(3000,))
def run(threads):
    return b"".join(x.tobytes() for x in
                    dtau.inverse_dynamics_derivatives(model, q, v, a, threads=threads))
want = run(1)
assert run(3) == want
stop = threading.Event()
def keep_busy():
    while not stop.is_set():
        run(2)
other = threading.Thread(target=keep_busy)
if busy:
    other.start()
    time.sleep(0.05)
good = []
for generation in range(3):
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = 0 if all(run(threads) == want for threads in (None, 1, 2, 3)) else 2
            grandchild = os.fork()
            if grandchild == 0:
                os._exit(0 if run(2) == want else 3)
            code = code or os.waitstatus_to_exitcode(os.waitpid(grandchild, 0)[1])
        finally:
            os._exit(code)
    good.append(all(run(threads) == want for threads in (None, 1, 2, 3)))
    good.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0)
stop.set()
if busy:
    other.join()
print(json.dumps(good))
"""


@pytest.mark.processes
@posix
@pytest.mark.parametrize("meanwhile", ["idle", "busy"])
def test_a_process_forks_while_threads_are_in_calls(meanwhile: str) -> None:
    """Parents and children compute after a fork, also while another thread was in a batch."""
    assert script(FORK, meanwhile) == [True] * 6


FEW = """
import resource
model = dtau.robots.quadruped()
q, v, a = dtau.random_state(model, np.random.default_rng(0), shape=(4096,))
want = dtau.inverse_dynamics(model, q, v, a, threads=1)
def used():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used() + (200 << 20),) * 2)
out = np.empty_like(want)
same = []
for _ in range(5):
    try:
        dtau.inverse_dynamics(model, q, v, a, out=out, threads=500)
        same.append((out == want).all().item())
    except MemoryError:
        same.append(True)
dtau.inverse_dynamics(model, q, v, a, out=out, threads=1)
same.append((out == want).all().item())
print(json.dumps(same))
"""


@pytest.mark.processes
@linux
def test_fewer_threads_do_the_work_if_the_system_gives_fewer() -> None:
    """Where memory allows for few threads these do it all, or say that memory is short."""
    if sanitized():
        pytest.skip("the sanitizer needs much address space")
    assert script(FEW) == [True] * 6


KEPT = """
model = dtau.robots.quadruped()
q, v, a = dtau.random_state(model, np.random.default_rng(0), shape=(20_000,))
seen = [os.listdir("/proc/self/task")]
for _ in range(3):
    dtau.inverse_dynamics(model, q, v, a, threads=3)
    seen.append(os.listdir("/proc/self/task"))
print(json.dumps(seen))
"""


@pytest.mark.processes
@linux
def test_threads_wait_for_the_next_batch() -> None:
    before, *after = map(set, script(KEPT))
    assert [len(x - before) for x in after] == [2, 2, 2]
    assert after[0] == after[1] == after[2]


# Interruption


LONG = """
threads, how = int(sys.argv[1]), sys.argv[2]
_core.use_instruction_set(_core.instruction_sets()[-1])  # it takes longest
model, count = chain(30), 300_000 if how == "returns" else 3_000_000
q, v, a = np.random.default_rng(0).uniform(-1.0, 1.0, (3, model.nv))
spread = [np.broadcast_to(x, (count, model.nv)) for x in (q, v, a)]
want = dtau.inverse_dynamics(model, q, v, a)
out = np.zeros((count, model.nv))
seen = []

def handler(number, frame):
    seen.append(number)
    if how == "raises":
        raise TimeoutError("time is up")

signal.signal(signal.SIGINT, signal.default_int_handler if how == "ctrl-c" else handler)

def interrupt():  # as soon as some states are done
    while not out[::1000, 0].any():
        time.sleep(0.001)
    os.kill(os.getpid(), signal.SIGINT)

other = threading.Thread(target=interrupt)
other.start()
said = kind = None
try:
    dtau.inverse_dynamics(model, *spread, out=out, threads=threads)
except BaseException as error:
    kind, said = type(error).__name__, str(error)
other.join()
written = np.flatnonzero(out[:, 0])
right = bool((out[written] == want).all())
again = dtau.inverse_dynamics(model, *(x[:5000] for x in spread), threads=threads)
print(json.dumps({
    "kind": kind, "said": said, "seen": len(seen), "count": count,
    "written": len(written), "right": right, "again": bool((again == want).all()),
}))
"""


def check_stopped(result: Any) -> None:
    assert 0 < result["written"] < result["count"]
    assert result["right"], "a state that was written is wrong"
    assert result["again"], "a later batch is wrong"


@pytest.mark.processes
@posix
@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_ends_a_batch(threads: int) -> None:
    """KeyboardInterrupt says how many states are done, and as many rows of `out` are written."""
    result = script(LONG, threads, "ctrl-c")
    assert result["kind"] == "KeyboardInterrupt", result
    said = re.match(r"(\d+) of (\d+) states are done", result["said"])
    assert said, result["said"]
    assert int(said[1]) == result["written"]
    assert int(said[2]) == result["count"]
    has_words(result["said"], "out")
    check_stopped(result)


@pytest.mark.processes
@posix
@pytest.mark.parametrize("threads", [1, 2])
def test_an_exception_of_a_signal_handler_ends_a_batch(threads: int) -> None:
    result = script(LONG, threads, "raises")
    assert (result["kind"], result["said"]) == ("TimeoutError", "time is up")
    check_stopped(result)


@pytest.mark.processes
@posix
@pytest.mark.parametrize("threads", [1, 2])
def test_a_signal_handler_that_returns_changes_nothing(threads: int) -> None:
    """It runs, and the batch goes on to its end."""
    result = script(LONG, threads, "returns")
    assert result["kind"] is None, result
    assert result["seen"] == 1
    assert result["written"] == result["count"]
    assert result["right"]
    assert result["again"]
