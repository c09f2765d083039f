"""Ten thousand flights of the regulator of hover_lqr.py, from random attitudes, on Dask.

One regulator, linearized once at the hover, catches the aerial manipulator from any attitude,
moving and away from its place. How long does that take, how far off does it get meanwhile, and how
hard must the propellers push? The flights go in batches, each from a seed of its own. A worker
simulates a batch and keeps of each flight one row: its attitude at the start, the time until it is
held, its largest thrust, and attitude and distance at every tenth of a second. Rows go to a Zarr
array on disk, a batch a file; quantiles over all flights are computed on the workers too.

    python examples/monte_carlo_lqr.py                       # 10^4 flights, a process a core
    python examples/monte_carlo_lqr.py --flights 100 --batch 50         # the short form
    python examples/monte_carlo_lqr.py --address tcp://host:8786        # on a cluster that runs
    python examples/monte_carlo_lqr.py --plot flights.png    # and the picture (matplotlib)

It needs the extra `dtau[cluster]`.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cluster_options
import dask.array as da
import dask_cluster
import hover_lqr
import numpy as np
import program
import propellers
import zarr

THIN = 50  # steps from one instant that is kept to the next
INSTANTS = THIN * hover_lqr.STEP * np.arange(round(hover_lqr.SECONDS / hover_lqr.STEP) // THIN)
BATCH = 10  # flights: batches are multiples, for every tenth flight begins upside down
QUANTILES = np.array([0.01, 0.25, 0.5, 0.75, 0.99, 1.0])


@dataclass(frozen=True)
class Flights:
    """What is left of many flights."""

    start: np.ndarray  # attitude's distance from hover, rad
    settled: np.ndarray  # s: from then on held, or infinity
    thrust: np.ndarray  # the largest, either way, N
    attitude: np.ndarray  # quantiles over the flights (quantiles, instants), rad
    distance: np.ndarray  # the same of the distance from hover, m


def rows(batches: np.ndarray, size: int) -> np.ndarray:
    """The flights of some batches, one a row, as they are kept.

    `threads=1`: Dask has a process for every core already.
    """
    found = []
    for batch in batches:
        flights = hover_lqr.fly(size, seed=int(batch), threads=1)
        off = np.maximum(flights.attitude, flights.distance) >= hover_lqr.HELD
        last = len(off) - off[::-1].argmax(axis=0)  # after the last time that it was off
        settled = np.where(off.any(axis=0), np.append(flights.time, np.inf)[last], 0.0)
        start, thrust = flights.attitude[0], np.abs(flights.thrust).max(axis=(0, 2))
        over_time = np.concatenate([flights.attitude[::THIN], flights.distance[::THIN]])
        found.append(np.column_stack([start, settled, thrust, over_time.T]))
    return np.concatenate(found)


def run(client: Any, count: int, size: int, out: str) -> Flights:
    """Simulate so many flights in batches of a size, and keep all rows in the folder `out`."""
    batches = da.arange(-(-count // size), chunks=1)
    width = 3 + 2 * len(INSTANTS)
    flights = batches.map_blocks(
        rows, size, chunks=((size,) * len(batches), (width,)), new_axis=1, meta=np.empty((0, 0))
    )[:count]
    kept = zarr.create_array(
        out, shape=flights.shape, chunks=(size, width), dtype="f8", overwrite=True
    )
    columns = flights[:, 3:].rechunk((-1, 20), method="tasks")  # all flights, some instants
    quantiles = columns.map_blocks(
        lambda x: np.quantile(x, QUANTILES, axis=0),
        chunks=((len(QUANTILES),), columns.chunks[1]),
        meta=np.empty((0, 0)),
    )
    parts = [da.store([flights], [kept], lock=False, compute=False), flights[:, :3], quantiles]
    _, ends, over_time = dask_cluster.computed(client, parts)
    return Flights(*ends.T, *np.split(over_time, 2, axis=1))


def report(flights: Flights, seconds: float) -> bool:
    """Print what became of the flights; return whether all were held."""
    count, held = len(flights.start), np.isfinite(flights.settled)
    print(f"{count} flights of {hover_lqr.SECONDS:g} s, simulated in {seconds:.1f} s")
    degrees = np.rad2deg(flights.start.max())
    print(f"attitude at the start: off by up to {degrees:.2f} degrees")
    print(f"held at the end:       {held.sum()} of {count}")
    for name, x in (
        ("time until held, s:", flights.settled[held]),
        ("largest thrust, N:", flights.thrust),
    ):
        middle, high, most = np.quantile(x, [0.5, 0.99, 1.0])
        print(f"{name:22} median {middle:.2f}, 99 % below {high:.2f}, the largest {most:.2f}")
    return bool(held.all())


def plot(flights: Flights, path: Path) -> None:
    """Draw quantiles over time, and what each flight took by where it began."""
    plt = program.pyplot()
    figure, panels = plt.subplots(2, 2, figsize=(11, 6.5))
    for axes, values, title in (
        (panels[0, 0], np.rad2deg(flights.attitude), "attitude's distance from hover (degrees)"),
        (panels[0, 1], flights.distance, "distance from hover (m)"),
    ):
        low, quarter, middle, three, high, most = values
        band = {"linewidth": 0, "color": "C0"}
        axes.fill_between(INSTANTS, low, high, alpha=0.2, label="98 % of the flights", **band)
        axes.fill_between(INSTANTS, quarter, three, alpha=0.4, label="50 %", **band)
        axes.plot(INSTANTS, middle, label="median")
        axes.plot(INSTANTS, most, color="C3", linewidth=0.9, label="the largest of all")
        axes.set(title=title, xlabel="time (s)")
    panels[0, 0].legend()
    start = np.rad2deg(flights.start)
    for axes, values, title in (
        (panels[1, 0], flights.settled, "time until held (s)"),
        (panels[1, 1], flights.thrust, "largest thrust (N)"),
    ):
        axes.plot(start, values, ".", markersize=2, alpha=0.3, rasterized=True)
        axes.set(title=title, xlabel="attitude's distance from hover at the start (degrees)")
        axes.set_xticks(range(0, 181, 45))
    for axes in panels.flat:
        axes.set_ylim(bottom=0)
    program.save(figure, path)


def main() -> None:
    counts = {"flights": (10_000, "how many"), "batch": (250, "flights a task")}
    args = cluster_options.parse(__doc__, counts, BATCH, "flights.zarr")
    modules = [program, cluster_options, propellers, hover_lqr, dask_cluster]
    with dask_cluster.cluster(args.address, args.workers, modules) as client:
        start = time.perf_counter()
        flights = run(client, args.flights, args.batch, args.out)
        seconds = time.perf_counter() - start
    held = report(flights, seconds)
    if args.plot:
        plot(flights, args.plot)
    raise SystemExit(0 if held else 1)


if __name__ == "__main__":
    main()
