"""Generated code beside the core: one state after the other, and batches on one core.

    python -m benchmarks generated

    alone     C from `dtau.generate`, compiled by cc -O2 -march=native, in a loop in C; the core
              state by state, in one call
    batches   `dtau.compile`'s model beside the model itself, in one call of one thread
    others    C that CasADi writes of expressions, Pinocchio's algorithms and adam, in a loop in C

All results are the core's. Times are the processor's. The time to compile is that of the library
with the loop in C, and so is the size; that of others is with the time to write the C. Theirs is
compiled by cc -O3 -march=native -ffp-contract=fast, of more than 20,000 nodes with -O1.
"""

from __future__ import annotations

import ctypes
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from time import perf_counter, thread_time
from typing import Any

import numpy as np

import dtau
from benchmarks.checks import Array, UnavailableError, require_close
from benchmarks.compilers import c_compiler
from benchmarks.compilers import run as run_compiler
from benchmarks.experiment import Claim, Experiment, Findings, Table, Watch
from benchmarks.harness import Spread, at_least, number, one_core, timed, times
from benchmarks.peers.generated_code import generated
from benchmarks.robots import Robot, chosen
from dtau import _core
from dtau.timing import Call, Contender, Effort, given, loop, random_inputs

ROBOTS = ("ur5", "panda", "hyq", "g1", "talos")
QUICK_ROBOTS = ("panda",)
ARMS = ("ur5", "panda")
FUNCTIONS = ("inverse_dynamics", "inverse_dynamics_derivatives", "forward_dynamics_derivatives")
BATCH = 2048
EFFORT = {False: Effort(rounds=31, block=5e-3), True: Effort(rounds=5, block=2e-3)}  # by quick
TOLERANCE = 1e-9  # of the largest element: forward dynamics of humanoids solve with light fingers
TIMES_VALUES, TIMES_DERIVATIVES = 2.5, 1.4
_LOOP = """
#include "robot.h"
void passes(long n, long states, const double *q, const double *v, const double *x{declared}) {{
    for (long k = 0; k < n; ++k)
        for (long i = 0; i < states; ++i)
            {function}(q + i * r_nq, v + i * r_nv, x + i * r_nv{results});
}}
"""


@dataclass(frozen=True)
class Other:
    """Another package's code of a function: microseconds a state, and in times of the package's."""

    name: str
    operations: int
    compiling: float
    size: int
    micro: float
    alone_by: Spread  # times of the package's code alone
    batch_by: Spread  # and of its batches

    def cells(self) -> list[str]:
        """As the table shows it."""
        return [
            f"{self.operations:,}",
            f"{self.compiling:.1f} s",
            f"{self.size / 1000:.0f} kB",
            number(self.micro),
            *times(self.alone_by),
            *times(self.batch_by),
        ]


@dataclass(frozen=True)
class Row:
    """Microseconds a state, of the core and of generated code, and how many times less."""

    robot: str
    key: str
    function: str
    operations: int
    compiling: float  # seconds
    size: int  # bytes of the library
    core_alone: float
    alone: float
    alone_by: Spread
    core_batch: float
    batch: float
    batch_by: Spread
    others: list[Other]

    def cells(self) -> list[str]:
        """As the table shows it."""
        return [
            self.function,
            f"{self.operations:,}",
            f"{self.compiling:.1f} s",
            f"{self.size / 1000:.0f} kB",
            *(number(self.core_alone), number(self.alone), *times(self.alone_by)),
            *(number(self.core_batch), number(self.batch), *times(self.batch_by)),
        ]


def run(quick: bool, watch: Watch) -> Findings:
    """All functions of all robots."""
    if not c_compiler():
        raise UnavailableError("there is no C compiler (set CC)")
    notes: list[str] = []

    def note(text: str) -> None:
        if text not in notes:
            notes.append(text)

    robots = chosen(QUICK_ROBOTS if quick else ROBOTS, note)
    watch.expect(len(robots) * len(FUNCTIONS))
    rows = []
    with one_core():
        for robot in robots:
            for function in FUNCTIONS:
                rows.append(measured(robot, function, quick, note))
                watch.step(f"{robot.label}, {function}")
    header = ["function", "operations", "to compile", "code", "core alone", "generated", "", ""]
    tables = [
        Table(
            f"{label}: microseconds a state",
            [*header, "core's batch", "compiled", "", ""],
            [row.cells() for row in rows if row.robot == label],
        )
        for label in dict.fromkeys(row.robot for row in rows)
    ]
    tables += others(rows)
    data = {"rows": [asdict(row) for row in rows]}
    return Findings(tables=tables, claims=claims(rows), notes=notes, data=data)


def others(rows: list[Row]) -> list[Table]:
    """What others generate."""
    cells = [
        [row.robot, row.function, other.name, *other.cells()]
        for row in rows
        for other in row.others
    ]
    header = ["robot", "function", "C of", "instructions", "to compile", "code", "µs a state"]
    header += ["of generated", "", "of compiled", ""]
    title = "C that others generate: microseconds a state, and how many times the package's"
    return [Table(title, header, cells, left=3)] if cells else []


