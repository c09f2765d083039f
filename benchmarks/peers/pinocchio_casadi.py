"""Pinocchio's algorithms as CasADi's functions, from which CasADi writes C.

Pinocchio's bindings with CasADi's numbers do not come with its package on PyPI, but its headers
take them: `pinocchio_casadi.cpp` is compiled against both packages' headers, once, and kept.
"""

from __future__ import annotations

import ctypes
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import casadi

from benchmarks.compilers import cxx_compiler
from benchmarks.peers.headers import headers_prefix, library
from benchmarks.robots import Robot

SOURCE = Path(__file__).with_name("pinocchio_casadi.cpp")


def function(robot: Robot, name: str) -> Any:
    """A function of the package by Pinocchio's algorithm: of q, v and u in a column, its results.

    Arrays are Pinocchio's, matrices row by row, one after the other.
    """
    with tempfile.TemporaryDirectory() as folder:
        file, message = Path(folder) / "function.casadi", ctypes.create_string_buffer(200)
        compiled = _library()
        text = robot.peer.saveToString().encode()
        saved = compiled.save(text, name.encode(), str(file).encode(), message, len(message))
        if not saved:
            raise RuntimeError(message.value.decode(errors="replace"))
        return casadi.Function.load(str(file))


@cache
def _library() -> Any:
    """Compiled with the first compiler that is here."""
    prefix, compiler = headers_prefix(), cxx_compiler("clang++", "g++")
    folder = Path(casadi.__file__).parent
    flags = ["-O1", f"-isystem{folder / 'include'}"]  # what runs here is timed by nobody
    linked = [f"-L{folder}", f"-Wl,-rpath,{folder}", "-lcasadi"]
    loaded = ctypes.CDLL(str(library(SOURCE, compiler, prefix, flags, linked)))
    words = (ctypes.c_char_p,) * 4
    loaded.save.argtypes = (*words, ctypes.c_size_t)
    loaded.save.restype = ctypes.c_bool
    return loaded
