"""Generated CUDA, compiled as C++ and run on the host: kernels of one model by their names."""

from __future__ import annotations

import ctypes
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from compiled import WARNINGS, compiled
from trees import Array

import dtau
from dtau.codegen.recording import Written, record
from dtau.codegen.requests import Functions, requests

SHIM = Path(__file__).parent / "cuda"
HOST = ("-xc++", "-std=c++17", "-O0", f"-I{SHIM}", "-D__CUDACC__", *WARNINGS)
GUARD = 7.0  # a number behind each result


class HostKernels:
    """Kernels, which take and give arrays of NumPy's with the states on the first axis."""

    def __init__(
        self, model: dtau.Model, functions: Functions, source: Path, **options: Any
    ) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", dtau.ModelWarning)  # of CUDA's compilers' time
            self.code = dtau.generate(
                model, functions, source, language="cuda", prefix="r_", **options
            )
        self.library = compiled(source, HOST)
        single = options.get("scalar") == "float"
        self.dtype = np.float32 if single else np.float64
        self.written: dict[str, Written] = {
            request.name: record(model, request, "r_", single=single, device=True)
            for request in requests(model, functions, options.get("parameters", ()))
        }

    def __call__(self, name: str, **arrays: Any) -> tuple[Array, ...]:
        """The results of all states; whatever is not an argument is passed over."""
        function = self.written[name]
        given = [states_last(arrays[x.name], self.dtype) for x in function.arguments]
        states = given[0].shape[-1]
        results = [np.full(x.size * states + 1, np.nan, self.dtype) for x in function.results]
        for result in results:
            result[-1] = GUARD
        pointers = [x.ctypes.data_as(ctypes.c_void_p) for x in (*given, *results)]
        launch = getattr(self.library, f"{function.name}_launch")
        assert launch(ctypes.c_int(states), *pointers, None) == 0
        assert all(result[-1] == GUARD for result in results)
        return tuple(
            states_first(result[:-1], (*x.shape, states))
            for x, result in zip(function.results, results, strict=True)
        )


def states_last(array: Array, dtype: Any = np.float64) -> Array:
    """Entries of a batch as kernels read them: the states on the last axis."""
    return np.ascontiguousarray(np.moveaxis(np.asarray(array, dtype), 0, -1))


def states_first(numbers: Array, shape: tuple[int, ...]) -> Array:
    """What kernels write, as a batch."""
    return np.moveaxis(numbers.reshape(shape), -1, 0).astype(np.float64)
