"""Throws damaged files and odd arguments at the package, as many as you like.

Three kinds of case take turns:

    fuzz_files.py      robot files that are damaged
    fuzz_arguments.py  calls of all functions with arguments that are wrong or unusual
    fuzz_models.py     parts of models with wrong or extreme numbers; then every function is called

A case must end with a right result, or with the documented exception and a message that names what
is wrong. It fails by any other exception or result, by a crash, or by taking longer than some
seconds; then the program stops, says how to repeat that one case, and exits with status 1.

    python tests/fuzz/fuzz.py                             # 3000 cases, about a minute
    python tests/fuzz/fuzz.py --cases 100000 --seed 3     # others, for as long as you like
    python tests/fuzz/fuzz.py --seed 3 --first 4711 --cases 1  # one case again, say to debug it

A case is made from the seed and its number alone. Cases run in another process, so that a crash is
seen. test_fuzzing.py runs some cases in every test run, tests/sanitized.sh runs this program
under the address sanitizer.
"""

from __future__ import annotations

import argparse
import faulthandler
import multiprocessing
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

Check = Callable[[np.random.Generator], str]
LONGEST = 20.0  # seconds for one case; most take milliseconds
STARTING = 60.0  # seconds until the first case begins


def checks() -> tuple[Check, ...]:
    """The kinds of case: each makes one with random numbers, and says how it ended."""
    sys.path.append(str(Path(__file__).parents[1] / "support"))
    import fuzz_arguments
    import fuzz_files
    import fuzz_models

    return fuzz_files.check, fuzz_arguments.check, fuzz_models.check


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
    kinds: Sequence[Check],
    seed: int,
    numbers: range,
    step: Callable[[], Any] = lambda: None,
    longest: float = LONGEST,
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


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--cases", type=int, default=3000, metavar="N", help="how many cases (default: %(default)s)"
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=0,
        metavar="N",
        help="another gives other cases (default: 0)",
    )
    parser.add_argument(
        "--first", type=int, default=0, metavar="N", help="number of the first case (default: 0)"
    )
    parser.add_argument(
        "--longest",
        type=float,
        default=LONGEST,
        metavar="SECONDS",
        help="a case that takes longer has failed (default: %(default)g; sanitizers need more)",
    )
    args = parser.parse_args()
    for name, least in (("cases", 1), ("seed", 0), ("first", 0)):
        if getattr(args, name) < least:
            parser.error(f"--{name}: expected at least {least}, got {getattr(args, name)}")
    from tqdm import tqdm

    numbers = range(args.first, args.first + args.cases)
    start = time.perf_counter()
    with tqdm(total=len(numbers), unit="case", delay=2.0, leave=False, disable=None) as bar:
        ends, failure = run(checks(), args.seed, numbers, bar.update, args.longest)
    for end, count in sorted(ends.items()):
        print(f"{count:8d}  {end}")
    if not failure:
        print(f"all {len(numbers)} cases went well, in {time.perf_counter() - start:.1f} s")
        return 0
    number = args.first + ends.total()
    print(f"\ncase {number} of seed {args.seed} failed: {failure.rstrip()}\n", file=sys.stderr)
    print(
        f"repeat it: python {sys.argv[0]} --seed {args.seed} --first {number} --cases 1",
        file=sys.stderr,
    )
    return 1


if __name__ == "__main__":
    sys.exit(main())
