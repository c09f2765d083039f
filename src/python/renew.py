"""Regenerate all files derived from the functions of the package: `python src/python/renew.py`.

- ``python/dtau/__init__.py``: the imports of the functions, and ``__all__``;
- ``python/dtau/results/__init__.py``: the imports of the classes, and ``__all__``;
- ``docs/functions.md``: the functions by topics, which the pages of ``docs/api`` name;
- the stubs of the core and of the array libraries;
- ``include/dtau/library/calls``: the typed calls of the C++ library.

Run it after a change of a function's name, arguments or first line. A test compares the files.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from textwrap import fill

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "python/dtau"
INIT = PACKAGE / "__init__.py"
RESULTS = PACKAGE / "results/__init__.py"
PAGE = ROOT / "docs/functions.md"
WIDTH, INDENT = 100, 4 * " "

Functions = dict[str, str]  # first lines of docstrings by name, in the order of the sources


def functions_of(module: Path) -> Functions:
    """Return the public functions of a module."""
    found = {}
    for item in ast.parse(module.read_text(encoding="utf-8")).body:
        decorators = {_name(x) for x in getattr(item, "decorator_list", ())}
        if isinstance(item, ast.FunctionDef) and decorators & {"documented", "direct"}:
            found[item.name] = (ast.get_docstring(item) or "").partition("\n\n")[0]
    return found


def _name(decorator: ast.expr) -> str:
    return decorator.id if isinstance(decorator, ast.Name) else ""


def modules() -> dict[str, Functions]:
    """Return the functions of each module of `dtau.functions`, by the module's name."""
    paths = sorted((PACKAGE / "functions").glob("*.py"))
    return {path.stem: found for path in paths if (found := functions_of(path))}


def topic(name: str, found: dict[str, Functions]) -> Functions:
    """Return the functions of a topic: of its module, and of modules named after it."""
    functions: Functions = {}
    for module, of_module in found.items():
        longest = max((x for x in TOPICS if f"{module}_".startswith(f"{x}_")), key=len)
        if longest == name:
            functions |= of_module
    return functions


TOPICS = (
    *("dynamics", "derivatives", "second_derivatives", "products", "time_derivatives", "terms"),
    *("parameters", "frames", "centroidal", "manifold", "steps", "constraints", "control"),
)


def package(text: str) -> str:
    """Return the text of `dtau/__init__.py` with the functions of all modules."""
    found = modules()
    text = _with_imports(text, "functions", found)
    nouns = set()
    for item in ast.parse(text).body:
        if isinstance(item, ast.ImportFrom) and "dtau.functions." not in f"{item.module}.":
            nouns |= {x.asname or x.name for x in item.names}
    old = re.search(r"__all__ = \[\n(.*?)\]", text, flags=re.S)
    assert old is not None
    nouns &= set(re.findall(r'"(\w+)"', old[1]))
    return _with_names(text, nouns.union(*found.values()))


def results(text: str) -> str:
    """Return the text of `dtau/results/__init__.py` with the public classes of all modules."""
    sources = {x.stem: x.read_text("utf-8") for x in sorted(RESULTS.parent.glob("[!_]*.py"))}
    found = {x: re.findall(r"^class ([A-Z]\w+)", y, flags=re.M) for x, y in sources.items()}
    return _with_names(_with_imports(text, "results", found), chain(*found.values()))


def _with_imports(text: str, package: str, found: Mapping[str, Iterable[str]]) -> str:
    imports = "".join(_import(f"dtau.{package}.{x}", _sorted(names)) for x, names in found.items())
    block = rf"(?:from dtau\.{package}\.\w+ import (?:\([^)]*\)|[^\n(#]*)(?:  # fmt: skip)?\n)+"
    return re.sub(block, imports, text, count=1)


def _import(module: str, names: Sequence[str]) -> str:
    line = f"from {module} import {', '.join(names)}\n"
    if len(line) <= WIDTH + 1:
        return line
    listed = fill(", ".join(names), WIDTH, initial_indent=INDENT, subsequent_indent=INDENT)
    return f"from {module} import (\n{listed},\n)  # fmt: skip\n"


def _with_names(text: str, names: Iterable[str]) -> str:
    listed = ", ".join(f'"{name}"' for name in _sorted(names))
    lines = fill(listed, WIDTH, initial_indent=INDENT, subsequent_indent=INDENT)
    return re.sub(r"(__all__ = \[\n).*?\n(\])", rf"\1{lines},\n\2", text, flags=re.DOTALL)


def _sorted(names: Iterable[str]) -> list[str]:
    return sorted(names, key=lambda name: (not name.isupper(), name))  # as ruff does


def page(text: str) -> str:
    """Return the text of docs/functions.md with a table for each topic."""
    found = modules()

    def table(match: re.Match[str]) -> str:
        rows = (f"| `{name}` | {_row(line)} |\n" for name, line in topic(match[1], found).items())
        return f"<!-- functions: {match[1]} -->\n| | |\n|---|---|\n{''.join(rows)}<!-- end -->"

    return re.sub(r"<!-- functions: (\w+) -->\n.*?<!-- end -->", table, text, flags=re.S)


def _row(line: str) -> str:
    return " ".join(line.split()).removesuffix(".").replace("``", "`").replace("|", "\\|")


def texts() -> Iterator[tuple[Path, str]]:
    """Yield paths and texts of all generated files except the stubs."""
    yield INIT, package(INIT.read_text(encoding="utf-8"))
    yield RESULTS, results(RESULTS.read_text(encoding="utf-8"))
    yield PAGE, page(PAGE.read_text(encoding="utf-8"))


if __name__ == "__main__":
    for path, text in texts():
        path.write_text(text, encoding="utf-8")
    # they import the regenerated package
    for script in ("stubs.py", "adapter_stubs.py", "typed_calls.py"):
        subprocess.run([sys.executable, Path(__file__).with_name(script)], check=True)
