"""Times of baselines over the number of bodies: `study` takes them, the rest reads them off.

They are the processor's: other work on the machine takes turns, which are not counted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from time import thread_time
from typing import get_args

import numpy as np

import dtau
from benchmarks.baselines.library import INVERSE, INVERTED, Library, Way, compiled, of_scalars
from benchmarks.checks import Array, require_close
from benchmarks.experiment import Claim, Curve, Table, Watch
from benchmarks.harness import Spread, curve, exponent, number, one_core
from dtau.cli.timing import Contender, Effort, interleaved, random_inputs

# Not powers of two: rows of matrices would fall on the same lines of the caches.
SIZES = {False: (4, 8, 15, 30, 60, 125, 250, 500), True: (8, 30)}  # bodies, by quick
BRANCHINGS = {False: (1, 2, 5), True: (1, 2)}
COMPILERS = {False: ("g++", "clang++"), True: ("g++",)}
WORDS = {"alone": "one state after the other", "lanes": "in lanes"}
AXES = ("bodies", "us a state")
LABELS = {
    "idsva": "IDSVA, ground coordinates",
    "idsva_body": "IDSVA, body coordinates",
    "rneacr": "RNEACR",
    "fdsva_ltdl": "FDSVA, LTDL",
    "fdsva_aza": "FDSVA, AZA",
    "fdsva_dmm": "FDSVA, DMM",
    "fdcr_aza": "FDCR, AZA",
    "fdcr_dmm": "FDCR, DMM",
    "abacr": "ABACR",
    "inverse_ltdl": "M^-1, LTDL",
    "inverse_aza": "M^-1, AZA",
}
WAYS: tuple[Way, ...] = get_args(Way)
MOST_COUNTED = 250  # bodies: counting takes some nanoseconds an operation
MOST_IN_LANES = 250  # bodies: beyond, the matrices of a group of states leave the caches
EPS = float(np.finfo(float).eps)


@dataclass(frozen=True)
class Key:
    """What a time depends on, beside the function and the number of bodies."""

    compiler: str
    branching: int
    way: Way

    def __str__(self) -> str:
        where = "one by one" if self.way == "alone" else "in lanes"
        return f"{self.compiler}, branching {self.branching}, {where}"


# Multiplications, additions and divisions of one state, by branching, bodies and function.
Operations = dict[int, dict[int, dict[str, int]]]
# Seconds a state, one number a round, by key, number of bodies and function.
Times = dict[Key, dict[int, dict[str, Array]]]


@dataclass(frozen=True)
class Study:
    """What was measured of some functions."""

    times: Times
    counts: Operations
    notes: list[str]

    def keys(self, way: Way) -> list[Key]:
        """Return the keys of one way."""
        return [key for key in self.times if key.way == way]


def study(functions: Sequence[str], quick: bool, effort: Effort, watch: Watch) -> Study:
    """Compile, check, count and time functions on chains and trees, by every compiler."""
    sizes, branchings = SIZES[quick], BRANCHINGS[quick]
    watch.expect(len(sizes) * len(branchings) + 1, "compiling the baselines")
    libraries, notes = compiled(COMPILERS[quick])
    counting = of_scalars("Counted")
    watch.step("baselines")
    times = measure(libraries, functions, sizes, branchings, effort, watch.step)
    versions = [f"{library.compiler}: {library.version}." for library in libraries]
    counts = operations(counting, functions, sizes, branchings)
    return Study(times, counts, [*notes, *versions])


def states(model: dtau.Model, count: int) -> dict[str, Array]:
    """Random states; `tau` is the torque that gives `a`."""
    return random_inputs(model, ("inverse_dynamics", "forward_dynamics"), count)


def measure(
    libraries: Sequence[Library],
    functions: Sequence[str],
    sizes: Sequence[int],
    branchings: Iterable[int],
    effort: Effort,
    step: Callable[[str], None],
    ways: Sequence[Way] = WAYS,
) -> Times:
    """Check every function at these chains of revolute joints, then time it."""
    times: Times = {}
    with one_core():
        for branching in branchings:
            for bodies in sizes:
                model = dtau.robots.chain(bodies, branching=branching)
                for way in ways:
                    if way == "lanes" and bodies > MOST_IN_LANES:
                        continue
                    found = _measure_one(libraries, functions, model, way, effort)
                    for compiler, seconds in found.items():
                        key = Key(compiler, branching, way)
                        times.setdefault(key, {})[bodies] = seconds
                step(f"{bodies} bodies, branching {branching}")
    return times


def _measure_one(
    libraries: Sequence[Library],
    functions: Sequence[str],
    model: dtau.Model,
    way: Way,
    effort: Effort,
) -> dict[str, dict[str, Array]]:
    """Seconds of the functions by compiler, all contenders in turns."""
    count = 16 if model.nbodies < 100 else 8 if way == "lanes" else 1
    given = states(model, count)
    contenders = {}
    for library in libraries:
        tree = library.tree(model)
        for function in functions:
            third = given["a" if function in INVERSE else "tau"]
            arrays = (given["q"], given["v"], third)
            label = f"{function} by {library.compiler}, {model.nbodies} bodies, {way}"
            check(function, model, given, tree(function, *arrays, way=way), label)
            run = tree.loop(function, arrays, way)
            contenders[f"{library.compiler} {function}"] = Contender(run, count)
    seconds = interleaved(contenders, effort, thread_time)
    return {
        library.compiler: {f: seconds[f"{library.compiler} {f}"] for f in functions}
        for library in libraries
    }


def check(
    function: str, model: dtau.Model, given: dict[str, Array], got: Sequence[Array], what: str
) -> None:
    """Compare with the package's own function: what solves, as well as the mass matrix allows."""
    q, v = given["q"], given["v"]
    if function in INVERSE:
        want: Sequence[Array] = dtau.inverse_dynamics_derivatives(model, q, v, given["a"])[:2]
        tolerance = 1e-12
    else:
        if function in INVERTED:
            want = (dtau.mass_matrix_inverse(model, q),)
        else:
            want = dtau.forward_dynamics_derivatives(model, q, v, given["tau"])
        condition = float(np.linalg.cond(dtau.mass_matrix(model, q[:1])).max())
        tolerance = max(1e-11, 100.0 * EPS * condition)
    for mine, theirs in zip(got, want, strict=True):
        require_close(mine, theirs, tolerance, what)


