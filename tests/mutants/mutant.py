"""A mutant: one plausible slip in the sources, and where the tests that find it are expected."""

from __future__ import annotations

import zlib
from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    """One text of one file, replaced by another.

    A mutant of C++ becomes a switch in the copy that is compiled, so that one build has them all:
    `old` is an expression unless `statement`, then one or more statements.
    """

    name: str
    slip: str
    """In one sentence, as a reviewer would say it."""
    file: str
    old: str
    new: str
    tests: tuple[str, ...]
    """Tests, files or folders of them; one that kills it first."""
    statement: bool = False

    @property
    def area(self) -> str:
        """The first part of the name."""
        return self.name.split("/")[0]

    @property
    def compiled(self) -> bool:
        """Whether the slip is in C++."""
        return not self.file.endswith(".py")

    @property
    def number(self) -> int:
        """The choice of its switch: of its name alone, so that new mutants change no other file."""
        return zlib.crc32(self.name.encode()) >> 1

    @property
    def switched(self) -> str:
        """C++ that is `new` where the mutant is chosen, and `old` elsewhere."""
        if self.statement:
            return f"if (dtau_mutant({self.number})) {{ {self.new} }} else {{ {self.old} }}"
        return f"(dtau_mutant({self.number}) ? ({self.new}) : ({self.old}))"
