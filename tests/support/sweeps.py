"""What the tests of all engines ask of a sweep over states."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dtau

psutil = pytest.importorskip("psutil")  # comes with Dask
MODEL = dtau.robots.quadruped()


def plain(sweep: Any, count: int) -> np.ndarray:
    """The norms, in this process."""
    found: np.ndarray = sweep.norms(MODEL, np.arange(count // sweep.BLOCK))
    return found


def states(sweep: Any, blocks: np.ndarray) -> list[np.ndarray]:
    """q, v and tau of some blocks, each in one array."""
    parts = [sweep.states(MODEL, int(block)) for block in blocks]
    return [np.concatenate(x) for x in zip(*parts, strict=True)]


def assert_same(sweep: Any, summary: Any, out: Path, want: np.ndarray) -> None:
    """Compare what was written and what was summarized, to the last bit."""
    zarr = pytest.importorskip("zarr")
    assert np.array_equal(zarr.open_array(str(out), mode="r")[:], want)
    for name, value in vars(sweep.Summary.of(want)).items():
        assert np.array_equal(getattr(summary, name), value), name


def chunks(out: Path) -> int:
    """How many chunks of an array have been written."""
    return sum(path.is_file() for path in out.glob("c/*/*"))


TRIES = 20  # of what other work on the machine, and the engine's own threads, can disturb


def thread_meter() -> Callable[..., float]:
    """A function for other processes: what threads that are not Python's do beside the caller's.

    It gives their processor time by the calling thread's, over some calls: threads of the core
    and of BLAS count, threads of the engine in Python do not. It is nested so that it goes there
    by value.
    """

    def measure(function: Callable[..., Any], *arguments: Any, **options: Any) -> float:
        def other() -> float:
            python = {thread.native_id for thread in threading.enumerate()}
            found = psutil.Process().threads()
            return float(sum(x.user_time + x.system_time for x in found if x.id not in python))

        before, own = other(), time.thread_time()
        for _ in range(5):
            function(*arguments, **options)
        own = time.thread_time() - own
        return (other() - before) / own

    return measure


@contextlib.contextmanager
def growth() -> Iterator[list[float]]:
    """A list that gets the megabytes by which this process has grown meanwhile, at the most."""
    me, ended, seen = psutil.Process(), threading.Event(), []
    before = me.memory_info().rss

    def watch() -> None:
        while not ended.wait(0.005):
            seen.append((me.memory_info().rss - before) / 1e6)

    watcher, most = threading.Thread(target=watch), list[float]()
    watcher.start()
    try:
        yield most
    finally:
        ended.set()
        watcher.join()
    most.append(max(seen))
