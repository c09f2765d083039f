"""What the examples on Dask share: a cluster, an object that every worker holds, a bar."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import dask.array as da
import numpy as np
from dask import config
from dask.base import tokenize
from dask.distributed import Client, LocalCluster, WorkerPlugin, get_worker, progress

# Dask looks at every worker's stack a hundred times a second, and fifty times a second whether
# processes answer: a few percent of each core (docs/clusters.md).
QUIET = {"distributed.worker.profile.enabled": False, "distributed.admin.tick.interval": "1s"}


class Held(WorkerPlugin):
    """An object on every worker, also on those that come later or in the place of dead ones.

    It is pickled once a worker. As an argument of the tasks it would be once a task.
    """

    def __init__(self, thing: object) -> None:
        self.thing = thing
        self.name = f"held-{tokenize(thing)}"


def hold(client: Client, thing: object) -> str:
    """Send an object to every worker; return the name that `mapped` wants for it."""
    held = Held(thing)
    client.register_plugin(held)
    return held.name


@contextlib.contextmanager
def cluster(
    address: str | None, workers: int | None, modules: Sequence[ModuleType]
) -> Iterator[Client]:
    """A client of the cluster at an address, or of processes here, one a core.

    A worker has one thread, and Dask keeps BLAS to one thread in it. Workers elsewhere
    get the modules, in this order; processes here find them where this one does.
    """
    with contextlib.ExitStack() as stack:
        if address is None:
            stack.enter_context(config.set(QUIET))
            local = LocalCluster(
                n_workers=workers, threads_per_worker=1, dashboard_address="127.0.0.1:0"
            )
            yield stack.enter_context(Client(stack.enter_context(local)))
        else:
            client = stack.enter_context(Client(address))
            for module in modules:
                client.upload_file(str(Path(module.__file__ or "")))
            yield client


def mapped(
    function: Callable[[Any, np.ndarray], np.ndarray],
    name: str,
    count: int,
    each: int,
    shape: Sequence[int],
) -> Any:
    """A Dask array of function(thing, numbers) for 0, 1, ... count - 1, so many numbers a chunk.

    The thing is held by the workers. For each number the result has so many along its first axis
    as the first number of `shape` says; the others are the lengths of its other axes. A chunk is
    one task, also with what is mapped over the array after that; from an array of numbers it would
    be two.
    """
    rows = tuple(shape[0] * min(each, count - first) for first in range(0, count, each))

    def run(name: str, block_id: tuple[int, ...]) -> np.ndarray:
        first = block_id[0] * each
        numbers = np.arange(first, min(first + each, count))
        return function(get_worker().plugins[name].thing, numbers)

    return da.map_blocks(
        run,
        name,  # the arrays of two objects are two arrays
        chunks=(rows, *((length,) for length in shape[1:])),
        meta=np.empty((0,) * len(shape)),
    )


def computed(client: Client, parts: Sequence[Any]) -> list[Any]:
    """The values of Dask's collections, computed together, with a bar on a terminal."""
    futures = client.compute(list(parts))
    if sys.stdout.isatty():
        progress(futures)
        print()
    return list(client.gather(futures))
