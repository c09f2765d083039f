"""Check whether the time step of an MJCF is stiff: `check_steps`."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from dtau.cli.checks.findings import Finding
from dtau.cli.robot import SAVED, Loaded
from dtau.functions.manifold_states import neutral
from dtau.loaders.load import open_source
from dtau.loaders.mjcf import time_step
from dtau.loaders.xml import root
from dtau.model.stability import stiff_velocities

_MOST = 2000  # most degrees of freedom; eigenvalues of more take minutes


def check_steps(read: Loaded) -> Iterator[Finding]:
    """Find joints whose damping is stiff at the step that MuJoCo takes."""
    model, path = read.model, read.file.path.lower()
    if path.endswith((SAVED, ".xacro")) or model.nv > _MOST or model.massless_joints:
        return
    source = open_source(read.file.source, sys.maxsize)
    if root(source.content, source.label).tag != "mujoco":
        return
    step = time_step(source)
    stiff = stiff_velocities(model, neutral(model), step)
    if not stiff:
        return
    steps = {
        joint.name: min(stiff[k] for k in range(joint.v.start, joint.v.stop) if k in stiff)
        for joint in model.joints
        if joint.mimic is None and stiff.keys() & set(range(joint.v.start, joint.v.stop))
    }
    yield Finding(
        "note",
        "stiff-step",
        f"At neutral, the file's time step, {step:g} s, is too long for explicit steps with this "
        "damping. MuJoCo's integrators take damping at the end of the step, but for RK4.",
        {name: f"stable below {limit:.2g} s" for name, limit in steps.items()},
        'dtau.step with the integrator "implicit" takes it there too.',
    )
