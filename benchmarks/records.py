"""Results in a folder: a JSON file an experiment, and whether it still says what a run would."""

from __future__ import annotations

import hashlib
import json
import math
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.experiment import Experiment, Findings


@dataclass(frozen=True)
class Setting:
    """All that results depend on, but the experiment."""

    environment: dict[str, Any]
    quick: bool
    robot: str = ""  # of --urdf: its root and a digest of the file


@dataclass(frozen=True)
class Record:
    """What came of an experiment: findings, or why there are none."""

    experiment: str
    title: str
    source: str
    code: str  # a digest of the experiment's file
    setting: Setting
    date: str
    seconds: float
    findings: Findings | None
    wrong: str = ""  # a result that differs, or an error
    unavailable: str = ""  # what is missing


def code(experiment: Experiment) -> str:
    """A digest of the file that defines an experiment."""
    file = getattr(sys.modules.get(experiment.run.__module__), "__file__", None)
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()[:16] if file else ""


def path(folder: Path, experiment: Experiment) -> Path:
    """Where the record of an experiment is."""
    return folder / f"{experiment.name}.json"


def write(folder: Path, experiment: Experiment, record: Record) -> None:
    """Write a record, whole or not at all."""
    found = asdict(record) | {"findings": record.findings and record.findings.to_json()}
    target = path(folder, experiment)
    fresh = target.with_suffix(".part")
    text = json.dumps(_plain(found), indent=1, ensure_ascii=False, allow_nan=False)
    fresh.write_text(text + "\n", encoding="utf-8")
    fresh.replace(target)


def read(folder: Path, experiment: Experiment, setting: Setting) -> Record | None:
    """The record of an experiment, if there is one of this code and setting."""
    try:
        found = json.loads(path(folder, experiment).read_text(encoding="utf-8"))
        found["setting"] = Setting(**found["setting"])
        if found["findings"] is not None:
            found["findings"] = Findings.from_json(found["findings"])
        record = Record(**found)
    except (OSError, ValueError, TypeError, KeyError):
        return None
    return record if (record.setting, record.code) == (setting, code(experiment)) else None


def _plain(value: Any) -> Any:
    """Words, numbers, lists and dictionaries; None for what is no finite number."""
    if isinstance(value, dict):
        return {str(key): _plain(x) for key, x in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(x) for x in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
