"""Experiments as declarations: `experiment` makes one of cases, columns of tables, and claims.

It measures one subject after the other (a robot, as a rule) on one core. The subject's function
checks results, times contenders in turns (`Bench`) and gives rows: words, counts, times in
microseconds and ratios (`Spread`), by name. Tables (`Layout`), figures and claims (`Asked`) are
views of all rows, and the rows themselves are the experiment's data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from operator import ge, le
from time import perf_counter
from typing import Any

import dtau
from benchmarks.checks import UnavailableError
from benchmarks.experiment import Claim, Experiment, Findings, Plot, Table, Watch
from benchmarks.harness import (
    Spread,
    Timings,
    curve,
    number,
    one_core,
    span,
    timed,
    times,
    usable_cores,
    verdict,
)
from benchmarks.optional import optional
from benchmarks.robots import Robot, chosen
from dtau.cli.timing import LONE_STATES, Call, Contender, Effort

Row = dict[str, Any]
Efforts = tuple[Effort, Effort]  # of a full run and of a quick one
UNTIMED = (Effort(rounds=1, block=0.0),) * 2


def efforts(rounds: tuple[int, int], block: tuple[float, float]) -> Efforts:
    full, quick = (Effort(*pair) for pair in zip(rounds, block, strict=True))
    return full, quick


# Measuring


@dataclass(frozen=True)
class Bench:
    """What a subject is measured with."""

    quick: bool
    effort: Effort
    clock: Callable[[], float]
    note: Callable[[str], None]  # takes a sentence of the report
    cores: set[int]  # that the process may use, but for being kept on one

    def timed(self, contenders: Mapping[Any, Contender]) -> Timings:
        """Time contenders in turns."""
        return timed(contenders, self.effort, self.clock)

    def both(
        self,
        calls: Mapping[Any, Call],
        *,
        lone: int = LONE_STATES,
        into: tuple[bool, bool] = (False, True),
    ) -> Timings:
        """Time calls by ("alone", name) and ("batch", name); `into`: whether with out=."""
        alone, batch = into
        found = {
            ("alone", x): call.alone(min(lone, call.count), into=alone) for x, call in calls.items()
        }
        return self.timed(found | {("batch", x): y.batch(into=batch) for x, y in calls.items()})

    def versus(
        self, call: Call, other: Call, *, lone: int = LONE_STATES, into: tuple[bool, bool]
    ) -> Row:
        """Compare with another call: its "microseconds" in a batch, ratios "alone" and "batch"."""
        found = self.both({"call": call, "other": other}, lone=lone, into=into)
        ways = {x: found.ratio((x, "call"), (x, "other")) for x in ("batch", "alone")}
        return {"microseconds": found.micro(("batch", "other"))} | ways


Subjects = Callable[[Bench], Sequence[Any]]


def robots(full: Iterable[str], quick: Iterable[str]) -> Subjects:
    """Robots of `benchmarks.robots`, and those of --urdf."""
    return lambda bench: chosen([*(quick if bench.quick else full)], bench.note)


def models(full: Iterable[str], quick: Iterable[str]) -> Subjects:
    """Labels and models of robots; a quadruped if no robot is here."""
    found = robots(full, quick)
    return lambda bench: (
        [(robot.label, robot.model) for robot in found(bench)]
        or [("quadruped", dtau.robots.quadruped())]
    )


def labeled(subject: Any) -> str:
    parts = subject if isinstance(subject, tuple) else (subject,)
    words = (x.label if isinstance(x, Robot) else x for x in parts)
    return ", ".join(str(x) for x in words if isinstance(x, str | int))


# Tables


@dataclass(frozen=True)
class Column:
    """Cells of a row under one header or several."""

    header: Sequence[str]
    cells: Callable[[Row], Sequence[str]]


Shown = str | tuple[str, str] | Column  # a value by its name, or a header and the name


def ratio(key: str = "ratio", header: str = "ratio") -> Column:
    """A ratio and its quartiles."""
    return Column((header, "quartiles"), lambda row: times(row[key]) if row.get(key) else ["", ""])


def at_most(most: float | str, key: str = "ratio") -> Column:
    """A limit (or the value of that name), and whether a ratio keeps it."""
    return _limit("at most", most, key, "", le)


def at_least(least: float | str, key: str = "ratio", aim: str = "") -> Column:
    """A limit (or the value of that name) and a row's aim, and whether a ratio reaches them."""
    return _limit("at least", least, key, aim, ge)


def _limit(
    header: str, limit: float | str, key: str, aim: str, met: Callable[[float, float], bool]
) -> Column:
    def cells(row: Row) -> list[str]:
        bound, best = row[limit] if isinstance(limit, str) else limit, row.get(aim)
        if bound is None:
            return ["", ""]
        x = _value(row[key])
        aimed = best is not None and met(x, best)
        return [f"{bound:.3g}x" + (f" ({best:g}x)" if best else ""), verdict(met(x, bound), aimed)]

    return Column((f"{header} (aim)" if aim else header, ""), cells)


def _value(x: float | Spread) -> float:
    return x.median if isinstance(x, Spread) else x


def _column(shown: Shown) -> Column:
    if isinstance(shown, Column):
        return shown
    header, key = (shown, shown) if isinstance(shown, str) else shown
    return Column((header,), lambda row: [_cell(row.get(key))])


