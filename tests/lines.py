"""Print the lines of the repository by folder and kind, beside the budget of CONTRIBUTING.md.

A folder that is more than 10 % above its budget, or has none, fails: then delete what is there
twice, or raise the budget in the commit that needs it, for all to see.

    python tests/lines.py
"""

import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
KINDS = {
    "C++": (".hpp", ".cpp", ".h", ".c", ".in"),
    "Python": (".py", ".pyi"),
    "text": (".md", ".rst"),
}
EXCESS = 1.1


def counted() -> Counter[tuple[str, str]]:
    """Lines of the files that git knows, by folder and kind."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    lines: Counter[tuple[str, str]] = Counter()
    for path in map(Path, filter(None, listed.stdout.split("\0"))):
        kinds = [kind for kind, suffixes in KINDS.items() if path.suffix in suffixes]
        if kinds and len(path.parts) > 1 and (ROOT / path).exists():
            lines[path.parts[0], kinds[0]] += (ROOT / path).read_bytes().count(b"\n")
    return lines


def budget() -> dict[tuple[str, str], int]:
    """The table of CONTRIBUTING.md that begins with these kinds."""
    rows = (ROOT / "CONTRIBUTING.md").read_text().splitlines()
    start = rows.index(f"| folder | {' | '.join(KINDS)} |") + 2
    table: dict[tuple[str, str], int] = {}
    for row in rows[start:]:
        if not row.startswith("|"):
            break
        folder, *numbers = (cell.strip(" `/") for cell in row.strip("|").split("|"))
        for kind, number in zip(KINDS, numbers, strict=True):
            if number:
                table[folder, kind] = int(number.replace(",", ""))
    return table


def main() -> int:
    allowed, too_many = budget(), False
    for (folder, kind), lines in sorted(counted().items()):
        limit = allowed.get((folder, kind), 500)  # small ones need no row
        over = lines > EXCESS * limit
        too_many |= over
        print(f"{folder:12} {kind:8} {lines:7} of {limit:7}{'  too many' if over else ''}")
    return too_many


if __name__ == "__main__":
    sys.exit(main())
