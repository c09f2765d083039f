"""What a notebook shows of a model: `Model._repr_html_`."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from cases import robot

import dtau


class Cells(HTMLParser):
    """The rows of a table and the rest of the text; every tag is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.rest = ""
        self.open: list[str] = []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data
        else:
            self.rest += data


@pytest.mark.parametrize("name", ["quadruped", "joints that mimic others", "four bars"])
def test_the_table_is_the_printed_one_with_parents_and_limits(name: str) -> None:
    model = dtau.robots.four_bar()[0] if name == "four bars" else robot(name)
    shown = Cells(model._repr_html_())
    header, *rows = shown.rows
    printed = str(model).splitlines()
    assert header[:6] == printed[1].split()
    assert printed[0] in shown.rest
    for joint, row, line in zip(model.joints, rows, printed[2:], strict=True):
        assert " ".join(row[:6]).split() == line.split()
        parent, position, speed, effort = row[6:]
        assert parent == (model.bodies[joint.parent] if joint.parent >= 0 else "the world")
        for text, values in ((speed, joint.limits.velocity), (effort, joint.limits.effort)):
            assert float(text or "inf") == pytest.approx(min(values), rel=1e-3)
        lower, _, upper = position.partition(" to ")
        assert float(lower or "-inf") == pytest.approx(joint.limits.lower, rel=1e-3)
        assert float(upper or "inf") == pytest.approx(joint.limits.upper, rel=1e-3)
    assert shown.rest.endswith(", ".join(model.frames))


def test_names_are_no_html() -> None:
    names = "<b>&\"'", "</td><script>"
    joint, inertia = dtau.Revolute((0, 0, 1)), dtau.Inertia(1.0, (1, 0, 0))
    model = dtau.Model("<i>", [dtau.Link(names[0], None, joint, names[1], inertia=inertia)])
    shown = Cells(model._repr_html_())
    assert shown.rows[1][:2] == [*names]
    assert "<Model '<i>'" in shown.rest


def test_a_large_model_is_cut() -> None:
    model = dtau.robots.chain(400)
    text = model._repr_html_()
    shown = Cells(text)
    assert len(text) < 20_000
    assert len(shown.rows) == 61
    assert "and 340 more bodies: print(model)" in shown.rest
    assert "400 frames" in shown.rest
