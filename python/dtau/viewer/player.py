"""Play a trajectory: a thread that shows the frames in time: `Player`."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

_TICK = 1 / 60  # s: viser's rate of updates


class Player:
    """Plays frames at the pace of a clock; frames that would be late are skipped.

    Parameters
    ----------
    show : callable
        Takes the time in seconds. It is called from the player's thread, never concurrently.
    """

    def __init__(self, show: Callable[[float], None]) -> None:
        self._show = show
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._playing = self._closed = False
        self._time = self._end = 0.0
        self.speed, self.loop = 1.0, True

    @property
    def playing(self) -> bool:
        """Whether it plays."""
        return self._playing

    @property
    def time(self) -> float:
        """Current time of the trajectory, in seconds."""
        return self._time

    def extend(self, end: float) -> None:
        """Extend the trajectory to this end, if it is shorter."""
        with self._changed:
            self._end = max(self._end, end)

    @property
    def end(self) -> float:
        """Length of the trajectory, in seconds."""
        return self._end

    def play(self) -> None:
        """Play from the current time, or from the beginning if that is the end."""
        with self._changed:
            if self._closed or self._end == 0.0:
                return
            if self._time >= self._end:
                self._time = 0.0
            self._playing = True
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="dtau-player", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def pause(self) -> None:
        """Stop at the current time."""
        with self._changed:
            self._playing = False
            self._changed.notify_all()

    def seek(self, seconds: float) -> None:
        """Go to a time."""
        with self._changed:
            self._time = min(max(seconds, 0.0), self._end)

    def close(self) -> None:
        """Stop playing and end the thread."""
        with self._changed:
            self._closed, self._playing = True, False
            self._changed.notify_all()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()

    def _run(self) -> None:
        before = time.perf_counter()
        while True:
            with self._changed:
                while not self._playing and not self._closed:
                    self._changed.wait()
                    before = time.perf_counter()
                if self._closed:
                    return
                now = time.perf_counter()
                self._time += (now - before) * self.speed
                before = now
                if self._time >= self._end:
                    if self.loop:
                        self._time %= self._end
                    else:
                        self._time, self._playing = self._end, False
                at = self._time
            self._show(at)
            with self._changed:
                if not self._closed:
                    self._changed.wait(max(0.0, before + _TICK - time.perf_counter()))
