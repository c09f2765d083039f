"""The interpreter's end, forks, importing again, memory limits, and calls that take long."""

from __future__ import annotations

import importlib.util
import os
import sys

import pytest
from core import INSTRUCTION_SETS
from messages import has_words
from processes import process, python, sanitized, script

pytestmark = pytest.mark.processes

posix = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs POSIX")
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux")


# The end of the interpreter


DAEMON = """
how, seconds = sys.argv[1], float(sys.argv[2])
model = chain(700) if how == "slow" else dtau.robots.quadruped()
q, v, a = spread(model, 1 if how in ("conversion", "slow") else 400_000)
running = threading.Event()

class Slow:  # an argument whose conversion runs Python code
    def __array__(self, dtype=None, copy=None):
        for _ in range(1000):
            running.set()
        return q[0]

def work():
    while True:
        if how == "conversion":
            dtau.inverse_dynamics(model, Slow(), v[0], a[0])
        elif how == "slow":
            running.set()
            dtau.mass_matrix_inverse(model, q[0])
        else:
            running.set()
            dtau.inverse_dynamics(model, q, v, a, threads=int(how))

threading.Thread(target=work, daemon=True).start()
running.wait()
time.sleep(seconds)
sys.exit(7)
"""


@pytest.mark.parametrize("how", ["1", "2", "conversion", "slow"])
def test_exit_while_a_daemon_thread_is_in_a_call(how: str) -> None:
    """The program's own status, and not a word, wherever the thread is when it ends."""
    for seconds in (0.0, 0.03, 0.06):
        done = process(DAEMON, how, seconds)
        assert (done.returncode, done.stdout, done.stderr) == (7, "", "")


WAITED_FOR = """
model = dtau.robots.quadruped()
q, v, a = spread(model, 400_000)
out = np.zeros((len(q), model.nv))

def work():
    dtau.inverse_dynamics(model, q, v, a, out=out, threads=2)
    want = dtau.inverse_dynamics(model, q[0], v[0], a[0])
    print(json.dumps(bool((out == want).all())))

threading.Thread(target=work).start()
"""


def test_exit_waits_for_other_threads() -> None:
    assert script(WAITED_FOR) is True


EXIT_OF_A_CHILD = """
model = dtau.robots.quadruped()
states = spread(model, 100_000)
stop = threading.Event()

def work():
    while not stop.is_set():
        dtau.inverse_dynamics(model, *states, threads=2)

other = threading.Thread(target=work)
other.start()
codes = []
for _ in range(3):
    time.sleep(0.02)
    child = os.fork()
    if child == 0:
        threading.Thread(target=work, daemon=True).start()
        time.sleep(0.02)
        sys.exit(5)
    codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
stop.set()
other.join()
print(json.dumps(codes))
"""


@posix
def test_a_child_exits_while_its_daemon_thread_is_in_a_call() -> None:
    assert script(EXIT_OF_A_CHILD) == [5] * 3


POOL = """
import multiprocessing

def work(seed):
    model = dtau.robots.quadruped()
    states = dtau.random_state(model, np.random.default_rng(seed), shape=(3000,))
    return dtau.inverse_dynamics(model, *states, threads=2).tobytes()

want = [work(seed) for seed in range(4)]
with multiprocessing.get_context("fork").Pool(2) as pool:
    print(json.dumps(pool.map(work, range(4)) == want))
"""


@posix
def test_models_are_sent_to_a_pool_of_processes() -> None:
    assert script(POOL) is True


# Importing again


FORGET = """
import gc
step, model = dtau.step, dtau.robots.quadruped()
q, v, a = dtau.random_state(model, np.random.default_rng(0))
want = step(model, q, v, a, 0.1)
kept = set(sys.argv[1:])
for name in [name for name in sys.modules if name.split(".")[0] == "dtau"]:
    if name not in kept:
        del sys.modules[name]
for name in ["dtau", "_core", "step"]:
    globals().pop(name, None)
gc.collect()
"""

AGAIN = """
import dtau
model = dtau.robots.quadruped()
got = dtau.step(model, q, v, a, 0.1)
wrenches = np.zeros((model.nbodies, 6))
more = dtau.inverse_dynamics_vjp(model, q, v, a, a, wrenches)
print(json.dumps([got.q.tobytes() == want.q.tobytes(), type(more).__name__, len(more)]))
"""

