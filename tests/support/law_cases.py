"""Random batches of public functions, each from its name and a seed: `Case`."""

from __future__ import annotations

import inspect
import math
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from guarded import guarded_copy
from law_robots import ROBOTS, robot
from law_switches import (
    BY_THE_CASE,
    FIRST,
    NEEDS,
    Draw,
    Numbers,
    States,
    Together,
    named,
    parameters_of,
    switch_of,
)
from layouts import every_other, misaligned, read_only

import dtau
from dtau.registry import arrays_of

# Public functions that take no batch: each with what it works on.
WITHOUT_BATCHES = {
    "from_mujoco": "a model",
    "from_pinocchio": "a model",
    "load": "a file",
    "load_mechanism": "a file",
    "load_motors": "a file",
    "neutral": "a model",
    "configuration": "one configuration, by names",
    "random_state": "a generator of random numbers",
    "pattern": "a model",
    "set_result_cache_limit": "a number",
    "generate": "a model",
    "compile": "a model",
    "view": "a model",
}
# Results that are the same for all states, by their places.
OF_THE_MODEL = {"subtree_centers_of_mass": (0,)}
SIZES = ((1, 40), (60, 70), (120, 145), (250, 260), (510, 515))
WEIGHTS = (0.62, 0.12, 0.13, 0.07, 0.06)
MOST = 2_000_000  # numbers of a batch of results, about, by the degrees of freedom
THREADS = (None, 1, 1, 2, 3, 7)


def functions() -> list[str]:
    """The names of all public functions with batches."""
    of_models = [name for name in dtau.__all__ if _is_function(getattr(dtau, name))]
    return [
        *(name for name in of_models if name not in WITHOUT_BATCHES),
        *(f"poses.{name}" for name in dtau.poses.__all__),
        *(f"rotations.{name}" for name in dtau.rotations.__all__),
    ]


def _is_function(x: Any) -> bool:
    return callable(x) and not isinstance(x, type)


# Layouts in memory


def _reversed(x: Numbers) -> Numbers:
    turned: Numbers = np.ascontiguousarray(x[::-1])[::-1] if x.ndim else x
    return turned


LAYOUTS: dict[str, Any] = {
    "contiguous": lambda x: np.array(x, order="C"),
    "Fortran": lambda x: np.array(x, order="F"),
    "reversed": _reversed,
    "gaps": every_other,
    "misaligned": misaligned,
    "other bytes first": lambda x: x.astype(">f8"),
    "read-only": read_only,
    "before a guard": lambda x: guarded_copy(x, at_end=True),
    "after a guard": lambda x: guarded_copy(x, at_end=False),
}


def _laid_out(x: Numbers, rng: np.random.Generator) -> Numbers:
    names = list(LAYOUTS) if x.dtype == float else ["contiguous", "Fortran", "reversed"]
    made: Numbers = LAYOUTS[names[int(rng.integers(len(names)))]](x)
    return made


