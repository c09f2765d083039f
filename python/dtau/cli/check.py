"""`dtau check`: find errors and suspicious values in a robot's file, with ways out."""

from __future__ import annotations

import math
from dataclasses import asdict

import click
import numpy as np
from rich.text import Text

from dtau.cli.checks.findings import ORDER, Finding, worst
from dtau.cli.checks.inertias import check_inertias
from dtau.cli.checks.limits import check_limits
from dtau.cli.checks.loading import check_loading, loaded
from dtau.cli.checks.meshes import check_meshes
from dtau.cli.checks.numerics import PARTS, Measured, check_numerics, summary
from dtau.cli.checks.steps import check_steps
from dtau.cli.checks.units import check_units
from dtau.cli.output import FAINT, SEVERITIES, hanging, names, plural, print_json, progress, say
from dtau.cli.robot import Loaded, RobotFile, takes_robot

_INDENT = 9
_SHOWN = 6  # most lines of joints or links per finding
_CODES = {None: 0, "note": 0, "warning": 1, "error": 2}
_EPILOG = """\b
Checks:
  the file      parts that the loader refuses, warns of or ignores
  inertias      impossible ones, massless joints, moments that do not fit the mass
  limits        empty ranges, ranges and velocities that look like degrees
  units         places and meshes that look like millimeters, masses that look like grams
  time step     joints whose damping is stiff at the time step of an MJCF
  numbers       cond(M), and derivatives compared with differences, at 64 random states

\b
Exit codes:
  0  nothing, or notes
  1  warnings: functions work, but the robot is probably not as intended
  2  errors: the file cannot be read, or some functions are not reliable for it

\b
Examples:
  dtau check panda.urdf
  dtau check tiago.urdf --inertia repair --mimic exact
  dtau check panda.urdf --json | jq '.findings[].code'
  dtau check panda.urdf || [ $? -eq 1 ]       in a script that accepts warnings
"""


@click.command(epilog=_EPILOG, short_help="Find errors and suspicious values in a robot's file.")
@takes_robot
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def check(robot: RobotFile, as_json: bool) -> int:
    """Find errors and suspicious values in a robot's file, and suggest ways out."""
    read, findings = loaded(robot)
    measured = Measured()
    if read is not None:
        findings += _all(read, measured)
    findings.sort(key=lambda finding: ORDER.index(finding.severity))
    if as_json:
        numbers = {k: x if math.isfinite(x) else None for k, x in asdict(measured).items()}
        print_json(
            {
                "file": robot.label,
                "name": read and read.model.name,
                "severity": worst(findings),
                "findings": [asdict(finding) for finding in findings],
                "measured": numbers,
            }
        )
    else:
        _show(robot, read, findings, measured)
    return _CODES[worst(findings)]


@np.errstate(all="ignore")  # numbers in a file may have any size
def _all(read: Loaded, measured: Measured) -> list[Finding]:
    model = read.model
    findings = list(check_loading(read))
    for look in (check_inertias, check_limits, check_units):
        findings += look(model)
    findings += check_meshes(read.file)
    findings += check_steps(read)
    with progress("Random states", PARTS) as ticks:
        findings += check_numerics(model, measured, ticks)
    return findings


def _show(
    robot: RobotFile, read: Loaded | None, findings: list[Finding], measured: Measured
) -> None:
    head = f"{robot.label}: "
    if read is not None:
        head += f"{read.model.name or 'a robot'}, nv {read.model.nv}, {read.model.mass:.4g} kg"
    else:
        head += "cannot be read"
    say(head, "bold")
    for finding in findings:
        say()
        _show_one(finding)
    say()
    if read is not None and (text := summary(measured)):
        say(text, FAINT)
    counts = {severity: 0 for severity in ORDER}
    for finding in findings:
        counts[finding.severity] += 1
    said = [plural(count, severity) for severity, count in counts.items() if count]
    level = worst(findings)
    say(", ".join(said) if said else "No findings.", SEVERITIES.get(level or "", "green"))


def _show_one(finding: Finding) -> None:
    lines = [Text.assemble(finding.message, (f" [{finding.code}]", FAINT))]
    lines += map(Text, _places(finding.where))
    if finding.way_out:
        lines.append(Text(f"Way out: {finding.way_out}", "italic"))
    hanging(Text(finding.severity, SEVERITIES[finding.severity]), lines, _INDENT)


def _places(where: dict[str, str]) -> list[str]:
    """Return one line for all joints or links that have the same numbers."""
    groups: dict[str, list[str]] = {}
    for name, numbers in where.items():
        groups.setdefault(numbers, []).append(name)
    lines = [
        f"{names(group)}: {numbers}" if numbers else names(group)
        for numbers, group in groups.items()
    ]
    if len(lines) <= _SHOWN + 1:
        return lines
    return [*lines[:_SHOWN], f"and {len(lines) - _SHOWN} more (--json lists all)"]
