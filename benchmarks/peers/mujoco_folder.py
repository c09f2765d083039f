"""Differentiate MuJoCo's step for the scenes in a folder, such as those of MuJoCo Menagerie.

    python -m benchmarks.peers.mujoco_folder mujoco_menagerie
    python -m benchmarks.peers.mujoco_folder dm_control/suite '*.xml'

Each scene is simulated for two seconds under random controls, from its first keyframe if it has
one. At states of this motion A and B are compared with differences of sixth order (the best step
of 1e-5, 1e-6 and 1e-7), whose errors are part of the error: relative to the largest element, the
median and the largest one over the states. A state at a change of the active set has no
derivative, and differences straddle it: its error is large. The solver is Newton's and iterates to
the end.

Milliseconds are of one call in the last of the states, and of centered `mujoco.mjd_transitionFD`
(for RK4, which it refuses, of differences of `mujoco.mj_step`), with the options of the scene's
file: medians of the thread's time, in turns. The ratio is the median of the ratios of each turn.

The geometry of contacts is "exact" where formulas cover all states, else "differences". A scene
that dtau refuses has the reason.
"""

from __future__ import annotations

import argparse
import copy
from collections.abc import Callable, Sequence
from pathlib import Path
from time import thread_time
from typing import Any, Literal

import mujoco
import numpy as np

import dtau.mujoco
from benchmarks.checks import Array
from benchmarks.harness import Timings, timed
from benchmarks.peers.mujoco_pairs import differences, sixth_order
from dtau.cli.timing import Contender, Effort, loop

STATES, DURATION = 8, 2.0
STEPS = (1e-5, 1e-6, 1e-7)
EFFORT = Effort(rounds=15, block=0.02, longest=20.0)
HEADER = (
    *("scene", "nv", "nu", "contacts", "geometry", "median", "largest"),
    *("ms", "ms of differences", "ratio"),
)


def converged(model: Any) -> Any:
    """Return a copy of the model, with a solver that iterates to the end."""
    model = copy.copy(model)
    model.opt.solver = mujoco.mjtSolver.mjSOL_NEWTON
    model.opt.tolerance, model.opt.iterations = 0.0, 50
    model.opt.ls_tolerance, model.opt.ls_iterations = 1e-6, 50
    model.opt.ccd_tolerance, model.opt.ccd_iterations = 1e-12, 200
    return model


def visited(model: Any, seed: int = 0) -> list[Any]:
    """Return the data of states along a simulation."""
    rng, data = np.random.default_rng(seed), mujoco.MjData(model)
    if model.nkey:
        mujoco.mj_resetDataKeyframe(model, data, 0)
    low, high = np.where(model.actuator_ctrllimited, model.actuator_ctrlrange.T, [[-1.0], [1.0]])
    rest = np.clip(data.ctrl, low, high)
    steps = max(STATES, round(DURATION / model.opt.timestep))
    places = set(np.linspace(steps // STATES, steps, STATES, dtype=int).tolist())
    found: list[Any] = []
    for step in range(1, steps + 1):
        if step % 50 == 1:
            data.ctrl[:] = rest + 0.3 * (rng.uniform(low, high) - rest)
        mujoco.mj_step(model, data)
        if step in places:
            mujoco.mj_forward(model, data)
            found.append(_copy(model, data))
    return found


def _copy(model: Any, data: Any) -> Any:
    out = mujoco.MjData(model)
    mujoco.mj_copyData(out, model, data)
    return out


def derivatives(model: Any, states: list[Any]) -> tuple[str, list[tuple[Array, Array]]]:
    """Return the geometry that covers all states, and A and B."""
    geometries: tuple[Literal["exact", "differences"], ...] = ("exact", "differences")
    for geometry in geometries:
        try:
            return geometry, [
                tuple(dtau.mujoco.transition_derivatives(model, data, geometry=geometry))
                for data in states
            ]
        except NotImplementedError:
            if geometry == geometries[-1]:
                raise
    raise AssertionError


def error(model: Any, data: Any, exact: tuple[Array, Array]) -> float:
    """Return the error of A and B, of the largest element."""
    out = np.inf
    for step in STEPS:
        off = [np.abs(x - y) for x, y in zip(exact, sixth_order(model, data, step), strict=True)]
        out = min(out, max(x.max(initial=0.0) for x in off))
    return float(out / max(np.abs(x).max(initial=0.0) for x in exact))


def times(model: Any, data: Any, geometry: str) -> Timings:
    """Time one call of dtau and centered differences, in turns."""
    ours = loop(
        "f(m, d, geometry=g)", f=dtau.mujoco.transition_derivatives, m=model, d=data, g=geometry
    )
    theirs = loop("f(m, d, 1e-6)", f=differences, m=model, d=data)
    ours(1)  # the first call keeps a plan and copies of the model
    contenders = {"dtau": Contender(ours, 1), "differences": Contender(theirs, 1)}
    return timed(contenders, EFFORT, thread_time)


def row(file: Path, name: str) -> tuple[str, ...]:
    """Return the cells of a scene, or its name and why it has none."""
    try:
        given = mujoco.MjModel.from_xml_path(str(file))
    except ValueError as problem:
        return name, f"not loaded: {problem}".splitlines()[0]
    model = converged(given)
    states = visited(model)
    try:
        geometry, found = derivatives(model, states)
    except (NotImplementedError, ValueError) as refused:
        return name, str(refused)
    errors = [error(model, *both) for both in zip(states, found, strict=True)]
    contacts = np.mean([data.ncon for data in states])
    taken = times(given, _copy(given, states[-1]), geometry)
    return (
        *(name, str(model.nv), str(model.nu), f"{contacts:.1f}", geometry),
        *(f"{x:.0e}" for x in (np.median(errors), max(errors))),
        *(f"{1e-3 * taken.micro(x):.2f}" for x in ("dtau", "differences")),
        f"{taken.ratio('differences', 'dtau').median:.1f}x",
    )


def print_rows(
    argv: Sequence[str] | None,
    description: str | None,
    header: Sequence[str],
    row: Callable[[Path, str], tuple[str, ...]],
) -> None:
    """Print a table with a row for each scene of the folder that the command line names."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("pattern", nargs="?", default="*/scene*.xml", help="(default: %(default)s)")
    args = parser.parse_args(argv)
    files = sorted(args.folder.glob(args.pattern))
    if not files:
        parser.error(f"no file in {args.folder} has the pattern {args.pattern}")
    print("| " + " | ".join(header) + " |\n|" + "---|" * len(header))
    for file in files:
        name = str(file.relative_to(args.folder).with_suffix(""))
        print("| " + " | ".join(row(file, name)) + " |", flush=True)


def main(argv: Sequence[str] | None = None) -> None:
    """Print a row for each scene."""
    print_rows(argv, __doc__, HEADER, row)


if __name__ == "__main__":
    main()
