"""Large models: the work grows with their size, and too large ones are refused before the work."""

from __future__ import annotations

from typing import Any

import pytest
from growth import MIMICS, PARENTS, calls, exponent, text

import dtau
from dtau.model.mimic import resolve_mimics

pytestmark = pytest.mark.large

MOST = 26000  # degrees of freedom
LINEAR = 1.1  # exponents that count as linear; n log n has less


@pytest.mark.parametrize(
    ("parent", "mimic"),
    [*((parent, "independent") for parent in PARENTS), *(("serial", mimic) for mimic in MIMICS)],
)
def test_loading_time_grows_linearly_with_the_file(parent: str, mimic: str) -> None:
    assert exponent(lambda n: calls(dtau.load, text(n, parent, mimic), mimic="exact")) < LINEAR


@pytest.mark.parametrize("kind", ["fixed", "floating", "planar", "prismatic"])
def test_loading_other_joints(kind: str) -> None:
    assert exponent(lambda n: calls(dtau.load, text(n, kind=kind), root="free")) < LINEAR


BROKEN = {
    "an unknown leader": ('<mimic joint="j000000000"/>', '<mimic joint="j00000000x"/>'),
    "an unknown parent": ('<parent link="-1"/>', '<parent link="1-"/>'),
    "a cycle of links": ('<parent link="-1"/>', '<parent link="9"/>'),
    "a joint twice": ('name="j000000001"', 'name="j000000000"'),
    "no end": ("</robot>", ""),
}


@pytest.mark.parametrize("what", BROKEN)
def test_refusing_time_grows_linearly_with_the_file(what: str) -> None:
    def cost(n: int) -> float:
        good = text(n, mimic="chain")
        broken = good.replace(*BROKEN[what])
        assert broken != good
        with pytest.raises(dtau.ModelError):
            dtau.load(broken, mimic="exact")
        return calls(dtau.load, broken, mimic="exact")

    assert exponent(cost) < LINEAR


def test_hints_of_names_that_come_close_are_not_searched_without_end() -> None:
    """In many names, and long ones, as a search takes the product of the lengths for each."""
    names = [f"{'ab' * 90}{k}" for k in range(3000)]
    links = [dtau.Link(name, None, dtau.Revolute((0, 0, 1)), name) for name in names]
    with pytest.warns(dtau.ModelWarning):
        model = dtau.Model("r", links)
    assert calls_of_error(model, "ba" * 90) < 100_000


def calls_of_error(model: dtau.Model, name: str) -> int:
    def lookup() -> None:
        with pytest.raises(ValueError, match="no joint named"):
            model.joint(name)

    return calls(lookup)


@pytest.mark.parametrize("mimic", ["chain", "chain, the last first"])
def test_what_joints_follow_in_the_end(mimic: str) -> None:
    """Every step of a chain is looked at once: a joint that is followed is looked up once more."""
    n = 300

    class Counted(dtau.Link):
        looked = 0

        def __getattribute__(self, name: str) -> Any:
            Counted.looked += name == "mimic"
            return super().__getattribute__(name)

    links = []
    for k in range(n):
        leader = MIMICS[mimic](k, n)
        follows = None if leader == k else dtau.Mimic(str(leader), -1.0, 0.5)
        links.append(Counted(str(k), None, dtau.Revolute((0, 0, 1)), str(k), mimic=follows))
    Counted.looked = 0
    resolved = resolve_mimics(links)
    assert Counted.looked <= 4 * n
    for k in range(n):
        steps = k if mimic == "chain" else n - 1 - k
        if steps:
            leader = "0" if mimic == "chain" else str(n - 1)
            assert resolved[str(k)] == dtau.Mimic(leader, (-1.0) ** steps, 0.5 * (steps % 2))


# Too large


def floating(n: int) -> str:
    return text(n, "star", kind="floating")


def test_a_file_with_too_many_degrees_of_freedom_is_refused() -> None:
    n = MOST // 6 + 1
    with pytest.raises(
        dtau.ModelError, match=f"expected at most {MOST} degrees of freedom, got {6 * n}"
    ):
        dtau.load(floating(n))
    with pytest.raises(dtau.ModelError, match=f"at most {MOST} degrees of freedom, got {6 * n}"):
        dtau.load(floating(n - 1), root="free")
    reading = calls(dtau.load, floating(400)) / 400
    refusing = calls(dtau.load, floating(n)) / n
    assert refusing < 0.2 * reading


def test_a_model_with_too_many_degrees_of_freedom() -> None:
    links = [dtau.Link(str(k), None, dtau.Free(), str(k)) for k in range(MOST // 6 + 1)]

    def build(links: list[dtau.Link]) -> None:
        with pytest.warns(dtau.ModelWarning):
            dtau.Model("r", links)

    def refuse() -> None:
        with pytest.raises(
            ValueError, match=f"links: expected at most {MOST} degrees of freedom, got 26004"
        ):
            dtau.Model("r", links)

    assert calls(refuse) / len(links) < 0.2 * calls(build, links[:400]) / 400
