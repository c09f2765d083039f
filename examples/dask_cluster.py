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
from dask.base import tokenize
from dask.distributed import Client, LocalCluster, WorkerPlugin, get_worker, progress


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
            local = LocalCluster(
                n_workers=workers, threads_per_worker=1, dashboard_address="127.0.0.1:0"
            )
            yield stack.enter_context(Client(stack.enter_context(local)))
        else:
            client = stack.enter_context(Client(address))
            for module in modules:
                client.upload_file(str(Path(module.__file__ or "")))
            yield client


def mapped(function: Callable[..., np.ndarray], name: str, x: Any, shape: Sequence[int]) -> Any:
    """A Dask array of function(thing, chunk) for each chunk of x, the thing held by the workers.

    For each entry of a chunk along its first axis, the result has so many along its first axis
    as the first number of `shape` says; the others are the lengths of its other axes.
    """
    rows = tuple(shape[0] * length for length in x.chunks[0])

    def run(chunk: np.ndarray, name: str) -> np.ndarray:
        return function(get_worker().plugins[name].thing, chunk)

    return da.map_blocks(
        run,
        x,
        name,  # the arrays of two objects are two arrays
        chunks=(rows, *((length,) for length in shape[1:])),
        new_axis=range(x.ndim, len(shape)) or None,
        meta=np.empty((0,) * len(shape)),
    )


def computed(client: Client, parts: Sequence[Any]) -> list[Any]:
    """The values of Dask's collections, computed together, with a bar on a terminal."""
    futures = client.compute(list(parts))
    if sys.stdout.isatty():
        progress(futures)
        print()
    return list(client.gather(futures))
