"""Results in a folder: a JSON file an experiment, and whether it still says what a run would."""

from __future__ import annotations

import ast
import hashlib
import json
import math
import sys
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.experiment import Experiment, Findings

FOLDER = Path(__file__).parent
COMPILED = (".cpp", ".hpp")  # what is compiled when experiments run


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
    code: str  # a digest of what the experiment is made of
    setting: Setting
    date: str
    seconds: float
    findings: Findings | None
    failed: str = ""  # a result that is wrong, or an error
    unavailable: str = ""  # what is missing


def code(experiment: Experiment) -> str:
    """A digest of the file that defines an experiment, and of those of this folder it imports."""
    return _digest(Path(sys.modules[experiment.run.__module__].__file__ or ""))


@cache
def _digest(file: Path) -> str:
    files: set[Path] = set()
    _follow(file, files)
    compiled = {x for file in files for x in file.parent.iterdir() if x.suffix in COMPILED}
    text = b"\0".join(x.read_bytes() for x in sorted(files | compiled))
    return hashlib.sha256(text).hexdigest()[:16]


def _follow(file: Path, files: set[Path]) -> None:
    """Add a file, and what it imports of `benchmarks`, and what that imports."""
    files.add(file)
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        else:
            continue
        for name in names:
            imported = FOLDER.parent / (name.replace(".", "/") + ".py")
            if imported not in files and FOLDER in imported.parents and imported.is_file():
                _follow(imported, files)


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
