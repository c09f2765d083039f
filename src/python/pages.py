"""Pack the documentation pages that the package names into an installation: `pages.py FOLDER`.

FOLDER is the installed package. `dtau docs` shows the pages. A page is packed if a docstring, a
help text or a message says ``docs/PAGE.md``.
"""

from __future__ import annotations

import re
import sys
import tarfile
from io import BytesIO
from pathlib import Path

ROOT = Path(__file__).parents[2]
ARCHIVE = "pages.tar.bz2"  # three quarters of what the same pages take in a wheel


def named() -> list[str]:
    """Return the names of the pages that the package's sources name."""
    found: set[str] = set()
    for path in (ROOT / "python/dtau").rglob("*.py"):
        found.update(re.findall(r"\bdocs/([a-z_]+)\.md", path.read_text(encoding="utf-8")))
    return sorted(found)


def pack(place: Path) -> None:
    """Write the archive into a folder; the same pages give the same bytes."""
    with tarfile.open(place / ARCHIVE, "w:bz2") as archive:
        for name in named():
            text = (ROOT / "docs" / f"{name}.md").read_bytes()
            page = tarfile.TarInfo(f"{name}.md")
            page.size = len(text)
            archive.addfile(page, BytesIO(text))


if __name__ == "__main__":
    pack(Path(sys.argv[1]))
