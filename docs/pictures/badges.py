"""Writes the README's badges from pyproject.toml and the package; a test says when to renew them.

python docs/pictures/badges.py    # writes docs/pictures/badge_*.svg
"""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CHARACTER, MARGIN, HEIGHT = 6.6, 8.0, 20
BADGE = """\
<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" role="img">
<title>{left} {right}</title>
<rect width="{width:.0f}" height="{height}" rx="3" fill="#44505c"/>
<path d="M{middle:.0f} 0h{rest:.0f}a3 3 0 0 1 3 3v{side}a3 3 0 0 1 -3 3h-{rest:.0f}z" \
fill="#2166ac"/>
<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle">
<text x="{left_at:.1f}" y="14">{left}</text>
<text x="{right_at:.1f}" y="14">{right}</text>
</g>
</svg>
"""


def found(pattern: str, path: str) -> str:
    """What a line of a file says."""
    match = re.search(pattern, (ROOT / path).read_text(encoding="utf-8"), flags=re.M)
    assert match, f"{path} has no line {pattern}"
    return match[1]


def texts() -> dict[str, tuple[str, str]]:
    """The two halves of each badge."""
    needs = re.findall(r'"([a-z]+)', found(r"^dependencies = \[(.*)\]$", "pyproject.toml"))
    names = {"numpy": "NumPy"}
    return {
        "version": ("version", found(r'^__version__ = "(.*)"$', "python/dtau/_version.py")),
        "python": (
            "Python",
            found(r'^requires-python = ">=(.*)"$', "pyproject.toml") + " and newer",
        ),
        "license": ("license", found(r'^license = "(.*)"$', "pyproject.toml")),
        "needs": ("needs", " ".join(names.get(name, name) for name in needs) + " alone"),
    }


def badge(left: str, right: str) -> str:
    middle = CHARACTER * len(left) + 2 * MARGIN
    width = middle + CHARACTER * len(right) + 2 * MARGIN
    return BADGE.format(
        left=left,
        right=right,
        width=width,
        height=HEIGHT,
        middle=middle,
        rest=width - middle - 3,
        side=HEIGHT - 6,
        left_at=middle / 2,
        right_at=(middle + width) / 2,
    )


def badges() -> dict[str, str]:
    """Each badge's file, by its name."""
    return {f"badge_{name}.svg": badge(*halves) for name, halves in texts().items()}


if __name__ == "__main__":
    for name, text in badges().items():
        Path(__file__).with_name(name).write_text(text, encoding="utf-8")
