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
from dataclasses import asdict, dataclass
from importlib.metadata import version
from importlib.util import find_spec
from itertools import chain

from benchmarks.checks import UnavailableError
from benchmarks.experiment import Claim, Experiment, Findings, Table, Watch
from benchmarks.experiments import library_calls, library_contacts
from benchmarks.experiments.library_calls import NUMPY, OURS, OWN, Ways
from benchmarks.harness import Spread, number, one_core, timed
from benchmarks.limits import Limit, within
from benchmarks.robots import Robot, known
from dtau.cli.timing import Effort

ROBOTS, QUICK_ROBOTS = ("panda", "hyq"), ("hyq",)
LIMIT = Limit(600.0)  # of a library's process
EFFORT = {False: Effort(rounds=41, block=4e-3), True: Effort(rounds=7, block=2e-3)}  # by quick


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


@dataclass(frozen=True)
class Row:
    """Microseconds of a call through NumPy, through the library, and by its peer; 0: there is none.

    The spreads are those of the difference and the ratio to NumPy, round by round.
    """

    library: str
    robot: str
    function: str
    way: str
    numpy: float
    ours: float
    own: float
    more: Spread | None
    times: Spread | None

    def cells(self) -> list[str]:
        """As the table shows it."""
        cells = [self.robot, self.function, self.way]
        if self.more and self.times:
            quartiles = f"({self.more.lower:+.2f} to {self.more.upper:+.2f})"
            cells += [number(self.numpy), number(self.ours), f"{self.more.median:+.2f} {quartiles}"]
            cells.append(f"{self.times.median:.2f}x")
        else:
            cells += ["-", number(self.ours), "-", "-"]
        if not LIBRARIES[self.library].peer:
            return cells
        own = [number(self.own), f"{self.own / self.ours:.2f}x"] if self.own else ["-", "-"]
        return cells + own


def rows(name: str, key: str, effort: Effort) -> Iterator[Row | str]:
    """Time a library on a robot, or say what was left out: in a process of its own."""
    robot = known(key)
    with one_core():
        for found in chain.from_iterable(ways(robot) for ways in LIBRARIES[name].ways):
            if isinstance(found, str):
                yield found
                continue
            timings = timed(found.contenders, effort)
            micro = timings.medians()
            both = NUMPY in micro
            yield Row(
                name,
                robot.label,
                found.function,
                found.way,
                micro.get(NUMPY, 0.0),
                micro[OURS],
                micro.get(OWN, 0.0),
                timings.more(OURS, NUMPY) if both else None,
                timings.ratio(OURS, NUMPY) if both else None,
            )


def run(quick: bool, watch: Watch) -> Findings:
    """All libraries that are installed."""
    keys = QUICK_ROBOTS if quick else ROBOTS
    notes: list[str] = []
    found: list[Row] = []
    here = {name: x for name, x in LIBRARIES.items() if find_spec(x.package)}
    watch.expect(len(here) * len(keys))
    for name, library in LIBRARIES.items():
        if name not in here:
            notes.append(f"{name} is not installed: python -m pip install {library.package}")
            continue
        notes.append(f"{name} {version(library.package)} on the CPU, one core")
        for key in keys:
            items, end = within(LIMIT, rows, name, key, EFFORT[quick])
            notes += [item for item in items if isinstance(item, str)]
            found += [item for item in items if not isinstance(item, str)]
            if end:
                notes.append(f"{name}, {key}: the process was ended after {end}")
            watch.step(f"{name}, {key}")
    if not find_spec("adam"):
        notes.append("adam-robotics is not installed: python -m pip install adam-robotics")
    if not found:
        raise UnavailableError("; ".join(notes))
    header = ["robot", "function", "way", NUMPY]
    tables: list[Table] = []
    claims: list[Claim] = []
    for name, library in LIBRARIES.items():
        mine = [row for row in found if row.library == name]
        if mine:
            columns = [*header, name, "more (quartiles)", "times"]
            columns += [library.peer, "by dtau's"] if library.peer else []
            cells = [row.cells() for row in mine]
            tables.append(Table(f"{name}: microseconds a call", columns, cells, left=3))
            claims += claimed(name, library, mine)
    return Findings(tables, claims=claims, notes=notes, data={"rows": [asdict(x) for x in found]})


def claimed(name: str, library: Library, mine: Sequence[Row]) -> Iterator[Claim]:
    """What calls may take more than through NumPy, and how many times as long gradients."""
    for asked, unit, what in ((library.more, " µs", "more than"), (library.times, "x", "times")):
        for way, most in asked:
            values = {
                f"{row.robot} {row.function}": spread.median
                for row in mine
                if row.way == way and (spread := row.times if unit == "x" else row.more)
            }
            if not values:  # no robot stands on feet
                continue
            text = f"{name}, {way}: {what} a call through NumPy"
            words = ", ".join(f"{x} {value:.2f}" for x, value in values.items())
            yield Claim(text, f"at most {most:g}{unit}", words, max(values.values()) <= most)


EXPERIMENT = Experiment(
    "array_libraries",
    "Calls from JAX, PyTorch and CasADi",
    "dtau.jax, dtau.torch and dtau.casadi beside dtau; adam-robotics and CasADi itself",
    run,
)
