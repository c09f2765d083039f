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
from typing import Any

import cluster_options
import dask_cluster
import numpy as np
import program
import sweep


def norms(held: str, count: int, chunk: int) -> Any:
    """The norms at so many states, a Dask array (count, 3): nothing is computed yet."""
    blocks, each = count // sweep.BLOCK, chunk // sweep.BLOCK
    shape = (sweep.BLOCK, len(sweep.QUANTITIES))
    return dask_cluster.mapped(sweep.norms, held, blocks, each, shape)


def run(client: Any, held: str, count: int, chunk: int, out: str) -> sweep.Summary:
    """Write all norms of the model that is held to the folder `out`, and summarize them."""
    array = sweep.create(out, count, chunk)

    def keep(found: np.ndarray, block_id: tuple[int, ...]) -> np.ndarray:
        return np.array([[sweep.keep(array, found, block_id[0] * chunk)]])

    parts = norms(held, count, chunk).map_blocks(keep, chunks=(1, 1), dtype=object)
    (summary,) = dask_cluster.computed(client, [parts.sum(split_every=32)])
    return summary


def main() -> None:
    args = sweep.arguments(__doc__)
    model = sweep.robot()
    modules = [program, cluster_options, sweep, dask_cluster]
    with dask_cluster.cluster(args.address, args.workers, modules) as client:
        held = dask_cluster.hold(client, model)
        start = time.perf_counter()
        summary = run(client, held, args.states, args.chunk, args.out)
        seconds = time.perf_counter() - start
    same = sweep.report(model, summary, seconds)
    if args.plot:
        sweep.plot(summary, args.plot)
    raise SystemExit(0 if same else 1)


if __name__ == "__main__":
    main()
