"""A million states of a quadruped through first derivatives, on Dask: arrays in chunks.

What is computed stands in sweep.py: norms of the derivatives of forward dynamics at random states.
Here it is a Dask array, (states, 3), in chunks that the workers make, reduce and write to a Zarr
array on disk, a chunk a file; the parent gets counts and largest numbers. The model goes to each
worker once. A chunk that was lost with its worker is computed again, with the same bits.

    python examples/sweep_dask.py                         # HyQ, 10^6 states, a process a core
    python examples/sweep_dask.py --states 10000 --chunk 2500      # the short form
    python examples/sweep_dask.py --address tcp://host:8786        # on a cluster that runs
    python examples/sweep_dask.py --plot sweep.png        # how the norms are spread (matplotlib)

It needs the extra `dtau[cluster]`; HyQ comes with example-robot-data, without which the package's
own quadruped is taken.
"""

from __future__ import annotations

import time
from functools import reduce
from operator import add
from typing import Any

import cluster_options
import dask.array as da
import dask_cluster
import sweep
from dask import delayed

import dtau


def norms(client: Any, model: dtau.Model, count: int, chunk: int) -> Any:
    """The norms at so many states, a Dask array (count, 3): nothing is computed yet."""
    held = dask_cluster.hold(client, model)
    blocks = da.arange(count // sweep.BLOCK, chunks=chunk // sweep.BLOCK)
    width = model.nq + 2 * model.nv
    states = dask_cluster.mapped(sweep.states, held, blocks, (sweep.BLOCK, width))
    return dask_cluster.mapped(sweep.sizes, held, states, (1, len(sweep.QUANTITIES)))


def run(client: Any, model: dtau.Model, count: int, chunk: int, out: str) -> sweep.Summary:
    """Write all norms to the folder `out`, and summarize them."""
    path = sweep.create(out, count, chunk)
    chunks = norms(client, model, count, chunk).to_delayed().flat
    parts = [
        delayed(sweep.keep)(path, found, first)
        for found, first in zip(chunks, range(0, count, chunk), strict=True)
    ]
    (summary,) = dask_cluster.computed(client, [delayed(reduce)(add, parts)])
    return summary


def main() -> None:
    args = sweep.arguments(__doc__)
    model = sweep.robot()
    modules = [cluster_options, sweep, dask_cluster]
    with dask_cluster.cluster(args.address, args.workers, modules) as client:
        start = time.perf_counter()
        summary = run(client, model, args.states, args.chunk, args.out)
        seconds = time.perf_counter() - start
    same = sweep.report(model, summary, seconds)
    if args.plot:
        sweep.plot(summary, args.plot)
    raise SystemExit(0 if same else 1)


if __name__ == "__main__":
    main()
