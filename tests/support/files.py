"""Locate the files that tests read."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
ORACLES = ROOT / "tests" / "oracles"
