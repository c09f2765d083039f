"""Generation that takes long: interruption, other threads, and signal handlers."""

from __future__ import annotations

import os
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cases import robot
from messages import has_words
from processes import script

import dtau
from dtau.codegen.recorder import load_recorder

pytestmark = pytest.mark.processes

posix = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs POSIX")

# A call into the core is interrupted some time after it begins: at its end would be too late. Times
# are the processor's, which other programs do not change.
INTERRUPTED = """
import tempfile
from dtau.codegen.recorder import load_recorder
from dtau.codegen.recording import record, recording
from dtau.codegen.requests import requests
how = sys.argv[1]
recorder = load_recorder()
model, folder = chain(26), tempfile.mkdtemp()
long = chain(1600 if how == "contacts" else 2)  # whose points move with as many sets of joints
(request,) = requests(model, "forward_dynamics_second_derivatives", ())
where, name, work = {
    "recording": (recorder.functions, request.function,
                  lambda: record(model, request, "r_", single=False)),
    "writing": (recorder, "write", lambda: record(model, request, "r_", single=False)),
    "adjoints": (recorder, "take_adjoints", lambda: sweep()),
    "contacts": (_core, "Contacts", lambda: dtau.Contacts(
        long, [dtau.PointContact(f"j{k}") for k in range(len(long.bodies))])),
}[how]

def sweep():
    "One sweep back through many operations."
    with recording():
        arrays = {k: None if x is None else np.zeros(x.shape) for k, x in request.inputs.items()}
        for name in ("q", "v", "tau"):
            recorder.take_inputs(arrays[name])
        found = request.call(recorder.functions, model, arrays)
        outputs = np.concatenate([x.reshape(-1) for x in found])
        recorder.take_adjoints(outputs, np.ones(outputs.size), arrays["q"], np.zeros(model.nv))

original, ended, begun = getattr(where, name), [], []
def call(*arguments, **options):
    begun.append(time.process_time())
    if armed:
        signal.setitimer(signal.ITIMER_PROF, armed)
    result = original(*arguments, **options)
    ended.append(time.process_time() - begun[-1])
    return result
setattr(where, name, call)

armed = 0.0
work()
(seconds,) = ended
class Stop(Exception):
    pass
def handler(number, frame):
    raise Stop
signal.signal(signal.SIGPROF, handler)
armed, stops = seconds / 4, []
for _ in range(3):  # a virtual machine that stalls counts the time as the process's
    try:
        work()
    except Stop:
        stops.append(time.process_time() - begun[-1])
armed, stopped = 0.0, min(stops, default=False)
inside = len(ended) == 1
want = dtau.generate(dtau.robots.quadruped(), "gravity_torque", folder + "/b.c").operations
print(json.dumps([seconds, stopped, inside, list(want.values()) != [0]]))
"""


@posix
@pytest.mark.parametrize("how", ["recording", "writing", "adjoints", "contacts"])
def test_a_signal_ends_a_generation(how: str) -> None:
    seconds, stopped, inside, again = script(INTERRUPTED, how)
    assert again
    if seconds > 0.2:  # else it is as well at its end
        assert inside, "it went on to its end"
        assert stopped < seconds / 4 + 0.2


@pytest.mark.parametrize("what", ["recording", "writing"])
def test_other_threads_run_while_code_is_generated(
    what: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A Python thread counts, while this one gives the lock up in the core alone."""
    ticks, during, stop, counting = 0, [], threading.Event(), threading.Event()

    def count() -> None:
        nonlocal ticks
        while not stop.is_set():
            time.sleep(0.001)
            ticks += 1
            counting.set()

    recorder = load_recorder()
    where, name = (
        (recorder, "write")
        if what == "writing"
        else (recorder.functions, "inverse_dynamics_second_derivatives")
    )
    original = getattr(where, name)

    def call(*arguments: Any, **options: Any) -> Any:
        interval = sys.getswitchinterval()
        sys.setswitchinterval(1e6)  # so that no thread is made to give the lock up
        try:
            for _ in range(200):  # a busy machine may leave the counter waiting for a while
                before = ticks
                result = original(*arguments, **options)
                during.append(ticks - before)
                if during[-1] > 0:
                    break
            return result
        finally:
            sys.setswitchinterval(interval)

    monkeypatch.setattr(where, name, call)
    counter = threading.Thread(target=count)
    counter.start()
    counting.wait()
    try:
        dtau.generate(
            robot("quadruped"), "inverse_dynamics_second_derivatives", tmp_path / "robot.c"
        )
    finally:
        stop.set()
        counter.join()
    assert any(during)


def test_threads_generate_at_once(tmp_path: Path) -> None:
    names = ["quadruped", "one free", "one spherical", "joints that mimic others"]
    functions = ["inverse_dynamics_derivatives", "forward_dynamics", "mass_matrix"]

    def text(name: str, folder: str) -> str:
        (tmp_path / folder).mkdir(exist_ok=True)
        path = tmp_path / folder / f"{name.replace(' ', '_')}.c"
        dtau.generate(robot(name), functions, path)
        return path.read_text()

    want = {name: text(name, "alone") for name in names}
    start = threading.Barrier(len(names))

    def work(name: str) -> list[str]:
        start.wait(timeout=300)
        return [text(name, f"together {name} {k}") for k in range(5)]

    with ThreadPoolExecutor(len(names)) as pool:
        for name, found in zip(names, pool.map(work, names), strict=True):
            assert found == [want[name]] * 5


NESTED = """
import tempfile
folder = tempfile.mkdtemp()
model, other = chain(16), dtau.robots.quadruped()

def text(model, name, functions):
    os.makedirs(f"{folder}/{name}")
    dtau.generate(model, functions, f"{folder}/{name}/robot.c")
    with open(f"{folder}/{name}/robot.c") as file:
        return file.read()

second = "forward_dynamics_second_derivatives"
want = [text(model, "a", second), text(other, "b", "forward_dynamics_derivatives")]
found = []

def handler(number, frame):
    signal.setitimer(signal.ITIMER_REAL, 0.0)
    found.append(text(other, str(len(found)), "forward_dynamics_derivatives"))
    signal.setitimer(signal.ITIMER_REAL, 0.03)

signal.signal(signal.SIGALRM, handler)
signal.setitimer(signal.ITIMER_REAL, 0.03)
outer = []
while len(found) < 8:
    outer.append(text(model, f"outer {len(outer)}", second) == want[0])
signal.setitimer(signal.ITIMER_REAL, 0.0)
print(json.dumps([all(outer), found == [want[1]] * len(found)]))
"""


@posix
def test_a_signal_handler_generates_during_a_generation() -> None:
    """On a tape of its own, while the recording that it came into goes on with its own."""
    assert script(NESTED) == [True, True]


def test_a_recording_ends_those_that_were_left(tmp_path: Path) -> None:
    """A tape that nobody ended, as of an exception between two lines, is no other one's."""
    recorder = load_recorder()
    before = recorder.tapes()
    recorder.start()
    dtau.generate(robot("one free"), "gravity_torque", tmp_path / "robot.c")
    assert recorder.tapes() == before + 1
    recorder.end(before)
    assert recorder.tapes() == before
    with pytest.raises(RuntimeError) as raised:
        recorder.product(np.ones(1), np.ones(1), 1, np.zeros(1))
    has_words(str(raised.value), "expected a tape", "begin")
