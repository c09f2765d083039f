"""Run the experiments: the papers' claims, and this package beside its peers.

    python -m benchmarks --quick              # all of them, roughly: under three minutes
    python -m benchmarks                      # all of them: about twenty minutes
    python -m benchmarks first_order axes     # some of them; --list names all
    python -m benchmarks papers --quick       # those of the four papers, in three minutes
    python -m benchmarks first_order --quick --urdf mine.urdf --root free   # with your own robot

Every result is compared with another way to it before it is timed. Each finished experiment is
written at once: NAME.json (all numbers, machine, versions), its plots as PNG files, and report.md.
Open the report: it begins with the claims, each with what is asked and what came out here.

Interrupted, the same command goes on from there: what is in the folder stays, if it was measured
with the same options, versions and code of the experiment. --again measures it anew, which you
want after changing what experiments share.

`papers` stands for all experiments that repeat figures and tables of the four papers. It prints a
line for each of their claims: whether it holds, what was asked and measured, and why it differs.

Leave the machine alone meanwhile: other work on it widens the quartiles. What is not installed is
left out. The exit status is 1 if a result was wrong or an experiment failed, which a compiler that
fails is too, and 2 if the command was; times never decide it.
"""

from __future__ import annotations

import argparse
import difflib
import hashlib
import sys
import traceback
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter

from benchmarks.checks import UnavailableError, WrongResultError

try:
    from benchmarks import documentation, plots, records, report, robots
    from benchmarks.experiment import Experiment, experiments
    from benchmarks.machine import environment
    from benchmarks.records import Record, Setting
    from benchmarks.report import VERDICTS
    from benchmarks.watch import Bar, say
    from dtau.support.machine import busy

    EXPERIMENTS = tuple(experiments())
except ImportError as missing:
    raise SystemExit(
        f"python -m benchmarks: {missing}\nIt needs dtau, and packages to compare with and to "
        'draw: python -m pip install ".[bench]"'
    ) from None

RESULTS = Path(__file__).with_name("results")
PAGE = Path(__file__).parents[1] / "docs/benchmarks.md"
PAPERS = "papers"  # on the command line: all experiments of the four papers


