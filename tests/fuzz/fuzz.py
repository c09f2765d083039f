"""Throws damaged files and odd arguments at the package, as many as you like.

Kinds of case take turns:

    fuzz_files.py        robot files that are damaged
    fuzz_arguments.py    calls of all functions with wrong or unusual arguments
    fuzz_models.py       parts of models with extreme numbers; then every function is called
    fuzz_conventions.py  conversions with such arguments; damaged models of other packages
    fuzz_pickles.py      pickles with damaged contents
    fuzz_contacts.py     contacts and loops: masks, gains, damping, rows that depend on each other
    fuzz_growth.py       files that grow: the work must grow as their size (one case of 49)

These need a compiler or other packages, and take turns where --kinds names them:

    fuzz_generated.py    generated C of any name and option, compiled, and what it defines
    fuzz_mjcf.py         damaged MJCF
    fuzz_threads.py      xacro and MJCF in several threads

A case must end with a right result, or with the documented exception and a message that names what
is wrong. It fails by any other exception or result, by a crash, or by taking longer than some
seconds; then the program stops, says how to repeat that one case, and exits with status 1.

    python tests/fuzz/fuzz.py                             # 3000 cases, about a minute
    python tests/fuzz/fuzz.py --cases 1000000 --seed 3    # others, for as long as you like
    python tests/fuzz/fuzz.py --kinds contacts,generated  # these alone
    python tests/fuzz/fuzz.py --seed 3 --first 4711 --cases 1  # one case again, say to debug it

The program can be stopped at any time (Ctrl-C). Where it stands is kept in a file for each seed,
build/fuzz/seed-N.json (seed-N-KINDS.json if kinds were chosen) unless --state names another, and
the same command goes on from there (after a failure, with the case that failed); --anew begins
again. With --first nothing is kept.

At the end it prints how many cases ended how, the rate, and which lines of the loaders no case has
reached so far. guided.py looks for files that reach new lines.

A case is made from the seed and its number alone. Cases run in another process, so that a crash is
seen. test_fuzzing.py runs some cases in every test run, tests/sanitized.sh runs this program
under the address sanitizer.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import importlib
import json
import multiprocessing
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
from loader_lines import Line, LoaderLines

Check = Callable[[np.random.Generator], str]
LONGEST = 20.0  # seconds for one case; most take milliseconds
STARTING = 60.0  # seconds until the first case begins
SAVED_EVERY = 5.0  # seconds
STATES = Path(__file__).parents[2] / "build" / "fuzz"


QUICK = ("files", "arguments", "models", "conventions", "pickles", "contacts")
USUAL = (*QUICK * 8, "growth")
KINDS = (*QUICK, "growth", "generated", "mjcf", "threads")


def checks(names: Sequence[str] = USUAL) -> tuple[Check, ...]:
    """The kinds of case, by turns: each makes one with random numbers, and says how it ended."""
    sys.path.append(str(Path(__file__).parents[1] / "support"))
    return tuple(importlib.import_module(f"fuzz_{name}").check for name in names)


def case(kinds: Sequence[Check], seed: int, number: int) -> str:
    """Run one case; how it ended."""
    kind = kinds[number % len(kinds)]
    return f"{kind.__module__.removeprefix('fuzz_')}: {kind(np.random.default_rng([seed, number]))}"


def loader_lines() -> LoaderLines:
    import dtau.loaders

    return LoaderLines(Path(dtau.loaders.__file__).parent)


def work(reports: Connection, kinds: Sequence[Check], seed: int, numbers: range) -> None:
    """Run cases one after another, and send how each ended; in a process of its own."""
    faulthandler.enable()
    lines = loader_lines()
    reports.send(("ready", "", []))
    for number in numbers:
        reads_files = kinds[number % len(kinds)].__module__ == "fuzz_files"
        try:
            with lines.collected() if reads_files else contextlib.nullcontext():
                end = case(kinds, seed, number)
            reports.send(("ended", end, lines.take()))
        except Exception:
            reports.send(("failed", traceback.format_exc(), lines.take()))
            return


@dataclass
class Progress:
    """How far a campaign has come: cases before `next` have ended, as counted."""

    next: int = 0
    ends: Counter[str] = field(default_factory=Counter)
    lines: set[Line] = field(default_factory=set)
    seconds: float = 0.0

    @classmethod
    def load(cls, path: Path) -> Progress:
        if not path.exists():
            return cls()
        kept = json.loads(path.read_text(encoding="utf-8"))
        lines = {(name, line) for name, line in kept["lines"]}
        return cls(kept["next"], Counter(kept["ends"]), lines, kept["seconds"])

    def save(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        kept = {
            "next": self.next,
            "ends": dict(sorted(self.ends.items())),
            "seconds": round(self.seconds, 1),
            "lines": sorted(self.lines),
        }
        new = path.with_suffix(".new")
        new.write_text(json.dumps(kept, indent=1), encoding="utf-8")
        new.replace(path)


def run(
    kinds: Sequence[Check],
    seed: int,
    numbers: range,
    step: Callable[[], Any] = lambda: None,
    longest: float = LONGEST,
    progress: Progress | None = None,
) -> tuple[Counter[str], str]:
    """Run cases until one fails; how many ended how, and what the failure was, if any."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=work, args=(sender, kinds, seed, numbers), daemon=True)
    process.start()
    sender.close()
    ends: Counter[str] = Counter()
    progress = progress or Progress()
    failure, patience = "", STARTING
    try:
        while len(numbers) > ends.total() and not failure:
            if not receiver.poll(patience):
                failure = f"it takes longer than {patience:g} s"
                break
            patience = longest
            kind, text, lines = receiver.recv()
            progress.lines.update(lines)
            if kind == "ended":
                ends[text] += 1
                progress.ends[text] += 1
                progress.next += 1
                step()
            elif kind == "failed":
                failure = text
    except EOFError:  # the process is gone
        process.join()
        failure = f"the process ended with status {process.exitcode}"
    finally:
        process.kill()
        process.join()
    return ends, failure


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--cases", type=int, default=3000, metavar="N", help="how many cases (default: %(default)s)"
    )
    parser.add_argument(
        "--kinds",
        type=lambda text: tuple(text.split(",")),
        default=USUAL,
        metavar="A,B",
        help=f"which kinds take turns, of {', '.join(KINDS)} (default: those above)",
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=0,
        metavar="N",
        help="another gives other cases (default: 0)",
    )
    parser.add_argument(
        "--first",
        type=int,
        metavar="N",
        help="number of the first case; nothing is kept (default: where it stopped)",
    )
    parser.add_argument(
        "--state",
        type=Path,
        metavar="FILE",
        help="where it is kept how far it came (default: build/fuzz/seed-N.json)",
    )
    parser.add_argument("--anew", action="store_true", help="begin again, whatever was kept")
    parser.add_argument(
        "--longest",
        type=float,
        default=LONGEST,
        metavar="SECONDS",
        help="a case that takes longer has failed (default: %(default)g; sanitizers need more)",
    )
    args = parser.parse_args()
    if unknown := [kind for kind in args.kinds if kind not in KINDS]:
        parser.error(f"--kinds: expected some of {', '.join(KINDS)}, got {unknown[0]!r}")
    for name, least in (("cases", 1), ("seed", 0), ("first", 0)):
        value = getattr(args, name)
        if value is not None and value < least:
            parser.error(f"--{name}: expected at least {least}, got {value}")
    if args.first is not None and (args.state or args.anew):
        parser.error("--first: nothing is kept then, so --state and --anew mean nothing")
    return args