REFUSED = """
try:
    from dtau import {module}
except ImportError as error:
    said = str(error)
print(json.dumps(said))
"""


def test_the_package_is_deleted_and_imported_again() -> None:
    """The extension returns classes of `dtau.results` that nobody else keeps alive."""
    got = script(FORGET + AGAIN, "dtau._core")
    assert got == [True, "InverseDynamicsVJP", 3]


@pytest.mark.parametrize("module", ["_core", "_recorder"])
def test_an_extension_is_not_imported_twice(module: str) -> None:
    first = "from dtau import _recorder\ndel _recorder\n"
    kept = ["dtau._core"] if module == "_recorder" else []
    said = script(first + FORGET + REFUSED.format(module=module), *kept)
    has_words(said, f"dtau.{module}", "imported", "process")


SUB_INTERPRETER = """
import importlib
try:
    import _interpreters as interpreters  # since Python 3.13
except ImportError:
    import _xxsubinterpreters as interpreters
inner = interpreters.create()
code = '''
try:
    import dtau
except ImportError as error:
    said = str(error)
assert "sub-interpreter" in said and "process" in said, said
'''
failed = interpreters.run_string(inner, code)  # before 3.13 it raises
assert failed is None, failed
"""


@pytest.mark.skipif(
    importlib.util.find_spec("_interpreters") is None
    and importlib.util.find_spec("_xxsubinterpreters") is None,
    reason="this Python has no sub-interpreters",
)
@pytest.mark.parametrize("imported_before", [False, True])
def test_a_sub_interpreter_gets_import_error(imported_before: bool) -> None:
    """ImportError, where the first model hung; the main interpreter goes on."""
    use = "import dtau\nassert dtau.robots.quadruped().nv == 18\n"
    code = (use if imported_before else "") + SUB_INTERPRETER + use
    done = python(code)
    assert done.returncode == 0, done.stderr
    assert not done.stderr


# Memory


LIMITED = """
import resource
model = dtau.robots.quadruped()
q, v, a = spread(model, 20_000)
small = dtau.inverse_dynamics_derivatives(model, q[0], v[0], a[0])
def used():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * resource.getpagesize()
outcomes = set()
for megabytes in (0, 1, 3, 10, 30, 100, 300):
    resource.setrlimit(resource.RLIMIT_AS, (used() + (megabytes << 20), resource.RLIM_INFINITY))
    for count in (1, 100, 20_000):
        for name in ("inverse_dynamics_derivatives", "inverse_dynamics_second_derivatives",
                     "forward_dynamics_hessian", "linearize"):
            more = (a[:count],) if name.endswith("hessian") else ()
            try:
                getattr(dtau, name)(model, q[:count], v[:count], a[:count], *more, threads=3)
                outcomes.add("computed")
            except MemoryError:
                outcomes.add("refused")
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)
again = dtau.inverse_dynamics_derivatives(model, q[0], v[0], a[0])
same = all((x == y).all() for x, y in zip(small, again))
print(json.dumps([sorted(outcomes), bool(same)]))
"""


@linux
@pytest.mark.skipif(sanitized(), reason="the sanitizer needs much address space")
def test_a_limit_of_memory_raises_memory_error() -> None:
    """MemoryError wherever memory ends, and what fits is computed."""
    assert script(LIMITED) == [["computed", "refused"], True]


LEFT_OVER = """
import resource
model, outcomes = chain(1500), {}
q = dtau.neutral(model)
for which in sys.argv[1:]:
    _core.use_instruction_set(which)
    for count in (1, 2, 8, 11):  # alone, few, a group of lanes, a group and what is left
        given, v = np.zeros((count, 30, model.nv)), np.zeros(model.nv)
        for name, arguments in {
            "inverse_dynamics_time_derivatives": (np.zeros((count, 31, model.nv)),),
            "forward_dynamics_time_derivatives": (v, given),
        }.items():
            with open("/proc/self/statm") as file:
                used = int(file.read().split()[0]) * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_AS, (used + (1 << 20), resource.RLIM_INFINITY))
            try:
                getattr(dtau, name)(model, q, *arguments, order=29, threads=1)
                outcomes[f"{which} {count} {name}"] = "computed"
            except MemoryError:
                pass
            resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)
print(json.dumps(outcomes))
"""


