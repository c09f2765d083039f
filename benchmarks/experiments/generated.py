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
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from time import perf_counter, thread_time
from typing import Any

import numpy as np

import dtau
from benchmarks import declare
from benchmarks.checks import Array, UnavailableError, require_close
from benchmarks.compilers import c_compiler
from benchmarks.compilers import run as run_compiler
from benchmarks.declare import Asked, Bench, Layout, Row, efforts, ratio
from benchmarks.peers.generated_code import Code, generated
from benchmarks.robots import Robot
from dtau import _core
from dtau.cli.timing import Call, Contender, given, loop, random_inputs

ARMS = ("ur5", "panda")
FUNCTIONS = ("inverse_dynamics", "inverse_dynamics_derivatives", "forward_dynamics_derivatives")
BATCH = 2048
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


def subjects(bench: Bench) -> list[tuple[Robot, str]]:
    if not c_compiler():
        raise UnavailableError("there is no C compiler (set CC)")
    robots = declare.robots(("ur5", "panda", "hyq", "g1", "talos"), ("panda",))(bench)
    return [(robot, function) for robot in robots for function in FUNCTIONS]


def measure(bench: Bench, robot: Robot, function: str) -> Iterator[Row]:
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
        others = list(generated(robot, function, states, bench.quick, bench.note))
        found = bench.timed(contenders | {x.code.name: x.contender for x in others})
    words = {"robot": robot.label, "function": function, "arm": robot.key in ARMS}
    row = words | described(code.made) | {name: found.micro(name) for name in contenders}
    ratios = {"by alone": found.ratio("core alone", "alone")}
    yield row | ratios | {"by compiled": found.ratio("core", "compiled")}
    for x in others:
        row = words | described(x.code) | {"µs a state": found.micro(x.code.name)}
        yield row | {f"by {way}": found.ratio(x.code.name, way) for way in ("alone", "compiled")}


def described(code: Code) -> Row:
    return {"of": code.name} | dict(zip(("count", "compiling", "code"), code.cells(), strict=True))


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


MADE = [("to compile", "compiling"), "code"]
EXPERIMENT = declare.experiment(
    "generated",
    "Code generated for one robot",
    "`dtau.generate` and `dtau.compile` beside the core, and C that CasADi writes",
    subjects,
    measure,
    effort=efforts((31, 5), (5e-3, 2e-3)),
    tables=[
        Layout(
            "{robot}: microseconds a state",
            [
                *("function", ("operations", "count"), *MADE, "core alone", ("generated", "alone")),
                *(ratio("by alone"), ("core's batch", "core"), "compiled", ratio("by compiled")),
            ],
            where={"of": "dtau"},
            each="robot",
        ),
        lambda rows: Layout(
            "C that others generate: microseconds a state, and how many times the package's",
            [
                *("robot", "function", ("C of", "of"), ("instructions", "count"), *MADE),
                *("µs a state", ratio("by alone", "of generated")),
                ratio("by compiled", "of compiled"),
            ],
            left=3,
        ).tables([row for row in rows if row["of"] != "dtau"]),
    ],
    claims=[
        Asked(
            text,
            "by compiled",
            least=least,
            where={"of": "dtau"} | where,
            asked=f"at least {least:g} times the core's rate",
        )
        for text, least, where in (
            (
                "inverse dynamics of arms, in batches",
                TIMES_VALUES,
                {"arm": True, "function": "inverse_dynamics"},
            ),
            (
                "first derivatives of inverse dynamics, in batches",
                TIMES_DERIVATIVES,
                {"function": "inverse_dynamics_derivatives"},
            ),
        )
    ],
    clock=thread_time,
)
