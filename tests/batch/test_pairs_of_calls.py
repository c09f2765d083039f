"""Calls that follow each other in a thread, which reuses the scratch memory of the calls before."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pairs import ROBOTS
from processes import process


@pytest.mark.parametrize("name", ROBOTS)
def test_a_call_leaves_no_trace_in_the_next(name: str, tmp_path: Path) -> None:
    """Every pair, in a process of its own: a crash fails with the name of the pair."""
    progress = tmp_path / "pair"
    progress.write_bytes(bytes(1000))
    text = "import pairs; pairs.run_pairs(sys.argv[1], sys.argv[2])"
    done = process(text, name, progress)
    pair = progress.read_bytes().partition(b"\0")[0].decode()
    assert done.returncode == 0, f"exit {done.returncode} in {pair}\n{done.stderr}"
    count, different = json.loads(done.stdout.splitlines()[-1])
    assert count > 10_000
    assert different == [], f"{len(different)} pairs"
