"""docs/coming_from.md: both cells of every row give the same numbers, with the real packages."""

from __future__ import annotations

import ast
import copy
import re
from functools import cache
from typing import Any

import numpy as np
import pytest
from files import ROOT

import dtau

PAGE = (ROOT / "docs" / "coming_from.md").read_text(encoding="utf-8")
PACKAGES = {
    "Pinocchio": "pinocchio",
    "MuJoCo": "mujoco",
    "Drake": "pydrake",
    "crocoddyl": "crocoddyl",
    "pink": "pink",
    "iDynTree": "idyntree",
}
TOLERANCE = 1e-10
DIFFERENCES = 1e-5  # what MuJoCo takes finite differences for


def sections() -> dict[str, str]:
    """The text below each package's heading."""
    found = re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", PAGE, flags=re.M | re.S)
    return {name: text for name, text in found if name in PACKAGES}


def rows(text: str) -> list[tuple[str, str, str]]:
    """What is asked, how it is asked there, and here."""
    return re.findall(r"^\| (.+?) \| `(.+?)` \| `(.+?)` \|$", text, flags=re.M)


ROWS = [(package, *row) for package, text in sections().items() for row in rows(text)]


@cache
def scope(package: str) -> dict[str, Any]:
    """What the page's code defines."""
    pytest.importorskip(PACKAGES[package])
    names: dict[str, Any] = {}
    for code in re.findall(r"```python\n(.*?)```", sections()[package], flags=re.S):
        exec("import dtau\nimport numpy as np\n" + code, names)
    return names


def value(code: str, names: dict[str, Any]) -> Any:
    """Run statements; the value of the last one."""
    body = ast.parse(code).body
    last = body.pop()
    assert isinstance(last, ast.Expr)
    exec(compile(ast.Module(body, []), "<row>", "exec"), names)
    return eval(compile(ast.Expression(last.value), "<row>", "eval"), names)


def numbers(found: Any) -> list[np.ndarray]:
    """As arrays, if it is several of different shapes."""
    if isinstance(found, tuple | list):
        return [np.asarray(x, float) for x in found]
    return [np.asarray(found, float)]


@pytest.mark.parametrize(("package", "what", "there", "here"), ROWS, ids=lambda x: x[:40])
def test_both_cells_give_the_same(package: str, what: str, there: str, here: str) -> None:
    names = dict(scope(package))
    if package == "MuJoCo":  # whose data keeps what a row did to it
        names["d"] = copy.copy(names["d"])
    want, got = numbers(value(there, names)), numbers(value(here, names))
    if len(want) != len(got):
        want, got = [np.array(want)], [np.array(got)]
    want, got = ([np.squeeze(x) for x in side] for side in (want, got))
    allowed = DIFFERENCES if "differences" in what else TOLERANCE
    for x, y in zip(want, got, strict=True):
        assert x.shape == y.shape
        assert np.isfinite(x).all()
        assert np.abs(x - y).max() <= allowed * max(1.0, np.abs(x).max())


def test_all_rows_are_read() -> None:
    lines = [line for line in PAGE.splitlines() if line.startswith("| ")]
    heads = [line for line in lines if re.match(r"\| \| \w+ \| dtau \|", line)]
    assert len(ROWS) == len(lines) - len(heads) > 70


def test_the_axes_of_another_package_name_the_ones_to_use() -> None:
    model = dtau.robots.quadruped()
    q = dtau.neutral(model)
    for theirs, ours in (("LOCAL", "body"), ("LOCAL_WORLD_ALIGNED", "mixed"), ("WORLD", "world")):
        with pytest.raises(ValueError, match=f"'{ours}'"):
            dtau.frame_jacobians(model, q, "LF_FOOT", theirs)  # type: ignore[arg-type]


def test_other_pages_link_it() -> None:
    assert "(docs/coming_from.md)" in (ROOT / "README.md").read_text(encoding="utf-8")