def line(times: Times, key: Key, function: str, label: str, dashed: bool = False) -> Curve:
    """Microseconds a state over the bodies."""
    spreads = {n: Spread.of(1e6 * found[function]) for n, found in times[key].items()}
    return curve(label, list(spreads), list(spreads.values()), dashed)


def ratios(times: Times, key: Key, slow: str, fast: str) -> dict[int, Spread]:
    """How many times as long one function takes as another, within rounds, by bodies."""
    return {n: Spread.of(found[slow] / found[fast]) for n, found in times[key].items()}


def told(found: dict[int, Spread]) -> str:
    """Ratios in words, with quartiles."""
    return ", ".join(
        f"{s.median:.2f}x ({s.lower:.2f}-{s.upper:.2f}) at {n}" for n, s in found.items()
    )


def faster(times: Times, key: Key, fast: str, slow: str, text: str) -> Claim:
    """Claim that one function is faster than another for any number of bodies."""
    found = ratios(times, key, slow, fast)
    return Claim(text, "more than 1x", told(found), all(s.median > 1.0 for s in found.values()))


def slope(times: Times, key: Key, function: str, least: int) -> float:
    """The exponent of the number of bodies, fitted to those of at least `least`."""
    found = {n: float(np.median(x[function])) for n, x in times[key].items() if n >= least}
    return exponent(found, found.values()) if len(found) > 1 else math.nan


