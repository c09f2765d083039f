"""Report what the loader refused, warned of or noted: `loaded`, `check_loading`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from dtau.cli.checks.findings import Finding
from dtau.cli.robot import Loaded, RefusedError, RobotFile

# Options that may load a refused file; the error names the right one.
_WAYS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("--inertia repair", {"inertia": "repair"}),
    ("--root free", {"root": "free"}),
    ("--mimic independent", {"mimic": "independent"}),
)
_FIXED = re.compile("link '(.*)' is fixed to the world: its inertia has no effect")
_REPAIRED = re.compile(r"repaired the inertia of link '(.*)' \(line \d+\): (.*)")
_FRICTION = "ignored friction"  # which the dynamics need
_OWN = ("principal moments that break", "joints that move no inertia")  # other checks report these


def loaded(file: RobotFile) -> tuple[Loaded | None, list[Finding]]:
    """Read a file; if it is refused, try again with the options that the message names."""
    changes: dict[str, Any] = {}
    findings: list[Finding] = []
    while True:
        try:
            return file.load(**changes), findings
        except RefusedError as refusal:
            message = refusal.format_message()
            ways = [
                way for word, way in _WAYS if word in message and not way.items() <= changes.items()
            ]
            then = "" if ways else "Nothing else can be checked before that."
            said = message.removeprefix(file.label).lstrip(",: ")
            findings.append(Finding("error", "refused", sentence(said), way_out=then))
            if not ways:
                return None, findings
            changes |= ways[0]


def sentence(message: str) -> str:
    """Give a message of the package a capital letter and a period."""
    return f"{message[:1].upper()}{message[1:]}."


def check_loading(read: Loaded) -> Iterator[Finding]:
    """Report the warnings and notes of the loader."""
    for message in read.warnings:
        if message.startswith(_OWN):
            continue
        tied = message.startswith("joints that mimic others")
        yield Finding(
            "warning",
            "mimic" if tied else "not-carried",
            sentence(message),
            way_out="" if tied else "Add these forces to tau, or load a file without them.",
        )
    ignored, unmoved = [], []
    repaired: dict[str, str] = {}
    for note in read.notes:
        if note.startswith("ignored ") and not note.startswith(_FRICTION):
            ignored.append(note.removeprefix("ignored "))
        elif fixed := _FIXED.fullmatch(note):
            unmoved.append(fixed[1])
        elif mended := _REPAIRED.fullmatch(note):
            repaired[mended[1]] = mended[2]
        elif not note.startswith(_OWN):
            yield Finding("note", "loader", sentence(note))
    if ignored:
        listed = ", ".join(ignored)
        yield Finding("note", "ignored", f"Ignored, because the dynamics do not need it: {listed}.")
    if repaired:
        yield Finding(
            "note", "repaired", "Inertias were replaced by the nearest valid ones.", repaired
        )
    if unmoved:
        yield Finding(
            "note",
            "fixed-to-the-world",
            "Links are fixed to the world: their inertias have no effect.",
            dict.fromkeys(unmoved, ""),
            "If the robot stands or flies: --root free.",
        )
