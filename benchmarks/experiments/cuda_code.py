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
from dataclasses import asdict, dataclass
from pathlib import Path
from time import process_time
from typing import Any

import dtau
from benchmarks import nvrtc
from benchmarks.experiment import Claim, Experiment, Findings, Table, Watch
from benchmarks.harness import number
from benchmarks.robots import Robot, chosen

ARCHITECTURE = "sm_90"
ROBOTS = ("ur5", "hyq", "g1")
QUICK_ROBOTS = ("ur5",)
FUNCTIONS = (
    "inverse_dynamics",
    "forward_dynamics",
    "inverse_dynamics_derivatives",
    "forward_dynamics_derivatives",
)
MOST_OPERATIONS = 20_000  # a compiler takes half a minute


@dataclass(frozen=True)
class Row:
    """One kernel."""

    robot: str
    function: str
    scalar: str
    operations: int
    between: int  # bytes
    found: nvrtc.Resources
    seconds: float  # of the processor
    size: int  # bytes of machine code, with its tables

    def cells(self) -> list[str]:
        """As the table shows it."""
        numbers = (self.operations, self.found.registers, self.between, self.found.stack)
        spilled = (self.found.spill_stores, self.found.spill_loads)
        cells = [self.robot, self.function, self.scalar, *(f"{x:,}" for x in (*numbers, *spilled))]
        return [*cells, number(self.seconds), f"{self.size / 1000:.0f}"]


def run(quick: bool, watch: Watch) -> Findings:
    """All functions of all robots, in both precisions."""
    nvrtc.library()
    notes: list[str] = [f"NVRTC {nvrtc.version()}, {ARCHITECTURE}"]
    robots = chosen(QUICK_ROBOTS if quick else ROBOTS, notes.append)
    watch.expect(2 * len(robots) * len(FUNCTIONS))
    rows = []
    for robot in robots:
        for function in FUNCTIONS:
            for scalar in ("double", "float"):
                row = measured(robot, function, scalar)
                if isinstance(row, Row):
                    rows.append(row)
                else:
                    notes.append(row)
                watch.step(f"{robot.label}, {function}, {scalar}")
    table = Table(
        "A thread of each kernel: registers, and bytes of local memory",
        [
            *("robot", "function", "scalar", "operations", "registers", "between pieces"),
            *("local memory", "spill stores", "spill loads", "s to compile", "kB of code"),
        ],
        [row.cells() for row in rows],
        left=3,
    )
    data = {"rows": [asdict(row) for row in rows]}
    return Findings(tables=[table], claims=claims(rows), notes=notes, data=data)


def measured(robot: Robot, function: str, scalar: Any) -> Row | str:
    """One kernel, or why there is none."""
    with tempfile.TemporaryDirectory() as folder:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", dtau.ModelWarning)  # of the time to compile
            code = dtau.generate(
                robot.model,
                function,
                Path(folder) / "r.cu",
                language="cuda",
                scalar=scalar,
                limit=math.inf,
            )
        operations = code.operations[f"r_{function}"]
        if operations > MOST_OPERATIONS:
            return (
                f"{robot.label}, {function}, {scalar}: {operations:,} operations, not compiled "
                f"beyond {MOST_OPERATIONS:,}"
            )
        start = process_time()
        made = nvrtc.compiled(code.source.read_text(), ARCHITECTURE)
        seconds = process_time() - start
    found = made.kernels[f"r_{function}_kernel"]
    size = len(made.cubin)
    return Row(robot.label, function, scalar, operations, code.stack, found, seconds, size)


def claims(rows: list[Row]) -> list[Claim]:
    """Kernels that stay in registers."""
    arms = [x for x in rows if x.function in FUNCTIONS[:2] and x.robot == "UR5"]
    spilled = max((x.found.spill_stores for x in arms), default=0)
    return [
        Claim(
            "inverse and forward dynamics of an arm stay in registers",
            "no byte is spilled",
            f"{spilled} bytes",
            spilled == 0,
        )
    ]


EXPERIMENT = Experiment(
    name="cuda_code",
    title="CUDA code: registers and local memory",
    source='`dtau.generate(..., language="cuda")`, compiled by NVRTC',
    run=run,
)
