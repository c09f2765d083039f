"""Thousands of contacts: memory that grows with their number, and the most rows."""

from __future__ import annotations

import pytest
from cases import robot
from processes import sanitized, script

import dtau

MEMORY = """
import itertools, resource
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3  # MB
model = chain(300)
before = peak()
for count in (100, 3000):
    names = itertools.cycle(model.bodies if sys.argv[1] == "all" else model.bodies[-1:])
    points = [dtau.PointContact(name, name=str(k)) for k, name in zip(range(count), names)]
    kept = dtau.Contacts(model, points)
print(json.dumps(peak() - before))
"""


@pytest.mark.large
@pytest.mark.skipif(sanitized(), reason="the sanitizer keeps memory that is freed")
@pytest.mark.parametrize("bodies", ["last", "all"])
def test_memory_is_linear(bodies: str) -> None:
    """Megabytes of 3000 points on a chain of 300; 1000 took 1100."""
    assert script(MEMORY, bodies) < 60


def points(count: int) -> list[dtau.PointContact]:
    return [dtau.PointContact("LF_FOOT", name=str(k)) for k in range(count)]


def test_too_many_rows_are_refused() -> None:
    model = robot("quadruped")
    with pytest.raises(ValueError, match="contacts: expected at most 10000 rows, got 10002"):
        dtau.Contacts(model, points(3334))
    flat = [dtau.FrameContact("LF_FOOT", name="flat")]
    assert dtau.Contacts(model, [*points(3331), *flat]).nrows == 9999
