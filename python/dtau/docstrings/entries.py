"""Read and merge entries in NumPy's format: a head, ``name : type``, and indented lines.

No regular expressions: compiling one takes longer than reading all docstrings.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

T = TypeVar("T")
Entries = dict[str, str]  # name: whole entry

MORE = "    ..."  # at the beginning of a text: append it to the glossary's


def entries(section: str) -> Entries:
    """Return the entries of a section."""
    found: Entries = {}
    name = ""
    for line in section.strip("\n").split("\n"):
        if line and line[0] != " ":
            name = line.partition(" : ")[0]
            found[name] = line
        elif name:
            found[name] += "\n" + line
    return found


def shared(function: str, table: Mapping[str, T]) -> dict[str, T]:
    """Return a function's rows of a table: ``step*.active`` holds where its name begins so."""
    found = {}
    for key, row in table.items():
        beginning, _, name = key.rpartition("*.")
        if function.startswith(beginning):
            found[name] = row
    return found


def merged(name: str, own: Entries, glossary: Entries) -> str:
    """Return the entry of a function: its own text where it has one, else the glossary's."""
    if name not in own:
        return glossary[name]
    if name not in glossary:
        return own[name]
    head, _, below = own[name].partition("\n")
    known_head, _, known = glossary[name].partition("\n")
    if below.startswith(MORE):
        below = f"{known}\n   {below.removeprefix(MORE)}"
    return f"{head if ' : ' in head else known_head}\n{below or known}"
