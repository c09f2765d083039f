"""Check that a batch is its states: `check` computes a case in many ways and compares all bits."""

from __future__ import annotations

import contextlib
import threading
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from guarded import guarded
from law_cases import THREADS, Case, functions
from law_switches import Numbers, parameters_of

import dtau
from dtau.registry import FUNCTIONS

FEW = 12  # states that are computed alone, in a quick check
MARK = 7.5  # what lies in memory for results


class Failure(AssertionError):
    """How a case breaks the law, in one line."""


def differ(got: Numbers, want: Numbers) -> str:
    """Where two arrays have other bits, any NaN being equal to any other; empty if nowhere."""
    if got.shape != want.shape:
        return f"shape {got.shape}, expected {want.shape}"
    got, want = np.ascontiguousarray(got), np.ascontiguousarray(want)
    bad = (got.view(np.uint64) != want.view(np.uint64)) & ~(np.isnan(got) & np.isnan(want))
    if not bad.any():
        return ""
    at = tuple(int(i) for i in np.argwhere(bad)[0])
    return f"{int(bad.sum())} of {bad.size} differ, {list(at)}: {got[at]!r}, expected {want[at]!r}"


def require(got: Sequence[Numbers], want: Sequence[Numbers], what: str) -> None:
    for o, (x, y) in enumerate(zip(got, want, strict=True)):
        if why := differ(x, y):
            raise Failure(f"{what}: result {o}: {why}")


def check(case: Case, *, every: bool = False) -> str:
    """Return "computed" or "refused"; raise Failure. Runs in a new thread, which has no memory."""
    outcome: list[Any] = []

    def run() -> None:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                outcome.append(_Check(case, every).run())
        except BaseException as error:  # raised again below, in the thread that waits
            outcome.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if isinstance(outcome[0], BaseException):
        raise outcome[0]
    return str(outcome[0])


