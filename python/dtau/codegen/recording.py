"""Record functions of the core and write them as C: `record`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from dtau.codegen.recorder import load_recorder
from dtau.codegen.requests import GRAVITY, Argument, Request
from dtau.model.model import Model
from dtau.registry import arrays_of
from dtau.support.arrays import Array

# Most operations of a piece: a compiler's time grows faster than their number.
PIECE = 1000
# On a device, temporaries between pieces are in local memory, which is slower than registers. A
# function of at most so many operations is one piece: longer ones spilled as much as pieces pass
# on, or compiled for long. In single precision twice as many: a double takes two registers.
DEVICE_WHOLE = 3000
# Operations per second that gcc 12 with -O2 and NVRTC 13.5 compile, on one core.
COMPILES = {"c": 4000, "cuda": 500}
# Code with more operations does not fit into the caches; the core is then at least as fast in
# batches, as measured in docs/generated_code.md.
LARGE = 15_000


@dataclass(frozen=True)
class Written:
    """A function written as C."""

    request: Request
    name: str  # with the prefix
    arguments: tuple[Argument, ...]
    results: tuple[Argument, ...]
    text: str
    operations: int
    sines: int  # number of sines and cosines
    memory: int  # numbers on the stack


@contextmanager
def recording() -> Iterator[Any]:
    """Open a new tape on this thread; yield the recording module.

    Other threads record on their own tapes; so do signal handlers that run during a recording.
    """
    recorder = load_recorder()
    before = recorder.tapes()
    try:
        recorder.start()
        yield recorder
    finally:
        recorder.end(before)


def record(
    model: Model,
    request: Request,
    prefix: str,
    *,
    single: bool,
    static: bool = False,
    device: bool = False,
    lanes: int = 0,
) -> Written:
    """Run a function of the core with recorded numbers, and write the recording as C.

    ``device``: write a function of CUDA. ``lanes``: number of states in a group, or 0 for one
    state; see src/codegen/write.hpp.
    """
    with recording() as recorder:
        return _record(recorder, model, request, prefix, single, static, device, lanes)


def _record(
    recorder: Any,
    model: Model,
    request: Request,
    prefix: str,
    single: bool,
    static: bool,
    device: bool,
    lanes: int,
) -> Written:
    taken: list[tuple[Argument, Array]] = []

    def new(argument: Argument) -> Array:
        numbers = np.zeros(argument.size)
        recorder.take_inputs(numbers)
        taken.append((argument, numbers))
        return numbers.reshape(argument.shape)

    arrays = {name: new(x) if isinstance(x, Argument) else x for name, x in request.inputs.items()}
    for constant in request.constants:
        set_constant(recorder, request, constant.name, new(constant))
    outputs = arrays_of(request.call(recorder.functions, model, arrays))
    name = prefix + request.name

    def write(piece: int) -> tuple[str, int, int, int, list[str]]:
        return recorder.write(  # type: ignore[no-any-return]
            name,
            [(argument.name, numbers) for argument, numbers in taken],
            [(to, _flat(x)) for to, x in zip(request.results, outputs, strict=True)],
            single,
            piece,
            lanes,
            static,
            device,
        )

    piece = DEVICE_WHOLE * (1 + single) if device else PIECE
    text, operations, sines, memory, unused = write(piece)
    if device and operations + sines > piece:
        piece = PIECE
        text, operations, sines, memory, unused = write(piece)
    if dropped := [x for x in request.constants if x.name in unused]:
        taken = [x for x in taken if x[0] not in dropped]
        text, operations, sines, memory, _ = write(piece)
    results = tuple(Argument(to, x.shape) for to, x in zip(request.results, outputs, strict=True))
    arguments = tuple(argument for argument, _ in taken)
    return Written(request, name, arguments, results, text, operations, sines, memory)


def set_constant(recorder: Any, request: Request, name: str, numbers: Array) -> None:
    """Make the tape use recorded numbers in place of the model's."""
    if name == GRAVITY:
        recorder.set_gravity(numbers)
        return
    assert request.payload
    on_body = np.zeros(10)
    recorder.product(np.ravel(request.payload.by), numbers, 10, on_body)
    recorder.set_payload(request.payload.body, on_body)


def _flat(array: Array) -> Array:
    return np.ascontiguousarray(array).reshape(-1)


def stack_bytes(written: Sequence[Written], scalar: str) -> int:
    """Return the largest number of bytes on the stack for temporaries between pieces."""
    return max(function.memory for function in written) * (4 if scalar == "float" else 8)
