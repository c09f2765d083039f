"""Forks while another thread holds a lock, generates, compiles or imports."""

from __future__ import annotations

import os
import shutil

import pytest
from processes import script

CC = shutil.which(os.environ.get("CC", "cc"))

pytestmark = [
    pytest.mark.processes,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs POSIX"),
]

# Runs the child's work in a process that is killed if it hangs.
FORKED = """
import tempfile, warnings
folder = tempfile.mkdtemp()
os.environ["XDG_CACHE_HOME"] = folder
model = dtau.robots.quadruped()

def generate(name):
    dtau.generate(model, ["gravity_torque", "inverse_dynamics"], f"{folder}/{name}/robot.c")
    return open(f"{folder}/{name}/robot.c").read()

def forked(work, seconds=120.0):
    "The status of a child that does this; None: it hangs."
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = 0 if work() else 2
        finally:
            os._exit(code)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.005)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None

for name in ("parent", "child", "other"):
    os.mkdir(f"{folder}/{name}")
"""

AMID_A_RECORDING = """
from dtau.codegen.recording import recording
inside, stop = threading.Event(), threading.Event()

def record():
    with recording():
        inside.set()
        stop.wait()

want = generate("parent")
other = threading.Thread(target=record)
other.start()
inside.wait()
status = forked(lambda: generate("child") == want)
stop.set()
other.join()
print(json.dumps(status))
"""


def test_fork_amid_a_recording() -> None:
    assert script(FORKED + AMID_A_RECORDING) == 0


AMID_GENERATION = """
want = generate("parent")
stop = threading.Event()

def work():
    while not stop.is_set():
        generate("other")

other = threading.Thread(target=work)
other.start()
found = []
for k in range(8):
    time.sleep(0.003 * k)
    found.append(forked(lambda: generate("child") == want))
stop.set()
other.join()
print(json.dumps(found))
"""


def test_fork_amid_generation() -> None:
    assert script(FORKED + AMID_GENERATION) == [0] * 8


AMID_THE_IMPORT = """
assert "dtau._recorder" not in sys.modules
inside = threading.Event()

class Slow:
    @staticmethod
    def find_spec(name, path, target=None):
        if name == "dtau._recorder":
            inside.set()
            time.sleep(0.3)

sys.meta_path.insert(0, Slow)
other = threading.Thread(target=generate, args=["other"])
other.start()
inside.wait()
status = forked(lambda: len(generate("child")) > 1000)
other.join()
print(json.dumps([status, generate("child") == open(f"{folder}/other/robot.c").read()]))
"""


def test_fork_amid_the_import_of_the_recorder() -> None:
    assert script(FORKED + AMID_THE_IMPORT) == [0, True]


AMID_COMPILATION = """
import atexit
started = f"{folder}/started"
with open(f"{folder}/cc", "w") as file:
    file.write('''#!/bin/sh
case "$*" in *--version*) exec CC "$@";; esac
: > STARTED
sleep 1
exec CC "$@"
'''.replace("CC", sys.argv[1]).replace("STARTED", started))
os.chmod(f"{folder}/cc", 0o755)
os.environ["CC"] = f"{folder}/cc"
small = chain(2)

def compile():
    fast = dtau.compile(small, "gravity_torque")
    q = np.array([0.3, -0.4])
    return bool(np.allclose(dtau.gravity_torque(fast, q), dtau.gravity_torque(small, q)))

def ends():  # as processes do, not by os._exit: nothing of the parent's is removed
    right = compile()
    atexit._run_exitfuncs()
    return right

found = []
other = threading.Thread(target=lambda: found.append(compile()))
other.start()
while not os.path.exists(started):
    time.sleep(0.01)
status = forked(ends)
other.join()
print(json.dumps([found, status, len(os.listdir(f"{folder}/dtau"))]))
"""


@pytest.mark.skipif(CC is None, reason="there is no C compiler")
def test_fork_amid_compilation() -> None:
    assert script(FORKED + AMID_COMPILATION, CC) == [[True], 0, 1]


LOCKS = """
import importlib, pkgutil

# Locks of each module of the package, where the libraries that it needs are there.
found = {}
for module in pkgutil.walk_packages(dtau.__path__, "dtau."):
    if module.name.split(".")[1] in ("__main__", "cli", "jax", "torch", "casadi"):
        continue
    try:
        imported = importlib.import_module(module.name)
    except ImportError:
        continue
    for name, value in vars(imported).items():
        if hasattr(value, "acquire") and hasattr(value, "release"):
            found[module.name, name] = imported
assert ("dtau.codegen.recorder", "_loading") in found

def free():
    "Whether this thread gets every lock; of each by its name, for a child may have new ones."
    return all(getattr(module, name).acquire(timeout=2.0) for (_, name), module in found.items())

statuses = {}
for (where, name), module in found.items():
    lock, held = getattr(module, name), threading.Event()

    def hold():
        with lock:
            held.set()
            time.sleep(0.2)

    other = threading.Thread(target=hold)
    other.start()
    held.wait()
    statuses[f"{where}.{name}"] = forked(free)
    other.join()
print(json.dumps(statuses))
"""


def test_fork_while_a_lock_of_the_package_is_held() -> None:
    """Every lock of every module is open in the child, whatever opens it."""
    statuses = script(FORKED + LOCKS)
    assert statuses
    assert set(statuses.values()) == {0}, statuses


IMPORTS = """
from dtau.codegen.recorder import load_recorder
load_recorder()
before = set(sys.modules)
generate("parent")
print(json.dumps(sorted(set(sys.modules) - before)))
"""


def test_generation_imports_nothing_besides_the_recorder() -> None:
    """Forks wait for the recorder's import; of any other, a child might wait forever."""
    assert script(FORKED + IMPORTS) == []
