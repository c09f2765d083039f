"""Write docstrings into the stubs of the array libraries: `adapter_docstrings.py FOLDER`.

Their functions are written when they are imported, and editors do not run them. So a wheel has
stubs with the docstrings that ``help()`` shows, made of those in the modules of its `functions`.

FOLDER is the installed package. Runs with the Python that builds, without NumPy and without the
compiled core.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Mapping
from pathlib import Path
from textwrap import indent
from types import ModuleType

if "dtau" not in sys.modules:  # its __init__ would load the core: the folder alone will do
    sys.modules["dtau"] = ModuleType("dtau")
    sys.modules["dtau"].__path__ = [str(Path(__file__).parents[2] / "python/dtau")]

from dtau.autodiff.docstrings import docstring
from dtau.autodiff.libraries import LIBRARIES


def documented(library: str, stub: str, public: Mapping[str, str]) -> str:
    """Return the stub of a library with docstrings, made of those of the functions of `dtau`."""
    lines = []
    for line in stub.split("\n"):
        if line.startswith("def "):
            header, name = line.removesuffix(" ..."), line[4 : line.index("(")]
            text = docstring(LIBRARIES[library], header, public[name]) or ""
            text = text.replace("\\", "\\\\").replace('"""', '\\"""')
            line = header + "\n" + indent(f'"""{text}"""', "    ")
        lines.append(line)
    return "\n".join(lines)


def public_docstrings(package: Path) -> dict[str, str]:
    """Return the docstrings of the functions of `dtau`, by their names."""
    return {
        item.name: ast.get_docstring(item) or ""
        for path in (package / "functions").glob("*.py")
        for item in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(item, ast.FunctionDef)
    }


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    public = public_docstrings(folder)
    for library in LIBRARIES:
        path = folder / library / "__init__.pyi"
        text = path.read_text(encoding="utf-8")
        path.write_text(documented(library, text, public), encoding="utf-8")
