"""A sweep on Dask and on Ray beside plain calls in one process: what the engines cost and bring.

    python -m benchmarks cluster

The sweep is that of examples/sweep.py: states are made, derivatives computed and reduced. Plain
calls do nothing else, on one thread of a process of their own; the sweep hands chunks of the
states to workers of one thread, writes norms to Zarr and adds up the rest. Clusters are started
before, and hold the model. Two processes of plain calls tell what a machine's two cores can bring.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import multiprocessing
import tempfile
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, ProcessPoolExecutor
from functools import partial, reduce
from operator import add
from time import perf_counter
from typing import Any

import numpy as np

import dtau
from benchmarks.checks import UnavailableError, WrongResultError
from benchmarks.experiment import Claim, Experiment, Findings, Table, Watch
from benchmarks.harness import Spread, times
from benchmarks.optional import examples
from benchmarks.robots import known

# states and chunks, by quick; claims are about the last
SIZES = {False: ((100_000, 1000), (100_000, 10_000), (1_000_000, 100_000)), True: ((20_000, 2500),)}
NEEDED = {"Dask": ("dask", "distributed", "zarr"), "Ray": ("ray", "zarr", "tqdm")}
ROUNDS = {False: 5, True: 1}
MORE, FASTER = 0.10, 1.8  # what is asked for
Sweep = Callable[[int, int, str], Any]  # of states in chunks, to a folder; gives what is left


def run(quick: bool, watch: Watch) -> Findings:
    """Time plain calls, and both engines on one worker and on two."""
    model = known("hyq").model
    watch.expect(2 * ROUNDS[quick] * len(SIZES[quick]))
    rows: list[list[str]] = []
    claims, notes, data = [], [], {}
    for engine, opened in (("Dask", dask), ("Ray", ray)):
        if missing := [name for name in NEEDED[engine] if not importlib.util.find_spec(name)]:
            notes.append(f"{engine}: left out: there is no {missing[0]} (the extra dtau[cluster])")
            continue
        with examples(), opened(model) as sweeps:
            found = {
                size: timed(model, size, sweeps, ROUNDS[quick], watch) for size in SIZES[quick]
            }
        for (count, chunk), seconds in found.items():
            over = Spread.of(seconds["one"] / seconds["plain"])
            two = Spread.of(seconds["one"] / seconds["two"])
            apart = Spread.of(seconds["plain"] / seconds["plain, two"])
            each = float(np.median(1e6 * seconds["plain"] / count))
            size = [engine, f"{count}", f"{chunk}", f"{each:.2f}"]
            rows.append([*size, *times(over), *times(two), *times(apart)])
            data[f"{engine}, {count} in {chunk}"] = {k: list(x) for k, x in seconds.items()}
        if not quick:
            claims += claimed(engine, chunk, over.median, two.median, apart.median)
    if not rows:
        raise UnavailableError("; ".join(notes))
    header = ["engine", "states", "a chunk", "plain, µs a state"]
    header += ["one worker by plain", "quartiles", "two workers by one", "quartiles"]
    header += ["plain calls in two processes by one", "quartiles"]
    table = Table("The sweep over HyQ's states by plain calls", header, rows)
    return Findings(tables=[table], claims=claims, notes=notes, data=data)


def claimed(engine: str, chunk: int, over: float, two: float, apart: float) -> list[Claim]:
    """What is asked of an engine."""
    return [
        Claim(
            f"{engine}: more time than plain calls, at {chunk} states a chunk, one worker",
            f"below {100 * MORE:.0f} %",
            f"{100 * (over - 1):+.1f} %",
            over < 1 + MORE,
        ),
        Claim(
            f"{engine}: two workers by one",
            f"at least {FASTER:g}x",
            f"{two:.2f}x (plain calls in two processes: {apart:.2f}x)",
            two >= FASTER if apart >= FASTER else None,  # has the machine lent two processors?
        ),
    ]


@contextlib.contextmanager
def dask(model: dtau.Model) -> Iterator[dict[str, Sweep]]:
    """The sweep on Dask, on clusters of one worker and of two."""
    shared, sweep_dask = (importlib.import_module(x) for x in ("dask_cluster", "sweep_dask"))
    with shared.cluster(None, 1, []) as one, shared.cluster(None, 2, []) as two:
        holding = {"one": (one, shared.hold(one, model)), "two": (two, shared.hold(two, model))}
        yield {
            name: lambda *sizes, where=where: sweep_dask.run(*where, *sizes)
            for name, where in holding.items()
        }


@contextlib.contextmanager
def ray(model: dtau.Model) -> Iterator[dict[str, Sweep]]:
    """The sweep on Ray, with one actor and with two."""
    sweep_ray = importlib.import_module("sweep_ray")
    importlib.import_module("ray.cloudpickle").register_pickle_by_value(sweep_ray)
    with sweep_ray.cluster(None, 2):
        actors = sweep_ray.sweepers(model)
        yield {
            name: lambda *sizes, some=some: sweep_ray.run(some, *sizes)
            for name, some in (("one", actors[:1]), ("two", actors))
        }


def plain(model: dtau.Model, blocks: np.ndarray, each: int) -> tuple[Any, float]:
    """What the sweep leaves of some blocks of states, by plain calls, and the seconds they took."""
    sweep = importlib.import_module("sweep")
    start = perf_counter()
    parts = (
        sweep.Summary.of(sweep.norms(model, chunk), int(chunk[0]) * sweep.BLOCK)
        for chunk in np.split(blocks, range(each, len(blocks), each))
    )
    return reduce(add, parts), perf_counter() - start


def timed(
    model: dtau.Model, size: tuple[int, int], sweeps: Mapping[str, Sweep], rounds: int, watch: Watch
) -> dict[str, Any]:
    """Seconds of plain calls and of each sweep, one number a round, in turns.

    A first round, of which the results are compared and no time is kept, warms all up. Plain calls
    have processes to themselves: in this one Dask's scheduler takes its part.
    """
    blocks, each = (n // importlib.import_module("sweep").BLOCK for n in size)

    def timed_sweep(engine: Sweep) -> tuple[Any, float]:
        with tempfile.TemporaryDirectory() as folder:
            start = perf_counter()
            return engine(*size, folder), perf_counter() - start

    def timed_plain(others: Executor, processes: int) -> tuple[Any, float]:
        shares = np.array_split(np.arange(blocks), processes)
        running = [others.submit(plain, model, share, each) for share in shares]
        parts, seconds = zip(*(one.result() for one in running), strict=True)
        return reduce(add, parts), max(seconds)

    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as others:
        contenders: dict[str, Callable[[], tuple[Any, float]]] = {
            "plain": partial(timed_plain, others, 1),
            "plain, two": partial(timed_plain, others, 2),
            **{name: partial(timed_sweep, engine) for name, engine in sweeps.items()},
        }
        want, _ = contenders["plain"]()
        for name in contenders:
            got, _ = contenders[name]()
            if not all(np.array_equal(getattr(got, x), y) for x, y in vars(want).items()):
                raise WrongResultError(f"{name}: other bits than plain calls")
        seconds = {name: np.empty(rounds) for name in contenders}
        for i in range(rounds):
            for name in list(contenders) if i % 2 == 0 else reversed(contenders):
                _, seconds[name][i] = contenders[name]()
            watch.step()
    return seconds


EXPERIMENT = Experiment(
    name="cluster",
    title="Sweeps on Dask and Ray",
    source="examples/sweep_dask.py and sweep_ray.py beside plain calls in one process",
    run=run,
)
