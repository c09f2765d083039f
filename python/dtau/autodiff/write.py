"""Generate the functions of an array library from their rows in the registry: `define`.

A function has the parameters of its namesake in `dtau`, without `out`, `threads` and `layout`. It
is compiled from source text, so that a call costs the same as a handwritten function's.
"""

from __future__ import annotations
import __future__

import collections.abc
import inspect
import linecache
import re
import typing
from collections.abc import Iterable
from dataclasses import replace
from importlib import import_module
from typing import Any

import dtau
import dtau.results
import dtau.support.options
from dtau.autodiff.docstrings import docstring
from dtau.autodiff.functions import PUBLIC
from dtau.autodiff.libraries import LIBRARIES, ArrayLibrary
from dtau.autodiff.rows import FUNCTIONS, OF_JOINTS
from dtau.registry import Argument, Function


def define(library: str, namespace: dict[str, Any], names: Iterable[str] = PUBLIC) -> list[str]:
    """Define functions and the classes of their results in a module; return their names."""
    described = LIBRARIES[library]
    exec(described.imports, namespace)
    for helper, module in described.helpers:
        namespace[helper] = getattr(import_module(module), helper)
    defined = set()
    for name in names:
        row, public = row_of(described, name), getattr(dtau, name)
        if result := row.result_class:
            namespace[result] = getattr(dtau.results, result)
            defined.add(result)
        header = signature(described, row)
        for word, module in types_in(header).items():
            namespace[word] = getattr(import_module(module), word)
        source = f"{header}\n    {described.body(row)}\n"
        place = f"<{described.module}.{name}>"
        linecache.cache[place] = len(source), None, source.splitlines(True), place
        exec(compile(source, place, "exec", __future__.annotations.compiler_flag), namespace)
        namespace[name].__module__ = described.module
        namespace[name].__doc__ = docstring(described, header, public.__doc__)
        defined.add(name)
    return sorted(defined)


def row_of(library: ArrayLibrary, name: str) -> Function:
    """Return the row of a function as a library has it."""
    row = FUNCTIONS[name]
    left_out = (*library.left_out(name), OF_JOINTS)
    kept = tuple(x for x in row.arguments if x.name not in left_out)
    return replace(row, arguments=kept)


def signature(library: ArrayLibrary, row: Function) -> str:
    """Return the line that declares a function."""
    public = inspect.signature(getattr(dtau, row.name)).parameters
    declared, by_keyword = ["model: Model"], False
    for x in row.arguments:
        parameter = public[x.name]
        if parameter.kind is parameter.KEYWORD_ONLY and not by_keyword:
            declared.append("*")
            by_keyword = True
        declared.append(_declared(library, x, parameter))
    result = library.result
    if row.result_class:
        result = f"{row.result_class}[{result}]"
    return f"def {row.name}({', '.join(declared)}) -> {result}:"


def _declared(library: ArrayLibrary, argument: Argument, parameter: inspect.Parameter) -> str:
    annotation = str(parameter.annotation)
    if argument.array is not None:
        annotation = library.number if argument.array.axes == () else library.argument
        if argument.array.optional and annotation != "Any":
            annotation += " | None"
    default = "" if argument.required else f" = {argument.default!r}"
    return f"{argument.name}: {annotation}{default}"


def types_in(header: str) -> dict[str, str]:
    """Return the modules of types in a signature that do not belong to the library."""
    found = {"Model": "dtau.model.model"}
    if "contacts: Contacts" in header:
        found["Contacts"] = "dtau.model.contacts"
    for word in re.findall(r"\w+", header):
        for module in (typing, collections.abc, dtau.support.options):
            if word[0].isupper() and word in vars(module) and word != "Any":
                found[word] = module.__name__
    return found
