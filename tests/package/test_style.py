"""STYLE.md, rules 2 and 8: how sentences open, and how commits are called."""

from __future__ import annotations

import shutil
import subprocess

import pytest
import style
from files import ROOT


def test_sentences_name_their_subject() -> None:
    found = [
        message
        for path in style.files(ROOT)
        for message in style.refused_openings(
            path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")
        )
    ]
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize(
    ("name", "text", "lines"),
    [
        ("a.py", "# What of a body is met\nx = 1  # that of a joint\n", [1, 2]),
        ("a.py", '"""Joints.\n\n    Masses. Those\n    of a body are positive.\n"""\n', [3]),
        ("a.py", "x = 'What of a string?'  # as wide as that of a body\n", []),
        ("a.hpp", "int a;  // Those of body i.\n/* One.\n   That of two. */\n", [1, 3]),
        ("a.hpp", 'const char* a = "// Those of body i.";\n', []),
        ("a.md", "# What of a tree\n\n- those of a list\n\n| a | That of a cell |\n", [1, 3, 5]),
        ("a.md", "`What of` in code, `a` that of it\n\n```c\n// What of code\n```\n", []),
        ("CMakeLists.txt", "project(a)\n# Those that are built\n", [2]),
        ("run", "#!/bin/sh\nls  # That of the shell\n", [2]),
    ],
)
def test_an_opening_without_a_noun_is_refused(name: str, text: str, lines: list[int]) -> None:
    found = list(style.refused_openings(name, text))
    assert [int(message.split(":")[1]) for message in found] == lines
    assert all("STYLE.md" in message for message in found)


def test_commits_are_called_type_scope_verb_object() -> None:
    """Of the commits since the one that added STYLE.md, as far as a shallow clone has them."""
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("no history: this is no clone, or there is no git")
    added = git("log", "--diff-filter=A", "--format=%H", "-1", "--", "STYLE.md")
    if not added:  # it is not committed yet
        return
    subjects = git("log", "--no-merges", "--format=%s", f"{added[0]}..HEAD")
    found = [message for subject in subjects if (message := style.refused_subject(subject))]
    assert not found, "\n" + "\n".join(found)


def git(*arguments: str) -> list[str]:
    # A checkout that another user owns will do: nothing of it is run.
    command = ["git", "-c", "safe.directory=*", "-C", str(ROOT), *arguments]
    return subprocess.run(
        command, check=True, text=True, stdout=subprocess.PIPE
    ).stdout.splitlines()


@pytest.mark.parametrize(
    "subject",
    [
        "fix(contacts): reject rows that are rounding errors",
        "perf(idsva, idsva_so): keep six columns in registers",
        "feat(jax/torch): embed the step",
        "refactor(control_inputs): remove checked_mask, which the core's own reader replaced",
    ],
)
def test_a_subject_of_the_form_is_taken(subject: str) -> None:
    assert style.refused_subject(subject) is None


@pytest.mark.parametrize(
    "subject",
    [
        "fix: reject rows that are rounding errors",
        "fix(): reject rows",
        "wip(contacts): reject rows",
        "fix(contacts): Reject rows",
        "fix(contacts): reject",
        "fix(contacts): reject rows.",
        "fix(contacts): what of a row is wrong",
        "fix(contacts): rejecting rows",
        "fix(contacts): rejected rows",
        "Merge the branch",
    ],
)
def test_a_subject_of_another_form_is_refused(subject: str) -> None:
    assert style.refused_subject(subject) is not None
