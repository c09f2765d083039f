"""tests/conftest.py: a run under CI fails on a skip that is not listed; which tests a run takes."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import allowed_skips
import pytest
from files import ROOT

pytestmark = pytest.mark.processes

SUITE = {
    "tests/test_of_all_kinds.py": """
import pytest

def test_passes():
    pass

@pytest.mark.skipif(True, reason="there is no abacus")
def test_by_a_mark():
    pass

def test_by_a_call():
    pytest.skip("there is no abacus, neither wood nor wire")

def test_by_an_import():
    pytest.importorskip("no_such_package")

@pytest.mark.xfail(reason="known to be wrong")
def test_expected_to_fail():
    assert False

@pytest.mark.xfail(reason="known to be wrong", strict=False)
def test_passes_against_expectation():
    pass
""",
    "tests/test_module.py": "import pytest\npytest.importorskip('no_such_module')\n",
}
ALL = """# a comment

tests/test_of_all_kinds.py::test_by_a_* | there is no abacus*  | it is of wood
tests/test_of_all_kinds.py::*           | could not import 'no_such_package'* | nobody has it
tests/test_of_all_kinds.py::*           | expected to fail: known to be wrong | by everyone
tests/test_module.py                    | could not import 'no_such_module'*  | nobody has it
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """A suite of its own with the conftest.py of this one."""
    (tmp_path / "tests/support").mkdir(parents=True)
    shutil.copy(ROOT / "tests/conftest.py", tmp_path / "tests")
    for name in ("allowed_skips.py", "adapter_law_report.py"):
        shutil.copy(ROOT / "tests/support" / name, tmp_path / "tests/support")
    for name, text in SUITE.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    settings = (
        '[tool.pytest.ini_options]\npythonpath = ["tests/support"]\ntestpaths = ["tests"]\n'
        'addopts = ["--strict-markers"]\n'
    )
    (tmp_path / "pyproject.toml").write_text(settings, encoding="utf-8")
    return tmp_path


def run(
    suite: Path, allowed: str, ci: str | None, *arguments: str, **variables: str
) -> tuple[int, str]:
    """The exit status of a run, and what it printed."""
    name = variables.get("CI_SKIPS", "allowed_skips.txt")
    (suite / "tests" / name).write_text(allowed, encoding="utf-8")
    environment = {name: x for name, x in os.environ.items() if not name.startswith(("CI", "PY"))}
    environment |= variables
    if ci is not None:
        environment["CI"] = ci
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-pno:cacheprovider", *arguments],
        cwd=suite,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["one process", "two workers"])
def test_a_skip_that_is_not_listed_fails_the_run(suite: Path, workers: tuple[str, ...]) -> None:
    status, said = run(suite, ALL, "true", *workers)
    assert status == 0, said
    assert "2 x tests/test_of_all_kinds.py: expected to fail: known to be wrong: accepted" in said
    assert "1 x tests/test_module.py: could not import 'no_such_module'" in said
    status, said = run(suite, "", "true", *workers)
    assert status == 1, said
    refused = re.findall(
        r"^FAILED (\S+): skipped: (.*): not in tests/allowed_skips", said, flags=re.M
    )
    assert {test.partition("::")[2] or test for test, _ in refused} == {
        *("test_by_a_mark", "test_by_a_call", "test_by_an_import", "test_expected_to_fail"),
        *("test_passes_against_expectation", "tests/test_module.py"),
    }
    assert len(refused) == 6


MORE = """
tests/test_of_all_kinds.py::test_by_an_abacus | there is no abacus | nor was there ever one
?tests/test_of_all_kinds.py::* | there is no sliderule | it depends on the machine
"""


def test_a_list_for_users_has_no_line_too_many(suite: Path) -> None:
    """Where it is the one that CI_SKIPS names, and all tests run."""
    for allowed, status in ((ALL, 0), (ALL + MORE, 1)):
        found, said = run(suite, allowed, "true", "-n2", CI_SKIPS="user_skips.txt")
        assert found == status, said
        unused = re.findall(r"^FAILED tests/user_skips.txt: no test was .* for (.*)$", said, re.M)
        assert (
            unused
            == ["tests/test_of_all_kinds.py::test_by_an_abacus | there is no abacus"][:status]
        )
    named = ("tests/test_of_all_kinds.py",)
    assert run(suite, ALL + MORE, "true", *named, CI_SKIPS="user_skips.txt")[0] == 0
    assert run(suite, ALL + MORE, "true")[0] == 0  # tests/allowed_skips.txt is no such list
    status, said = run(suite, "", "true", CI_SKIPS="user_skips.txt")
    assert status == 1
    assert said.count(": not in tests/user_skips.txt") == 6


