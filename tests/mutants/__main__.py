"""Make mistakes in the sources, one at a time, and say which tests find them.

    python -m tests.mutants                       # all mutants: does any survive?
    python -m tests.mutants mimic time/prescribed_rows   # an area, or a mutant by its name
    python -m tests.mutants --list                # names and slips, if all fit the sources

A mutant is a text of one file and another in its place: a wrong sign, a missing term, a check that
was dropped. The modules beside this one list them, core.py and package.py first. Tests that let a
mutant live are too weak there: write one, above all before you make the suite smaller.

The mutants are made in a copy of the repository, in build/mutants; nothing else changes. Mutants of
C++ become switches, so that the copy is compiled once, and an environment variable chooses one.
Each mutant meets the tests that it names, or --tests, until one fails. The first of them should be
one that finds it: then this takes seconds. On two cores the copy compiles in four minutes.

It needs what a build and the tests need, and no installed dtau. The exit status is 1 if a mutant
survives, and 2 if one no longer fits the sources: then its text must be written anew.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from tqdm import tqdm

from .compiled import COMPILED
from .copies import ROOT, Copy, MutantError, check
from .core import CORE
from .core_solving import SOLVING
from .libraries import LIBRARIES
from .models import MODELS
from .mutant import Mutant
from .package import PACKAGE
from .trial import Trial

MUTANTS = (*CORE, *SOLVING, *COMPILED, *LIBRARIES, *MODELS, *PACKAGE)


def arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.mutants",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="areas or mutants (default: all)")
    parser.add_argument(
        "--list", action="store_true", help="name the mutants if all fit the sources, and stop"
    )
    parser.add_argument(
        "--tests", nargs="+", metavar="PATH", help="try these tests, not those that mutants name"
    )
    parser.add_argument(
        "--scratch",
        type=Path,
        default=ROOT / "build" / "mutants",
        metavar="DIR",
        help="where the copy is made (default: build/mutants)",
    )
    return parser.parse_args(argv)


def chosen(names: Sequence[str]) -> list[Mutant]:
    """The mutants of these names and areas."""
    unknown = [x for x in names if all(x not in (m.name, m.area) for m in MUTANTS)]
    if unknown:
        areas = ", ".join(dict.fromkeys(m.area for m in MUTANTS))
        raise MutantError(f"{unknown[0]}: expected the name of a mutant (--list) or one of {areas}")
    return [m for m in MUTANTS if not names or m.name in names or m.area in names]


class Session:
    """Tries mutants as the command line says."""

    def __init__(self, args: argparse.Namespace) -> None:
        self._tests: Sequence[str] = args.tests or ()
        self.killers: dict[str, str] = {}  # a test by the mutant's name, or nothing
        copy = Copy(args.scratch.resolve() / "tree")
        print(f"Compiling {copy.folder}", file=sys.stderr, flush=True)
        copy.write(MUTANTS)
        copy.compile()
        copy.require()
        self._trial = Trial(copy)

    def try_each(self, mutants: Sequence[Mutant]) -> None:
        """Find a test that kills each of them."""
        for mutant in tqdm(mutants, unit="mutant", disable=None):
            start = time.monotonic()
            killer = self._trial.killer(mutant, self._tests or mutant.tests)
            said = f"killed by {killer}" if killer else f"SURVIVES: {mutant.slip}"
            tqdm.write(f"{time.monotonic() - start:5.0f} s  {mutant.name:34} {said}")
            self.killers[mutant.name] = killer

    def failing_without(self, mutants: Sequence[Mutant]) -> list[Mutant]:
        """The mutants whose killers fail without them too; such tests count no longer."""
        failing = self._trial.failing(sorted({*self.killers.values()} - {""}))
        return [mutant for mutant in mutants if self.killers[mutant.name] in failing]


def main(argv: Sequence[str] | None = None) -> int:
    """Try mutants."""
    args = arguments(argv)
    mutants = chosen(args.names)
    check(MUTANTS)
    if args.list:
        for mutant in mutants:
            print(f"{mutant.name:34} {mutant.slip}")
        return 0
    session = Session(args)
    session.try_each(mutants)
    if doubtful := session.failing_without(mutants):
        session.try_each(doubtful)
    survivors = [mutant.name for mutant in mutants if not session.killers[mutant.name]]
    print(f"{len(mutants) - len(survivors)} of {len(mutants)} mutants killed")
    if survivors:
        print("These survive:", ", ".join(survivors))
    return bool(survivors)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except MutantError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
