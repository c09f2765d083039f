"""Make mistakes in the sources, one at a time, and say which tests find them.

    python -m tests.mutants                       # all mutants: does any survive?
    python -m tests.mutants values/rnea jax       # files or folders, by the names of their mutants
    python -m tests.mutants --list                # names and slips, if all fit the sources
    python -m tests.mutants --seed 1              # other mutants of the same files

Operators make small slips: a wrong sign, a term less, a check that is dropped. Some are drawn from
each file of sources.py, the same for a seed; slips that no operator makes are there by their texts.
Tests that let a mutant live are too weak: write one, above all before you make the suite smaller.

The mutants are made in a copy of the repository, in build/mutants; nothing else changes. Mutants of
C++ become switches, so that the copy is compiled once, and an environment variable chooses one.
Each mutant meets the tests of its file, or --tests, until one fails. On two cores the copy compiles
in four minutes.

It needs what a build and the tests need, and no installed dtau. The exit status is 1 if a mutant
survives, and 2 if one no longer fits the sources.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from tqdm import tqdm

from .copies import Copy
from .mutant import ROOT, Mutant, MutantError, mutants
from .trial import IMPORT, Trial


def arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.mutants",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="mutants, or how their names begin (default: all)"
    )
    parser.add_argument(
        "--list", action="store_true", help="name the mutants if all fit the sources, and stop"
    )
    parser.add_argument("--seed", type=int, default=0, help="what to draw (default: 0)")
    parser.add_argument(
        "--tests", nargs="+", metavar="PATH", help="try these tests, not those that mutants name"
    )
    parser.add_argument(
        "--scratch", type=Path, default=ROOT / "build" / "mutants", metavar="DIR",
        help="where the copy is made (default: build/mutants)",
    )  # fmt: skip
    return parser.parse_args(argv)


def chosen(names: Sequence[str], everything: Sequence[Mutant]) -> list[Mutant]:
    """The mutants whose names are these, or begin with one and a slash."""
    found = {x: [m for m in everything if f"{m.name}/".startswith(f"{x}/")] for x in names}
    for name in names:
        if not found[name]:
            areas = ", ".join(dict.fromkeys(m.name.split("/")[0] for m in everything))
            raise MutantError(f"{name}: expected the name of a mutant (--list) or one of {areas}")
    return list(dict.fromkeys(m for ms in found.values() for m in ms)) if names else [*everything]


class Session:
    """Tries mutants as the command line says."""

    def __init__(self, args: argparse.Namespace, everything: Sequence[Mutant]) -> None:
        self._tests: Sequence[str] = args.tests or ()
        self.killers: dict[str, str] = {}  # a test by the mutant's name, or nothing
        copy = Copy(args.scratch.resolve() / "tree")
        print(f"Compiling {copy.folder}", file=sys.stderr, flush=True)
        compiled = copy.compile(everything)
        self.not_compiled = [x.name for x in everything if x not in compiled]
        copy.require()
        self._trial = Trial(copy)
        self._trial.failing(["tests/package/test_mutants.py"])  # without a mutant tests begin

    def try_each(self, tried: Sequence[Mutant]) -> None:
        """Find a test that kills each of them."""
        for mutant in tqdm(tried, unit="mutant", disable=None):
            start = time.monotonic()
            killer = self._trial.killer(mutant, self._tests or mutant.tests)
            said = f"killed by {killer}" if killer else f"SURVIVES: {mutant.slip}"
            tqdm.write(f"{time.monotonic() - start:5.0f} s  {mutant.name:34} {said}")
            self.killers[mutant.name] = killer

    def failing_without(self, tried: Sequence[Mutant]) -> list[Mutant]:
        """The mutants whose killers fail without them too; such tests count no longer."""
        failing = self._trial.failing(sorted({*self.killers.values()} - {"", IMPORT}))
        return [mutant for mutant in tried if self.killers[mutant.name] in failing]


def main(argv: Sequence[str] | None = None) -> int:
    """Try mutants."""
    args = arguments(argv)
    everything = mutants(args.seed)
    tried = chosen(args.names, everything)
    if args.list:
        for mutant in tried:
            print(f"{mutant.name:34} {mutant.slip}")
        return 0
    session = Session(args, everything)
    if session.not_compiled:
        print("These do not compile, and are left out:", ", ".join(session.not_compiled))
        tried = [mutant for mutant in tried if mutant.name not in session.not_compiled]
    session.try_each(tried)
    if doubtful := session.failing_without(tried):
        session.try_each(doubtful)
    survivors = [mutant.name for mutant in tried if not session.killers[mutant.name]]
    print(f"{len(tried) - len(survivors)} of {len(tried)} mutants killed")
    if survivors:
        print("These survive:", ", ".join(survivors))
    return bool(survivors)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except MutantError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