def claims(rows: list[Row]) -> list[Claim]:
    """What generated code is for."""
    made = []
    for text, least, asked in (
        (
            "inverse dynamics of arms, in batches",
            TIMES_VALUES,
            [x for x in rows if x.key in ARMS and x.function == "inverse_dynamics"],
        ),
        (
            "first derivatives of inverse dynamics, in batches",
            TIMES_DERIVATIVES,
            [x for x in rows if x.function == "inverse_dynamics_derivatives"],
        ),
    ):
        if asked:
            words = f"at least {least:g} times the core's rate"
            made.append(at_least(text, least, [x.batch_by.median for x in asked], words))
    return made


def measured(robot: Robot, function: str, quick: bool, note: Callable[[str], None]) -> Row:
    """One function of one robot."""
    label = f"{robot.label}, {function}"
    call = Call(function, robot.model, random_inputs(robot.model, [function], BATCH))
    states, want = tuple(call.arrays.values()), call()
    with tempfile.TemporaryDirectory() as folder:
        code = Alone(Path(folder), robot.model, function)
        for got, one in zip(code.results(states), want, strict=True):
            require_close(got, one[-1], TOLERANCE, f"{label}, alone")
        with warnings.catch_warnings():
            # A function that is not compiled runs in the core, which would be compared with itself.
            warnings.simplefilter("error", dtau.ModelWarning)
            large = ".* operations for this robot"  # where the core may be faster: measured here
            warnings.filterwarnings("ignore", large, dtau.ModelWarning)
            fast = replace(call, model=dtau.compile(robot.model, function))
        for got, one in zip(fast(), want, strict=True):
            require_close(got, one, TOLERANCE, f"{label}, compiled")
        core = loop(
            f"f({call.words}, out=out, threads=1)",
            **(call.names | {"f": getattr(_core.alone, function), "out": given(want)}),
            **call.arrays,
        )
        contenders = {
            "core alone": Contender(core, BATCH),
            "alone": Contender(code.passes(states), BATCH),
            "core": call.batch(),
            "compiled": fast.batch(),
        }
        made = {x.name: x for x in generated(robot, function, states, quick, note)}
        contenders |= {name: x.contender for name, x in made.items()}
        found = timed(contenders, EFFORT[quick], clock=thread_time)
    return Row(
        robot.label,
        robot.key,
        function,
        code.operations,
        code.seconds,
        code.size,
        found.micro("core alone"),
        found.micro("alone"),
        found.ratio("core alone", "alone"),
        found.micro("core"),
        found.micro("compiled"),
        found.ratio("core", "compiled"),
        [
            Other(
                name,
                x.operations,
                x.compiling,
                x.size,
                found.micro(name),
                found.ratio(name, "alone"),
                found.ratio(name, "compiled"),
            )
            for name, x in made.items()
        ],
    )


class Alone:
    """Generated C, compiled, with a loop over states in C."""

    def __init__(self, folder: Path, model: dtau.Model, function: str) -> None:
        made = dtau.generate(model, function, folder / "robot.c", prefix="r_")
        self.operations = made.operations[f"r_{function}"]
        nv = model.nv
        self.shapes = [(nv,)] if function == "inverse_dynamics" else [(nv, nv)] * 3
        names = [f"y{k}" for k in range(len(self.shapes))]
        loop_file = folder / "loop.c"
        loop_file.write_text(
            _LOOP.format(
                declared="".join(f", double *{name}" for name in names),
                function=f"r_{function}",
                results="".join(f", {name}" for name in names),
            )
        )
        library = folder / "robot.so"
        command = [*c_compiler(), "-std=c99", "-O2", "-march=native", "-fPIC", "-shared"]
        start = perf_counter()
        files = (str(made.source), str(loop_file), "-o", str(library), "-lm")
        run_compiler([*command, *files])
        self.seconds = perf_counter() - start
        self.size = library.stat().st_size
        self._passes: Any = ctypes.CDLL(str(library)).passes

    def passes(self, states: tuple[Array, ...], out: Any = None) -> Callable[[int], None]:
        """A function of the number of passes over all states; results are those of the last."""
        out = [np.empty(shape) for shape in self.shapes] if out is None else out
        kept = [np.ascontiguousarray(x) for x in states]
        pointers = [x.ctypes.data_as(ctypes.c_void_p) for x in (*kept, *out)]

        def passes(count: int) -> None:
            self._passes(ctypes.c_long(count), ctypes.c_long(len(kept[0])), *pointers)

        return passes

    def results(self, states: tuple[Array, ...]) -> list[Array]:
        """Those of the last state."""
        out = [np.empty(shape) for shape in self.shapes]
        self.passes(states, out)(1)
        return out


EXPERIMENT = Experiment(
    name="generated",
    title="Code generated for one robot",
    source="`dtau.generate` and `dtau.compile` beside the core, and C that CasADi writes",
    run=run,
)
