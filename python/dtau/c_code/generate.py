"""`dtau.generate`: functions of one model as C."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dtau.c_code.check import check_prototype, check_source
from dtau.c_code.recording import Written, record
from dtau.c_code.requests import Functions, requests
from dtau.c_code.source import head, header, source
from dtau.checks import require
from dtau.model.model import Model
from dtau.options import Scalar, require_option

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def generate(
    model: Model,
    functions: Functions,
    path: str | os.PathLike[str],
    *,
    scalar: Scalar = "double",
    prefix: str | None = None,
    parameters: Sequence[str] = (),
) -> Path:
    text, declared = files(
        model, functions, Path(path), scalar=scalar, prefix=prefix, parameters=parameters
    )
    return Path(path)


def files(model, functions, path, *, scalar, prefix, parameters):
    require("model", model, Model)
    require_option("scalar", scalar, Scalar)
    if path.suffix != ".c":
        raise ValueError(f"path: expected a name that ends in .c, got {str(path)!r}")
    if prefix is None:
        prefix = re.sub(r"\W", "_", path.stem, flags=re.ASCII) + "_"
    if not isinstance(prefix, str) or not _NAME.fullmatch(prefix):
        raise ValueError(f"prefix: expected the beginning of names in C, got {prefix!r}")
    asked = requests(model, functions, parameters)
    written = [record(model, one, prefix, single=scalar == "float") for one in asked]
    top = head(model, written, scalar)
    h = top + header(model, written, prefix, scalar, check_prototype(prefix))
    c = top + source(written, path.with_suffix(".h").name, scalar, check_source(model, written, prefix, scalar))
    path.write_text(c)
    path.with_suffix(".h").write_text(h)
    return c, h
