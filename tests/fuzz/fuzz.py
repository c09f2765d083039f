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

A case must end with a right result, or with the documented exception and a message that names what
is wrong. It fails by any other exception or result, by a crash, or by taking longer than some
seconds; then the program stops, says how to repeat that one case, and exits with status 1.

    python tests/fuzz/fuzz.py                             # 3000 cases, about a minute
    python tests/fuzz/fuzz.py --cases 1000000 --seed 3    # others, for as long as you like
    python tests/fuzz/fuzz.py --kinds contacts,generated  # these alone
    python tests/fuzz/fuzz.py --seed 3 --first 4711 --cases 1  # one case again, say to debug it

The program can be stopped at any time (Ctrl-C): it says which case is next, where --first goes on.
At the end it prints how many cases ended how, and the rate. guided.py looks for files that reach
new lines of the loader.

A case is made from the seed and its number alone. Cases run in another process, so that a crash is
seen. test_fuzzing.py runs some cases in every test run, tests/sanitized.sh runs this program
under the address sanitizer.
"""

from __future__ import annotations

import argparse
import faulthandler
import importlib
import multiprocessing
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np

Check = Callable[[np.random.Generator], str]
LONGEST = 20.0  # seconds for one case; most take milliseconds
STARTING = 60.0  # seconds until the first case begins
STOPPED = "stopped"


QUICK = ("files", "arguments", "models", "conventions", "pickles", "contacts")
USUAL = (*QUICK * 8, "growth")
KINDS = (*QUICK, "growth", "generated", "mjcf")


def checks(names: Sequence[str] = USUAL) -> tuple[Check, ...]:
    """The kinds of case, by turns: each makes one with random numbers, and says how it ended."""
    sys.path.append(str(Path(__file__).parents[1] / "support"))
    return tuple(importlib.import_module(f"fuzz_{name}").check for name in names)


def case(kinds: Sequence[Check], seed: int, number: int) -> str:
    """Run one case; how it ended."""
    kind = kinds[number % len(kinds)]
    return f"{kind.__module__.removeprefix('fuzz_')}: {kind(np.random.default_rng([seed, number]))}"


def work(reports: Connection, kinds: Sequence[Check], seed: int, numbers: range) -> None:
    """Run cases one after another, and send how each ended; in a process of its own."""
    faulthandler.enable()
    reports.send(("ready", ""))
    for number in numbers:
        try:
            reports.send(("ended", case(kinds, seed, number)))
        except Exception:
            reports.send(("failed", traceback.format_exc()))
            return


def run(
    kinds: Sequence[Check], seed: int, numbers: range, longest: float = LONGEST
) -> tuple[Counter[str], str]:
    """Run cases until one fails; how many ended how, and what the failure was, if any."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=work, args=(sender, kinds, seed, numbers), daemon=True)
    process.start()
    sender.close()
    ends: Counter[str] = Counter()
    failure, patience = "", STARTING
    try:
        while len(numbers) > ends.total() and not failure:
            if not receiver.poll(patience):
                failure = f"it takes longer than {patience:g} s"
                break
            patience = longest
            kind, text = receiver.recv()
            if kind == "ended":
                ends[text] += 1
            elif kind == "failed":
                failure = text
    except EOFError:  # the process is gone
        process.join()
        failure = f"the process ended with status {process.exitcode}"
    except KeyboardInterrupt:
        failure = STOPPED
    finally:
        process.kill()
        process.join()
    return ends, failure


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    said = "%s (default: %%(default)s)"
    parser.add_argument("--cases", type=int, default=3000, metavar="N", help=said % "how many")
    parser.add_argument(
        "--kinds",
        type=lambda text: tuple(text.split(",")),
        default=USUAL,
        metavar="A,B",
        help=f"which kinds take turns, of {', '.join(KINDS)} (default: those above)",
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help=said % "of other cases")
    parser.add_argument("--first", type=int, default=0, metavar="N", help=said % "the first case")
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
        if value < least:
            parser.error(f"--{name}: expected at least {least}, got {value}")
    return args


def main() -> int:
    args = arguments()
    start = time.perf_counter()
    numbers = range(args.first, args.first + args.cases)
    ends, failure = run(checks(args.kinds), args.seed, numbers, args.longest)
    seconds = time.perf_counter() - start
    for end, count in sorted(ends.items()):
        print(f"{count:8d}  {end}")
    print(f"rate: {ends.total() / max(seconds, 1e-3):.0f} cases a second")
    if not failure:
        print(f"all {args.cases} cases went well, in {seconds:.1f} s")
        return 0
    following = args.first + ends.total()
    if failure == STOPPED:
        print(f"case {following} is next: --first {following}")
        return 130
    print(
        f"\ncase {following} of seed {args.seed} failed: {failure.rstrip()}\n"
        f"\nrepeat it: {repeating(args, following)}",
        file=sys.stderr,
    )
    return 1


def repeating(args: argparse.Namespace, number: int) -> str:
    """The command that runs one case again."""
    kinds = "" if args.kinds == USUAL else f" --kinds {','.join(args.kinds)}"
    return f"python {sys.argv[0]}{kinds} --seed {args.seed} --first {number} --cases 1"


if __name__ == "__main__":
    sys.exit(main())