class Case:
    """A batch of states for one function, with the arguments of any of its states alone."""

    def __init__(self, function: str, seed: int) -> None:
        self.function, self.seed = function, seed
        self.rng = rng = np.random.default_rng([seed, zlib.crc32(function.encode())])
        self.robot = robot(int(rng.integers(ROBOTS)) + ROBOTS * (seed // 1000))
        self.batch = _batch(rng, _cost(function, self.robot.model.nv))
        self.count = math.prod(self.batch)
        self.arguments = self._draw()
        self.hurt = self._hurt() if rng.random() < 0.5 else {}

    def __str__(self) -> str:
        return f"{self.function}:{self.seed}"

    def describe(self) -> str:
        """What it is made of, in short."""
        given = {
            name: f"{x.array.dtype}{list(x.array.shape)}" if isinstance(x, States) else _short(x)
            for name, x in self.arguments.items()
        }
        listed = ", ".join(f"{name}={x}" for name, x in given.items())
        return f"{self.robot.name}, {self.count} states {list(self.batch)}, {listed}"

    def _draw(self) -> dict[str, Any]:
        parameters = dict(parameters_of(self.function))
        draw = Draw(self.function, self.rng, self.robot, self.batch)
        names = sorted(parameters, key=lambda name: FIRST.index(name) if name in FIRST else 99)
        for name in names:
            if name in BY_THE_CASE:
                continue
            switch = switch_of(self.function, parameters[name])
            assert switch is not None, f"{self.function}: no switch for {name}"
            optional = parameters[name].default is not inspect.Parameter.empty
            kept = name == "order" or not optional or draw.chance(_USED.get(name, 0.6))
            if (need := NEEDS.get(name)) in parameters and need not in draw.chosen:
                kept = False
            if kept:
                draw.chosen[name] = switch(draw)
        return draw.chosen

    def _parts(self) -> Iterator[tuple[str, int, States]]:
        """The arrays of states, by the argument and their places in it."""
        for name, x in self.arguments.items():
            if isinstance(x, States | Together):
                for k, part in enumerate(x.parts if isinstance(x, Together) else (x,)):
                    yield name, k, part

    # States that must not matter to others

    def _hurt(self) -> dict[int, str]:
        """Make some states not finite, huge or zero; returns what was done to which."""
        whole = [
            (name, part)
            for name, _, part in self._parts()
            if part.array.shape[: part.array.ndim - part.core] == self.batch
            and part.array.dtype == float
            and part.array.size
        ]
        hurt: dict[int, str] = {}
        if not whole:
            return hurt
        for k in self.rng.choice(self.count, max(1, self.count // 5), replace=False):
            name, part = whole[int(self.rng.integers(len(whole)))]
            state = part.array.reshape(self.count, -1)[int(k)]
            kinds = ["nan", "inf", "-inf"]
            if not part.unit and self.function != "lqr":
                kinds += ["huge", "zero", "huge and zero"]
            kind = kinds[int(self.rng.integers(len(kinds)))]
            at = int(self.rng.integers(part.free or state.size))
            if "zero" in kind:
                state[...] = 0.0
            if "huge" in kind:
                state[at] = self.rng.choice([1e160, -1e200, 1e300])
            elif kind != "zero":
                state[at] = float(kind)
            hurt[int(k)] = f"{kind} in {name}"
        return hurt

    # Arguments

    def keywords(self, take: Any) -> dict[str, Any]:
        """The arguments, with `take` of each array of states."""
        given = {}
        for name, x in self.arguments.items():
            if isinstance(x, States):
                given[name] = take(x)
            elif isinstance(x, Together):
                given[name] = x.make(*map(take, x.parts))
            else:
                given[name] = x
        return given

    def whole(self, rng: np.random.Generator) -> dict[str, Any]:
        """All states, in random layouts."""
        return self.keywords(lambda x: _laid_out(x.array, rng))

    def some(self, at: Any, rng: np.random.Generator | None = None) -> dict[str, Any]:
        """One state, or an array of states in one axis; in random layouts if `rng` is given."""

        def take(x: States) -> Numbers:
            core = x.array.shape[x.array.ndim - x.core :]
            every = np.broadcast_to(x.array, self.batch + core).reshape(self.count, *core)
            taken = np.array(every[at], order="C")
            return taken if rng is None else _laid_out(taken, rng)

        return self.keywords(take)

    def call(self, keywords: dict[str, Any], **more: Any) -> list[Numbers]:
        """The results, as real arrays."""
        results = arrays_of(self._returned(keywords, **more))
        left_out = OF_THE_MODEL.get(self.function, ())
        return [np.asarray(x, float) for o, x in enumerate(results) if o not in left_out]

    def names_of_results(self) -> list[str | None]:
        """The fields of the results; None for a function with one array."""
        returned = self._returned(self.some(slice(0, 1)))
        if not hasattr(returned, "_fields"):
            return [None]
        fields = [name for name in returned._fields if getattr(returned, name) is not None]
        return [*fields, *getattr(returned, "__dict__", ())]

    def _returned(self, keywords: dict[str, Any], **more: Any) -> Any:
        takes = parameters_of(self.function)
        model = {"model": self.robot.model} if "model" in takes else {}
        more = {name: x for name, x in more.items() if name in takes}
        with np.errstate(all="ignore"):
            return named(self.function)(**model, **keywords, **more)

    def with_option(self, **options: Any) -> Case:
        """The same states with other options."""
        other = object.__new__(Case)
        vars(other).update(vars(self), arguments={**self.arguments, **options})
        return other


_USED = {"contacts": 0.8, "active": 0.8, "forces": 0.9, "layout": 0.8}  # how often, if optional


def _short(x: Any) -> str:
    if isinstance(x, Together):
        return f"[{', '.join(str(list(part.array.shape)) for part in x.parts)}]"
    if isinstance(x, dtau.Contacts):
        return f"<{len(x)} contacts, {x.nrows} rows>"
    return repr(x).replace("\n", " ")[:60]


def _cost(function: str, nv: int) -> int:
    """About how many numbers a state has in the results and on the way to them."""
    if function.startswith(("poses", "rotations")):
        return 50
    if function in ("lqr", "project", "equilibrium"):
        return 4000
    if "second" in function or function == "frame_jacobians_derivatives":
        return 4 * nv**3 + 200
    if "hessian" in function or "stages" in function:
        return 40 * nv**2 + 20 * nv**3 // 10 + 2000
    return 20 * nv**2 + 500


def _batch(rng: np.random.Generator, cost: int) -> tuple[int, ...]:
    """One axis in most cases, or two."""
    fits = [k for k, (_, most) in enumerate(SIZES) if k == 0 or most * cost < MOST]
    weights = np.array([WEIGHTS[k] for k in fits])
    low, high = SIZES[int(rng.choice(fits, p=weights / weights.sum()))]
    count = int(rng.integers(low, high + 1))
    if rng.random() < 0.75:
        return (count,)
    inner = int(rng.choice([n for n in range(1, 6) if count % n == 0]))
    return (count // inner, inner) if rng.random() < 0.7 else (inner, count // inner)