def arguments(argv: Sequence[str] | None, known: Sequence[Experiment]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these experiments")
    parser.add_argument("--list", action="store_true", help="name the experiments, and stop")
    parser.add_argument("--quick", action="store_true", help="the same checks, fewer measurements")
    parser.add_argument(
        "--again", action="store_true", help="measure anew what is in the folder already"
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help="where results go (default: benchmarks/results, or benchmarks/results/quick)",
    )
    parser.add_argument(
        "--urdf", type=Path, metavar="FILE", help="add this robot to what runs over robots"
    )
    parser.add_argument(
        "--root", choices=("fixed", "free"), help="how the robot of --urdf hangs (default: fixed)"
    )
    parser.add_argument(
        "--docs",
        action="store_true",
        help="write machine and claims into docs/benchmarks.md, below what is written by hand, and "
        "tables and figures into docs/benchmarks/; with NAMEs, those of these experiments alone",
    )
    args = parser.parse_args(argv)
    if args.root and not args.urdf:
        parser.error("--root: only with --urdf")
    if args.docs and args.quick:
        parser.error("--docs: only from a full run, without --quick")
    names = [experiment.name for experiment in known]
    for name in args.names:
        if name not in (*names, PAPERS):
            near = difflib.get_close_matches(name, (*names, PAPERS), n=3, cutoff=0.4)
            hint = f"; did you mean {' or '.join(near)}?" if near else "; --list names all"
            parser.error(f"there is no experiment {name!r}{hint}")
    args.papers = PAPERS in args.names
    if args.papers:
        args.names += [name for name in names if name.startswith("paper_")]
    if args.out is None:
        args.out = RESULTS / "quick" if args.quick else RESULTS
    return args


def main(argv: Sequence[str] | None = None, known: Sequence[Experiment] = EXPERIMENTS) -> int:
    """Run what the command line asks for; return the exit status."""
    args = arguments(argv, known)
    if args.list:
        width = max(len(experiment.name) for experiment in known)
        for experiment in known:
            print(f"{experiment.name:<{width}}  {experiment.title} ({experiment.source})")
        return 0
    try:
        setting = Setting(environment(), args.quick, _own_robot(args.urdf, args.root or "fixed"))
        args.out.mkdir(parents=True, exist_ok=True)
        head = documentation.head(PAGE) if args.docs else ""
    except (ValueError, OSError) as error:
        say(f"python -m benchmarks: {error}")
        return 2
    chosen = [x for x in known if x.name in args.names or not args.names]
    if args.again:
        for experiment in chosen:
            records.path(args.out, experiment).unlink(missing_ok=True)
    if not plots.available():
        say("no figures: matplotlib is not installed: python -m pip install matplotlib")

    failed = False
    try:
        for i, experiment in enumerate(chosen):
            place = f"[{i + 1}/{len(chosen)}] {experiment.name}"
            record = records.read(args.out, experiment, setting)
            kept = record is not None and record.findings is not None
            if record is None or not kept:
                record = _run(experiment, setting, place)
                records.write(args.out, experiment, record)
                _draw(record, args.out)
            failed = failed or bool(record.failed)
            say(f"{place}: {_outcome(record, kept)}")
            written = [r for x in known if (r := records.read(args.out, x, setting))]
            report.write(args.out / "report.md", setting, written)
    except KeyboardInterrupt:
        say(f"interrupted: what is done is in {args.out}; the same command goes on from there")
        return 130
    say(f"report: {args.out / 'report.md'}")
    if args.papers:
        for line in report.outcomes([r for r in written if r.experiment in args.names]):
            print(line)
    if args.docs:
        renewed = [r for r in written if r.experiment in args.names or not args.names]
        documentation.write(PAGE, head, setting, renewed, keep=bool(args.names))
        say(f"written: {PAGE}, and tables in {PAGE.with_suffix('')}")
    return int(failed)


def _own_robot(file: Path | None, root: robots.Root) -> str:
    """Add the robot of --urdf; what identifies it."""
    robots.OWN[:] = []
    if file is None:
        return ""
    try:
        robots.OWN.append(robots.from_urdf(file, root))
    except ValueError as error:
        raise ValueError(f"--urdf: {error}") from error
    digest = hashlib.sha256(file.read_bytes()).hexdigest()[:16]
    return f"{robots.OWN[0].label}, {root} root, {digest}"


def _run(experiment: Experiment, setting: Setting, place: str) -> Record:
    """Measure, and say what came of it, whatever it is."""
    findings, failed, unavailable = None, "", ""
    date = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    bar = Bar(place)
    start = perf_counter()
    try:
        findings = experiment.run(setting.quick, bar)
    except WrongResultError as error:
        failed = f"a wrong result: {error}"
    except UnavailableError as error:
        unavailable = str(error)
    except Exception as error:  # the others are measured still
        say(traceback.format_exc())
        failed = f"{type(error).__name__}: {error}"
    finally:
        bar.close()
    return Record(
        experiment=experiment.name,
        title=experiment.title,
        source=experiment.source,
        code=records.code(experiment),
        setting=setting,
        date=date,
        seconds=perf_counter() - start,
        busy=busy(),
        findings=findings,
        failed=failed,
        unavailable=unavailable,
    )


def _draw(record: Record, folder: Path) -> None:
    for plot in record.findings.plots if record.findings else ():
        if plots.available():
            plots.draw(plot, folder / f"{plot.name}.png")


def _outcome(record: Record, kept: bool) -> str:
    """One line on an experiment."""
    if record.failed:
        return f"FAILED: {record.failed}"
    if record.findings is None:
        return f"left out: {record.unavailable}"
    took = f"kept from {record.date}" if kept else f"{record.seconds:.0f} s"
    took += f" ({record.busy}: times are unreliable)" if record.busy else ""
    return f"{took}; {report.tally([VERDICTS[claim.holds] for claim in record.findings.claims])}"


if __name__ == "__main__":
    sys.exit(main())
