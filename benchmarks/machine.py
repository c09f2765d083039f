"""What a reader needs to know of the machine and the versions, and when results are the same."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import os
import platform
import re
from pathlib import Path
from typing import Any

import dtau
from benchmarks.compilers import cxx_compilers
from dtau import _core
from dtau.support.machine import cores, processor

# What experiments compare with or compute with, by the names of their distributions
PACKAGES = (
    *("numpy", "pin", "example-robot-data", "casadi", "mujoco"),
    *("jax", "adam-robotics", "jaxsim", "frax"),
    *("dask", "ray", "zarr"),
)


def environment() -> dict[str, Any]:
    """Machine, compilers and versions; no time, no folder: equal where results are comparable."""
    core = b"".join(x.read_bytes() for x in (Path(_core.__file__), library_file()) if x)
    versions = {"dtau": dtau.__version__, "python": platform.python_version()}
    for package in PACKAGES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            versions[package] = importlib.metadata.version(package)
    return {
        "processor": processor(),
        "cores": f"{cores()} of {os.cpu_count()} usable",
        "system": f"{platform.system()} {platform.machine()}",
        "instruction set": _core.instruction_set(),
        "core": f"{len(core) / 1e6:.2f} MB, compiled by {_maker(core)}",
        "digest": _digest(),
        "compilers": {Path(path).name: said for path, said in cxx_compilers().items()},
        "versions": versions,
    }


def library_file() -> Path | None:
    """The C++ library inside the package, with the kernels; on Windows the module has them."""
    folder = Path(_core.__file__).parent / "lib"
    return next((x for x in sorted(folder.glob("libdtau.*")) if x.is_file()), None)


def cache_folder() -> Path:
    """Where what is compiled for the benchmarks is kept."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dtau-benchmarks"


def _digest() -> str:
    """Of all files of the package, compiled ones too."""
    folder = Path(dtau.__file__).parent
    files = (x for x in sorted(folder.rglob("*")) if x.suffix in (".py", ".so", ".pyd"))
    return hashlib.sha256(b"\0".join(x.read_bytes() for x in files)).hexdigest()[:16]


def _maker(core: bytes) -> str:
    """The compiler of the module and the library, which most leave their names in."""
    found = re.search(rb"GCC: \([^\0]+|clang version [^\0]+", core)
    return found[0].decode(errors="replace") if found else "an unknown compiler"