def powers(
    found: Study, branching: int, labels: dict[str, str]
) -> tuple[dict[str, float] | None, str]:
    """Exponents of the bodies by the function: operations' of the last sizes, and in words.

    None where these sizes are too small to tell.
    """
    (few, less), (many, more) = list(found.counts[branching].items())[-2:]
    exact = {f: math.log(more[f] / less[f]) / math.log(many / few) for f in labels}
    key = next(key for key in found.times if key.branching == branching)
    timed = {f: slope(found.times, key, f, few) for f in labels}
    said, timed_said = (
        ", ".join(f"{labels[f]} {x:.2f}" for f, x in by.items()) for by in (exact, timed)
    )
    words = f"operations, from {few} to {many}: {said}; times, {few} and more ({key}): {timed_said}"
    return exact if many > 100 else None, words


def crossover(times: Times, key: Key, small: str, large: str) -> float:
    """The number of bodies from which `large` is the faster one, between the sizes measured.

    0: it always is; infinite: it never is. By the logarithms of the last two sizes that differ.
    """
    ratio = [(n, float(np.log(s.median))) for n, s in ratios(times, key, large, small).items()]
    if ratio[-1][1] > 0.0:
        return math.inf
    slower = [i for i, (_, log) in enumerate(ratio) if log > 0.0]
    if not slower:
        return 0.0
    (n, log), (next_n, next_log) = ratio[slower[-1]], ratio[slower[-1] + 1]
    return float(n * (next_n / n) ** (log / (log - next_log)))


def said(bodies: float, sizes: Sequence[int]) -> str:
    """A crossover in words."""
    if bodies == 0.0:
        return f"below {min(sizes)}"
    return f"above {max(sizes)}" if math.isinf(bodies) else f"{bodies:.0f}"


def table(what: str, times: Times, labels: dict[str, str], way: Way) -> Table:
    """Microseconds of each function, by compiler, branching and bodies."""
    cells = [
        [key.compiler, str(key.branching), str(n)]
        + [number(1e6 * float(np.median(found[f]))) for f in labels]
        for key, by_size in times.items()
        if key.way == way
        for n, found in by_size.items()
    ]
    header = ["compiler", "branching", "bodies", *labels.values()]
    return Table(f"Partials of {what} dynamics, us a state, {WORDS[way]}", header, cells)


def operations(
    library: Library, functions: Sequence[str], sizes: Sequence[int], branchings: Iterable[int]
) -> Operations:
    """Counts of the three largest chains of these that are not too large."""
    found: Operations = {}
    for branching in branchings:
        for bodies in [n for n in sizes if n <= MOST_COUNTED][-3:]:
            model = dtau.robots.chain(bodies, branching=branching)
            tree, given = library.tree(model), states(model, 1)
            found.setdefault(branching, {})[bodies] = {
                f: sum(
                    tree.counts(f, given["q"], given["v"], given["a" if f in INVERSE else "tau"])
                )
                for f in functions
            }
    return found


def operations_table(found: Operations, labels: dict[str, str]) -> Table:
    """Thousands of them, and the exponent of the bodies between the last two sizes."""
    cells = []
    for branching, by_size in found.items():
        for bodies, counts in by_size.items():
            cells.append([str(branching), str(bodies), *(number(1e-3 * counts[f]) for f in labels)])
        *_, (few, less), (many, more) = by_size.items()
        exponents = (math.log(more[f] / less[f]) / math.log(many / few) for f in labels)
        cells.append([str(branching), "exponent", *(f"{x:.2f}" for x in exponents)])
    header = ["branching", "bodies", *labels.values()]
    return Table("Thousands of operations a state", header, cells)


def medians(times: Times) -> dict[str, dict[str, dict[str, float]]]:
    """Seconds a state, for those who compute with them."""
    return {
        str(key): {
            str(n): {f: float(np.median(x)) for f, x in found.items()} for n, found in sizes.items()
        }
        for key, sizes in times.items()
    }
