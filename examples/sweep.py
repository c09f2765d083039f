"""What the sweeps over states of a robot share, whichever engine runs them: sweep_dask, sweep_ray.

How strongly do a robot's accelerations depend on its state? For each of many random states, first
derivatives of forward dynamics are computed and reduced, on the spot, to three numbers: the
Frobenius norms of da/dq, da/dv and da/dtau, of the joints by the joints. Of 7.8 kB a state, 24
bytes are left, and only these ever leave the process.

States come in blocks, each from a random generator of its own, so that any process can make any
state from its index alone: chunks of any size, on any machine, are of the same states.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import cluster_options
import numpy as np
import program
import zarr

import dtau

BLOCK = 250  # states a call: results of 2 MB, which stay in the processor's cache
QUANTITIES = ("da/dq (1/s²)", "da/dv (1/s)", "da/dtau (1/(kg m²))")
EDGES = np.logspace(-2, 6, 8 * 200 + 1)  # of the histograms: 200 bins a decade


@dataclass(frozen=True)
class Summary:
    """What is left of many states; one row, or entry, a quantity.

    Counts and largest numbers do not round: in whatever order parts are added, bits are the same.
    """

    counts: np.ndarray  # (3, bins), of states by their size
    largest: np.ndarray
    where: np.ndarray  # the states that have it, the first ones

    @staticmethod
    def of(found: np.ndarray, first: int = 0) -> Summary:
        """Summarize the norms (n, 3) of states, which are counted from `first`."""
        columns = np.ascontiguousarray(found.T)
        counts = np.array([np.histogram(column, EDGES)[0] for column in columns])
        return Summary(counts, columns.max(axis=1), first + columns.argmax(axis=1))

    def __add__(self, other: Summary) -> Summary:
        mine = (self.largest > other.largest) | (
            (self.largest == other.largest) & (self.where < other.where)
        )
        return Summary(
            self.counts + other.counts,
            np.where(mine, self.largest, other.largest),
            np.where(mine, self.where, other.where),
        )

    def quantile(self, part: float) -> np.ndarray:
        """What this part of the states stays below, to the width of a bin."""
        below = np.cumsum(self.counts, axis=1)
        return np.array([EDGES[1:][np.searchsorted(row, part * row[-1])] for row in below])


def robot() -> dtau.Model:
    """HyQ of example-robot-data, or the package's quadruped."""
    path = program.robot_file("hyq_description/robots/hyq_no_sensors.urdf")
    return dtau.load(path, root="free") if path else dtau.robots.quadruped()


def states(model: dtau.Model, block: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Random q, v and tau (BLOCK, ...) of a block, by its number alone.

    Motors give torques up to their limits, and nothing pulls at the base.
    """
    rng = np.random.default_rng([0, block])
    q, v, _ = dtau.random_state(model, rng, shape=(BLOCK,))
    limits = np.where(np.isfinite(model.effort_limits), model.effort_limits, 0.0)
    return q, v, limits * rng.uniform(-1.0, 1.0, v.shape)


def norms(model: dtau.Model, blocks: np.ndarray) -> np.ndarray:
    """Norms of the first derivatives at the states of some blocks: (BLOCK * blocks, 3).

    Each block is made and reduced before the next, so that nothing large is ever held.
    `threads=1`: the engine has a process for every core already.
    """
    free = 6 if model.joints[0].v.stop == 6 else 0
    out = [np.empty((BLOCK, model.nv, model.nv)) for _ in QUANTITIES]
    found = np.empty((len(blocks), BLOCK, len(QUANTITIES)))
    for block, rows in zip(blocks, found, strict=True):
        q, v, tau = states(model, int(block))
        parts = dtau.forward_dynamics_derivatives(model, q, v, tau, out=out, threads=1)
        for k, part in enumerate(parts):
            joints = part[:, free:, free:]
            rows[:, k] = np.sqrt(np.einsum("nij,nij->n", joints, joints))
    return found.reshape(-1, len(QUANTITIES))


def create(out: str, count: int, chunk: int) -> zarr.Array:
    """Make an array for so many norms in a folder, which workers write.

    A chunk is a file, so that no two workers write to one. The digits of norms do not compress.
    """
    width = len(QUANTITIES)
    return zarr.create_array(
        out if "://" in out else Path(out).resolve(),
        shape=(count, width),
        chunks=(chunk, width),
        dtype="f8",
        compressors=None,
        overwrite=True,
    )


def keep(array: zarr.Array, found: np.ndarray, first: int) -> Summary:
    """Write the norms of a chunk, which begins with the state `first`, and summarize them."""
    array[first : first + len(found)] = found
    return Summary.of(found, first)


def arguments(description: str | None) -> argparse.Namespace:
    """The command line of a sweep."""
    counts = {"states": (1_000_000, "how many"), "chunk": (100_000, "states a task")}
    return cluster_options.parse(description, counts, BLOCK, "sweep.zarr")


def report(model: dtau.Model, summary: Summary, seconds: float) -> bool:
    """Print what was found; return whether the largest come again from their states' numbers."""
    count = int(summary.counts[0].sum())
    print(f"{model.name}: {count} states in {seconds:.1f} s, {count / seconds:.0f} a second")
    print(f"{'norm of':22}{'1 %':>10}{'median':>10}{'99 %':>10}{'largest':>10}   of state")
    spread = [summary.quantile(part) for part in (0.01, 0.5, 0.99)]
    for row in zip(QUANTITIES, *spread, summary.largest, summary.where, strict=True):
        name, *numbers, where = row
        print(f"{name:22}" + "".join(f"{x:10.4g}" for x in numbers) + f"   {where}")
    blocks, places = np.divmod(summary.where, BLOCK)
    again = norms(model, blocks).reshape(-1, BLOCK, len(QUANTITIES))
    same = all(again[k, place, k] == summary.largest[k] for k, place in enumerate(places))
    print(f"the largest again, from the numbers of their states: {'the same' if same else 'OTHER'}")
    return same


def plot(summary: Summary, path: Path) -> None:
    """Draw the histograms."""
    plt = program.pyplot()
    figure, panels = plt.subplots(1, 3, figsize=(11, 3.2))
    for axes, title, row in zip(panels, QUANTITIES, summary.counts, strict=True):
        axes.stairs(row, EDGES, fill=True)
        seen = np.flatnonzero(row)
        axes.set(xlim=(EDGES[seen[0]], EDGES[seen[-1] + 1]), yscale="log", title=f"norm of {title}")
    panels[0].set_ylabel("states")
    program.save(figure, path)
