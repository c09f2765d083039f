"""Generated CUDA through CUDA's compiler: registers and local memory of a thread.

    python -m benchmarks cuda_code

NVRTC compiles what `dtau.generate(..., language="cuda")` writes to machine code for one
architecture, and says what a thread of each kernel takes. Nothing runs: no GPU is needed.

    between pieces   temporaries that go from piece to piece of a large function, in local memory
    local memory     of a thread: these, and registers that are spilled
"""

from __future__ import annotations

import math
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from time import process_time
from typing import Any

import dtau
from benchmarks import declare, nvrtc
from benchmarks.declare import Bench, Layout, Row
from benchmarks.experiment import Claim
from benchmarks.robots import Robot

ARCHITECTURE = "sm_90"
FUNCTIONS = (
    *("inverse_dynamics", "forward_dynamics"),
    *("inverse_dynamics_derivatives", "forward_dynamics_derivatives"),
)
SCALARS = ("double", "float")
MOST_OPERATIONS = 20_000  # a compiler takes half a minute


def subjects(bench: Bench) -> list[tuple[Robot, str, str]]:
    bench.note(f"NVRTC {nvrtc.version()}, {ARCHITECTURE}")
    robots = declare.robots(("ur5", "hyq", "g1"), ("ur5",))(bench)
    return [(x, name, scalar) for x in robots for name in FUNCTIONS for scalar in SCALARS]


def measure(bench: Bench, robot: Robot, function: str, scalar: Any) -> Iterator[Row]:
    """Compile a kernel, unless it is too large."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "r.cu"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", dtau.ModelWarning)  # of the time to compile
            code = dtau.generate(
                robot.model, function, file, language="cuda", scalar=scalar, limit=math.inf
            )
        operations = code.operations[f"r_{function}"]
        if operations > MOST_OPERATIONS:
            bench.note(
                f"{robot.label}, {function}, {scalar}: {operations:,} operations, not compiled "
                f"beyond {MOST_OPERATIONS:,}"
            )
            return
        start = process_time()
        made = nvrtc.compiled(code.source.read_text(), ARCHITECTURE)
        seconds = process_time() - start
    found = made.kernels[f"r_{function}_kernel"]
    yield {
        "robot": robot.label,
        "function": function,
        "scalar": scalar,
        "operations": operations,
        "registers": found.registers,
        "between pieces": code.stack,
        "local memory": found.stack,
        "spill stores": found.spill_stores,
        "spill loads": found.spill_loads,
        "s to compile": seconds,  # of the processor
        "kB of code": f"{len(made.cubin) / 1000:.0f}",  # with its tables
    }


def claims(rows: list[Row]) -> Iterator[Claim]:
    """Kernels that stay in registers."""
    arms = [x for x in rows if x["function"] in FUNCTIONS[:2] and x["robot"] == "UR5"]
    spilled = max((x["spill stores"] for x in arms), default=0)
    text = "inverse and forward dynamics of an arm stay in registers"
    yield Claim(text, "no byte is spilled", f"{spilled} bytes", spilled == 0)


EXPERIMENT = declare.experiment(
    "cuda_code",
    "CUDA code: registers and local memory",
    '`dtau.generate(..., language="cuda")`, compiled by NVRTC',
    subjects,
    measure,
    tables=[
        Layout(
            "A thread of each kernel: registers, and bytes of local memory",
            [
                *("robot", "function", "scalar", "operations", "registers", "between pieces"),
                *("local memory", "spill stores", "spill loads", "s to compile", "kB of code"),
            ],
            left=3,
        )
    ],
    claims=[claims],
)
