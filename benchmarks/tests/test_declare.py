"""Experiments that are declared: tables, claims and figures of rows; what is missing is said."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from benchmarks import declare
from benchmarks.checks import UnavailableError
from benchmarks.declare import Asked, Bench, Column, Layout, Row, at_least, at_most, ratio
from benchmarks.experiment import Experiment
from benchmarks.harness import Spread, usable_cores
from benchmarks.watch import Bar

import dtau
from dtau.cli.timing import Call, Contender, random_inputs

ROWS: list[Row] = [
    {"robot": "arm", "way": "alone", "us": 1.5, "ratio": Spread(1.0, 0.5, 2.0), "most": 2.0},
    {"robot": "arm", "way": "batch", "us": 0.5, "ratio": Spread(3.0, 3.0, 3.0), "most": None},
    {"robot": "leg", "way": "alone", "us": 12.0, "ratio": Spread(4.0, 4.0, 4.0), "most": 3.0},
]


def declared(rows: list[Row] = ROWS, **options: object) -> Experiment:
    def measure(bench: Bench, robot: str) -> Iterator[Row]:
        bench.note("once")
        yield from (row for row in rows if row["robot"] == robot)

    subjects = lambda bench: ["arm"] if bench.quick else ["arm", "leg"]  # noqa: E731
    effort = declare.efforts((3, 1), (1e-4, 1e-4))
    given: dict[str, object] = {"effort": effort, "tables": [], **options}
    return declare.experiment("pace", "Pace", "itself", subjects, measure, **given)


def test_rows_are_laid_out() -> None:
    columns = ["robot", ("time", "us"), ratio(), at_most("most"), at_least(2.0, aim="best")]
    columns += ["none", Column(["twice"], lambda row: [f"{2 * row['us']:g}"])]
    rows = [row | {"best": 4.0} for row in ROWS]
    tables = [
        Layout("{robot}, by way", columns, each="robot"),
        Layout("Lone", ["robot", "ratio"], where={"way": "alone"}),
        Layout("Nothing", ["robot"], where={"way": "sideways"}),
    ]
    experiment = declared(rows, tables=tables)
    assert experiment.run.__module__ == __name__  # whose code identifies the results
    found = experiment.run(False, Bar(""))
    assert [table.title for table in found.tables] == ["arm, by way", "leg, by way", "Lone"]
    arm, leg, lone = found.tables
    header = ["robot", "time", "ratio", "quartiles", "at most", "", "at least (aim)", ""]
    assert list(arm.header) == [*header, "none", "twice"]
    cells = ["arm", "1.50", "1.00x", "0.50 - 2.00", "2x", "yes", "2x (4x)", "NO", "", "3"]
    assert list(arm.rows[0]) == cells
    assert arm.rows[1][4:8] == ["", "", "2x (4x)", "yes"]  # no limit of its own
    assert leg.rows[0][4:8] == ["3x", "NO", "2x (4x)", "aim"]
    assert lone.rows == [["arm", "1.00x"], ["leg", "4.00x"]]
    assert (found.notes, found.data) == (["once"], {"rows": rows})
    assert [len(table.rows) for table in experiment.run(True, Bar("")).tables] == [2, 1]


def test_claims_are_decided() -> None:
    claims = [
        Asked("{robot} is fast", most=2.0, each="robot"),
        Asked("in its limits", most="most"),
        Asked("long enough", "us", least=0.5, asked="half a microsecond"),
        Asked("sideways", most=1.0, where={"way": "sideways"}),
    ]
    found = declared(claims=claims).run(False, Bar("")).claims
    said = [(claim.text, claim.asked, claim.measured, claim.holds) for claim in found]
    assert said == [
        ("arm is fast", "at most 2x", "1.00x to 3.00x", False),
        ("leg is fast", "at most 2x", "4.00x", False),
        ("in its limits", "at most 2x to 3x, by robot", "1.00x to 4.00x", False),
        ("long enough", "half a microsecond", "0.50x to 12.00x", True),
    ]


def test_figures_have_a_place_a_robot() -> None:
    plot = declare.over_robots("pace", "Pace", "x", ROWS, "way")
    assert plot.ticks == ["arm", "leg"]
    assert [(curve.label, curve.x) for curve in plot.curves] == [
        ("alone", [0.0, 1.0]),
        ("batch", [0.0]),
    ]


def test_what_is_missing_is_said() -> None:
    with pytest.raises(UnavailableError, match="no_such_package is missing: python -m pip install"):
        declared(needs={"no_such_package": "abacus"}).run(True, Bar(""))


def test_calls_are_compared_alone_and_in_batches() -> None:
    model = dtau.robots.chain(2)
    at = random_inputs(model, ["inverse_dynamics", "mass_matrix"], 3)
    one, other = (Call(name, model, at) for name in ("inverse_dynamics", "mass_matrix"))
    full, _ = declare.efforts((3, 1), (1e-4, 1e-4))
    bench = Bench(False, full, lambda: next(clock), lambda text: None, usable_cores())
    clock = iter(range(100_000))
    assert bench.timed({"idle": Contender(lambda passes: None, 2)}).micro("idle") == 0.5e6
    found = bench.versus(one, other, into=(True, False))
    assert set(found) == {"microseconds", "batch", "alone"}
