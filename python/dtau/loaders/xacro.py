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
import re
from collections.abc import Iterator, Mapping
from numbers import Real
from typing import Any

from dtau.loaders.source import Source
from dtau.loaders.xml import with_declaration_first
from dtau.support.checks import class_name, listing, require_name, shown, unknown_name
from dtau.support.errors import ModelError
from dtau.support.locks import fork_safe_lock

# Restores the program's state when it is consumed; `list` does this in one operation, which Ctrl-C
# cannot interrupt.
_put_back: Iterator[None] = iter(())
_one_at_a_time = fork_safe_lock(lambda: list(_put_back))

_NO_PACKAGE = re.compile(r"Package not found: (\S+)")  # in errors of xacrodoc


class Arguments:
    """Values of the arguments of xacro files, and which of them the files ask for.

    Attributes
    ----------
    values : dict of str to str
        The values as xacro's command line would have them.
    asked, missing : set of str
        All arguments that expanded files have, and those without a value or a default.
    """

    def __init__(self, given: Mapping[str, str | float] | None = None) -> None:
        if given is not None and not isinstance(given, Mapping):
            raise TypeError(f"xacro_args: expected a mapping by names, got {shown(given)}")
        self.values = {
            require_name("xacro_args", name): _text(name, x) for name, x in (given or {}).items()
        }
        self.asked: set[str] = set()
        self.missing: set[str] = set()

    def require_asked(self, label: str) -> None:
        """Raise ValueError if a value belongs to no argument of the files."""
        for name in self.values:
            if name not in self.asked:
                known = listing(sorted(self.asked)) if self.asked else "none; only *.xacro has them"
                error = unknown_name("argument", name, self.asked)
                raise ValueError(f"xacro_args: {error}; arguments of {label}: {known}")


def _text(name: str, value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()  # as XML and YAML write it
    if isinstance(value, (str, Real)):
        return str(value)
    raise TypeError(f"xacro_args[{name!r}]: expected a text or a number, got {class_name(value)}")


class _Asked(dict[str, str]):
    """The arguments of one file, to which xacro adds defaults."""

    def __init__(self, arguments: Arguments) -> None:
        super().__init__(arguments.values)
        self._arguments = arguments

    def __contains__(self, name: object) -> bool:
        self._arguments.asked.add(str(name))
        return super().__contains__(name)

    def __getitem__(self, name: str) -> str:
        self._arguments.asked.add(name)
        if not super().__contains__(name):
            self._arguments.missing.add(name)
        return super().__getitem__(name)


def is_xacro(source: Source) -> bool:
    """Whether a file is xacro, by its name."""
    return source.path is not None and source.path.lower().endswith(".xacro")


def expand(source: Source, arguments: Arguments) -> Source:
    """Return the URDF that a xacro file expands to, with these arguments.

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
        text = str(with_declaration_first(source.content.decode("utf-8-sig")))
        urdf = _expanded(xacro, xacrodoc, text, source.path, arguments)
    except Exception as error:  # expressions of a file may raise anything
        raise ModelError(f"{source.label}: xacro: {_problem(error, arguments)}") from None
    return Source(f"{source.label}, expanded", urdf, source.path)


def _problem(error: Exception, arguments: Arguments) -> str:
    """Return what went wrong, and the way out if there is one."""
    problem = " ".join(f"{type(error).__name__}: {error}".split())
    if arguments.missing:
        names = sorted(arguments.missing)
        example = ", ".join(f"{name!r}: ..." for name in names)
        return (
            f"expected values for arguments that have no default, {listing(names)}: give dtau.load "
            f"xacro_args={{{example}}}, or run xacro first: xacro FILE {names[0]}:=... ({problem})"
        )
    if found := _NO_PACKAGE.search(problem):
        return (
            f"found no package {found[1]!r}, in folders above the file or of ROS: "
            "xacrodoc.packages.look_in([folder]) names a folder that has it"
        )
    return problem


def _expanded(xacro: Any, xacrodoc: Any, text: str, path: str, arguments: Arguments) -> str:
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
            document = xacrodoc.XacroDoc.from_string(
                text, subargs=_Asked(arguments), resolve_packages=False
            )
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
