"""Generated code, compiled and called: the functions of one model by their names in C."""

from __future__ import annotations

import ctypes
import math
import os
import shutil
import subprocess
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from trees import Array

import dtau
from dtau.codegen.recording import Written, record
from dtau.codegen.requests import Functions, requests

CC = shutil.which(os.environ.get("CC") or "cc")
needs_compiler = pytest.mark.skipif(CC is None, reason="there is no C compiler")
WARNINGS = ("-Wall", "-Wextra", "-Wconversion", "-Werror")
C99 = ("-std=c99", "-O0", *WARNINGS)
CXX = ("-xc++", "-std=c++11", "-O0", *WARNINGS)


def compiled(source: Path, flags: Sequence[str] = C99) -> Any:
    """Load the shared library of a source file."""
    library = source.with_suffix(f".{len(list(source.parent.iterdir()))}.so")
    run(*flags, "-fPIC", "-shared", source, "-o", library, "-lm")
    return ctypes.CDLL(str(library))


def run(*arguments: object) -> None:
    """Run the compiler, which must say nothing."""
    assert CC is not None
    done = subprocess.run(
        [CC, *map(str, arguments)], capture_output=True, text=True, timeout=300, check=False
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stderr[:2000]


def operations(
    model: dtau.Model, functions: Functions, source: Path, **options: Any
) -> dict[str, int]:
    """How many each function has, of however many."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dtau.ModelWarning)  # of a compiler's time
        return dtau.generate(model, functions, source, limit=math.inf, **options).operations


class Code:
    """Generated and compiled functions, which take and give arrays of NumPy's."""

    def __init__(
        self,
        model: dtau.Model,
        functions: Functions,
        source: Path,
        flags: Sequence[str] = C99,
        **options: Any,
    ) -> None:
        self.code = dtau.generate(model, functions, source, prefix="r_", **options)
        self.library = compiled(source, flags)
        single = options.get("scalar") == "float"
        self.dtype = np.float32 if single else np.float64
        self.written: dict[str, Written] = {
            request.name: record(model, request, "r_", single=single)
            for request in requests(model, functions, options.get("parameters", ()))
        }

    def __call__(self, name: str, **arrays: Any) -> tuple[Array, ...]:
        """The results of a function; whatever is not its argument is passed over."""
        function = self.written[name]
        given = [
            np.array(arrays[argument.name], self.dtype, order="C")
            for argument in function.arguments
        ]
        for array, argument in zip(given, function.arguments, strict=True):
            assert array.shape == argument.shape
        results = tuple(np.full(x.shape, np.nan, self.dtype) for x in function.results)
        pointers = [x.ctypes.data_as(ctypes.c_void_p) for x in (*given, *results)]
        getattr(self.library, function.name)(*pointers)
        return tuple(x.astype(np.float64) for x in results)
