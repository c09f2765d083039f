"""Which lines of the loaders have run."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

Line = tuple[str, int]  # of a module, by its name without folders


class LoaderLines:
    """Collects lines of the modules in a folder while a block runs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.new: set[Line] = set()  # since the last time they were taken
        self._seen: set[Line] = set()
        self._modules: dict[str, str | None] = {}  # by paths; None: of another folder

    @contextmanager
    def collected(self) -> Iterator[None]:
        before = sys.gettrace()
        sys.settrace(self._called)
        try:
            yield
        finally:
            sys.settrace(before)

    def take(self) -> list[Line]:
        """The lines that are new since the last time."""
        new, self.new = sorted(self.new), set()
        return new

    def all(self) -> set[Line]:
        """Every line that could run, without lines that run at import."""
        return {line for path in self.folder.glob("*.py") for line in _lines(path)}

    def _called(self, frame: FrameType, event: str, arg: object) -> Any:
        return self._ran if self._module(frame) else None

    def _ran(self, frame: FrameType, event: str, arg: object) -> Any:
        if event == "line":
            line = (self._module(frame) or "", frame.f_lineno)
            if line not in self._seen:
                self._seen.add(line)
                self.new.add(line)
        return self._ran

    def _module(self, frame: FrameType) -> str | None:
        """The module of a function, if it is of the folder."""
        file = frame.f_code.co_filename
        if file not in self._modules:
            path = Path(file)
            self._modules[file] = path.name if path.parent == self.folder else None
        return self._modules[file]


def _lines(path: Path) -> Iterator[Line]:
    whole = compile(path.read_text(encoding="utf-8"), str(path), "exec")
    codes = [code for code in whole.co_consts if isinstance(code, CodeType)]
    while codes:
        code = codes.pop()
        codes += [inner for inner in code.co_consts if isinstance(inner, CodeType)]
        if code.co_flags & 0x1:  # a function; the others are bodies of classes
            first = code.co_firstlineno
            yield from ((path.name, k) for _, _, k in code.co_lines() if k and k > first)
