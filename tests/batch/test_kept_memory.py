"""Memory of results that are gone, kept for new ones: nothing of it is seen; it is bounded."""

from __future__ import annotations

import copy
import ctypes
import os
import pickle
import sys
import threading
import tracemalloc
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from cases import NEAR, State, random_state, robot
from compare import assert_same_results
from function import Function
from functions import function_named
from messages import has_words, message
from processes import process, script
from selection import EACH
from trees import Array

import dtau

try:
    from numpy._core.multiarray import get_handler_name
except ImportError:  # NumPy 1
    from numpy.core.multiarray import get_handler_name  # type: ignore[no-redef]

MODEL = robot(NEAR)
LARGE = 300_000  # bytes of results that take kept memory

posix = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs POSIX")
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux")


@pytest.fixture(autouse=True)
def keeping() -> Iterator[None]:
    """Nothing is kept yet, and so much can be."""
    before = dtau.set_result_cache_limit(0)
    dtau.set_result_cache_limit(64 << 20)
    yield
    dtau.set_result_cache_limit(before)


def large_state(function: Function, seed: int) -> State:
    """As many states as have such results."""
    numbers = sum(int(np.prod(shape)) for shape in function.shapes(MODEL))
    return random_state(MODEL, seed, (LARGE // (8 * numbers) + 1,))


DERIVATIVES = function_named("inverse_dynamics_derivatives")


def derivatives(seed: int = 0) -> tuple[Array, ...]:
    return DERIVATIVES(MODEL, large_state(DERIVATIVES, seed))


def addresses(results: tuple[Array, ...]) -> set[int]:
    return {x.ctypes.data for x in results}


# What the caller sees


@pytest.mark.parametrize("function", EACH, ids=str)
def test_earlier_results_never_show_in_new_ones(function: Function) -> None:
    state, other = large_state(function, 1), large_state(function, 2)
    limit = dtau.set_result_cache_limit(0)
    want = function(MODEL, state)
    dtau.set_result_cache_limit(limit)
    for hostile in (np.nan, np.inf, 7.5):
        gone = function(MODEL, other)
        before = addresses(gone)
        for x in gone:
            x.fill(hostile)
        del gone, x
        got = function(MODEL, state)
        assert any(x.nbytes < 4096 for x in got) or addresses(got) == before
        assert_same_results(got, want, f"over {hostile}, result")


def test_results_are_ordinary_arrays() -> None:
    for x in derivatives():
        assert get_handler_name(x) == "dtau"
        assert type(x) is np.ndarray
        assert x.base is None
        assert x.flags.owndata
        assert x.flags.writeable
        assert x.flags.c_contiguous
        for y in (x.copy(), x + 1.0, pickle.loads(pickle.dumps(x)), copy.deepcopy(x)):
            assert get_handler_name(y) != "dtau"


def test_results_can_be_resized() -> None:
    for x in derivatives():
        want = x.ravel().copy()
        size = want.size
        for wanted in (2 * size, 3, size, 100 * size, 0, size):
            x.resize(wanted, refcheck=False)
            want = np.concatenate([want, np.zeros(max(0, wanted - want.size))])[:wanted]
            np.testing.assert_array_equal(x, want)


def test_results_that_grow_leave_their_memory_to_others() -> None:
    results = derivatives()
    left = addresses(results)
    for x in results:
        x.resize(2 * x.size, refcheck=False)
    assert addresses(derivatives()) == left


def test_other_arrays_have_memory_of_their_own() -> None:
    derivatives()
    assert get_handler_name() == "default_allocator"
    assert get_handler_name(np.empty(LARGE)) == "default_allocator"


def test_small_results_have_memory_as_ever() -> None:
    small = dtau.mass_matrix(MODEL, dtau.neutral(MODEL))
    assert get_handler_name(small) == "default_allocator"


def test_views_set_result_cache_limit() -> None:
    """A block is free when the last view of its array is gone."""
    first, *_ = derivatives()
    view, want = first[3:], first[3:].copy()
    del first, _
    for seed in range(1, 5):
        derivatives(seed)
    np.testing.assert_array_equal(view, want)


OTHER_MEMORY = """
import ctypes
from numpy._core._multiarray_umath import _ARRAY_API
from numpy._core.multiarray import get_handler_name

python = ctypes.pythonapi
python.PyCapsule_GetPointer.restype = ctypes.c_void_p
python.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
python.PyCapsule_New.restype = ctypes.py_object
python.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
table = ctypes.cast(python.PyCapsule_GetPointer(_ARRAY_API, None), ctypes.POINTER(ctypes.c_void_p))
set_handler = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(table[304])
get_handler = ctypes.PYFUNCTYPE(ctypes.py_object)(table[305])

name, memory = b"mem_handler", get_handler()
usual = ctypes.string_at(python.PyCapsule_GetPointer(memory, name), 168)
other = ctypes.create_string_buffer(usual)
other[:9] = b"programs\\0"
set_handler(python.PyCapsule_New(ctypes.addressof(other), name, None))
model = dtau.robots.quadruped()
q, v, a = dtau.random_state(model, np.random.default_rng(0), shape=(3000,))
mine = dtau.inverse_dynamics(model, q, v, a)
set_handler(memory)
kept = dtau.inverse_dynamics(model, q, v, a)
print(json.dumps([get_handler_name(mine), get_handler_name(kept), bool((mine == kept).all())]))
del mine
"""


@pytest.mark.skipif(np.__version__.startswith("1."), reason="names of NumPy 2")
def test_the_memory_handler_of_the_program_is_used() -> None:
    assert ctypes.sizeof(ctypes.c_void_p) == 8
    assert script(OTHER_MEMORY) == ["programs", "dtau", True]


def test_tracemalloc_counts_no_kept_memory() -> None:
    """To tracemalloc, results that are gone are gone."""
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        results = derivatives()
        there, _ = tracemalloc.get_traced_memory()
        size = sum(x.nbytes for x in results)
        del results
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert there - before >= size
    assert after - before < 0.1 * size


# Limits


def test_results_beyond_the_limit_are_given_back() -> None:
    """So many results fit, and the others are given back."""
    results = [derivatives(seed) for seed in range(8)]
    size = sum(x.nbytes for x in results[0])
    dtau.set_result_cache_limit(7 * size // 2)
    gone = [addresses(x) for x in results]
    while results:
        results.pop(0)
    again = [derivatives(seed) for seed in range(8)]
    kept = set().union(*map(addresses, again[:3]))
    assert kept <= set().union(*gone)
    assert kept == set().union(*gone[-3:]), "those that went last"


def test_a_lower_limit_gives_back() -> None:
    results = derivatives()
    size = sum(x.nbytes for x in results)
    del results
    assert dtau.set_result_cache_limit(size // 2) == 64 << 20
    assert dtau.set_result_cache_limit(0) == size // 2
    assert dtau.set_result_cache_limit(5) == 0


def test_small_results_leave_large_memory_to_others() -> None:
    state = large_state(DERIVATIVES, 0)
    gone = addresses(DERIVATIVES(MODEL, state))
    few = {name: x[: len(x) // 4] for name, x in state.items()}
    assert not addresses(DERIVATIVES(MODEL, few)) & gone
    assert addresses(DERIVATIVES(MODEL, state)) == gone


def test_a_result_that_fills_a_block_takes_it_again() -> None:
    q = random_state(MODEL, 0, (8184,))["q"]  # 64 KiB, with the 64 bytes before each block
    gone = dtau.potential_energy(MODEL, q).ctypes.data
    assert dtau.potential_energy(MODEL, q).ctypes.data == gone


def test_a_limit_of_zero_keeps_nothing() -> None:
    dtau.set_result_cache_limit(0)
    assert {get_handler_name(x) for x in derivatives()} == {"default_allocator"}


def test_results_larger_than_the_limit() -> None:
    dtau.set_result_cache_limit(LARGE // 10)
    want = [x.copy() for x in derivatives()]
    assert_same_results(derivatives(), tuple(want))


@pytest.mark.parametrize("bad", [-1, 2**63, 1.5, True, "1", None])
def test_a_limit_that_is_none(bad: object) -> None:
    said = message((TypeError, ValueError), dtau.set_result_cache_limit, bad)
    has_words(said, "limit", "integer", bad)


RESIDENT = """
def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")

model = dtau.robots.quadruped()
limit = int(sys.argv[1])
dtau.set_result_cache_limit(limit)
rng = np.random.default_rng(0)
states = dtau.random_state(model, rng, shape=(4000,))
dtau.inverse_dynamics_derivatives(model, *(x[:10] for x in states))
before = resident()
for _ in range(60):  # of all sizes, some MB to 31 MB a call
    count = int(rng.integers(500, 4000))
    held = [dtau.inverse_dynamics_derivatives(model, *(x[:count] for x in states))
            for _ in range(int(rng.integers(1, 4)))]
held = None
kept = resident() - before
dtau.set_result_cache_limit(0)
print(json.dumps([kept, resident() - before]))
"""


@pytest.mark.processes
@linux
@pytest.mark.parametrize("limit", [0, 20_000_000, 60_000_000])
def test_kept_memory_of_the_process_is_limited(limit: int) -> None:
    kept, nothing_kept = script(RESIDENT, limit)
    few = 8_000_000
    assert kept < limit + few
    assert nothing_kept < few
    assert kept > 0.3 * limit


NEEDED = """
import resource
model = dtau.robots.quadruped()
q, v, a = dtau.random_state(model, np.random.default_rng(0), shape=(16_000,))
dtau.set_result_cache_limit(1 << 30)
dtau.inverse_dynamics_derivatives(model, q, v, a)  # leaves 124 MB
def used():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used() + (60 << 20), resource.RLIM_INFINITY))
matrix = dtau.linearize(model, q[:9000], v[:9000], a[:9000]).A
print(json.dumps(matrix.nbytes))
"""


@linux
@pytest.mark.skipif("asan" in os.environ.get("LD_PRELOAD", ""), reason="needs much address space")
def test_kept_memory_is_given_back_when_it_is_needed() -> None:
    assert script(NEEDED) > 60 << 20


# The environment


SAY = """
model = dtau.robots.quadruped()
print(json.dumps(dtau.set_result_cache_limit(0)))
"""


def run_with(value: str | None) -> tuple[int, str, str]:
    """The program above, where the variable has this value."""
    done = process(SAY, DTAU_RESULT_CACHE_LIMIT=value)
    return done.returncode, done.stdout.strip(), done.stderr


@pytest.mark.processes
def test_the_environment_sets_the_limit() -> None:
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGESIZE")
    usual = str(min(256 << 20, memory // 16))
    for value, want in (("0", "0"), ("12345", "12345"), ("", usual), (None, usual)):
        assert run_with(value)[:2] == (0, want)


@pytest.mark.processes
@pytest.mark.parametrize("value", ["much", "-1", "1e6", "64M"])
def test_the_environment_sets_no_limit(value: str) -> None:
    code, _, said = run_with(value)
    assert code != 0
    has_words(said, "ImportError", "DTAU_RESULT_CACHE_LIMIT", "bytes", value)


def test_the_former_variable_names_the_new_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DTAU_KEPT_MEMORY", "0")
    code, _, said = run_with("0")
    assert code != 0
    has_words(said, "ImportError", "DTAU_KEPT_MEMORY", "DTAU_RESULT_CACHE_LIMIT")


# Threads and forks


def test_results_never_show_in_other_threads() -> None:
    """Each writes into all of its results and drops them there or elsewhere."""
    state = large_state(DERIVATIVES, 3)
    want = [x.copy() for x in DERIVATIVES(MODEL, state)]
    handed: list[tuple[Array, ...]] = []
    start = threading.Barrier(4)

    def work(k: int) -> None:
        start.wait(timeout=300)
        for i in range(60):
            got = DERIVATIVES(MODEL, state, threads=1 + i % 2)
            assert_same_results(got, tuple(want), f"thread {k}, result")
            for x in got:
                x.fill(k)
            handed.append(got)
            assert all((x == k).all() for x in got)
            if i % 3:
                handed.pop(0)
        if k == 0:
            dtau.set_result_cache_limit(1_000_000)

    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(work, k) for k in range(4)]:
            done.result(timeout=300)


FORK = """
model = dtau.robots.quadruped()
states = dtau.random_state(model, np.random.default_rng(0), shape=(500,))
def run():
    return dtau.inverse_dynamics_derivatives(model, *states)
want = [x.copy() for x in run()]
def right(results):
    return all((x == y).all() for x, y in zip(results, want))
held, stop = run(), threading.Event()
def keep_busy():
    while not stop.is_set():
        run()
other = threading.Thread(target=keep_busy)
other.start()
codes = []
for _ in range(20):
    child = os.fork()
    if child == 0:
        good = right(held) and right(run()) and right(run())
        held[0].fill(0.0)
        held = None
        dtau.set_result_cache_limit(0)
        os._exit(0 if good and right(run()) else 1)
    run()[0].fill(np.nan)
    codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
stop.set()
other.join()
print(json.dumps([codes == [0] * 20, right(held), right(run())]))
"""


@pytest.mark.processes
@posix
def test_forked_processes_share_no_kept_memory() -> None:
    assert script(FORK) == [True] * 3
