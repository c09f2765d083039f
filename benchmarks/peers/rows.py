"""One function of one robot beside its peers: their results checked, then all timed in turns."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field

from benchmarks.checks import WrongResultError
from benchmarks.harness import Spread, one_core, timed
from benchmarks.peers import jax_peer
from benchmarks.peers.cases import DIFFERENCES, Case, Peer, Way, is_derivative
from dtau.cli.timing import Contender, Effort

Mode = tuple[int, int]  # states in a call, 0 for one a call; threads
LONE: Mode = (0, 1)
LARGEST = 2**28  # bytes of results of a batch
SLOWEST = 0.7  # seconds; batches that take longer are left out


@dataclass
class Row:
    """One function of one robot: ratios are of a peer's time by the package's."""

    robot: str
    nv: int
    function: str
    micro: dict[Mode, float] = field(default_factory=dict)  # the package's, a state
    ratios: dict[Mode, dict[str, Spread]] = field(default_factory=dict)
    errors: dict[str, float] = field(default_factory=dict)
    differences: list[str] = field(default_factory=list)  # peers that take finite differences
    reasons: dict[str, str] = field(default_factory=dict)  # why a peer's cells are empty
    facts: dict[str, dict[str, float]] = field(default_factory=dict)

    def to_json(self) -> dict[str, object]:
        """With modes as words."""
        return asdict(self) | {
            "micro": {word(mode): x for mode, x in self.micro.items()},
            "ratios": {
                word(mode): {name: asdict(x) for name, x in found.items()}
                for mode, found in self.ratios.items()
            },
        }


def word(mode: Mode) -> str:
    """A mode in words."""
    if mode == LONE:
        return "one state a call"
    return f"{mode[0]} states" + (" on two threads" if mode[1] == 2 else "")


def measured(case: Case, peers: Sequence[Peer], modes: Sequence[Mode], quick: bool) -> Row:
    """Check a function's results and time it beside all peers that have it."""
    function, robot = case.function, case.robot
    row = Row(robot.label, robot.model.nv, function)
    if case.check_alone() > 0.0:
        raise WrongResultError(f"{robot.label}, {function}: one state differs from a batch")
    ways = ways_of(case, [x for x in peers if not _slow(x, function, quick)], row)
    if ways:
        for mode in modes:
            if mode[0] * case.bytes() <= LARGEST:
                _time(row, case, ways, peers, mode, quick)
    return row


def _slow(peer: Peer, function: str, quick: bool) -> bool:
    """Whether a peer takes seconds to differentiate."""
    return quick and is_derivative(function) and peer.name == "CasADi"


def ways_of(case: Case, peers: Sequence[Peer], row: Row) -> dict[str, Way]:
    """How peers compute a function, their results checked; a row takes what is to be told.

    Raises `WrongResultError` where a peer's result is another.
    """
    ways = {}
    for peer in peers:
        way = _way(peer, case)
        if isinstance(way, str):
            row.reasons[peer.name] = way
            continue
        row.errors[peer.name] = way.error
        row.facts[peer.name] = way.facts
        if way.differences:
            row.differences.append(peer.name)
        allowed = DIFFERENCES if way.differences else case.tolerance()
        if not way.error <= allowed:
            what = f"{case.robot.label}, {case.function}: {peer.name}"
            raise WrongResultError(
                f"{what} differs by {way.error:.1e} of the largest element, allowed {allowed:.0e}"
            )
        ways[peer.name] = way
    return ways


def checked(case: Case, peers: Sequence[Peer]) -> dict[str, Way]:
    """How peers compute a function, their results checked."""
    robot = case.robot
    return ways_of(case, peers, Row(robot.label, robot.model.nv, case.function))


def _way(peer: Peer, case: Case) -> Way | str:
    """A peer's way, or why there is none."""
    try:
        return peer.way(case)
    except jax_peer.ChildError as reason:
        return str(reason)


def _time(
    row: Row, case: Case, ways: Mapping[str, Way], peers: Sequence[Peer], mode: Mode, quick: bool
) -> None:
    """One mode: all in turns, and the ratios within the rounds."""
    count, threads = mode
    contenders: dict[str, Contender] = {
        "dtau": case.lone() if mode == LONE else case.batch(count, threads)
    }
    for name, way in ways.items():
        known = row.ratios.get((256, 1), {}).get(name)
        if count > 256 and known and known.median * row.micro[256, 1] * 1e-6 * count > SLOWEST:
            continue
        try:
            found = None if mode == LONE else way.batch(count, threads)
        except jax_peer.ChildError as reason:
            row.reasons[name] = str(reason)
            continue
        if found is None and threads == 1:
            found = way.each
        if found is not None:
            contenders[name] = found
    _keep(peers, threads)
    effort = Effort(5, 1e-3) if quick else Effort(9 if count <= 256 else 5, 2e-3)
    with one_core() if threads == 1 else contextlib.nullcontext():
        timings = timed(contenders, effort)
    row.micro[mode] = timings.micro("dtau")
    row.ratios[mode] = {x: timings.ratio(x, "dtau") for x in contenders if x != "dtau"}


def _keep(peers: Iterable[Peer], threads: int) -> None:
    """Keep the peers' processes on as many cores."""
    for peer in peers:
        if isinstance(peer, jax_peer.Jax):
            peer.keep_on(threads)
