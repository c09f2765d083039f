"""The benchmarks' command: experiments that fail, are missing, are interrupted and taken up."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from benchmarks import documentation, plots, records, robots
from benchmarks.__main__ import main
from benchmarks.checks import UnavailableError, WrongResultError, require_close
from benchmarks.experiment import (
    Claim,
    Curve,
    Experiment,
    Findings,
    Plot,
    Table,
    Watch,
    experiments,
)
from benchmarks.experiments import paper_003_errors
from benchmarks.harness import Spread, span, times
from benchmarks.machine import environment
from files import ROOT

MACHINE = environment()
FOUND = Findings(
    tables=[Table("Times\nby size", ["robot", "µs"], [["arm | left", "1.5"], ["leg", "2"]])],
    plots=[
        Plot(
            "sizes",
            "Times over sizes",
            "bodies",
            "µs",
            [Curve("arm", [1, 10, 100], [1.0, np.inf, 3.0], [0.9, 1.9, 2.9], [1.1, 2.1, 3.1])],
        ),
        Plot("robots", "By robot", "", "x", [Curve("a", [0, 1], [1.0, 2.0])], ticks=["p", "q"]),
    ],
    claims=[
        Claim("it is fast", "at least 2x", "3.00x", True),
        Claim("it is small", "at most 1 MB", "2 MB", False),
        Claim("it is cheap", "no price", "nobody sells it", None),
    ],
    notes=["a peer\nis missing"],
    data={"seconds": np.array([1.0, np.nan]), "count": np.int64(3), "pair": (1, 2)},
)


class Fakes:
    """Experiments that count their runs, and do what they are told."""

    def __init__(self) -> None:
        self.runs: list[str] = []
        self.does: dict[str, Callable[[], Findings]] = {}
        self.known = [self.experiment(name) for name in ("alpha", "beta", "gamma")]

    def experiment(self, name: str) -> Experiment:
        def run(quick: bool, watch: Watch) -> Findings:
            self.runs.append(name)
            watch.expect(2, "first")
            watch.step("second")
            watch.step()
            return self.does.get(name, lambda: FOUND)()

        return Experiment(name, f"Title of {name}", "[Paper] figure 1", run)

    def __call__(self, *arguments: object) -> int:
        self.runs.clear()
        return main([str(argument) for argument in arguments], self.known)

    def fails(self, name: str, error: BaseException) -> None:
        def fail() -> Findings:
            raise error

        self.does[name] = fail


@pytest.fixture
def fakes(monkeypatch: pytest.MonkeyPatch) -> Fakes:
    monkeypatch.setattr("benchmarks.__main__.environment", lambda: MACHINE)
    monkeypatch.setattr("benchmarks.__main__.busy", lambda: "")
    monkeypatch.setattr(plots, "draw", lambda plot, path: path.write_text(plot.title))
    monkeypatch.setattr(plots, "available", lambda: True)
    return Fakes()


def test_everything_is_written_and_kept(
    fakes: Fakes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert fakes("--out", tmp_path) == 0
    assert fakes.runs == ["alpha", "beta", "gamma"]
    assert "[2/3] beta: 0 s; 1 of 3 claims holds, 1 not decided" in capsys.readouterr().err
    found = json.loads((tmp_path / "beta.json").read_text(encoding="utf-8"))
    assert found["findings"]["data"] == {"seconds": [1.0, None], "count": 3, "pair": [1, 2]}
    assert found["findings"]["plots"][0]["curves"][0]["y"] == [1.0, None, 3.0]
    assert set(found["setting"]["environment"]["versions"]) >= {"dtau", "numpy", "python"}
    assert (tmp_path / "sizes.png").read_text() == "Times over sizes"

    before = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert fakes("--out", tmp_path) == 0
    assert fakes.runs == []
    assert "kept from" in capsys.readouterr().err
    assert (tmp_path / "report.md").read_text(encoding="utf-8") == before
    assert fakes("--out", tmp_path, "--again", "gamma") == 0
    assert fakes.runs == ["gamma"]
    assert fakes("--out", tmp_path, "--quick") == 0  # other options
    assert fakes.runs == ["alpha", "beta", "gamma"]


def test_the_report(fakes: Fakes, tmp_path: Path) -> None:
    fakes.does["beta"] = lambda: Findings(notes=["nothing to say"])
    fakes("--out", tmp_path, "alpha", "beta")
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    for line in (
        "1 of 3 claims holds, 1 not decided.",
        "| alpha | it is fast | at least 2x | 3.00x | holds |",
        "| alpha | it is small | at most 1 MB | 2 MB | **does not hold** |",
        "| alpha | it is cheap | no price | nobody sells it | not decided |",
        "## Title of alpha",
        "**Times by size**",
        "| robot | µs |",
        "| --- | ---: |",
        r"| arm \| left | 1.5 |",
        "- a peer is missing",
        "- nothing to say",
    ):
        assert line in text.splitlines(), line
    assert "quick run" not in text
    assert "Title of gamma" not in text
    links = re.findall(r"!\[.*\]\((.*)\)", text)
    assert links == ["sizes.png", "robots.png"]
    assert all((tmp_path / link).is_file() for link in links)
    fakes("--out", tmp_path / "rough", "--quick", "alpha")
    assert "quick run" in (tmp_path / "rough/report.md").read_text(encoding="utf-8")


def test_other_work_is_told(
    fakes: Fakes,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("benchmarks.__main__.busy", lambda: "load 9.0 on 2 cores")
    assert fakes("--out", tmp_path) == 0
    assert "times are unreliable" in capsys.readouterr().err
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert "do not trust the times of alpha, beta and gamma" in text
    assert text.count("load 9.0 on 2 cores") == 3


def test_an_interrupted_run_goes_on(
    fakes: Fakes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fakes.fails("beta", KeyboardInterrupt())
    assert fakes("--out", tmp_path) == 130
    assert fakes.runs == ["alpha", "beta"]
    assert "goes on from there" in capsys.readouterr().err
    assert "Title of alpha" in (tmp_path / "report.md").read_text(encoding="utf-8")
    del fakes.does["beta"]
    (tmp_path / "gamma.json").write_text('{"experiment": "gamma", "torn')  # by another program
    assert fakes("--out", tmp_path) == 0
    assert fakes.runs == ["beta", "gamma"]


def test_a_wrong_result_fails_the_run_after_the_others(fakes: Fakes, tmp_path: Path) -> None:
    fakes.fails("alpha", WrongResultError("tau differs by 1e-3"))
    fakes.fails("gamma", ImportError("cannot import name 'rnea'"))
    assert fakes("--out", tmp_path) == 1
    assert fakes.runs == ["alpha", "beta", "gamma"]
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert "- **FAILED: alpha**: a wrong result: tau differs by 1e-3" in text
    assert "- **FAILED: gamma**: ImportError: cannot import name 'rnea'" in text
    fakes.does.clear()
    assert fakes("--out", tmp_path) == 0
    assert fakes.runs == ["alpha", "gamma"]
    assert "FAILED" not in (tmp_path / "report.md").read_text(encoding="utf-8")


def test_what_is_missing_is_said(
    fakes: Fakes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fakes.fails("beta", UnavailableError("needs abacus: python -m pip install abacus"))
    assert fakes("--out", tmp_path) == 0
    assert "beta: left out: needs abacus" in capsys.readouterr().err
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert "Left out: needs abacus: python -m pip install abacus" in text
    fakes.does.clear()
    fakes("--out", tmp_path)
    assert fakes.runs == ["beta"]


def test_without_matplotlib(
    fakes: Fakes,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(plots, "available", lambda: False)
    assert fakes("--out", tmp_path) == 0
    assert "python -m pip install matplotlib" in capsys.readouterr().err
    assert "needs matplotlib" in (tmp_path / "report.md").read_text(encoding="utf-8")
    assert not list(tmp_path.glob("*.png"))


def test_plots_are_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    for plot in FOUND.plots:
        file = tmp_path / f"{plot.name}.png"
        plots.draw(plot, file)
        assert file.read_bytes().startswith(b"\x89PNG")


def test_changed_code_is_measured_again(
    fakes: Fakes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fakes("--out", tmp_path)
    monkeypatch.setattr(records, "code", lambda experiment: "other")
    fakes("--out", tmp_path, "alpha")
    assert fakes.runs == ["alpha"]


def test_code_is_that_of_what_is_imported() -> None:
    files: set[Path] = set()
    records._follow(ROOT / "benchmarks/experiments/first_order.py", files)
    names = {str(file.relative_to(ROOT / "benchmarks")) for file in files}
    assert names >= {"checks.py", "harness.py", "peers/headers.py", "robots.py"}
    assert "report.py" not in names
    assert "experiments/products.py" not in names


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["alpa"], "no experiment 'alpa'; did you mean alpha"),
        (["qqq"], "no experiment 'qqq'; --list names all"),
        (["--root", "free"], "--root: only with --urdf"),
        (["--quick", "--docs"], "--docs: only from a full run"),
    ],
)
def test_commands_that_are_refused(
    arguments: list[str],
    message: str,
    fakes: Fakes,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as refused:
        fakes("--out", tmp_path, *arguments)
    assert refused.value.code == 2
    assert message in capsys.readouterr().err
    assert not fakes.runs


def test_the_papers_are_one_command(
    fakes: Fakes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fakes.known += [fakes.experiment(name) for name in ("paper_1", "paper_2", "paper_3")]
    differs = Claim("it overtakes", "from 450 bodies", "from 34", False, "other blocks")
    fakes.does["paper_2"] = lambda: Findings(claims=[differs])
    fakes.fails("paper_3", UnavailableError("needs abacus"))
    assert fakes("--out", tmp_path, "papers") == 0
    assert fakes.runs == ["paper_1", "paper_2", "paper_3"]
    lines = capsys.readouterr().out.splitlines()
    where = "[Paper] figure 1: "
    assert lines == [
        f"holds       {where}it is fast: asked at least 2x; measured 3.00x",
        f"differs     {where}it is small: asked at most 1 MB; measured 2 MB",
        f"not decided {where}it is cheap: asked no price; measured nobody sells it",
        f"differs     {where}it overtakes: asked from 450 bodies; measured from 34; other blocks",
        f"left out    {where}needs abacus",
    ]
    row = "| paper_2 | it overtakes | from 450 bodies | from 34; other blocks | **does not hold** |"
    assert row in (tmp_path / "report.md").read_text(encoding="utf-8").splitlines()
    assert fakes("--out", tmp_path, "paper_1") == 0
    assert not capsys.readouterr().out


def test_the_list_and_the_help(fakes: Fakes, capsys: pytest.CaptureFixture[str]) -> None:
    assert fakes("--list") == 0
    assert "beta   Title of beta ([Paper] figure 1)" in capsys.readouterr().out
    with pytest.raises(SystemExit) as done:
        fakes("--help")
    assert done.value.code == 0
    assert "goes on from there" in capsys.readouterr().out


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The page of the documentation that --docs writes."""
    file = tmp_path / "docs/speed.md"
    monkeypatch.setattr("benchmarks.__main__.PAGE", file)
    return file


