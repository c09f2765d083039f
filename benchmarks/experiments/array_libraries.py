"""Calls from JAX, PyTorch and CasADi beside the same functions through NumPy.

    python -m benchmarks array_libraries

One state and batches of 256 (1024 for robots on feet), on one core, each library in a process of
its own: in one with JAX, whose threads stay, PyTorch's gradients take three times as long.

    JAX        alone       the compiled `dtau.jax` function, until its result is there
               in a scan   a turn of a loop whose next input waits for the last result
               gradient    of a weighted sum of forward dynamics, alone and in a batch
               on feet     a step with contacts, and its gradient
               beside      adam-robotics, which computes in JAX itself, jitted: Panda alone
    PyTorch    call        `dtau.torch` of tensors of which none wants a gradient; `recorded`: do
               gradient    `backward` of dynamics, by NumPy their vjp and the tangent map of q
               own         a product of two tensors and its gradient: what PyTorch itself takes
               on feet     the same as in JAX; NumPy's gradient takes vjp and tangent maps
    CasADi     buffer()    how CasADi's solvers call a `dtau.casadi` function
               of a step   its Jacobian and Hessian by `ca.jacobian` and `ca.hessian`; also on feet
               own         the same dynamics as expressions, which CasADi differentiates

Values of JAX and PyTorch are those through NumPy, to the last bit; gradients agree to 1e-12,
CasADi's results to 1e-9. Functions and arguments are those of the registry.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from itertools import chain
from typing import Any

from benchmarks import declare
from benchmarks.declare import Bench, Column, Layout, Row, efforts
from benchmarks.experiment import Claim, Table
from benchmarks.experiments import library_calls, library_contacts
from benchmarks.experiments.library_calls import NUMPY, OURS, OWN, Ways
from benchmarks.harness import one_core, timed
from benchmarks.limits import Limit, within
from benchmarks.robots import Robot, known
from dtau.cli.timing import Effort

LIMIT = Limit(600.0)  # of a library's process


@dataclass(frozen=True)
class Library:
    """An array library: its package, how it is called, and what its calls are asked to take."""

    package: str
    ways: Sequence[Callable[[Robot], Iterator[Ways | str]]]
    peer: str  # whose times stand beside, if any do
    # ways that begin so: microseconds more than NumPy, or times as long
    more: tuple[tuple[str, float], ...] = ()
    times: tuple[tuple[str, float], ...] = ()


LIBRARIES = {
    "JAX": Library(
        "jax",
        (library_calls.jax_ways, library_contacts.jax_ways),
        "adam-robotics",
        more=(("alone", 25.0), ("in a scan", 1.0)),
        times=(
            (f"gradient, {library_calls.GRADIENTS} states", 1.6),
            *((library_contacts.STEP, 1.5), (library_contacts.GRADIENT, 1.5)),
        ),
    ),
    "PyTorch": Library(
        "torch",
        (library_calls.torch_ways, library_contacts.torch_ways),
        "",
        more=(("call", 60.0),),
        times=(
            *(("gradient", 4.0), (f"gradient, {library_calls.BATCH} states", 4.0)),
            *((library_contacts.STEP, 1.5), (library_contacts.GRADIENT, 1.5)),
        ),
    ),
    "CasADi": Library(
        "casadi",
        (library_calls.casadi_ways, library_contacts.casadi_ways),
        "CasADi's own",
        more=(("through buffer()", 1.0),),
    ),
}


def rows_of(name: str, key: str, effort: Effort) -> Iterator[Row | str]:
    """Time a library on a robot, or say what was left out: in a process of its own.

    "more" and "times" are the difference from NumPy and the ratio to it, round by round.
    """
    robot = known(key)
    with one_core():
        for found in chain.from_iterable(ways(robot) for ways in LIBRARIES[name].ways):
            if isinstance(found, str):
                yield found
                continue
            timings = timed(found.contenders, effort)
            row: Row = {"of": name, "robot": robot.label, "function": found.function}
            row |= {"way": found.way} | timings.medians()
            if NUMPY in found.contenders:
                row |= {"more": timings.more(OURS, NUMPY), "times": timings.ratio(OURS, NUMPY)}
            if OWN in found.contenders:
                row["by ours"] = timings.ratio(OWN, OURS)
            yield row


def subjects(bench: Bench) -> list[tuple[str, str]]:
    """Libraries that are installed, and robots."""
    found = []
    for name, library in LIBRARIES.items():
        if find_spec(library.package):
            bench.note(f"{name} {version(library.package)} on the CPU, one core")
            found += [(name, key) for key in (("hyq",) if bench.quick else ("panda", "hyq"))]
        else:
            bench.note(f"{name} is not installed: python -m pip install {library.package}")
    if not find_spec("adam"):
        bench.note("adam-robotics is not installed: python -m pip install adam-robotics")
    return found


def measure(bench: Bench, name: str, key: str) -> Iterator[Row]:
    items, end = within(LIMIT, rows_of, name, key, bench.effort)
    for item in items:
        if isinstance(item, str):
            bench.note(item)
        else:
            yield item
    if end:
        bench.note(f"{name}, {key}: the process was ended after {end}")


def _more(row: Row) -> list[str]:
    x: Any = row.get("more")
    return [f"{x.median:+.2f} ({x.lower:+.2f} to {x.upper:+.2f})" if x else ""]


def tables(rows: list[Row]) -> Iterator[Table]:
    for found in declare.selected(rows, {}, "of"):
        name = found[0]["of"]
        peer = LIBRARIES[name].peer
        columns = ["robot", "function", "way", NUMPY, (name, OURS)]
        columns += [Column(["more (quartiles)"], _more), "times"]
        columns += [(peer, OWN), ("by dtau's", "by ours")] if peer else []
        yield from Layout(f"{name}: microseconds a call", columns, left=3).tables(found)


def claims(rows: list[Row]) -> Iterator[Claim]:
    """What calls may take more than through NumPy, and how many times as long gradients."""
    for found in declare.selected(rows, {}, "of"):
        name = found[0]["of"]
        library = LIBRARIES[name]
        for key, asked, unit, what in (
            ("more", library.more, " µs", "more than"),
            ("times", library.times, "x", "times"),
        ):
            for way, most in asked:
                values = {
                    f"{row['robot']} {row['function']}": row[key].median
                    for row in found
                    if row["way"] == way and key in row
                }
                if not values:  # no robot stands on feet
                    continue
                text = f"{name}, {way}: {what} a call through NumPy"
                words = ", ".join(f"{x} {value:.2f}" for x, value in values.items())
                yield Claim(text, f"at most {most:g}{unit}", words, max(values.values()) <= most)


EXPERIMENT = declare.experiment(
    "array_libraries",
    "Calls from JAX, PyTorch and CasADi",
    "dtau.jax, dtau.torch and dtau.casadi beside dtau; adam-robotics and CasADi itself",
    subjects,
    measure,
    effort=efforts((41, 7), (4e-3, 2e-3)),
    tables=[tables],
    claims=[claims],
)
