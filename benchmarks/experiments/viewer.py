"""How a long motion plays in the viewer: frames that come to a page, and what one core does for it.

    python -m benchmarks viewer

10,000 frames of Talos, 10 ms each, with a page that is connected: a process of its own, on other
cores, which takes and decodes what comes, as a browser does, and draws nothing.

    computed   poses of all bodies at all frames, before it plays
    shown      frames that are shown one after the other, as fast as they go: each sent or replaced
    played     by the clock, five times as fast: when pictures come, at most 60 a second

The x of the root is the number of the frame, so that the page knows which one came; at the end its
poses are those of the frame.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

import dtau
from benchmarks.checks import Array, UnavailableError, WrongResultError, require_close
from benchmarks.experiment import Claim, Experiment, Findings, Table, Watch
from benchmarks.harness import number, one_core
from benchmarks.optional import optional
from benchmarks.robots import chosen

FRAMES, DT, SPEED = 10_000, 0.01, 5.0
SHOWN = 2_000  # frames as fast as they go
PLAYED = {False: 20.0, True: 3.0}  # seconds, by quick
STEP = 1e-3  # meters of x a frame
LATE = 1 / 30  # seconds between pictures that are seen to be apart


@dataclass(frozen=True)
class Row:
    """A robot's numbers."""

    robot: str
    bodies: int
    computed: float  # seconds
    shown: float  # frames a second
    pictures: float  # a second
    gap: float  # seconds between two of them: the median
    late: float  # the largest of 99 in 100
    longest: float
    core: float  # of one, while it plays
    kilobytes: float  # a picture


def run(quick: bool, watch: Watch) -> Findings:
    """Of Talos; of the quadruped, if it is not there."""
    viser = optional("viser")
    if viser is None:
        raise UnavailableError("viser is not installed: python -m pip install 'viser>=1.1'")
    notes = [f"viser {viser.__version__}; the page is a process that draws nothing"]
    found = chosen(("talos",), notes.append)
    robots = [(r.label, r.model) for r in found] or [("quadruped", dtau.robots.quadruped())]
    watch.expect(len(robots))
    rows = []
    for label, model in robots:
        rows.append(measured(label, model, PLAYED[quick]))
        watch.step(label)
    return Findings(
        tables=[table(rows)],
        claims=claims(rows),
        notes=notes,
        data={"rows": [asdict(row) for row in rows]},
    )


def motion(model: dtau.Model) -> Array:
    """All joints swing; the root goes along x."""
    t = DT * np.arange(FRAMES)
    dq = 0.3 * np.sin(np.outer(t, 1.0 + 0.05 * np.arange(model.nv)))
    dq[:, :6] *= 0.3
    q = dtau.integrate(model, dtau.neutral(model), dq)
    q[:, 0] = STEP * np.arange(FRAMES)
    return q


def measured(label: str, model: dtau.Model, length: float) -> Row:
    """One motion, shown and played."""
    import dtau.viewer.motion as motions

    q = motion(model)
    every = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    with one_core():
        start = time.perf_counter()
        motions.motion(model, q)
        computed = time.perf_counter() - start
        with dtau.view(model, q, dt=DT, port=0) as viewer:
            others = [str(core) for core in every[:-1]] or [str(core) for core in every]
            page = opened(viewer.url, length, others)
            start, used = time.perf_counter(), time.process_time()
            viewer.play(speed=SPEED)
            time.sleep(length)
            core = (time.process_time() - used) / (time.perf_counter() - start)
            viewer.pause()
            told = json.loads(page.communicate(timeout=60)[0])
            check(model, q, told)
            page = opened(viewer.url, 600.0, others)
            try:
                shown = as_fast_as_it_goes(viewer)
            finally:
                page.kill()
                page.communicate()
    gaps = np.diff(told["seconds"])
    return Row(
        label,
        model.nbodies,
        computed,
        shown,
        len(gaps) / float(gaps.sum()),
        float(np.median(gaps)),
        float(np.percentile(gaps, 99)),
        float(gaps.max()),
        core,
        1e-3 * told["bytes"] / len(gaps),
    )


def opened(url: str, length: float, cores: list[str]) -> subprocess.Popen[str]:
    """A page that is connected and has all that it shows."""
    page = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.page", url, str(length), *cores],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert page.stdout is not None
    page.stdout.readline()
    time.sleep(1.0)
    return page


def as_fast_as_it_goes(viewer: Any) -> float:
    """Frames a second, one after the other."""
    start = time.perf_counter()
    for frame in range(SHOWN):
        with viewer.server.atomic():
            viewer.robots[0].show(frame)
    return SHOWN / (time.perf_counter() - start)


def check(model: dtau.Model, q: Array, told: dict[str, Any]) -> None:
    """The page's last poses are those of the frame that it says it has."""
    if len(told["frames"]) < 10:
        raise WrongResultError(f"expected pictures, got {len(told['frames'])}")
    frame = round(told["frames"][-1] / STEP)
    rotation, translation = dtau.forward_kinematics(model, q[frame])
    names: list[str] = []
    poses: list[dtau.Pose] = []
    for body, joint in enumerate(model.joints):
        names.append(f"{'/robot0' if joint.parent < 0 else names[joint.parent]}/{body}")
        node = {"wxyz": (1.0, 0.0, 0.0, 0.0), "position": joint.placement.translation}
        node |= told["nodes"].get(names[body], {})
        pose = dtau.Pose.from_quaternion(node["wxyz"], node["position"], order="wxyz")
        poses.append(pose if joint.parent < 0 else poses[joint.parent] @ pose)
    # viser leaves out numbers that differ by less than 1e-5 of themselves from what was sent.
    require_close(np.stack([p.rotation for p in poses]), rotation, 1e-3, "rotations on the page")
    places = np.stack([p.translation for p in poses])
    require_close(places, translation, 1e-3, "places on the page", floor=1.0)


def table(rows: list[Row]) -> Table:
    """One line each."""
    head = ["robot", "bodies", "computed (s)", "shown/s", "pictures/s", "median (ms)"]
    head += ["99 % (ms)", "longest (ms)", "of a core", "kB a picture"]
    cells = [
        [
            *(r.robot, str(r.bodies), number(r.computed), number(r.shown), number(r.pictures)),
            *(number(1e3 * x) for x in (r.gap, r.late, r.longest)),
            *(number(r.core), number(r.kilobytes)),
        ]
        for r in rows
    ]
    return Table(f"{FRAMES} frames, on one core: between pictures at the page", head, cells)


def claims(rows: list[Row]) -> list[Claim]:
    """That nothing stutters."""
    words = ", ".join(
        f"{r.robot} {1e3 * r.late:.1f} (pictures a second: {r.pictures:.0f})" for r in rows
    )
    text = f"{FRAMES} frames play without stutter: milliseconds from picture to picture, 99 in 100"
    late = max(r.late for r in rows)
    return [Claim(text, f"at most {1e3 * LATE:.0f}", words, late <= LATE)]


EXPERIMENT = Experiment(
    name="viewer",
    title="Motions in the viewer",
    source="dtau.view",
    run=run,
)
