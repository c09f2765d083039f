"""A million states of a quadruped through first derivatives, on Ray: actors that hold a model.

What is computed stands in sweep.py: norms of the derivatives of forward dynamics at random states.
Here each actor is a process with the model in it. It makes, reduces and writes one chunk after the
other to a Zarr array on disk, a chunk a file, and the parent adds up counts and largest numbers. An
actor that dies is started again, and its chunk is computed again, with the same bits.

    python examples/sweep_ray.py                          # HyQ, 10^6 states, an actor a core
    python examples/sweep_ray.py --states 10000 --chunk 2500       # the short form
    python examples/sweep_ray.py --address host:6379              # on a cluster that runs
    python examples/sweep_ray.py --plot sweep.png         # how the norms are spread (matplotlib)

It needs the extra `dtau[cluster]`; HyQ comes with example-robot-data, without which the package's
own quadruped is taken.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator, Sequence
from functools import reduce
from operator import add
from typing import Any

import cluster_options
import numpy as np
import program
import ray
import sweep
import zarr
from ray.util import ActorPool
from tqdm import tqdm

import dtau


class Sweeper:
    """A model in a process of its own."""

    def __init__(self, model: dtau.Model) -> None:
        self.model = model

    def chunk(self, array: zarr.Array, blocks: np.ndarray) -> sweep.Summary:
        """Compute the norms of some blocks of states, and keep them."""
        found = sweep.norms(self.model, blocks)
        return sweep.keep(array, found, int(blocks[0]) * sweep.BLOCK)


@contextlib.contextmanager
def cluster(address: str | None, workers: int | None) -> Iterator[None]:
    """The cluster at an address, or processes here, one a core; it gets sweep.py with its work."""
    for module in (program, cluster_options, sweep):
        ray.cloudpickle.register_pickle_by_value(module)
    if address is None:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # it would report to its makers
        ray.init("local", num_cpus=workers, include_dashboard=False, logging_level="warning")
    else:
        ray.init(address)
    try:
        yield
    finally:
        ray.shutdown()


def sweepers(model: dtau.Model) -> list[Any]:
    """An actor for every processor of the cluster, each with the model.

    An actor has one processor, and with it Ray keeps BLAS to one thread.
    """
    actor = ray.remote(num_cpus=1, max_restarts=-1, max_task_retries=-1)(Sweeper)
    return [actor.remote(model) for _ in range(int(ray.cluster_resources()["CPU"]))]


def run(actors: Sequence[Any], count: int, chunk: int, out: str) -> sweep.Summary:
    """Write all norms to the folder `out`, and summarize them; with a bar on a terminal."""
    array = sweep.create(out, count, chunk)
    blocks = np.arange(count // sweep.BLOCK)
    chunks = np.split(blocks, blocks[:: chunk // sweep.BLOCK][1:])
    found = ActorPool(actors).map_unordered(lambda actor, x: actor.chunk.remote(array, x), chunks)
    return reduce(add, tqdm(found, total=len(chunks), unit="chunk", disable=None))


def main() -> None:
    args = sweep.arguments(__doc__)
    model = sweep.robot()
    with cluster(args.address, args.workers):
        actors = sweepers(model)
        start = time.perf_counter()
        summary = run(actors, args.states, args.chunk, args.out)
        seconds = time.perf_counter() - start
    same = sweep.report(model, summary, seconds)
    if args.plot:
        sweep.plot(summary, args.plot)
    raise SystemExit(0 if same else 1)


if __name__ == "__main__":
    main()
