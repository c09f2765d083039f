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
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter, thread_time
from typing import Any

import numpy as np

import dtau
from benchmarks.checks import Array, UnavailableError, require_close
from benchmarks.compilers import c_compiler
from benchmarks.compilers import run as run_compiler
from benchmarks.experiment import Claim, Experiment, Findings, Table, Watch
from benchmarks.harness import Timings, at_least, number, one_core, timed, times
from benchmarks.peers.generated_code import Code, generated
from benchmarks.robots import Robot, chosen
from dtau import _core
from dtau.cli.timing import Call, Contender, Effort, given, loop, random_inputs

ROBOTS = ("ur5", "panda", "hyq", "g1", "talos")
QUICK_ROBOTS = ("panda",)
ARMS = ("ur5", "panda")
FUNCTIONS = ("inverse_dynamics", "inverse_dynamics_derivatives", "forward_dynamics_derivatives")
BATCH = 2048
EFFORT = {False: Effort(rounds=31, block=5e-3), True: Effort(rounds=5, block=2e-3)}  # by quick
TOLERANCE = 1e-9  # of the largest element: forward dynamics of humanoids solve with light fingers
TIMES_VALUES, TIMES_DERIVATIVES = 2.5, 1.4
# The core, and generated code beside it: in a loop in C, and in batches
PAIRS = (("core alone", "alone"), ("core", "compiled"))
_LOOP = """
#include "robot.h"
void passes(long n, long states, const double *q, const double *v, const double *x{declared}) {{
    for (long k = 0; k < n; ++k)
        for (long i = 0; i < states; ++i)
            {function}(q + i * r_nq, v + i * r_nv, x + i * r_nv{results});
}}
"""


@dataclass(frozen=True)
class Row:
    """One function of one robot: what was generated, and times of all contenders."""

    robot: str
    key: str
    function: str
    ours: Code
    others: list[Code]
    found: Timings

    def cells(self) -> list[str]:
        """As the table of the package's own code shows it."""
        cells = [self.function, *self.ours.cells()]
        for core, compiled in PAIRS:
            cells += [number(self.found.micro(core)), number(self.found.micro(compiled))]
            cells += times(self.found.ratio(core, compiled))
        return cells

    def other_cells(self, other: Code) -> list[str]:
        """As the table of others' code shows it."""
        ratios = (times(self.found.ratio(other.name, compiled)) for _, compiled in PAIRS)
        cells = [self.robot, self.function, other.name, *other.cells()]
        return [*cells, number(self.found.micro(other.name)), *(x for pair in ratios for x in pair)]

    def to_json(self) -> dict[str, Any]:
        """Microseconds, and what was generated."""
        code = {x.name: [x.operations, x.compiling, x.size] for x in (self.ours, *self.others)}
        words = {"robot": self.robot, "function": self.function}
        return words | {"microseconds": self.found.medians(), "code": code}


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
    data = {"rows": [row.to_json() for row in rows]}
    return Findings(tables=tables, claims=claims(rows), notes=notes, data=data)


def others(rows: list[Row]) -> list[Table]:
    """What others generate."""
    cells = [row.other_cells(other) for row in rows for other in row.others]
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
            made.append(
                at_least(text, least, [x.found.ratio(*PAIRS[1]).median for x in asked], words)
            )
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
        made = list(generated(robot, function, states, quick, note))
        contenders |= {x.code.name: x.contender for x in made}
        found = timed(contenders, EFFORT[quick], clock=thread_time)
    return Row(robot.label, robot.key, function, code.made, [x.code for x in made], found)


class Alone:
    """Generated C, compiled, with a loop over states in C."""

    def __init__(self, folder: Path, model: dtau.Model, function: str) -> None:
        made = dtau.generate(model, function, folder / "robot.c", prefix="r_")
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
        operations, seconds = made.operations[f"r_{function}"], perf_counter() - start
        self.made = Code("dtau", operations, seconds, library.stat().st_size)
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
        """Results of the last state."""
        out = [np.empty(shape) for shape in self.shapes]
        self.passes(states, out)(1)
        return out


EXPERIMENT = Experiment(
    name="generated",
    title="Code generated for one robot",
    source="`dtau.generate` and `dtau.compile` beside the core, and C that CasADi writes",
    run=run,
)
