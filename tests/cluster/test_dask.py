"""The examples on Dask, on two processes: bits, deaths, memory, threads."""

from __future__ import annotations

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


@pytest.fixture
def held(client: Any, examples: Any) -> str:
    name: str = examples("dask_cluster").hold(client, MODEL)
    return name


@pytest.mark.parametrize("chunk", [1000, 2250, 10000])
def test_the_bits_are_those_of_one_process(
    client: Any, held: str, examples: Any, tmp_path: Path, chunk: int
) -> None:
    sweep, count = examples("sweep"), 5000
    out = tmp_path / "norms"
    summary = examples("sweep_dask").run(client, held, count, chunk, str(out))
    assert_same(sweep, summary, out, plain(sweep, count))


def test_a_chunk_is_computed_once(
    client: Any, held: str, examples: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep, noted, real = examples("sweep"), tmp_path / "noted", examples("sweep").norms

    def noting(model: dtau.Model, blocks: np.ndarray) -> np.ndarray:
        with noted.open("a") as file:
            file.write(f"{len(blocks)}\n")
        return real(model, blocks)

    monkeypatch.setattr(sweep, "norms", noting)
    examples("sweep_dask").run(client, held, 5000, 1000, str(tmp_path / "norms"))
    assert noted.read_text().split() == 5 * ["4"]


def test_a_killed_worker_loses_nothing(
    client: Any, held: str, examples: Any, tmp_path: Path
) -> None:
    sweep, count, chunk = examples("sweep"), 100_000, 2500
    out, found = tmp_path / "norms", []
    workers = client.run(os.getpid)

    def run() -> None:
        found.append(examples("sweep_dask").run(client, held, count, chunk, str(out)))

    thread = threading.Thread(target=run)
    thread.start()
    while not chunks(out):
        time.sleep(0.005)
        assert thread.is_alive()
    os.kill(min(workers.values()), signal.SIGKILL)
    assert chunks(out) < count // chunk
    thread.join(300)
    assert_same(sweep, found[0], out, plain(sweep, count))
    client.wait_for_workers(2, timeout=300)  # another one has come in its place
    assert min(workers.values()) not in client.run(os.getpid).values()


def test_what_is_held_is_unpickled_once_a_worker(
    client: Any, examples: Any, tmp_path: Path
) -> None:
    cluster = examples("dask_cluster")
    name = cluster.hold(client, Noting(tmp_path))
    x = cluster.mapped(Noting.add, name, 40, 2, (1,))
    assert x.sum().compute() == 40 + np.arange(40).sum()
    noted = [int(line) for line in (tmp_path / "noted").read_text().split()]
    for pid in client.run(os.getpid).values():
        assert noted.count(pid) == 1


class Noting:
    """An object that writes down in which process it is unpickled."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.folder = state["folder"]
        with (self.folder / "noted").open("a") as file:
            file.write(f"{os.getpid()}\n")

    def add(self, chunk: np.ndarray) -> np.ndarray:
        return chunk + 1


def test_a_worker_computes_on_one_thread(client: Any, examples: Any) -> None:
    """Also in products of matrices; two threads, asked for, are seen."""
    sweep = examples("sweep")
    blocks = np.arange(40)
    q, v, tau = states(sweep, blocks)
    derivatives, square = dtau.forward_dynamics_derivatives, np.ones((1000, 1000))
    meter = thread_meter()
    for worker in client.run(os.getpid):

        def on_worker(*arguments: Any, worker: str = worker, **options: Any) -> Any:
            here = {"workers": [worker], "pure": False}
            return client.submit(meter, *arguments, **here, **options).result()

        assert any(on_worker(sweep.norms, MODEL, blocks) < 0.1 for _ in range(TRIES))
        assert any(on_worker(np.matmul, square, square) < 0.1 for _ in range(TRIES))
        assert any(on_worker(derivatives, MODEL, q, v, tau, threads=2) > 0.2 for _ in range(TRIES))


def test_workers_are_not_watched_all_the_time(client: Any) -> None:
    def settings() -> list[object]:
        import dask

        names = ("distributed.worker.profile.enabled", "distributed.admin.tick.interval")
        return [dask.config.get(name) for name in names]

    assert list(client.run(settings).values()) == [[False, "1s"]] * 2


def test_memory_of_the_parent_and_the_bar(
    client: Any,
    held: str,
    examples: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The states of the second sweep take 44 MB, their derivatives 780 MB."""
    run = examples("sweep_dask").run
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    run(client, held, 2500, 250, str(tmp_path / "small"))
    assert "100% Completed" in capsys.readouterr().out
    with growth() as most:
        run(client, held, 100_000, 10_000, str(tmp_path / "large"))
    assert most[0] < 20


def test_the_script(
    client: Any,
    examples: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    address, out = client.scheduler.address, str(tmp_path / "norms")
    options = ["--states", "2500", "--chunk", "1000", "--address", address, "--out", out]
    monkeypatch.setattr(sys, "argv", ["sweep_dask.py", *options])
    with pytest.raises(SystemExit) as end:
        examples("sweep_dask").main()
    assert end.value.code == 0
    printed = capsys.readouterr().out
    assert ": 2500 states in" in printed
    assert "the numbers of their states: the same" in printed


def test_flights_have_the_bits_of_one_process(
    client: Any, examples: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    zarr = pytest.importorskip("zarr")
    monte_carlo, out = examples("monte_carlo_lqr"), str(tmp_path / "flights")
    flights = monte_carlo.run(client, 40, 20, out)
    rows = monte_carlo.rows(np.arange(2), 20)
    assert np.array_equal(zarr.open_array(out, mode="r")[:], rows)
    assert np.array_equal(
        np.column_stack([flights.start, flights.settled, flights.thrust]), rows[:, :3]
    )
    over_time = np.quantile(rows[:, 3:], monte_carlo.QUANTILES, axis=0)
    assert np.array_equal(np.hstack([flights.attitude, flights.distance]), over_time)
    assert monte_carlo.report(flights, 1.0)
    assert "held at the end:       40 of 40" in capsys.readouterr().out
