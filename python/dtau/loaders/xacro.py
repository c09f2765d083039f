"""xacro: expanded to URDF by the package `xacrodoc`.

A file of this format is a program: it reads the files that it includes, and its expressions are
evaluated. So only files that are called *.xacro are expanded.
"""

from __future__ import annotations

import importlib
from typing import Any

from dtau.errors import ModelError
from dtau.loaders.source import Source


def is_xacro(source: Source) -> bool:
    """Whether a file's name says that it is to be expanded."""
    return source.path is not None and source.path.lower().endswith(".xacro")


def expand(source: Source) -> Source:
    """Return the URDF that a xacro file stands for.

    Includes and ``$(find package)`` are found from the file's folder on upwards.

    Raises
    ------
    ModelError
        If it cannot be expanded, or the package that does it is missing.
    """
    try:
        xacro: Any = importlib.import_module("xacro")
        xacrodoc: Any = importlib.import_module("xacrodoc")
    except ImportError as error:
        raise ModelError(
            f"{source.label}: xacro files need the package xacrodoc, which is the extra "
            f"dtau[xacro] (pip install xacrodoc): {error}"
        ) from None
    assert source.path is not None
    assert isinstance(source.content, bytes)  # of a file
    before = xacro.filestack
    try:
        text = source.content.decode("utf-8-sig")
        xacrodoc.packages.walk_up_from(source.path)
        xacro.init_stacks(source.path)  # what includes are relative to
        document = xacrodoc.XacroDoc.from_string(text, resolve_packages=False)
        urdf = document.to_urdf_string()
    except Exception as error:  # whatever the expressions of a file raise
        problem = " ".join(f"{type(error).__name__}: {error}".split())
        raise ModelError(f"{source.label}: xacro: {problem}") from None
    finally:
        xacro.filestack = before
    return Source(f"{source.label}, expanded", urdf, source.path)
