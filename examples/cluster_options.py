"""The command line that the examples for clusters share."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

import program


def parse(
    description: str | None, sizes: Mapping[str, tuple[int, str]], of: int, out: str
) -> argparse.Namespace:
    """Read the command line; `sizes`: numbers by name, with default and help, multiples of `of`."""
    parser = program.options(description, "draw what was found")
    add = parser.add_argument
    for name, (default, said) in sizes.items():
        program.number(parser, f"--{name}", default, said, of)
    add("--workers", type=int, metavar="N", help="processes here (default: one a core)")
    add("--address", metavar="ADDRESS", help="of a cluster that runs, instead of processes here")
    add("--out", default=out, metavar="FOLDER", help=f"what is kept, in Zarr (default: {out})")
    args = parser.parse_args()
    for name in sizes:
        if (value := getattr(args, name)) % of:
            parser.error(f"--{name}: expected a multiple of {of}, got {value}")
    if args.workers is not None and args.workers < 1:
        parser.error(f"--workers: expected at least 1, got {args.workers}")
    return args
