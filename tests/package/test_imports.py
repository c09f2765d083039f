"""The modules of the package import each other in one direction."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import dtau

ROOT = Path(dtau.__file__).parent


def module_name(file: Path) -> str:
    parts = [dtau.__name__, *file.relative_to(ROOT).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(file): file for file in ROOT.rglob("*.py")}
EXTENSIONS = {f"dtau.{file.name.partition('.')[0]}" for file in ROOT.glob("_*.*")} - set(MODULES)


def imported(file: Path) -> Iterator[str]:
    """Modules of the package that a file imports: at its top, in functions and for types."""
    known = MODULES.keys() | EXTENSIONS
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [name.name for name in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.module
            assert not node.level, "imports of the package name the whole module"
            below = [f"{node.module}.{name.name}" for name in node.names]
            names = [name if name in known else node.module for name in below]
        else:
            continue
        yield from (name for name in names if name in MODULES)


def test_no_modules_import_each_other() -> None:
    graph = {name: set(imported(file)) - {name} for name, file in MODULES.items()}
    assert len(graph) > 150
    TopologicalSorter(graph).prepare()  # CycleError names the modules of a circle
