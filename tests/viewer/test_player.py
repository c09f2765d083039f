"""The clock of trajectories."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable

import pytest

from dtau.viewer.player import Player


@pytest.fixture
def shown() -> list[float]:
    return []


@pytest.fixture
def player(shown: list[float]) -> Player:
    player = Player(shown.append)
    player.extend(0.3)
    return player


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 60.0
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def players() -> list[str]:
    return [t.name for t in threading.enumerate() if t.name == "dtau-player"]


def test_it_plays_to_the_end_and_stays_there(player: Player, shown: list[float]) -> None:
    player.loop = False
    began = time.monotonic()
    player.play()
    until(lambda: not player.playing)
    player.close()
    assert time.monotonic() - began >= 0.3
    assert shown == sorted(shown)
    assert shown[-1] == 0.3


def test_it_begins_again(player: Player, shown: list[float]) -> None:
    player.play()
    until(lambda: any(b < a for a, b in itertools.pairwise(shown)))
    assert player.playing
    assert max(shown) < 0.3
    player.close()


def test_it_plays_faster(player: Player, shown: list[float]) -> None:
    player.extend(1000.0)
    player.speed = 100.0
    player.play()
    until(lambda: bool(shown) and shown[-1] > 10.0)
    player.close()


def test_it_pauses_and_seeks(player: Player, shown: list[float]) -> None:
    player.play()
    until(lambda: bool(shown))
    player.pause()
    time.sleep(0.05)
    count = len(shown)
    time.sleep(0.1)
    assert len(shown) == count
    player.seek(0.2)
    assert player.time == 0.2
    player.seek(5.0)
    assert player.time == 0.3
    player.seek(-5.0)
    assert player.time == 0.0
    player.close()


def test_no_thread_before_it_plays_and_none_after_it_is_closed(player: Player) -> None:
    assert not players()
    player.play()
    assert players()
    player.close()
    assert not players()
    player.close()
    player.play()
    assert not players()
    assert not player.playing


def test_nothing_to_play() -> None:
    still = Player(lambda seconds: None)
    still.play()
    assert not still.playing
    assert not players()
