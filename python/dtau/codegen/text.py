"""Write foreign text into C safely: `comment`, `include` and `string`, which no name can escape.

Names of robots, links, frames and files are not trusted. They are written by these functions only,
and no other function writes comments. The functions keep printable ASCII without the characters
that can end or join tokens: ``*`` ends a comment; a backslash at the end of a line joins it with
the next line before comments are recognized; question marks make trigraphs, one of which is a
backslash; a quotation mark ends a string.
"""

from __future__ import annotations

import re
import textwrap

_LONGEST = 1000  # characters per line: C compilers need not accept more than 4095
_UNSAFE = re.compile(r"[^ -~]|[*\\?]")
_FILE = re.compile(r"[A-Za-z0-9 _.,+=@#%~()\[\]{}-]+")


def comment(*lines: str) -> str:
    """Write a comment; characters that could end it or join its lines are written as numbers."""
    inside = "\n * ".join(plain(line) for line in lines)
    return re.sub(r" +\n", "\n", f"/* {inside}") + ("\n */\n" if len(lines) > 1 else " */\n")


def paragraph(text: str) -> list[str]:
    """Break a text into the lines of a comment."""
    return textwrap.wrap(plain(text), 96)


def plain(line: str) -> str:
    """Replace characters that a comment cannot have by their Unicode number, such as <U+002A>."""
    safe = _UNSAFE.sub(lambda found: f"<U+{ord(found[0]):04X}>", line)
    return safe if len(safe) <= _LONGEST else safe[: _LONGEST - 3] + "..."


def include(file: str) -> str:
    """Write the directive that includes a file in the same folder.

    Raises
    ------
    ValueError
        If C does not define how a compiler finds a file of this name.
    """
    if not _FILE.fullmatch(file):
        raise ValueError(
            f"path: expected a file's name of ASCII letters, digits, spaces and any of "
            f"_.,+-=@#%~()[]{{}}, by which C can include the header; got {file!r}"
        )
    return f'#include "{file}"\n'


def string(text: str) -> str:
    """Write a text as a string literal, in UTF-8."""
    return '"' + "".join(_escaped(byte) for byte in text.encode()) + '"'


def _escaped(byte: int) -> str:
    plain_byte = 32 <= byte < 127 and chr(byte) not in '"\\?'
    return chr(byte) if plain_byte else f"\\{byte:03o}"
