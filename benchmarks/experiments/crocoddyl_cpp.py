"""crocoddyl in C++: its own action models beside those of examples/cpp/crocoddyl.

    python -m pip install crocoddyl==3.2.1 pin==4.0.0 libpinocchio==4.0.0 example-robot-data \
        cmeel-eigen cmeel-urdfdom-headers
    python -m benchmarks crocoddyl_cpp

The example is compiled against crocoddyl's wheels and the C++ library in this package. Arms of
Talos and of Kinova move to a posture, with and without a cost of their gripper's pose, and HyQ and
ANYmal move on four feet: 100 knots by SolverFDDP on one thread, with each kind of action models in
turns. The example compares costs and states of all iterations before it takes times, which are
seconds of the processor.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import dtau
from benchmarks import declare
from benchmarks.checks import UnavailableError, WrongResultError
from benchmarks.compilers import run as compile_by
from benchmarks.declare import Asked, Bench, Layout, Row, at_most, efforts, ratio
from benchmarks.harness import Timings
from benchmarks.optional import optional
from dtau.support.options import Root

crocoddyl = optional("crocoddyl")
pinocchio = optional("pinocchio")
data = optional("example_robot_data")

EXAMPLE = Path(__file__).resolve().parents[2] / "examples/cpp/crocoddyl"
PACKAGES = "cmeel-eigen", "cmeel-urdfdom-headers"
AT_MOST = 0.6
THEIRS, OURS = "crocoddyl", "dtau"
FEET = {"hyq": ("lf_foot", "rf_foot", "lh_foot", "rh_foot")}
FEET["anymal"] = ("LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT")


@dataclass(frozen=True)
class Task:
    """A robot, and its contacts if it has a free root, else the frames that it brings to a goal."""

    label: str
    robot: str  # in example_robot_data
    free: bool
    frames: tuple[str, ...] = ()


TASKS = (
    Task("arm of Talos", "talos_arm", False),
    Task("arm of Talos, pose of the gripper", "talos_arm", False, ("gripper_left_joint",)),
    Task("Kinova's arm, continuous joints", "kinova", False, ("j2s6s200_end_effector",)),
    Task("HyQ on four feet", "hyq", True, FEET["hyq"]),
    Task("ANYmal on four feet", "anymal", True, FEET["anymal"]),
)


def prefix() -> Path:
    """The folder of crocoddyl's headers and CMake package."""
    for folder in Path(crocoddyl.__file__).parents:
        if (folder / "include/crocoddyl").is_dir():
            needed = "include/eigen3", "include/urdfdom_headers"
            if all((folder / name).is_dir() for name in needed):
                return folder
            raise UnavailableError(
                "crocoddyl's headers need others: python -m pip install " + " ".join(PACKAGES)
            )
    raise UnavailableError("crocoddyl was installed without its headers")


def library() -> str:
    """The folder of the CMake package of the C++ library, in the Python package."""
    command = [sys.executable, "-m", "dtau", "--cmake-dir"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise UnavailableError(done.stderr.strip())
    return done.stdout.strip()


def compiled(folder: Path) -> Path:
    """The example's program."""
    for program in ("cmake", "ninja", "c++"):
        if shutil.which(program) is None:
            raise UnavailableError(f"there is no {program}")
    packages = f"-Ddtau_DIR={library()}", f"-DCMAKE_PREFIX_PATH={prefix()}"
    to = "-S", str(EXAMPLE), "-B", str(folder), "-DCMAKE_BUILD_TYPE=Release"
    compile_by(["cmake", "-Wno-dev", "-G", "Ninja", *to, *packages])
    compile_by(["cmake", "--build", str(folder)])
    return folder / "compare"


def solve(task: Task, program: Path, folder: Path, rounds: int) -> Row:
    """Run the program on one task."""
    robot = data.load(task.robot)
    root: Root = "free" if task.free else "fixed"
    dtau.load(robot.urdf, root=root, damping=0).save(folder / "robot.dtau")
    if task.free:
        start = robot.model.referenceConfigurations["standing"]
        goal = start + np.pad([0.04, 0.02, -0.05], (0, robot.model.nq - 3))
    else:
        start = pinocchio.neutral(robot.model)
        goal = pinocchio.integrate(robot.model, start, np.linspace(-0.5, 0.6, robot.model.nv))
    np.savetxt(folder / "postures", [start, goal], fmt="%.17g")
    files = robot.urdf, folder / "robot.dtau", "free" if task.free else "fixed", folder / "postures"
    command = [str(x) for x in (program, *files, rounds, *task.frames)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise WrongResultError(f"{task.label}: {done.stderr.strip()}")
    found = json.loads(done.stdout)
    timings = Timings({name: 1e-3 * np.array(found[name]) for name in (THEIRS, OURS)})
    row = {"task": task.label, "iterations": found["iterations"]}
    row |= {name: 1e-3 * micro for name, micro in timings.medians().items()}
    return row | {"ratio": timings.ratio(OURS, THEIRS)}


def measure(bench: Bench) -> Iterator[Row]:
    """Compile, then solve all tasks."""
    if crocoddyl is None or data is None:
        raise UnavailableError(
            "crocoddyl is not installed: python -m pip install crocoddyl==3.2.1 pin==4.0.0 "
            f"libpinocchio==4.0.0 example-robot-data {' '.join(PACKAGES)}, in an environment of "
            "its own"
        )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program = compiled(folder / "build")
        for task in TASKS:
            yield solve(task, program, folder, bench.effort.rounds)


EXPERIMENT = declare.experiment(
    "crocoddyl_cpp",
    "crocoddyl in C++, with its action models and with dtau's",
    "crocoddyl 3.2.1 and examples/cpp/crocoddyl",
    lambda bench: [()],
    measure,
    effort=efforts((31, 3), (0.0, 0.0)),
    tables=[
        Layout(
            "100 knots by SolverFDDP in C++, milliseconds a solve; ratios to crocoddyl's time",
            ["task", "iterations", THEIRS, OURS, ratio(), at_most(AT_MOST)],
        )
    ],
    claims=[Asked("solves in C++ with dtau's action models", most=AT_MOST)],
)