def test_the_head_of_the_document_is_kept(
    fakes: Fakes, page: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = ("--out", tmp_path / "results")
    assert fakes(*out, "--docs") == 0
    text = page.read_text(encoding="utf-8")
    assert text.startswith(f"# Benchmarks\n\n{documentation.MARKER}\n")
    by_hand = text.replace("# Benchmarks", "# By hand\n\nWords.")
    page.write_text(by_hand, encoding="utf-8")
    assert fakes(*out, "--docs") == 0
    assert page.read_text(encoding="utf-8") == by_hand
    page.write_text("something else", encoding="utf-8")
    assert fakes(*out, "--docs") == 2
    assert "has no line" in capsys.readouterr().err
    assert page.read_text(encoding="utf-8") == "something else"


def test_tables_and_figures_lie_beside_the_document(
    fakes: Fakes, page: Path, tmp_path: Path
) -> None:
    folder = page.with_suffix("")
    folder.mkdir(parents=True)
    (folder / "gone.md").write_text("an experiment of former times")
    assert fakes("--out", tmp_path / "results", "--docs") == 0
    names = ["alpha.md", "beta.md", "gamma.md", "robots.png", "sizes.png"]
    assert sorted(x.name for x in folder.iterdir()) == names
    lines = (folder / "beta.md").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "# Title of beta"
    assert any(line.startswith(f"Machine: processor: {MACHINE['processor']}") for line in lines)
    assert {"**Times by size**", "![Times over sizes](sizes.png)"} <= set(lines)
    text = page.read_text(encoding="utf-8")
    assert "Times by size" not in text
    assert re.search(
        r"^\| `beta` \| Title of beta \| \[Paper\] figure 1 \| [\d-]+, 0 s \|$", text, re.M
    )


def test_some_experiments_of_the_document_are_renewed(
    fakes: Fakes, page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their rows, claims, tables and figures, where they were; the rest stays as it is."""
    fakes("--out", tmp_path / "then", "--docs")
    page.write_text("# By hand\n\n" + page.read_text(encoding="utf-8").partition("\n\n")[2])
    before, folder = page.read_text(encoding="utf-8"), page.with_suffix("")
    (folder / "sizes.png").write_text("old")
    kept = (folder / "alpha.md").read_text(encoding="utf-8")
    claims = [Claim("it is | small", "1 MB", "1 MB", True), Claim("new", "any", "2x", None)]
    fakes.does["beta"] = lambda: Findings(plots=FOUND.plots[:1], claims=claims, notes=["again"])
    now = ("--out", tmp_path / "now", "--docs")
    assert fakes(*now, "beta") == 0
    assert fakes.runs == ["beta"]
    text = page.read_text(encoding="utf-8")
    old, new = ([x.strip() for x in re.split(r"^(?=## )", y, flags=re.M)] for y in (before, text))
    changed = [x.splitlines()[0] for x, y in zip(old, new, strict=True) if x != y]
    assert changed == ["## Experiments", "## Claims"]
    experiments = re.findall(r"^\| (`\w+`) ", new[2], flags=re.M)
    assert experiments == ["`alpha`", "`beta`", "`gamma`"]
    assert f"- `beta`: processor: {MACHINE['processor']}" in new[2]
    rows = [line.split(" | ")[0] for line in new[3].splitlines() if line.startswith("| ")][2:]
    assert rows == [*["| alpha"] * 3, *["| beta"] * 2, *["| gamma"] * 3]
    assert "3 of 8 claims hold, 3 not decided." in new[3]
    assert "| beta | it is \\| small | 1 MB | 1 MB | holds |" in new[3]
    assert "- again" in (folder / "beta.md").read_text(encoding="utf-8")
    assert (folder / "alpha.md").read_text(encoding="utf-8") == kept
    assert (folder / "sizes.png").read_text() == "Times over sizes"

    fakes.fails("beta", WrongResultError("tau"))
    assert fakes(*now, "--again", "beta") == 1
    assert "- **FAILED: beta**: a wrong result: tau" in page.read_text(encoding="utf-8")
    monkeypatch.delitem(fakes.does, "beta")
    assert fakes(*now, "--again", "beta") == 0
    assert "FAILED" not in page.read_text(encoding="utf-8")
    fakes.known.append(fakes.experiment("delta"))
    fakes.fails("delta", UnavailableError("needs abacus"))
    assert fakes(*now, "delta") == 0
    rows = re.findall(r"^\| (`\w+`) .* \| (.*) \|$", page.read_text("utf-8"), flags=re.M)
    assert [name for name, _ in rows] == [*experiments, "`delta`"]
    assert rows[-1][1] == "left out: needs abacus"


def test_the_document_is_what_the_command_writes() -> None:
    """Its rows and claims are of experiments that there are, and every ratio names one."""
    text = (ROOT / "docs/benchmarks.md").read_text(encoding="utf-8")
    head, _, below = text.partition(documentation.MARKER)
    names = {experiment.name for experiment in experiments()}
    _, *parts = re.split(r"^## ", below, flags=re.M)
    assert [part.split("\n")[0] for part in parts] == ["The machine", "Experiments", "Claims"]
    measured = set(re.findall(r"^\| `(\w+)` ", parts[1], flags=re.M))
    assert measured <= names
    assert set(re.findall(r"^\| (\w+) \| (?!claim)", parts[2], flags=re.M)) <= measured
    ratios = head.partition("| compared with |")[2].partition("\n\n")[0].splitlines()[2:]
    assert {re.split(r" \| `|` \|", row)[1] for row in ratios} <= measured


def test_a_robot_of_your_own(
    fakes: Fakes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mine.urdf"
    file.write_text(robots.urdf([-1, 0, 1], "free"), encoding="utf-8")
    seen = []
    fakes.does["alpha"] = lambda: seen.extend(robots.chosen([], seen.append)) or FOUND
    assert fakes("--out", tmp_path, "--urdf", file, "--root", "free", "alpha") == 0
    assert [(robot.root, robot.model.nv) for robot in seen] == [("free", 8)]
    assert "robot of --urdf: robot, free root" in (tmp_path / "report.md").read_text()
    assert fakes("--out", tmp_path, "alpha") == 0
    assert len(seen) == 1
    file.write_text("no XML", encoding="utf-8")
    assert fakes("--out", tmp_path, "--urdf", file, "alpha") == 2
    assert "--urdf: expected a URDF file" in capsys.readouterr().err


def test_names_and_files_of_the_experiments() -> None:
    known = list(experiments())
    names = [experiment.name for experiment in known]
    assert len(set(names)) == len(names) >= 6
    assert names == [experiment.run.__module__.rpartition(".")[2] for experiment in known]


def test_findings_survive_their_file() -> None:
    plain = Findings(FOUND.tables, FOUND.plots, FOUND.claims, FOUND.notes, {"x": [1, 2.5]})
    again = Findings.from_json(json.loads(json.dumps(plain.to_json())))
    assert json.dumps(again.to_json()) == json.dumps(plain.to_json())
    assert again.plots[0].logarithmic == (True, True)


def test_results_that_differ_are_refused() -> None:
    want = np.array([1.0, 2.0])
    require_close(want + 1e-10, want, 1e-9, "sum")
    for got in (want + 1e-8, want[:1], np.array([1.0, np.nan])):
        with pytest.raises(WrongResultError, match="sum"):
            require_close(got, want, 1e-9, "sum")


def test_ratios_in_words() -> None:
    assert times(Spread.of(np.array([1.0, 2.0, 3.0]))) == ["2.00x", "1.50 - 2.50"]
    assert span(iter([2.0, 1.0])) == "1.00x to 2.00x"
    assert span([2.0]) == "2.00x"


def test_validation_of_the_linearization() -> None:
    rng = np.random.default_rng(5)
    cases = [paper_003_errors.Case.draw(rng) for _ in range(20)]

    def check() -> None:
        errors = paper_003_errors.Errors.of(cases, 1e-6)
        paper_003_errors.require_no_larger(errors)

    check()
    for i in range(4):
        spoilt = cases[0].derivatives[i]
        error = (1e-2 if i == 1 else 1e-4) * np.abs(spoilt).max()  # the paper allows 5e-3 by s
        spoilt += error
        with pytest.raises(WrongResultError, match=paper_003_errors.BLOCKS[i]):
            check()
        spoilt -= error
    check()
