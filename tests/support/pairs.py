"""Pairs of calls, each pair in a new thread: `run_pairs`, for a process that may crash."""

from __future__ import annotations

import _thread
import json
import mmap
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from cases import NEAR, random_state, robot
from functions import FUNCTIONS
from selection import EACH

import dtau
from dtau.registry import arrays_of

BATCH = 9  # states: a group of lanes of every instruction set, and one more
ROBOTS = {"arm": dtau.robots.chain(7), "quadruped": dtau.robots.quadruped(), NEAR: robot(NEAR)}
Call = Callable[[], Any]


def calls_of(model: dtau.Model) -> dict[str, Call]:
    """Each function for one state, and in a batch with the options of its last row."""
    calls: dict[str, Call] = {}
    last = {function.name: function for function in FUNCTIONS}.values()
    for rows, states, shape in ((EACH, "one state", ()), (last, f"{BATCH} states", (BATCH,))):
        state = random_state(model, 1, shape)
        for function in rows:
            arrays = {name: state[name] for name in function.arguments}
            calls[f"{function}, {states}"] = partial(
                getattr(dtau, function.name), model, **arrays, **function.options_for(model)
            )
    return calls


def in_new_thread(*calls: Call) -> bytes:
    """The bytes of the last call's results. A new thread has no scratch memory yet."""
    results: list[bytes] = []
    ended = _thread.allocate_lock()  # threading.Thread takes longer than the calls
    ended.acquire()

    def compute() -> None:
        try:
            for call in calls:
                results[:] = [x.tobytes() for x in arrays_of(call())]
        finally:
            ended.release()

    _thread.start_new_thread(compute, ())
    ended.acquire()
    return b"".join(results)


def run_pairs(name: str, progress: str) -> None:
    """Print the pairs whose second call has other results than in a new thread.

    A file holds the pair at hand, for those who find this process dead.
    """
    calls = calls_of(ROBOTS[name])
    alone = {label: in_new_thread(call) for label, call in calls.items()}
    different = []
    with Path(progress).open("r+b") as file, mmap.mmap(file.fileno(), 0) as at:
        for first, call in calls.items():
            for second, other in calls.items():
                text = f"{first}; then {second}".encode()
                at[: len(text) + 1] = text + b"\0"
                if in_new_thread(call, other) != alone[second]:
                    different.append(text.decode())
    print(json.dumps([len(calls) ** 2, different]))
