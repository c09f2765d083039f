"""Locate the files that tests read, and run the code of pages."""

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
ORACLES = ROOT / "tests" / "oracles"


def run_code_of(document: str) -> dict[str, Any]:
    """Run the Python blocks of a document one after the other; return the names they set."""
    text = (ROOT / document).read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)
    assert len(blocks) >= 2
    names: dict[str, Any] = {}
    for block in blocks:
        exec(block, names)
    return names
