"""The site, but for what its build checks: all that is public is in the API, with its formula."""

from __future__ import annotations

import ast
import importlib
import inspect
import re

import pytest
from files import ROOT

import dtau

PAGES = {path.stem: path.read_text("utf-8") for path in ROOT.glob("docs/api/*.rst")}
FUNCTIONS = [name for name in dtau.__all__ if inspect.isroutine(getattr(dtau, name))]
PLAIN = {
    *("configuration", "load", "neutral", "pattern", "random_state", "transfer_state"),
    *("compile", "generate", "from_mujoco", "from_pinocchio", "load_mechanism", "load_motors"),
    *("set_result_cache_limit", "view"),
}


def names(page: str, module: str) -> list[str]:
    """What a page says of a module, in its order."""
    head = rf"^\.\. names:: {re.escape(module)}\n(?:   :topic: \w+\n)?\n"
    return " ".join(re.findall(rf"{head}((?:   \w+\n)+)", page, flags=re.M)).split()


def test_all_that_is_public_is_once_in_the_api(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "src/python")
    renew = importlib.import_module("renew")
    listed = [name for page in PAGES.values() for name in names(page, "dtau")]
    for page in PAGES.values():
        for topic in re.findall(r"^   :topic: (\w+)$", page, flags=re.M):
            listed += renew.topic(topic, renew.modules())
    modules = {"conventions", "poses", "results", "robots", "rotations"}
    assert sorted(listed) == sorted(set(dtau.__all__) - modules)


@pytest.mark.parametrize("module", ["casadi", "jax", "results", "torch"])
def test_the_pages_of_array_libraries_and_results_have_all(module: str) -> None:
    assert PAGES[module].endswith(f".. names:: dtau.{module}\n")


@pytest.mark.parametrize(
    "module",
    [
        *("conventions", "crocoddyl", "distances", "identification", "mujoco", "poses", "robots"),
        *("rotations", "viewer"),
    ],
)
def test_the_modules_have_a_page_each(module: str) -> None:
    code = (ROOT / "python/dtau" / module / "__init__.py").read_text("utf-8")
    (public,) = (
        ast.literal_eval(line.value)
        for line in ast.parse(code).body
        if isinstance(line, ast.Assign) and ast.unparse(line.targets[0]) == "__all__"
    )
    listed = names(PAGES[module], f"dtau.{module}")
    assert sorted(listed) == sorted(public)


def test_every_page_of_the_api_is_in_its_list() -> None:
    pages = {path.stem for path in ROOT.glob("docs/api/*.*")} - {"index"}
    assert set(re.findall(r"^   (\w+)$", PAGES["index"], flags=re.M)) == pages


@pytest.mark.parametrize("name", sorted(set(FUNCTIONS) - PLAIN))
def test_functions_say_formula_cost_and_source(name: str) -> None:
    text = inspect.getdoc(getattr(dtau, name)) or ""
    head, _, rest = text.partition("\nParameters\n")
    assert re.search(r"^    \S|``[^`]* [^`]*``| = ", head, flags=re.M), "a formula"
    if name in ("equilibrium", "normalize"):
        return
    notes = rest.partition("\nNotes\n-----\n")[2]
    assert re.search(r"O\([^)]+\)", notes), "what it costs"
    assert re.search(r"\[[A-Z][\w-]+\]", notes), "where it is from"