def _cell(x: Any) -> str:
    if x is None:
        return ""
    if isinstance(x, Spread):
        return f"{x.median:.2f}x"
    return number(x) if isinstance(x, float) else str(x)


def selected(rows: Sequence[Row], where: Row, each: str = "") -> Iterator[list[Row]]:
    """The rows with these values, by the values of `each`; no list is empty."""
    found = [row for row in rows if where.items() <= {x: row.get(x) for x in where}.items()]
    for value in dict.fromkeys(row.get(each) for row in found):
        yield [row for row in found if row.get(each) == value]


@dataclass(frozen=True)
class Layout:
    """A table of rows; the title may name values of the first of them, as in "{robot}: ..."."""

    title: str
    columns: Sequence[Shown]
    left: int = 1
    where: Row = field(default_factory=dict)  # of rows with these values
    each: str = ""  # a table for each of these values

    def tables(self, rows: Sequence[Row]) -> Iterator[Table]:
        """Lay out the rows."""
        columns = [_column(shown) for shown in self.columns]
        header = [word for column in columns for word in column.header]
        for found in selected(rows, self.where, self.each):
            cells = [[x for column in columns for x in column.cells(row)] for row in found]
            yield Table(self.title.format(**found[0]), header, cells, self.left)


BOTH = (ratio("batch", "batch"), ratio("alone", "alone"))  # of `Bench.versus`


# Claims and figures


@dataclass(frozen=True)
class Asked:
    """A claim that ratios of some rows are at most, or at least, a limit.

    `text` may name values of the first row. A limit may be the name of a value, one a row.
    """

    text: str
    key: str | tuple[str, ...] = "ratio"
    most: float | str | None = None
    least: float | str | None = None
    where: Row = field(default_factory=dict)
    each: str = ""  # a claim for each of these values
    asked: str = ""  # in place of the limit in words
    by: str = "by robot"  # what limits depend on

    def claims(self, rows: Sequence[Row]) -> Iterator[Claim]:
        """Decide."""
        keys = (self.key,) if isinstance(self.key, str) else self.key
        limit = self.least if self.most is None else self.most
        for found in selected(rows, self.where, self.each):
            pairs = [
                (_value(row[key]), row[limit] if isinstance(limit, str) else limit)
                for row in found
                for key in keys
            ]
            pairs = [(x, bound) for x, bound in pairs if bound is not None]
            if not pairs:
                continue
            values, bounds = zip(*pairs, strict=True)
            word = f"at {'least' if self.most is None else 'most'} {min(bounds):.3g}x"
            if max(bounds) > min(bounds):
                word += f" to {max(bounds):.3g}x, {self.by}"
            sign = 1.0 if self.most is None else -1.0
            held = all(sign * x >= sign * bound for x, bound in pairs)
            yield Claim(self.text.format(**found[0]), self.asked or word, span(values), held)


def over_robots(
    name: str, title: str, y: str, rows: Sequence[Row], by: str, key: str = "ratio"
) -> Plot:
    """Plot ratios, a place a robot and a curve for each value of `by`."""
    ticks = list(dict.fromkeys(row["robot"] for row in rows))
    curves = []
    for found in selected(rows, {}, by):
        places = [float(ticks.index(row["robot"])) for row in found]
        curves.append(curve(found[0][by], places, [row[key] for row in found]))
    return Plot(name, title, "", y, curves, ticks=ticks)


# The experiment


def experiment(
    name: str,
    title: str,
    source: str,
    subjects: Subjects,
    measure: Callable[..., Iterable[Row]],
    *,
    effort: Efforts = UNTIMED,
    tables: Sequence[Layout | Callable[[list[Row]], Iterable[Table]]],
    claims: Sequence[Asked | Callable[[list[Row]], Iterable[Claim]]] = (),
    plots: Callable[[list[Row]], Iterable[Plot]] = lambda rows: (),
    notes: Sequence[str] = (),
    needs: Mapping[str, str] | None = None,
    clock: Callable[[], float] = perf_counter,
) -> Experiment:
    """Make an experiment of `measure(bench, subject)`, or `measure(bench, *subject)` for tuples.

    `needs`: packages by their modules, without which nothing can be measured.
    """

    @wraps(measure)  # whose module's code identifies the results
    def run(quick: bool, watch: Watch) -> Findings:
        for module, package in (needs or {}).items():
            if optional(module) is None:
                raise UnavailableError(f"{module} is missing: python -m pip install {package}")
        told = list(notes)

        def note(text: str) -> None:
            if text not in told:
                told.append(text)

        bench = Bench(quick, effort[quick], clock, note, usable_cores())
        found = subjects(bench)
        if not found:
            raise UnavailableError("; ".join(told))
        watch.expect(len(found))
        rows: list[Row] = []
        with one_core():
            for subject in found:
                rows += measure(bench, *(subject if isinstance(subject, tuple) else (subject,)))
                watch.step(labeled(subject))
        return Findings(
            [t for x in tables for t in (x.tables(rows) if isinstance(x, Layout) else x(rows))],
            list(plots(rows)),
            [c for x in claims for c in (x.claims(rows) if isinstance(x, Asked) else x(rows))],
            told,
            {"rows": rows},
        )

    return Experiment(name, title, source, run)
