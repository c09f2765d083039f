"""A mutant: one slip in the sources, and the tests that should find it. `mutants` lists all."""

from __future__ import annotations

import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .operators import drawn, named
from .sources import LEFT_OUT, PINNED, SOURCES
from .tokens import Code

ROOT = Path(__file__).parents[2]
Ranges = list[tuple[int, int]]


class MutantError(Exception):
    """A mutant that does not fit the sources, or a copy that cannot be tested."""


@dataclass(frozen=True)
class Mutant:
    """The text of a file from start to end, replaced by another.

    In C++ it becomes a switch in the copy that is compiled, so that one build has all mutants: the
    text is an expression unless `statement`, then one or more statements.
    """

    name: str
    slip: str
    file: str
    start: int
    end: int
    new: str
    tests: tuple[str, ...]
    """Tests, files or folders of them; first those that find most."""
    statement: bool = False

    @property
    def compiled(self) -> bool:
        """Whether the slip is in C++."""
        return not self.file.endswith(".py")

    @property
    def number(self) -> int:
        """The choice of its switch: of its name alone, so that new mutants change no other file."""
        return zlib.crc32(self.name.encode()) >> 1

    def changed(self, text: str) -> str:
        """The text of the file with the slip: in C++ with a switch that chooses it."""
        new, old = self.new, text[self.start : self.end]
        if self.compiled and "//" not in old:  # on one line, which a compiler's error shows
            new, old = (re.sub(r"\s*\n\s*", " ", x) for x in (new, old))
        if self.compiled and self.statement:
            new = f"if (dtau_mutant({self.number})) {{ {new} }} else {{ {old} }}"
        elif self.compiled and new == "false":
            new = f"(!dtau_mutant({self.number}) && ({old}))"
        elif self.compiled:
            new = f"static_cast<std::remove_cvref_t<decltype({old})>>({new})"
            new = f"(dtau_mutant({self.number}) ? {new} : ({old}))"
        return text[: self.start] + new + text[self.end :]


def mutants(seed: int) -> list[Mutant]:
    """All mutants, those of files drawn with this seed."""
    found, problems, left_out = list[Mutant](), list[str](), set(LEFT_OUT)
    pinned: defaultdict[str, Ranges] = defaultdict(list)
    for name, slip, file, old, new, tests in PINNED:
        places = [x.span() for x in re.finditer(re.escape(old), _text(file))]
        if len(places) == 1:
            pinned[file] += places
            found.append(Mutant(name, slip, file, *places[0], new, _paths(tests)))
        else:
            problems.append(f"{name}: expected its text once in {file}, not {len(places)} times")
    for pattern, names, tests, each in SOURCES:
        for file in (pattern.replace("*", name) for name in names.split()):
            found += _drawn(file, each, _paths(tests), seed, pinned[file], left_out)
    problems += (f"{name}: LEFT_OUT has it, but no operator makes it" for name in left_out)
    times = Counter(mutant.number for mutant in found)
    problems += (f"{x.name}: another mutant has its number" for x in found if times[x.number] > 1)
    for path in dict.fromkeys(path for mutant in found for path in mutant.tests):
        file, _, name = path.partition("[")[0].partition("::")
        if not (ROOT / file).exists() or (name and f"def {name}(" not in _text(file)):
            problems.append(f"there are no tests {path}; name others")
    if problems:
        raise MutantError("\n".join(problems))
    return found


def _text(file: str) -> str:
    return (ROOT / file).read_text(encoding="utf-8")


def _paths(tests: str) -> tuple[str, ...]:
    return tuple(f"tests/{test}" for test in tests.split())


def _drawn(
    file: str, count: int, tests: tuple[str, ...], seed: int, pinned: Ranges, left_out: set[str]
) -> Iterator[Mutant]:
    """So many mutants of a file; what of it is left out goes from that set."""
    code = Code(_text(file), file.endswith(".py"))
    place = re.sub(r"^(?:include/dtau/(?:algorithms/)?|src/|python/dtau/)|\.\w+$", "", file)
    found = named(code, place)
    for name in left_out & found.keys():
        left_out.remove(name)
        del found[name]
    for name, slip in drawn(code, found, count, seed, pinned).items():
        line = code.text.count("\n", 0, slip.start) + 1
        old, new = (" ".join(x.split()) for x in (code.text[slip.start : slip.end], slip.new))
        said = f"{file}:{line}: {old} -> {new or 'nothing'}"
        yield Mutant(name, said, file, slip.start, slip.end, slip.new, tests, slip.statement)
