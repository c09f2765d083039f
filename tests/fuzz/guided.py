"""Looks for robot files that reach new lines of the loader: fuzzing that is guided by coverage.

atheris (libFuzzer for Python) changes files, keeps files that run a line or a branch of the package
that none before did, and goes on from these. A file must load, or be refused with a `ModelError`;
any other exception, a crash, or a file that takes longer than 10 seconds stops the program. It
writes that file to build/fuzz/crash-..., and `python tests/fuzz/guided.py FILE` runs it again.

    pip install atheris                             # once; it is needed for nothing else
    python tests/fuzz/guided.py                     # for a minute
    python tests/fuzz/guided.py --seconds 36000     # overnight
    python tests/fuzz/guided.py --runs 1000000      # so many files

What was found is kept in build/fuzz/corpus (--corpus names another folder), and the next call goes
on from it. The first byte of a file in there chooses the options of `dtau.load` and whether it gets
a text or a file; the rest is the XML. The lines that are printed meanwhile are libFuzzer's: `cov`
counts what was reached, `corp` the files that are kept, `exec/s` the rate. .ci/full runs
this program for ten minutes; fuzz.py needs no coverage and looks at more than files.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[2] / "build" / "fuzz"
LONGEST_FILE = 20_000  # bytes
SLOWEST = 10  # seconds for one file


def options(first: int) -> tuple[dict[str, Any], bool]:
    """What the first byte stands for: options, and whether the rest is given as a file."""
    chosen = {
        "root": ("fixed", "free")[first & 1],
        "mimic": ("independent", "exact")[first >> 1 & 1],
    }
    return chosen, bool(first & 4)


def checker() -> Callable[[bytes], str]:
    """The check of one file, as bytes that begin with the byte for the options."""
    sys.path.append(str(Path(__file__).parents[1] / "support"))
    import dtau

    shared = Path("/dev/shm")  # files there never reach a disk
    folder = tempfile.mkdtemp(dir=shared if os.access(shared, os.W_OK) else None)
    path = Path(folder) / "robot.urdf"

    def check(data: bytes) -> str:
        chosen, as_file = options(data[0] if data else 0)
        source: Any = data[1:].decode("utf-8", "surrogateescape")
        # A text that does not begin as XML would be taken for a path: anyone's file.
        if as_file or not source.lstrip("\ufeff \t\r\n").startswith("<"):
            path.write_bytes(data[1:])
            source = path
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", dtau.ModelWarning)
                model = dtau.load(source, **chosen)
        except dtau.ModelError:
            return "refused"
        repr(model), str(model)
        return "model"

    return check


def seeds() -> list[bytes]:
    """Files to begin with."""
    sys.path.append(str(Path(__file__).parents[1] / "support"))
    from fuzz_files import ARM, EVERYTHING

    return [bytes([first]) + text.encode() for text in (ARM, EVERYTHING) for first in range(8)]


def changed(data: bytes, most: int, seed: int) -> bytes:
    """A change that knows what a robot's file is made of, as fuzz_files.py makes them."""
    import numpy as np
    from fuzz_files import CHANGES
    from odd_values import choose

    rng = np.random.default_rng(seed)
    text = data[1:].decode("utf-8", "surrogateescape")
    text = choose(rng, CHANGES)(rng, text)
    first = data[:1] if rng.random() < 0.9 else rng.bytes(1)
    return ((first or b"\0") + text.encode("utf-8", "replace"))[:most]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, metavar="N", help="how many files to try")
    parser.add_argument(
        "--seconds", type=int, metavar="N", help="how long to try (default: 60, without --runs)"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="another tries others")
    parser.add_argument(
        "--corpus",
        type=Path,
        default=FOLDER / "corpus",
        metavar="FOLDER",
        help="where files are kept that reach something new (default: build/fuzz/corpus)",
    )
    parser.add_argument("file", type=Path, nargs="?", help="run this file alone")
    args = parser.parse_args()
    try:
        import atheris
    except ImportError:
        print("guided.py needs atheris: pip install atheris", file=sys.stderr)
        return 2
    with atheris.instrument_imports(include=["dtau"]):
        check = checker()
    if args.file is not None:
        print(check(args.file.read_bytes()))
        return 0

    for folder in (FOLDER, args.corpus):
        folder.mkdir(parents=True, exist_ok=True)
    for k, data in enumerate(seeds()):
        (args.corpus / f"seed-{k}").write_bytes(data)

    def mutate(data: bytes, most: int, seed: int) -> bytes:
        if random.Random(seed).random() < 0.5:
            return changed(data, most, seed)
        return bytes(atheris.Mutate(data, most))

    seconds = args.seconds if args.seconds is not None or args.runs is not None else 60
    flags = [f"-max_len={LONGEST_FILE}", f"-timeout={SLOWEST}", f"-seed={args.seed + 1}"]
    flags += [f"-artifact_prefix={FOLDER}/", "-rss_limit_mb=4096", "-print_final_stats=1"]
    flags += [f"-runs={args.runs}"] * (args.runs is not None)
    flags += [f"-max_total_time={seconds}"] * (seconds is not None)

    def run(data: bytes) -> None:
        check(data)

    atheris.Setup([sys.argv[0], *flags, str(args.corpus)], run, custom_mutator=mutate)
    atheris.Fuzz()
    return 0


if __name__ == "__main__":
    sys.exit(main())
