"""The page of the command line: its commands give what it says."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from files import ROOT

from dtau.cli.checks.findings import ORDER

PAGE = ROOT / "docs/command_line.md"
BLOCKS = re.compile(r"^```(python|xml|console)\n(.*?)^```", flags=re.DOTALL | re.MULTILINE)
NOISE = re.compile(r"\d(\.\d)?e[-+]\d\d")  # of rounding


def test_what_the_page_shows(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    commands = []
    for kind, text in BLOCKS.findall(PAGE.read_text(encoding="utf-8")):
        if kind == "python":
            exec(text, {})
        elif kind == "xml":
            Path("arm.urdf").write_text(text, encoding="utf-8")
        else:
            command, _, shown = text.partition("\n")
            words = shlex.split(command)
            assert words[:2] == ["$", "dtau"]
            commands.append(words[2])
            if words[2] == "bench":
                pytest.importorskip("pinocchio")
                words.append("-fmass_matrix")  # for the time that it takes
            out = run(*words[2:]).out
            if words[2] == "bench":  # what is timed, but no times
                assert out.splitlines()[0] == shown.splitlines()[0]
                assert "function" in out
                assert set(out.split()) & set(shown.split()) >= {"mass_matrix", "lone", "batch"}
            else:
                assert NOISE.sub("#", out) == NOISE.sub("#", shown)
    assert commands == ["info", "check", "bench", "convert", "convert", "generate", "view"]


def test_every_finding_is_in_the_table() -> None:
    checks = ROOT / "python/dtau/cli/checks"
    source = "".join(path.read_text(encoding="utf-8") for path in checks.glob("*.py"))
    codes = set(re.findall(r'"(?:error|warning|note)",\s*"([a-z-]+)"', source))
    codes |= set(re.findall(r'"([a-z-]+)" if tied else "([a-z-]+)"', source)[0])
    codes -= set(ORDER)  # from docstrings
    table = PAGE.read_text(encoding="utf-8").partition("| code |")[2].partition("\n\n")[0]
    assert codes == set(re.findall(r"`([a-z-]+)`", table.replace("`dtau.load`", "")))
