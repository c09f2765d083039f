"""xacro: expanded to URDF by the package `xacrodoc`.

A file of this format is a program: it reads the files that it includes, and its expressions are
evaluated. So only files that are called *.xacro are expanded.

The packages xacro and xacrodoc keep their state in globals. So files are expanded one at a time,
each from a fresh state, and the program's own state is put back afterwards.
"""

from __future__ import annotations

import copy
import importlib
import os
from collections.abc import Iterator
from typing import Any

from dtau.errors import ModelError
from dtau.loaders.source import Source
from dtau.locks import fork_safe_lock

# Puts the program's state back when it is consumed, which `list` does in one operation: a Ctrl-C
# cannot fall in between.
_put_back: Iterator[None] = iter(())
_one_at_a_time = fork_safe_lock(lambda: list(_put_back))


def is_xacro(source: Source) -> bool:
    """Whether a file's name says that it is to be expanded."""
    return source.path is not None and source.path.lower().endswith(".xacro")


def expand(source: Source) -> Source:
    """Return the URDF that a xacro file stands for.

    Includes are found relative to the file that names them; ``$(find package)`` from the file's
    folder on upwards, or where the program told `xacrodoc.packages` to look, or where ROS has it.

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
    try:
        text = source.content.decode("utf-8-sig")
        urdf = _expanded(xacro, xacrodoc, text, source.path)
    except Exception as error:  # whatever the expressions of a file raise
        problem = " ".join(f"{type(error).__name__}: {error}".split())
        raise ModelError(f"{source.label}: xacro: {problem}") from None
    return Source(f"{source.label}, expanded", urdf, source.path)


def _expanded(xacro: Any, xacrodoc: Any, text: str, path: str) -> str:
    global _put_back
    with _one_at_a_time:
        modules = vars(xacro), vars(xacrodoc.packages)
        fresh = _fresh_state(xacro), {"_finder": _finder_from(xacrodoc.packages, path)}
        fresh[0]["filestack"] = [path]  # what includes are relative to
        before = [
            {name: module[name] for name in state}
            for module, state in zip(modules, fresh, strict=True)
        ]
        put_back = map(dict.update, modules, before)
        _put_back = put_back
        try:
            for module, state in zip(modules, fresh, strict=True):
                module.update(state)
            document = xacrodoc.XacroDoc.from_string(text, resolve_packages=False)
            urdf: str = document.to_urdf_string()
        finally:
            list(put_back)
    return urdf


def _fresh_state(xacro: Any) -> dict[str, Any]:
    """Return the globals that expanding changes or reads, as in a process that has just begun.

    Expressions of a file can change the names that expressions see.
    """
    return {
        "macrostack": [],
        "substitution_args_context": {},
        "all_includes": [],
        "root_dir": os.curdir,
        "_global_symbols": xacro.create_global_symbols(),
    }


def _finder_from(packages: Any, path: str) -> Any:
    """Return a finder of packages that looks from a file on upwards, then as the program's does."""
    finder = copy.copy(packages._finder)
    finder.finder_funcs = finder.finder_funcs.copy()
    finder.package_cache = finder.package_cache.copy()
    finder.walk_up_from(path)
    return finder
