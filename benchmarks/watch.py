"""What a run shows on the terminal: one bar an experiment, and lines that do not disturb it."""

from __future__ import annotations

import sys

from benchmarks.optional import optional

tqdm = optional("tqdm")


class Bar:
    """A bar on stderr, if that is a terminal and tqdm is installed."""

    def __init__(self, name: str) -> None:
        self._bar = None
        if tqdm is not None:
            form = "{desc} {percentage:3.0f} % |{bar:30}| {elapsed}, {remaining} to go{postfix}"
            self._bar = tqdm.tqdm(total=0, desc=name, leave=False, disable=None, bar_format=form)

    def expect(self, steps: int, label: str = "") -> None:
        """Say that so many steps are to come, beside those said before."""
        if self._bar is not None and not self._bar.disable:
            self._bar.total += steps
            self._bar.set_postfix_str(label)

    def step(self, label: str = "") -> None:
        """Say that one of them is done."""
        if self._bar is not None and not self._bar.disable:
            self._bar.set_postfix_str(label, refresh=False)
            self._bar.update()

    def close(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.close()


def say(line: str) -> None:
    """Print a line on stderr, above a bar that is shown."""
    if tqdm is None:
        print(line, file=sys.stderr, flush=True)
    else:
        tqdm.tqdm.write(line, file=sys.stderr)
