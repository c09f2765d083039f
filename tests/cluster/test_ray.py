"""The example on Ray, on two processes: bits, deaths, memory, threads."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sweeps import MODEL, TRIES, assert_same, chunks, growth, plain, states, thread_meter

import dtau

pytestmark = pytest.mark.cluster


def processes(actors: Any) -> list[int]:
    import ray

    found: list[int] = ray.get([a.__ray_call__.remote(lambda _: os.getpid()) for a in actors])
    return found


@pytest.mark.parametrize("chunk", [1000, 2250, 10000])
def test_the_bits_are_those_of_one_process(
    actors: Any, examples: Any, tmp_path: Path, chunk: int
) -> None:
    sweep, count = examples("sweep"), 5000
    out = tmp_path / "norms"
    summary = examples("sweep_ray").run(actors, count, chunk, str(out))
    assert_same(sweep, summary, out, plain(sweep, count))


def test_a_killed_actor_loses_nothing(actors: Any, examples: Any, tmp_path: Path) -> None:
    sweep, count, chunk = examples("sweep"), 100_000, 2500
    out, found = tmp_path / "norms", []
    before = processes(actors)

    def run() -> None:
        found.append(examples("sweep_ray").run(actors, count, chunk, str(out)))

    thread = threading.Thread(target=run)
    thread.start()
    while not chunks(out):
        time.sleep(0.005)
        assert thread.is_alive()
    os.kill(before[0], signal.SIGKILL)
    assert chunks(out) < count // chunk
    thread.join(300)
    assert_same(sweep, found[0], out, plain(sweep, count))
    after = processes(actors)
    assert after[0] != before[0]  # another one has come in its place
    assert after[1] == before[1]


def test_an_actor_computes_on_one_thread(actors: Any, examples: Any) -> None:
    """Also in products of matrices; two threads, asked for, are seen."""
    import ray

    sweep, meter = examples("sweep"), thread_meter()
    blocks = np.arange(40)
    q, v, tau = states(sweep, blocks)
    square = np.ones((1000, 1000))

    def chunk(self: Any) -> float:
        return meter(sweep.norms, self.model, blocks)

    def product(self: Any) -> float:
        return meter(np.matmul, square, square)

    def two(self: Any) -> float:
        derivatives = dtau.forward_dynamics_derivatives
        return meter(derivatives, self.model, q, v, tau, threads=2)

    for actor in actors:
        assert any(ray.get(actor.__ray_call__.remote(chunk)) < 0.1 for _ in range(TRIES))
        assert any(ray.get(actor.__ray_call__.remote(product)) < 0.1 for _ in range(TRIES))
        assert any(ray.get(actor.__ray_call__.remote(two)) > 0.2 for _ in range(TRIES))


def test_memory_of_the_parent_and_the_bar(
    actors: Any,
    examples: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The states of the second sweep take 44 MB, their derivatives 780 MB."""
    run = examples("sweep_ray").run
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    run(actors, 2500, 250, str(tmp_path / "small"))
    assert "100%" in capsys.readouterr().err
    with growth() as most:
        run(actors, 100_000, 10_000, str(tmp_path / "large"))
    assert most[0] < 20


def test_the_script(
    actors: Any,
    examples: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """On the cluster that runs; with the robot that the actors hold."""
    sweep_ray, out = examples("sweep_ray"), str(tmp_path / "norms")
    options = ["--states", "2500", "--chunk", "1000", "--out", out]
    monkeypatch.setattr(sys, "argv", ["sweep_ray.py", *options])
    monkeypatch.setattr(sweep_ray, "cluster", lambda *_: contextlib.nullcontext())
    monkeypatch.setattr(sweep_ray, "sweepers", lambda _: actors)
    monkeypatch.setattr(examples("sweep"), "robot", lambda: MODEL)
    with pytest.raises(SystemExit) as end:
        sweep_ray.main()
    assert end.value.code == 0
    printed = capsys.readouterr().out
    assert ": 2500 states in" in printed
    assert "the numbers of their states: the same" in printed
