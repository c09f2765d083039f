"""What it takes to have a package: installing, importing, reading a model, space on the disk."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

import numpy as np

import dtau
from benchmarks.experiment import Table
from benchmarks.harness import number
from benchmarks.peers import mujoco_peer
from benchmarks.peers.jax_peer import LIBRARIES, ChildError, Jax, interpreter
from benchmarks.robots import Robot, pinocchio

PACKAGES = {  # name in the package index: what is imported
    "dtau": "dtau",
    "pin": "pinocchio",
    "casadi": "casadi",
    "mujoco": "mujoco",
    **{
        package: f"{module}.jax" if module == "adam" else module
        for module, package in LIBRARIES.items()
    },
}
PATIENCE = 60.0  # seconds for a package to be fetched, and again to be installed
WHEELS = Path(__file__).parents[2] / "dist"  # where a build of this package would be

_IMPORT = "from time import perf_counter as now; t = now(); import {module}; print(now() - t)"
_SIZE = """
import importlib.metadata as m, re, sys
def files(name):
    return sum(f.locate().stat().st_size for f in m.files(name) or [] if f.locate().is_file())
try:
    m.version(sys.argv[1])
except m.PackageNotFoundError:
    sys.exit()
seen, left = {}, [sys.argv[1]]
while left:
    name = re.sub(r"[-_.]+", "-", left.pop()).lower()
    if name in seen:
        continue
    try:
        seen[name] = files(name)
        needed = m.requires(name) or []
    except m.PackageNotFoundError:
        continue
    left += [re.match(r"[\\w.-]+", x).group() for x in needed if "extra ==" not in x]
print(m.version(sys.argv[1]), seen[re.sub(r"[-_.]+", "-", sys.argv[1]).lower()], sum(seen.values()))
"""


@dataclass
class Package:
    """Sizes in bytes, times in seconds; None: not measured."""

    name: str
    version: str = "not installed"
    size: int | None = None
    with_all: int | None = None  # that it needs
    install: float | None = None
    importing: float | None = None
    loading: dict[str, float] = field(default_factory=dict)  # by the robot


def measured(quick: bool, robots: Sequence[Robot], notes: list[str]) -> list[Package]:
    """Measure all that are there."""
    found = []
    for name, module in PACKAGES.items():
        library = module.partition(".")[0]
        python = interpreter(library) if library in LIBRARIES else sys.executable
        package = Package(name)
        found.append(package)
        if python is None or (quick and library in LIBRARIES):
            continue
        if name == "dtau":
            package.version = dtau.__version__
            package.size = _size_here()
            numpy = _output(python, _SIZE, "numpy")
            package.with_all = package.size + int(numpy.split()[2]) if numpy else None
        elif text := _output(python, _SIZE, name):
            version, size, total = text.split()
            package.version, package.size, package.with_all = version, int(size), int(total)
        else:
            continue
        times = [_output(python, _IMPORT.format(module=module)) for _ in range(1 if quick else 7)]
        package.importing = float(np.median([float(x) for x in times]))
        for robot in robots:
            if (seconds := _loading(library, robot, 3 if quick else 9)) is not None:
                package.loading[robot.label] = seconds
        if not quick:
            package.install = _install(name)
    if not quick and found[0].install is None:
        notes.append(
            f"dtau's installing time: not measured, as there is no wheel in {WHEELS.name}/; from "
            "source it compiles for minutes."
        )
    return found


def table(packages: Sequence[Package]) -> Table:
    """One row a package."""
    robots = list(dict.fromkeys(label for package in packages for label in package.loading))
    rows = [
        [
            package.name,
            package.version,
            _cell(package.size, 1e-6),
            _cell(package.with_all, 1e-6),
            _cell(package.install, 1.0),
            _cell(package.importing, 1e3),
            *(_cell(package.loading.get(robot), 1e3) for robot in robots),
        ]
        for package in packages
    ]
    header = ["package", "version", "MB", "MB with all it needs", "install, s", "import, ms"]
    return Table(
        "What it takes to have a package (import: fresh interpreters; URDF: the same text, without "
        "meshes)",
        [*header, *(f"URDF of {robot}, ms" for robot in robots)],
        rows,
        left=2,
    )


def _cell(value: float | None, factor: float) -> str:
    return "-" if value is None else number(factor * value)


def _size_here() -> int:
    """Of this package's files."""
    folder = Path(dtau.__file__).parent
    return sum(
        path.stat().st_size
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    )


def _loading(library: str, robot: Robot, times: int) -> float | None:
    """Seconds to read a robot's file; the median, or the first time in a child process."""
    text = re.sub(r"<(visual|collision)\b.*?</\1\s*>", "", robot.urdf, flags=re.DOTALL)
    load: Callable[[], object]
    if library == "dtau":
        load = lambda: dtau.load(text, root=robot.root)  # noqa: E731
    elif library == "pinocchio":
        free = (pinocchio.JointModelFreeFlyer(),) if robot.root == "free" else ()
        load = lambda: pinocchio.buildModelFromXML(text, *free)  # noqa: E731
    elif library == "mujoco":
        load = lambda: mujoco_peer.mujoco.MjModel.from_xml_string(text)  # noqa: E731
    elif library in LIBRARIES and robot.peer is not None:
        try:
            peer = Jax(robot, library)
        except ChildError:
            return None
        peer.close()
        return peer.loading
    else:
        return None
    seconds = []
    for _ in range(times):
        start = perf_counter()
        load()
        seconds.append(perf_counter() - start)
    return float(np.median(seconds))


def _output(python: str, program: str, *words: str) -> str:
    """What a program prints in a fresh interpreter; it must succeed."""
    command = [python, "-c", program, *words]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


def _install(name: str) -> float | None:
    """Seconds to install from wheels that were fetched, into a fresh environment.

    None: there are no wheels, as of this package or where no index can be reached.
    """
    with tempfile.TemporaryDirectory() as folder:
        wheels, fresh = f"{folder}/wheels", f"{folder}/environment"
        wheel = next(WHEELS.glob("dtau-*.whl"), None)
        if name == "dtau" and wheel is None:
            return None
        subprocess.run([sys.executable, "-m", "venv", fresh], check=True, capture_output=True)
        pip = [f"{fresh}/bin/python", "-m", "pip", "--disable-pip-version-check", "-q"]
        what = str(wheel) if name == "dtau" else name
        fetch = [*pip, "download", "--only-binary=:all:", "--dest", wheels, what]
        try:
            subprocess.run(fetch, check=True, capture_output=True, timeout=PATIENCE)
        except subprocess.SubprocessError:
            return None
        start = perf_counter()
        install = [*pip, "install", "--no-index", "--find-links", wheels, what]
        subprocess.run(install, check=True, capture_output=True, timeout=PATIENCE)
        return perf_counter() - start
