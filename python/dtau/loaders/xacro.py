"""Expand xacro to URDF with the package `xacrodoc`: `expand`.

A xacro file is a program: it includes other files, and its expressions are evaluated. So only files
named *.xacro are expanded.

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

# Restores the program's state when it is consumed; `list` does this in one operation, which Ctrl-C
# cannot interrupt.
_put_back: Iterator[None] = iter(())
_one_at_a_time = fork_safe_lock(lambda: list(_put_back))


def is_xacro(source: Source) -> bool:
    """Whether a file is xacro, by its name."""
    return source.path is not None and source.path.lower().endswith(".xacro")


def expand(source: Source) -> Source:
    """Return the URDF that a xacro file expands to.

    Includes are relative to the file that names them. ``$(find package)`` searches from the file's
    folder upwards, then in the folders of `xacrodoc.packages`, then in ROS.

    Raises
    ------
    ModelError
        If it cannot be expanded, or xacrodoc is missing.
    """
    try:
        xacro: Any = importlib.import_module("xacro")
        xacrodoc: Any = importlib.import_module("xacrodoc")
    except ImportError as error:
        raise ModelError(
            f"{source.label}: xacro files need the package xacrodoc, which is not "
            f"installed: pip install 'xacrodoc>=2' ({error})"
        ) from None
    assert source.path is not None
    assert isinstance(source.content, bytes)  # content of a file
    try:
        text = source.content.decode("utf-8-sig")
        urdf = _expanded(xacro, xacrodoc, text, source.path)
    except Exception as error:  # expressions of a file may raise anything
        problem = " ".join(f"{type(error).__name__}: {error}".split())
        raise ModelError(f"{source.label}: xacro: {problem}") from None
    return Source(f"{source.label}, expanded", urdf, source.path)


def _expanded(xacro: Any, xacrodoc: Any, text: str, path: str) -> str:
    global _put_back
    with _one_at_a_time:
        modules = vars(xacro), vars(xacrodoc.packages)
        fresh = _fresh_state(xacro), {"_finder": _finder_from(xacrodoc.packages, path)}
        fresh[0]["filestack"] = [path]  # base of relative includes
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
    """Return fresh values of the globals that an expansion changes or reads.

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
    """Return a package finder that searches from a file upwards, then like the program's finder."""
    finder = copy.copy(packages._finder)
    finder.finder_funcs = finder.finder_funcs.copy()
    finder.package_cache = finder.package_cache.copy()
    finder.walk_up_from(path)
    return finder
