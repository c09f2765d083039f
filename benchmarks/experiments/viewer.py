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
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

import dtau
from benchmarks import declare
from benchmarks.checks import Array, WrongResultError, require_close
from benchmarks.declare import Bench, Layout, Row
from benchmarks.experiment import Claim
from benchmarks.optional import optional

FRAMES, DT, SPEED = 10_000, 0.01, 5.0
SHOWN = 2_000  # frames as fast as they go
PLAYED = {False: 20.0, True: 3.0}  # seconds, by quick
STEP = 1e-3  # meters of x a frame
LATE = 1e3 / 30  # milliseconds between pictures that are seen to be apart


def motion(model: dtau.Model) -> Array:
    """All joints swing; the root goes along x."""
    t = DT * np.arange(FRAMES)
    dq = 0.3 * np.sin(np.outer(t, 1.0 + 0.05 * np.arange(model.nv)))
    dq[:, :6] *= 0.3
    q = dtau.integrate(model, dtau.neutral(model), dq)
    q[:, 0] = STEP * np.arange(FRAMES)
    return q


def measure(bench: Bench, label: str, model: dtau.Model) -> Iterator[Row]:
    """One motion, shown and played."""
    import dtau.viewer.motion as motions

    q, length = motion(model), PLAYED[bench.quick]
    every = sorted(bench.cores)
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
    late = float(np.percentile(gaps, 99))
    yield {
        "robot": label,
        "bodies": model.nbodies,
        "computed (s)": computed,
        "shown/s": shown,
        "pictures/s": len(gaps) / float(gaps.sum()),
        "median (ms)": 1e3 * float(np.median(gaps)),
        "99 % (ms)": 1e3 * late,
        "longest (ms)": 1e3 * float(gaps.max()),
        "of a core": core,
        "kB a picture": 1e-3 * told["bytes"] / len(gaps),
    }


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


def claims(rows: list[Row]) -> Iterator[Claim]:
    """That nothing stutters."""
    words = ", ".join(
        f"{r['robot']} {r['99 % (ms)']:.1f} (pictures a second: {r['pictures/s']:.0f})"
        for r in rows
    )
    text = f"{FRAMES} frames play without stutter: milliseconds from picture to picture, 99 in 100"
    late = max(r["99 % (ms)"] for r in rows)
    yield Claim(text, f"at most {LATE:.0f}", words, late <= LATE)


def subjects(bench: Bench) -> Sequence[tuple[str, dtau.Model]]:
    """Talos, or the quadruped if it is not there."""
    bench.note(f"viser {optional('viser').__version__}; the page is a process that draws nothing")
    return declare.models(("talos",), ("talos",))(bench)


EXPERIMENT = declare.experiment(
    "viewer",
    "Motions in the viewer",
    "dtau.view",
    subjects,
    measure,
    needs={"viser": "'viser>=1.1'"},
    tables=[
        Layout(
            f"{FRAMES} frames, on one core: between pictures at the page",
            [
                *("robot", "bodies", "computed (s)", "shown/s", "pictures/s", "median (ms)"),
                *("99 % (ms)", "longest (ms)", "of a core", "kB a picture"),
            ],
        )
    ],
    claims=[claims],
)