def main() -> int:
    args = arguments()
    chosen = () if args.kinds == USUAL else args.kinds
    name = "-".join(["seed", str(args.seed), *chosen]) + ".json"
    state = None if args.first is not None else args.state or STATES / name
    try:
        progress = Progress() if state is None or args.anew else Progress.load(state)
    except (OSError, ValueError, KeyError, TypeError) as error:
        print(f"{state} cannot be read ({error!r:.80}); --anew begins again", file=sys.stderr)
        return 2
    begin = args.first if args.first is not None else progress.next
    end = begin + args.cases if args.first is not None else args.cases
    if state is not None and begin:
        print(f"case {begin} of {end} is next, as {state} says")
        if begin >= end:
            print("so nothing is left to do: --cases N for more, --anew to begin again")
    progress.next = begin
    failure = campaign(args, progress, range(begin, max(begin, end)), state)
    report(progress)
    if not failure:
        print(f"all {args.cases} cases went well, in {progress.seconds:.1f} s")
        return 0
    if state is not None:
        print(f"the same command goes on with case {progress.next} ({state})")
    if failure == STOPPED:
        return 130
    print(
        f"\ncase {progress.next} of seed {args.seed} failed: {failure.rstrip()}\n"
        f"\nrepeat it: {repeating(args, progress.next)}",
        file=sys.stderr,
    )
    return 1


def repeating(args: argparse.Namespace, number: int) -> str:
    """The command that runs one case again."""
    kinds = "" if args.kinds == USUAL else f" --kinds {','.join(args.kinds)}"
    return f"python {sys.argv[0]}{kinds} --seed {args.seed} --first {number} --cases 1"


STOPPED = "stopped"


def campaign(
    args: argparse.Namespace, progress: Progress, numbers: range, state: Path | None
) -> str:
    """Run the cases that are left, and keep how far it came; what failed, if anything."""
    if not numbers:
        return ""
    from tqdm import tqdm

    before, start = progress.seconds, time.perf_counter()
    saved = start
    with tqdm(
        total=numbers.stop,
        initial=numbers.start,
        unit="case",
        delay=2.0,
        leave=False,
        disable=None,
        smoothing=0.02,
    ) as bar:

        def step() -> None:
            nonlocal saved
            bar.update()
            now = time.perf_counter()
            progress.seconds = before + now - start
            if state is not None and now - saved > SAVED_EVERY:
                progress.save(state)
                saved = now

        try:
            _, failure = run(checks(args.kinds), args.seed, numbers, step, args.longest, progress)
        except KeyboardInterrupt:
            failure = STOPPED
    progress.seconds = before + time.perf_counter() - start
    if state is not None:
        progress.save(state)
    return failure


def report(progress: Progress) -> None:
    """Print how cases ended, the rate, and the lines that were reached."""
    for end, count in sorted(progress.ends.items()):
        print(f"{count:8d}  {end}")
    total = progress.ends.total()
    if total:
        print(f"rate: {total / max(progress.seconds, 1e-3):.0f} cases a second")
    possible = loader_lines().all()
    reached = progress.lines & possible
    if reached:
        share = 100 * len(reached) / len(possible)
        print(f"lines of the loaders: {len(reached)} of {len(possible)} reached ({share:.1f} %)")
        missed: dict[str, list[str]] = {}
        for name, line in sorted(possible - reached):
            missed.setdefault(name, []).append(str(line))
        for name, numbers in missed.items():
            print(f"          not reached: {name}: {', '.join(numbers)}")


if __name__ == "__main__":
    sys.exit(main())