def test_skipped_tests_can_run_later(suite: Path) -> None:
    """With what was missing; tests that ran before do not run again."""
    (suite / "tests/test_spaces.py").write_text(
        'import pytest\n@pytest.mark.parametrize("x", ["a b", "[a, b]", "::"])\n'
        "def test_of(x):\n    pytest.importorskip('no_such_package')\n"
    )
    lines = ALL + "tests/test_spaces.py::* | could not import * | nobody has it\n"
    record = suite / "skipped"
    for _ in range(2):
        status, said = run(suite, lines, "true", "-n2", CI_SKIPPED=str(record))
        assert status == 0, said
        assert "1 passed" in said
    of = "tests/test_of_all_kinds.py::test_by_"
    skipped = record.read_text(encoding="utf-8").splitlines()
    assert skipped == [
        "tests/test_module.py",
        *(f"{of}{x}" for x in ("a_call", "a_mark", "an_import")),
        *(f"tests/test_spaces.py::test_of[{x}]" for x in ("::", "[a, b]", "a b")),
    ]
    for name in ("no_such_package", "no_such_module"):
        (suite / f"{name}.py").touch()
    module = suite / "tests/test_module.py"
    module.write_text(module.read_text() + "def test_it():\n    pass\n")
    status, said = run(suite, ALL, "true", "-m", "not long", f"@{record}")
    assert status == 0, said
    assert "5 passed, 2 skipped" in said


def test_a_skipped_module_alone_fails_the_run(suite: Path) -> None:
    assert run(suite, "", "true", "tests/test_module.py")[0] == 1


@pytest.mark.parametrize("ci", [None, "false"])
def test_without_ci_skips_are_skips(suite: Path, ci: str | None) -> None:
    status, said = run(suite, "", ci)
    assert status == 0, said
    assert "allowed_skips" not in said


def test_a_failure_stays_a_failure(suite: Path) -> None:
    (suite / "tests/test_failure.py").write_text("def test_it():\n    assert False\n")
    assert run(suite, ALL, "true")[0] == 1


TAKES_LONG = """
import pytest

def test_quick():
    pass

@pytest.mark.fuzz
def test_fuzzing():
    pass

class TestBoth:
    pytestmark = [pytest.mark.cluster, pytest.mark.browser]
    def test_both(self):
        pass
"""


@pytest.mark.parametrize(
    ("arguments", "passed"),
    [
        (("-n2",), 1),
        (("--all", "-n2"), 3),
        (("tests/test_long.py", "-n2"), 3),
        (("-k", "ing or both"), 2),
        (("-m", "fuzz"), 1),
        (("-m", "long", "-n2"), 2),
    ],
    ids=lambda x: " ".join(x) if isinstance(x, tuple) else None,
)
def test_what_takes_long_runs_where_it_is_named(
    suite: Path, arguments: tuple[str, ...], passed: int
) -> None:
    for name in SUITE:
        (suite / name).unlink()
    (suite / "tests/test_long.py").write_text(TAKES_LONG, encoding="utf-8")
    status, said = run(suite, "", None, *arguments)
    assert status == 0, said
    assert f"{passed} passed" in said


def test_a_line_without_a_reason_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "allowed_skips.txt"
    path.write_text("# fine\ntests/test_a.py::* | there is no abacus\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"allowed_skips.txt, line 2: expected test \| reason"):
        allowed_skips.read(path)


@pytest.mark.parametrize("name", ["allowed_skips.txt", "user_skips.txt"])
def test_the_list_names_tests_that_exist(name: str) -> None:
    for line in allowed_skips.read(ROOT / "tests" / name):
        file, _, test = line.test.partition("::")
        assert list(ROOT.glob(file)), line
        function = re.escape(test.partition("[")[0]).replace(r"\*", r"\w*")
        if function:
            assert re.search(rf"def {function}\(", (ROOT / file).read_text(encoding="utf-8")), line


def test_tests_skip_for_packages_of_others_alone() -> None:
    """A module of dtau without its package raises an ImportError, which is no skip."""
    own = re.compile(r"importorskip\(\s*f?[\"']dtau")
    for file in sorted([*ROOT.glob("tests/**/*.py"), *ROOT.glob("benchmarks/tests/*.py")]):
        assert not own.search(file.read_text(encoding="utf-8")), file
