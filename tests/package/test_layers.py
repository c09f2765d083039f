"""Layers of the package: a module imports from its own layer and from lower ones.

The table in CONTRIBUTING.md, "The package", has the layers, the lowest first.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from files import ROOT

PACKAGE = ROOT / "python/dtau"
# `dtau.view` is a function like others, and imports the viewer when it is called.
WHEN_CALLED = {("viewing.py", "viewer")}


def layers() -> dict[str, int]:
    """Number the folders and modules at the root of the package, from the table."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = text.partition("### The package")[2].partition("\n###")[0]
    rows = re.findall(r"^\| (`.*?) \|", section, flags=re.M)
    return {name: i for i, row in enumerate(rows) for name in re.findall(r"`(\w+)", row)}


def imported(path: Path) -> Iterator[str]:
    """Name what a module imports of the package, wherever it does: folders and modules there."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: relative imports hide layers"
            package, _, rest = (node.module or "").partition(".")
            names = [rest] if rest else [x.name for x in node.names]
        elif isinstance(node, ast.Import):
            package = "dtau"
            names = [x.name[5:] for x in node.names if f"{x.name}.".startswith("dtau.")]
        else:
            continue
        for name in names if package == "dtau" else ():
            first = name.partition(".")[0]
            # Any other name is one that `dtau/__init__.py` defines.
            known = list(PACKAGE.glob(f"{first}*")) if first else []
            yield first if known else "__init__"


def test_no_module_imports_from_a_higher_layer() -> None:
    layer, used, wrong = layers(), set(), []
    for path in sorted(PACKAGE.rglob("*.py")):
        own = path.relative_to(PACKAGE)
        for name in imported(path):
            if (own.as_posix(), name) in WHEN_CALLED:
                used.add((own.as_posix(), name))
            elif layer[name] > layer[own.parts[0].removesuffix(".py")]:
                wrong.append(f"{own} imports {name}")
    assert not wrong
    assert used == WHEN_CALLED
