"""Compile a file with MuJoCo and collect the compiler's warnings: `compiled_model`."""

from __future__ import annotations

import ctypes
import importlib
import os
from functools import cache
from operator import methodcaller
from typing import Any

from dtau import _core
from dtau.loaders.source import Source
from dtau.model.compile import MOST_DOFS
from dtau.support.errors import ModelError
from dtau.support.locks import fork_safe_lock

_one_at_a_time = fork_safe_lock()  # MuJoCo has one warning handler


def compiled_model(source: Source) -> tuple[Any, Any, list[str]]:
    """Return the package, its model of the file, and its warnings.

    Only warnings of this call are returned; the program's own handler does not receive them. It
    receives MuJoCo's warnings from other threads meanwhile, and is restored afterwards.
    """
    try:
        mujoco = importlib.import_module("mujoco")
        make = mujoco.MjModel
    except (ImportError, AttributeError) as error:
        raise ModelError(
            f"{source.label}: MJCF is read by the package mujoco or mujoco-core, which is not "
            f"installed: pip install mujoco-core ({error})"
        ) from None
    try:
        # A file is compiled by its path, because names of files in it are relative to it.
        if source.path is not None and os.path.isfile(source.path):
            function, argument = make.from_xml_path, source.path
        else:
            text = source.content
            function = make.from_xml_string
            argument = text if isinstance(text, str) else text.decode()
        with _one_at_a_time:
            compiled, said = _core.with_mujoco_warnings(mujoco, _handler(), function, argument)
    except Exception as error:  # MuJoCo raises several classes
        raise ModelError(f"{source.label}: MuJoCo: {' '.join(str(error).split())}") from None
    if compiled.nv == 0:
        raise ModelError(
            f"{source.label}: expected a joint that moves, got none; a <freejoint/> in a body of "
            "the world lets that body move as a whole"
        )
    if compiled.nv > MOST_DOFS:
        raise ModelError(
            f"{source.label}: expected at most {MOST_DOFS} degrees of freedom, got {compiled.nv}"
        )
    return mujoco, compiled, [" ".join(text.decode("utf-8", "replace").split()) for text in said]


class _Text:
    """The argument that the C function receives from Python.

    A thread that was about to call the program's handler may call this one with a str instead. An
    exception there would end the process, so no Python code runs.
    """

    from_param = staticmethod(methodcaller("encode", "utf-8", "replace"))


@cache
def _handler() -> object:
    """Return the C function that receives the warnings, in MuJoCo's type."""
    handler: Any = ctypes.CFUNCTYPE(None, ctypes.c_char_p)(_core.mujoco_warning_handler())
    handler.argtypes = [_Text]
    return handler