class _Check:
    def __init__(self, case: Case, every: bool) -> None:
        self.case, self.every = case, every
        self.rng = np.random.default_rng([case.seed, 7])

    def run(self) -> str:
        case = self.case
        self._before()
        states = self._chosen()
        if self.rng.random() < 0.3:  # the memory of lone calls is there before batches' memory
            self._alone(states[0])
        try:
            batch = case.call(case.whole(self.rng), threads=self._threads())
        except ValueError as error:
            return self._refused(states[0], str(error))
        flat = [x.reshape(case.count, *x.shape[len(case.batch) :]) for x in batch]
        for k in states:
            self._compare(k, [x[k] for x in flat])
        self._in_another_order(flat)
        self._into_guarded_memory(batch, flat)
        self._by_patterns(batch)
        return "computed"

    def _threads(self) -> Any:
        return THREADS[int(self.rng.integers(len(THREADS)))]

    def _before(self) -> None:
        """Leave another size of the thread's memory, by any other function, or NaN in it."""
        case, kind = self.case, self.rng.random()
        with contextlib.suppress(ValueError):  # refused states: their memory is left, too
            if kind < 0.4:
                names = functions()
                other = Case(names[int(self.rng.integers(len(names)))], case.seed + 1)
                other.call(other.some(0 if kind < 0.25 else slice(0, 9)), threads=1)
            elif kind < 0.7 and case.function != "lqr":  # whose weights must be positive definite
                case.call(case.keywords(lambda x: x.array * np.nan), threads=1)

    def _chosen(self) -> list[int]:
        """The states to compute alone: some that were hurt, those beside them, first and last."""
        case = self.case
        if self.every or case.count <= FEW:
            return list(range(case.count))
        hurt = list(case.hurt)[:3]
        chosen = {0, case.count - 1, *hurt, *(k + 1 for k in hurt), *(k - 1 for k in hurt)}
        more = self.rng.choice(case.count, FEW, replace=False)
        chosen |= {int(k) for k in more[: max(0, FEW - len(chosen))]}
        return [int(k) for k in self.rng.permutation(sorted(chosen & set(range(case.count))))]

    def _alone(self, k: int) -> list[Numbers] | str:
        """The results of a lone call, or its refusal."""
        try:
            return self.case.call(self.case.some(k))
        except ValueError as error:
            return str(error)

    def _refused(self, k: int, why: str) -> str:
        """A batch may be refused for what its arguments are, if any state alone is refused too."""
        if not isinstance(self._alone(k), str):
            raise Failure(f"the batch raises {why!r}; state {k} alone does not")
        return "refused"

    def _compare(self, k: int, got: list[Numbers]) -> None:
        case = self.case
        hurt = f" ({case.hurt[k]})" if k in case.hurt else ""
        what = f"state {k}{hurt} in the batch and"
        alone = self._alone(k)
        one = case.call(case.some(slice(k, k + 1)), threads=1)
        require(got, [x[0] for x in one], f"{what} in a batch of one")
        if not isinstance(alone, str):
            require(got, alone, f"{what} alone")
        elif _keeps_numbers(case):
            if not any(np.isnan(x).any() for x in got):
                raise Failure(f"{what} alone: refused there ({alone!r}), without NaN here")
        elif not all(np.isnan(x).all() for x in got):
            left = [int((~np.isnan(x)).sum()) for x in got]
            raise Failure(f"{what} alone: refused there, but {left} numbers of results are not NaN")

    def _in_another_order(self, flat: list[Numbers]) -> None:
        order = self.rng.permutation(self.case.count)
        got = self.case.call(self.case.some(order), threads=self._threads())
        require(got, [x[order] for x in flat], "in another order")

    def _into_guarded_memory(self, batch: list[Numbers], flat: list[Numbers]) -> None:
        """The whole batch, and the last state alone, unless it is refused."""
        takes = parameters_of(self.case.function)
        row = FUNCTIONS.get(self.case.function)
        adds = self.case.arguments.get("by") and row and row.by_results
        if "out" not in takes or adds:  # such a call needs `out` to be None
            return
        self._guarded(self.case.whole(self.rng), batch, "in out=")
        last = self.case.count - 1
        if not isinstance(self._alone(last), str):
            alone = self.case.some(last, self.rng)
            self._guarded(alone, [x[last] for x in flat], f"state {last} alone in out=")

    def _guarded(self, keywords: dict[str, Any], want: list[Numbers], what: str) -> None:
        at_end = bool(self.rng.random() < 0.7)
        out = [guarded(x.shape, MARK, at_end=at_end) for x in want]
        given = out[0] if len(out) == 1 else tuple(out)
        self.case.call(keywords, out=given, threads=self._threads())
        require(out, want, what)

    def _by_patterns(self, batch: list[Numbers]) -> None:
        """The values on a pattern are the dense result's, and all others are zero."""
        case = self.case
        if case.arguments.get("layout") != "pattern":
            return
        keywords = case.with_option(layout="dense").keywords(lambda x: x.array)
        dense = case.call(keywords, threads=1)
        taken = {
            name: case.arguments[name]
            for name in ("frames", "contacts", "integrator")
            if name in case.arguments and name in parameters_of("pattern")
        }
        if "inputs" in keywords:
            taken["inputs"] = case.some(0)["inputs"]
        names = case.names_of_results()
        for name, values, full in zip(names, batch, dense, strict=True):
            if values.shape == full.shape:
                require([values], [full], f"{name} by a pattern and dense")
                continue
            fitting = dtau.pattern(case.robot.model, case.function, name, **taken)
            want = full[(..., *fitting.coordinates)]
            require([values], [want], f"{name} by a pattern and dense")
            rest = full.copy()
            rest[(..., *fitting.coordinates)] = 0.0
            healthy = ~np.isnan(full.reshape(*case.batch, -1)).any(-1)
            if np.any(rest[healthy]):
                raise Failure(f"{name}: numbers beside the pattern")


def _keeps_numbers(case: Case) -> bool:
    """Whether some numbers depend on no acceleration, and stay (docs/promises.md, NaN)."""
    integrator = case.arguments.get("integrator", "euler")
    steps = case.function in ("step", "linearize_discrete") and integrator == "euler"
    return steps or case.function == "linearize"