@linux
@pytest.mark.skipif(sanitized(), reason="the sanitizer needs much address space")
def test_scratch_memory_that_is_not_to_be_had_raises_memory_error() -> None:
    """Also where groups of lanes and lone states are computed by different instruction sets."""
    assert script(LEFT_OVER, *INSTRUCTION_SETS) == {}


SCRATCH = """
model = chain(300)
q = dtau.neutral(model)
many = np.broadcast_to(np.zeros((101, model.nv)), (9000, 101, model.nv))
try:
    dtau.inverse_dynamics_time_derivatives(model, q, many, order=99, threads=1024)
except MemoryError as error:
    print(json.dumps(str(error)))
"""


@linux
def test_the_estimate_of_memory_counts_scratch() -> None:
    """The results of this call are small against the scratch memory of a thousand threads."""
    said = script(SCRATCH)
    has_words(said, "results", "scratch", "threads", "smaller", "fewer")
    numbers = [int(word) for word in said.replace(",", "").split() if word.isdigit()]
    results, threads, scratch, available = numbers
    assert results == 9000 * 100 * 300 * 8
    assert threads > 1
    assert scratch > results
    assert results + scratch > available


# Signals


NESTED = """
model = dtau.robots.quadruped()
state = spread(model, 1_500_000)
f_ext = np.ones((len(model.bodies), 6))

def torques(axes, rows=slice(None), **given):
    return dtau.inverse_dynamics(model, *(x[rows] for x in state), f_ext, f_ext_axes=axes, **given)

want, other = torques("body", 0), torques("world", 0)
seen = [bool((want != other).any())]

def handler(number, frame):  # the options of its calls are their own
    batch, lone = torques("world", slice(3000), threads=3), torques("world", 0)
    seen.append(bool((batch == other).all() and (lone == other).all()))

signal.signal(signal.SIGALRM, handler)
signal.setitimer(signal.ITIMER_REAL, 0.03, 0.03)
same = []
while len(same) < 100 and len(seen) < 3:  # a fast machine is done before the second signal
    out = torques("body", threads=int(sys.argv[1]))
    same.append(bool((out == want).all()))
signal.setitimer(signal.ITIMER_REAL, 0.0)
print(json.dumps([all(same), all(seen), len(seen) > 2]))
"""


@posix
@pytest.mark.parametrize("threads", [1, 2])
def test_a_signal_handler_calls_the_package(threads: int) -> None:
    assert script(NESTED, threads) == [True] * 3


SLOW = """
how = sys.argv[1]
model = chain(2000 if how == "alone" else 1200)  # takes far longer than the wait below
q = dtau.neutral(model)
q = q if how == "alone" else np.stack([q] * 3)
out = np.full(q.shape[:-1] + (model.nv,) * 2, np.nan)
want = dtau.mass_matrix_inverse(model, q)

begins = threading.Event()

def interrupt():
    begins.wait()
    time.sleep(0.02)
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=interrupt).start()
said = None
try:
    begins.set()
    dtau.mass_matrix_inverse(model, q, out=out)
except KeyboardInterrupt as error:
    said = str(error)
began_with = bool(np.isnan(out).any())
while how == "alone" and np.isnan(out).any():  # until its own thread is done
    time.sleep(0.05)
time.sleep(0.1)
small = dtau.mass_matrix_inverse(dtau.robots.quadruped(), dtau.neutral(dtau.robots.quadruped()))
print(json.dumps({"said": said, "interrupted": began_with,
                  "same": bool(how != "alone" or (out == want).all())}))
"""


@posix
@pytest.mark.parametrize("how", ["alone", "batch"])
def test_ctrl_c_ends_a_long_call_of_one_state(how: str) -> None:
    """The call returns at once, while the state is computed to its end and written to `out`."""
    result = script(SLOW, how)
    assert result["said"], result
    has_words(result["said"], "computes", "out")
    assert result["interrupted"]
    assert result["same"]


EXIT_AFTER = """
model = chain(2000)  # takes far longer than the wait below
q = dtau.neutral(model)
begins = threading.Event()
def interrupt():
    begins.wait()
    time.sleep(0.02)
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt).start()
try:
    begins.set()
    dtau.mass_matrix_inverse(model, q)
except KeyboardInterrupt:
    sys.exit(7)
"""


@posix
def test_exit_while_an_interrupted_state_is_still_computed() -> None:
    done = process(EXIT_AFTER)
    assert (done.returncode, done.stderr) == (7, "")
