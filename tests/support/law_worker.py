"""Check cases of the law that a batch is its states, in a process that may crash.

``python tests/support/law_worker.py SET CASE ...``: each case ``FUNCTION:SEED`` or
``FUNCTION:FIRST-LAST``, all in the instruction set SET. ``--every`` computes every state alone.
Prints a line of JSON before each case and after it, for the process that reads them.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
from collections.abc import Iterator

from core import use_instruction_set
from law_cases import Case
from law_check import Failure, check


def seeds(text: str) -> Iterator[tuple[str, int]]:
    """The cases that a word of the command line names."""
    function, _, numbers = text.rpartition(":")
    first, _, last = numbers.partition("-")
    for seed in range(int(first), int(last or first) + 1):
        yield function, seed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("set")
    parser.add_argument("cases", nargs="+")
    parser.add_argument("--every", action="store_true")
    asked = parser.parse_args()
    faulthandler.enable()
    use_instruction_set(asked.set)
    for function, seed in (pair for text in asked.cases for pair in seeds(text)):
        print(json.dumps({"begins": f"{function}:{seed}"}), flush=True)
        failure, case = "", Case(function, seed)
        try:
            outcome = check(case, every=asked.every)
        except Failure as error:
            outcome, failure = "failed", f"{error} [{case.describe()}]"
        except Exception as error:
            outcome, failure = "failed", f"{type(error).__name__}: {error} [{case.describe()}]"
        line = {"ended": str(case), "outcome": outcome, "failure": failure}
        print(json.dumps({**line, "given": list(case.arguments)}), flush=True)


if __name__ == "__main__":
    main()
