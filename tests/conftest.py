"""Settings of the test run.

`python -m pytest` runs the core selection: all tests but tests of the subjects below, which take
long and get the marker `long` too. `--all` runs everything. Tests that a path, `-k` or `-m` names
always run.

The default profile of hypothesis is deterministic; `--hypothesis-profile=search` looks for more.
With the environment variable CI set, skips that tests/allowed_skips.txt does not list fail the run
(tests/support/allowed_skips.py).
"""

from __future__ import annotations

import os
from pathlib import Path

import adapter_law_report
import pytest
from allowed_skips import StrictSkips
from hypothesis import HealthCheck, settings

SUBJECTS = {  # markers of tests that take long
    "benchmarks": "programs of benchmarks/, which compile the core in other ways or run for long",
    "browser": "the viewer's page in Chromium",
    "cluster": "Dask and Ray, on two processes",
    "compilers": "generated C in all its options, through every compiler that is here",
    "examples": "programs of examples/ and the code of documentation pages",
    "fuzz": "damaged files and odd arguments, some thousand of them",
    "jit": "whole programs and their derivatives, as XLA and torch.compile compile them",
    "large": "robots and files of extreme size, and how time and memory grow with it",
    "laws": "more of the laws than the core selection: batches, array libraries",
    "processes": "forks, signals, ends of processes, and copies of the package that are changed",
}

settings.register_profile(
    "deterministic",
    derandomize=True,
    deadline=None,
    max_examples=100,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("search", deadline=None, max_examples=1000)
settings.load_profile("deterministic")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("selection").addoption(
        "--all",
        action="store_true",
        help="run all tests, also those that take long, which are left out where no path, -k or -m "
        f"names tests: {', '.join(SUBJECTS)} (--markers says what they are)",
    )
    adapter_law_report.add_option(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Register the subjects; watch skips, in the one process to which all workers report."""
    more = {
        "long": "tests with any of the markers above",
        "full": "those of them that .ci/full runs alone, before a version",
    }
    for name, what in {**SUBJECTS, **more}.items():
        config.addinivalue_line("markers", f"{name}: {what}")
    named = config.args_source is not pytest.Config.ArgsSource.TESTPATHS
    config.option.all |= named or bool(config.option.keyword or config.option.markexpr)
    if os.environ.get("CI", "").lower() in ("", "0", "false") or hasattr(config, "workerinput"):
        return
    skips, record = os.environ.get("CI_SKIPS"), os.environ.get("CI_SKIPPED")
    allowed = Path(__file__).with_name(skips or "allowed_skips.txt")
    exact = skips is not None and not config.option.all
    strict = StrictSkips(allowed, exact, Path(record) if record else None)
    config.pluginmanager.register(strict, "strict_skips")


def pytest_report_header(config: pytest.Config) -> list[str]:
    seed = adapter_law_report.header(config)
    if config.option.all:
        return [seed]
    return [f"core selection; --all runs {', '.join(SUBJECTS)} too", seed]


def pytest_terminal_summary(terminalreporter: object) -> None:
    adapter_law_report.summary(terminalreporter)


@pytest.hookimpl(tryfirst=True)  # -m reads the marker
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the tests that take long, and leave them out of the core selection."""
    core, long = [], []
    for item in items:
        if any(mark.name in SUBJECTS for mark in item.iter_markers()):
            item.add_marker("long")
            long.append(item)
        else:
            core.append(item)
    if not config.option.all:
        config.hook.pytest_deselected(items=long)
        items[:] = core
