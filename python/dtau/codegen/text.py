"""Writes foreign text into C: `comment`, `include` and `string`, which no name can leave.

Names of robots, links, frames and files come from strangers. What is written of them goes through
one of these functions, and no other one writes comments. They keep printable ASCII without the
characters that can end or join anything: ``*`` ends a comment; a backslash at the end of a line
joins it with the next one before comments are looked for; question marks make trigraphs, one of
which is a backslash; a quotation mark ends a string.
"""

from __future__ import annotations

import re
import textwrap

_LONGEST = 1000  # characters of a line: C compilers need not take more than 4095
_UNSAFE = re.compile(r"[^ -~]|[*\\?]")
_FILE = re.compile(r"[A-Za-z0-9 _.,+=@#%~()\[\]{}-]+")


def comment(*lines: str) -> str:
    """Write a comment; characters that could end it or join its lines are told by their number."""
    inside = "\n * ".join(plain(line) for line in lines)
    return re.sub(r" +\n", "\n", f"/* {inside}") + ("\n */\n" if len(lines) > 1 else " */\n")


def paragraph(text: str) -> list[str]:
    """Break a text into the lines of a comment."""
    return textwrap.wrap(plain(text), 96)


def plain(line: str) -> str:
    """Replace what cannot stand in a comment by its number in Unicode, such as <U+002A>."""
    safe = _UNSAFE.sub(lambda found: f"<U+{ord(found[0]):04X}>", line)
    return safe if len(safe) <= _LONGEST else safe[: _LONGEST - 3] + "..."


def include(file: str) -> str:
    """Include a file that lies beside this one.

    Raises
    ------
    ValueError
        If C does not say how a compiler finds a file of this name.
    """
    if not _FILE.fullmatch(file):
        raise ValueError(
            f"path: expected a file's name of ASCII letters, digits, spaces and any of "
            f"_.,+-=@#%~()[]{{}}, by which C can include the header; got {file!r}"
        )
    return f'#include "{file}"\n'


def string(text: str) -> str:
    """Write a literal of a text, as UTF-8."""
    return '"' + "".join(_escaped(byte) for byte in text.encode()) + '"'


def _escaped(byte: int) -> str:
    plain_byte = 32 <= byte < 127 and chr(byte) not in '"\\?'
    return chr(byte) if plain_byte else f"\\{byte:03o}"
