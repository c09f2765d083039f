"""Every function of `FUNCTIONS` with arguments that are wrong, odd, or right in disguise.

A case takes a right call, replaces one or two of its parts, and decides without the package which
of them are wrong (`Verdict`). Then the call must be refused, with a message that names one of
these; or it must give the bits that plain copies of the same numbers give.

A new row of `FUNCTIONS` is fuzzed as it is. A new option deserves a row of `OPTIONS` here; without
it, only what no option can mean is tried.
"""

from __future__ import annotations

import inspect
import math
import operator
import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from cases import CONFIGURATIONS, FEW_ROBOTS, contacts, random_state, robot
from compare import assert_same_results
from function import FRAME_AXES, KINDS_OF_ACCELERATION, Function
from functions import FUNCTIONS
from fuzz_values import Subclass, choose, is_plain, meaning, mutated
from layouts import misaligned, read_only
from trees import Array, kind_of

import dtau
from dtau.registry import arrays_of

ROBOTS = (*("one revolute", *FEW_ROBOTS, "quadruped"), "joints that mimic others")
BATCHES = ((), (), (1,), (3,), (2, 3), (19,), (0,), (0, 3))
MOST_AXES = 32  # of a batch
MOST_ORDER, MOST_ORDER_UNASKED = 100, 20  # of time derivatives
MARK = 7.5  # what lies in memory that must not be written
HUGE = 2**43  # as an axis: no processor can address the results


@dataclass
class Call:
    """A call that is about to be made, and all memory that it must leave alone."""

    function: Function
    model: Any
    arrays: dict[str, Any]
    options: dict[str, Any]
    given: dict[str, Any] = field(default_factory=dict)  # out and threads
    blocks: list[tuple[Array, Array]] = field(default_factory=list)  # around results, as it was

    @property
    def made(self) -> Callable[..., Any]:
        """The package's function."""
        function: Callable[..., Any] = getattr(dtau, self.function.name)
        return function

    @property
    def takes(self) -> Mapping[str, inspect.Parameter]:
        return inspect.signature(self.made).parameters

    def __call__(self) -> tuple[Any, ...]:
        return as_tuple(self.made(self.model, **self.arrays, **self.options, **self.given))

    def on_copies(self, model: dtau.Model) -> tuple[Any, ...]:
        """The results for plain copies of the numbers."""
        plain = {name: meaning(x) for name, x in self.arrays.items() if x is not None}
        plain = {name: np.array(x, order="C") for name, x in plain.items()}
        return as_tuple(self.made(model, **plain, **self.options))

    def __str__(self) -> str:
        parts = {**self.arrays, **self.options, **self.given}
        shown = [f"{name}={describe(value)}" for name, value in parts.items()]
        return f"{self.function.name}({describe(self.model)}, {', '.join(shown)})"


def describe(value: Any, deepest: int = 3) -> str:
    if isinstance(value, np.ndarray):
        return f"<{type(value).__name__} {value.dtype} {value.shape} {value.strides}>"
    if isinstance(value, tuple | list) and deepest:
        shown = ", ".join(describe(x, deepest - 1) for x in value[:4])
        return f"{type(value).__name__}({shown}{', ...' * (len(value) > 4)})"
    return f"{value!r:.60}"


def as_tuple(results: Any) -> tuple[Any, ...]:
    return tuple(results) if isinstance(results, list) else arrays_of(results)


def check(rng: np.random.Generator) -> str:
    """Make one call; return "result" or "refused", or raise AssertionError."""
    function = choose(rng, FUNCTIONS)
    model = robot(choose(rng, ROBOTS))
    batch = choose(rng, BATCHES)
    state = random_state(model, int(rng.integers(2**32)), batch)
    arrays = {name: state[name] for name in function.arguments}
    call = Call(function, model, arrays, function.options_for(model))
    for _ in range(rng.integers(1, 3)):
        change(rng, call, batch)
    verdict = Verdict(call, model)
    inputs = [(x, x.copy()) for x in memory(call.arrays.values())]
    rooms = [(x, x.copy()) for x in memory([call.given.get("out")])]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.filterwarnings("ignore", ".* encountered in cast|.* masked element")
            results = call()
    except (TypeError, ValueError, MemoryError) as error:
        verdict.judge(error)
        untouched(inputs + rooms, call)
        return "refused"
    except Exception as error:
        raise AssertionError(f"{call}: {type(error).__name__}: {error}") from error
    assert not verdict.wrong, f"{call}: accepted, although wrong: {verdict.wrong}"
    untouched([] if verdict.shared else inputs, call)
    for x, y in zip(results, as_tuple(call.given.get("out")), strict=False):
        assert y is None or x is y, f"{call}: results elsewhere than in out"
    if verdict.huge:
        assert not any(x.size for x in results), f"{call}: more states than can be"
    else:
        assert_same_results(results, verdict.want, str(call))
    return "result"


# Changes


def change(rng: np.random.Generator, call: Call, batch: tuple[int, ...]) -> None:
    """Replace one part of a call."""
    part = rng.choice(["array", "out", "threads", "option", "model"], p=[0.6, 0.2, 0.1, 0.07, 0.03])
    if part == "array":
        name = choose(rng, list(call.arrays))
        if is_plain(call.arrays[name]):
            value = mutated(rng, call.arrays[name])
            is_mask = isinstance(value, np.ndarray) and value.dtype == np.bool_
            if name != "inputs" or not is_mask:  # inputs of another kind
                call.arrays[name] = value
    elif part == "out" and part in call.takes:
        call.given[part] = results_for(rng, call, batch)
    elif part == "threads" and part in call.takes:
        call.given[part] = choose(rng, INTEGERS)
    elif part == "option" and call.options:
        name = choose(rng, list(call.options))
        value = choose(rng, OPTIONS[name].values if name in OPTIONS else SENSELESS)
        call.options[name] = value(call.model) if inspect.isfunction(value) else value
    elif part == "model":
        call.model = choose(rng, MODELS)


class Index:
    """An integer of another class, or one that fails."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __index__(self) -> Any:
        return self.value


INTEGERS = (
    *(None, 1, 2, 3, np.int8(2), np.uint64(1), Index(2)),
    *(0, -1, 101, 1025, 2**31, 2**63, 2**70, -(2**70), True, False, np.True_, 1.5, 2.0, math.nan),
    *("2", b"2", "", [1], (), np.array([1, 2]), 1j, object(), Index("2"), Index(None)),
)


def one_frame(model: Any) -> Any:
    return model.frames[-1] if isinstance(model, dtau.Model) else "x"


def is_one_of(value: Any, names: Sequence[str]) -> bool:
    return isinstance(value, str) and value in names


def are_frames(value: Any, model: dtau.Model) -> bool:
    names = [value] if isinstance(value, str) else value
    return isinstance(names, Iterable) and all(is_one_of(x, model.frames) for x in names)


def are_joints(value: Any, model: dtau.Model) -> bool:
    """Whether names or a mask choose joints, each as a whole."""
    if isinstance(value, np.ndarray):
        right = value.dtype == np.bool_ and value.shape == (model.nv,)
        return right and all(len(set(value[joint.v].tolist())) < 2 for joint in model.joints)
    names = [joint.name for joint in model.joints]
    right = isinstance(value, Iterable) and not isinstance(value, str)
    return right and all(is_one_of(x, names) for x in value)


def first_joint(model: Any) -> Any:
    return model.joints[0].name if isinstance(model, dtau.Model) else "x"


def mask(*pattern: bool) -> Callable[[Any], Any]:
    """A boolean array that repeats this over the degrees of freedom."""
    return lambda model: np.resize(pattern, model.nv if isinstance(model, dtau.Model) else 3)


@dataclass(frozen=True)
class Option:
    """What to try as an option, right and wrong, and which values are right."""

    is_right: Callable[[Any, dtau.Model], bool]
    values: tuple[Any, ...]  # functions make one for a model


NUMBERS = (float, int, np.float32, np.int8)
SENSELESS = (object(), {}, [None], b"x", "\ud800", 1j)  # what no option can mean
AXES = Option(
    lambda value, model: is_one_of(value, FRAME_AXES),
    (
        *(*FRAME_AXES, np.str_("world")),
        *("local", "", "Body", None, 3, b"body", [], {}, np.zeros(3), "\ud800"),
    ),
)
OPTIONS = {
    "axes": AXES,
    "f_ext_axes": AXES,
    "kind": Option(
        lambda value, model: is_one_of(value, KINDS_OF_ACCELERATION),
        (
            *KINDS_OF_ACCELERATION,
            np.str_("classical"),
            "Spatial",
            "",
            None,
            3,
            b"spatial",
            "\ud800",
        ),
    ),
    "order": Option(
        lambda value, model: value is None or 0 <= integer(value) <= MOST_ORDER, INTEGERS
    ),
    "frame": Option(
        lambda value, model: is_one_of(value, model.frames),
        (
            one_frame,
            *(
                "",
                "no such frame",
                "\ud800",
                "\0",
                "x" * 100_000,
                None,
                3,
                b"x",
                ["x"],
                np.zeros(2),
            ),
        ),
    ),
    "frames": Option(
        are_frames,
        (
            one_frame,
            lambda model: [one_frame(model)] * 3,
            lambda model: (np.str_(one_frame(model)),),
            lambda model: {one_frame(model): 1},
            lambda model: np.array([one_frame(model)]),
            lambda model: [one_frame(model)] * 200,
            *([], (), [""], "", ["no such frame"], [None], None, 3, [3], b"x", [["x"]], object()),
        ),
    ),
    "regularization": Option(
        lambda value, model: type(value) in NUMBERS and 0.0 <= value < math.inf,
        (
            *(1.0, 2, np.float32(0.5), np.int8(1)),
            *(-1.0, math.nan, math.inf, 1j, "1", b"1", "", None, [], [1.0], {}, object()),
        ),
    ),
    "contacts": Option(
        lambda value, model: (
            isinstance(value, dtau.Contacts) and bool(vars(value)) and value.model == model
        ),
        (
            lambda model: contacts(model) if isinstance(model, dtau.Model) else None,
            lambda model: contacts(robot("long chain")),
            *(None, [], (), {}, "x", 3, object(), dtau.Contacts, object.__new__(dtau.Contacts)),
        ),
    ),
    "prescribed": Option(
        are_joints,
        (
            lambda model: [first_joint(model)] * 2,
            lambda model: {first_joint(model): 1},
            lambda model: np.array([first_joint(model)]),
            first_joint,
            *(mask(False), mask(True), mask(True, False), lambda model: mask(True)(model)[:-1]),
            lambda model: mask(True)(model).astype(int),
            *([], (), {}, [""], "", ["no such joint"], [True], None, 3, b"x", object()),
        ),
    ),
}
MODELS = (
    None,
    "quadruped",
    3,
    dtau.Model,
    object(),
    np.zeros(3),
    {},
    type("M", (), {"_tree": 1})(),
)


def results_for(rng: np.random.Generator, call: Call, batch: tuple[int, ...]) -> Any:
    """Room for results, most often right for the batch that was meant at first."""
    function, model = call.function, call.model
    if not isinstance(model, dtau.Model):
        return None
    arrays = [room(call, shape) for shape in function.shapes(model, batch)]
    at = int(rng.integers(len(arrays)))
    if rng.random() < 0.6 and arrays[at].ndim:
        arrays[at] = choose(rng, WRONG_ROOM)(rng, arrays[at], [*call.arrays.values(), *arrays])
    if len(arrays) == 1:
        return arrays[0] if rng.random() < 0.9 else tuple(arrays)
    return choose(rng, [tuple, tuple, tuple, list, lambda a: a[:-1], lambda a: a[0], iter])(arrays)


def room(call: Call, shape: tuple[int, ...], margin: int = 8) -> Array:
    """An array within a block whose other numbers must stay as they are."""
    size = math.prod(shape)
    block = np.full(size + 2 * margin, MARK)
    x = block[margin : margin + size].reshape(shape)
    x[...] = np.nan
    call.blocks.append((block, x))
    return x


def overlapping(rng: np.random.Generator, x: Array, others: list[Any]) -> Any:
    """Memory of another argument, in the right shape if it is large enough."""
    plain = [y for y in others if isinstance(y, np.ndarray) and y.dtype == np.float64]
    plain = [y.reshape(-1) for y in plain if y.flags.c_contiguous and y.size >= x.size]
    if not plain:
        return x
    other = choose(rng, plain)
    start = int(rng.integers(other.size - x.size + 1))
    return other[start : start + x.size].reshape(x.shape)


WRONG_ROOM: dict[str, Any] = {
    "float32": lambda rng, x, others: x.astype(np.float32),
    "complex": lambda rng, x, others: x.astype(complex),
    "integers": lambda rng, x, others: np.zeros(x.shape, dtype=np.int64),
    "objects": lambda rng, x, others: x.astype(object),
    "records": lambda rng, x, others: np.zeros(x.shape, dtype=[("x", "f8")]),
    "other bytes first": lambda rng, x, others: x.astype(">f8"),
    "Fortran order": lambda rng, x, others: np.asfortranarray(x),
    "strided": lambda rng, x, others: np.zeros((*x.shape[:-1], 2 * x.shape[-1]))[..., ::2],
    "backwards": lambda rng, x, others: x[..., ::-1],
    "misaligned": lambda rng, x, others: misaligned(x),
    "read-only": lambda rng, x, others: read_only(x),
    "repeated": lambda rng, x, others: np.broadcast_to(x[..., :1], x.shape),
    "one number more": lambda rng, x, others: np.zeros((*x.shape[:-1], x.shape[-1] + 1)),
    "one axis more": lambda rng, x, others: x[None],
    "one axis less": lambda rng, x, others: x.reshape(-1),
    "scalar": lambda rng, x, others: np.zeros(()),
    "overlapping": overlapping,
    "subclass": lambda rng, x, others: x.view(Subclass),
    "masked": lambda rng, x, others: np.ma.masked_array(x),
    "list": lambda rng, x, others: x.tolist(),
    "nothing of the kind": lambda rng, x, others: choose(rng, [None, 3, "out", b"", {}, object()]),
}


# What must happen


class Verdict:
    """What is wrong with a call, found out before it is made; else what it must give."""

    def __init__(self, call: Call, model: dtau.Model) -> None:
        self.call, self.model = call, model
        self.wrong: set[str] = set()  # of these at least one must be in the message
        self.huge = False  # a number of states that no processor can address
        # Whether out may be refused, but need not: an input that is copied lies there, for example.
        self.shared = False
        self.want: tuple[Array, ...] = ()
        if call.model is not model:
            self.wrong.add("model")
        self.look_at_arrays()
        for name, value in call.options.items():
            right = OPTIONS[name].is_right(value, model) if name in OPTIONS else None
            if right is False or (right is None and any(value is x for x in SENSELESS)):
                self.wrong.add(name)
        threads = call.given.get("threads")
        if threads is not None and not 1 <= integer(threads) <= 1024:
            self.wrong.add("threads")
        out = call.given.get("out")
        if self.wrong or self.huge:
            self.shared = out is not None  # no telling what would be right
            return
        self.want = call.on_copies(model)
        if out is not None and not self.fits(out):
            self.wrong.add("out")

    def look_at_arrays(self) -> None:
        """Shapes, types and quaternions."""
        function, batches, far = self.call.function, {}, set()
        right, takes = random_state(self.model, 0), self.call.takes
        surplus = {}  # of rows in stacks: these may be of any length that all others fit
        as_batches = {}  # what the batches of stacks of several rows would be, were they none
        order = integer(self.call.options.get("order"))  # or longer than this needs
        for name, value in self.call.arrays.items():
            if value is None and name in takes and takes[name].default is None:
                continue
            x, core = meaning(value), right[name].shape
            self.huge |= x is not None and max(x.shape, default=0) > HUGE
            if x is not None and name.endswith("_derivatives") and x.ndim >= len(core):
                rows = x.shape[-len(core)]
                beyond = function.rows_beyond_the_order(name)
                if order < 0:
                    surplus[name] = rows - core[0]
                    core = (min(max(rows, beyond, 1), MOST_ORDER_UNASKED + beyond), *core[1:])
                else:
                    core = (max(rows, order + beyond), *core[1:])
            frames = self.call.options.get("frames")
            if name == "targets" and are_frames(frames, self.model):
                core = (7,) if isinstance(frames, str) else (len(list(frames)), 7)
            if x is not None and x.ndim > 0 and name == "inputs":
                core = (*core[:1], x.shape[-1])  # any number of them
            if x is None or x.shape[max(x.ndim - len(core), 0) :] != core:
                self.wrong.add(name)
                continue
            batches[name] = x.shape[: x.ndim - len(core)]
            if name.endswith("_derivatives") and x.shape[-len(core)] != 1:
                as_batches[name] = x.shape[: x.ndim - len(core) + 1]
            if len(batches[name]) > MOST_AXES:
                self.wrong.add(name)
            elif name in CONFIGURATIONS or name == "targets":
                starts = [3] if name == "targets" else quaternions(self.model)
                if far_from_unit(x, starts):
                    far.add(name)
        if len(set(surplus.values())) > 1:
            self.wrong.update(surplus)
        others = [batch for name, batch in batches.items() if not name.endswith("_derivatives")]
        self.wrong.update(name for name, batch in as_batches.items() if batch in others)
        if not broadcast(batches.values()):
            self.wrong.update(batches)
        if function.name != "normalize":
            self.wrong |= far

    def fits(self, out: Any) -> bool:
        """Whether `out` can hold the results."""
        if len(self.want) == 1:
            out = (out,)
        if not isinstance(out, tuple | list) or len(out) != len(self.want):
            return False
        used = [getattr(x, "x", x) for x in self.call.arrays.values()]
        used = [x.obj if isinstance(x, memoryview) else x for x in used]
        used = [x for x in used if isinstance(x, np.ndarray)]
        for x, want in zip(out, self.want, strict=True):
            if not (
                isinstance(x, np.ndarray)
                and not isinstance(x, np.ma.MaskedArray)
                and (x.dtype, x.shape) == (np.dtype(np.float64), want.shape)
                and x.flags.carray
            ):
                return False
            for y in used:
                if np.may_share_memory(x, y):
                    self.shared = True
                    if type(y) is np.ndarray and y.dtype == np.float64 and y.flags.carray:
                        return False
            used.append(x)
        return True

    def judge(self, error: Exception) -> None:
        """An error is right, and says what is wrong."""
        call, wrong, text = self.call, set(self.wrong), str(error)
        if self.huge and re.search(
            "the results take|Unable to allocate|can be counted|too big", text
        ):
            return
        if self.shared:
            wrong.add("out")
        assert not isinstance(error, MemoryError), f"{call}: {error!r}"
        assert wrong, f"{call}: refused, although nothing is wrong: {error!r}"
        named = any(re.search(rf"\b{name.rstrip('s')}s?\b", text) for name in wrong)
        assert named, f"{call}: wrong is {wrong}, but this was said: {error!r}"
        assert len(text) < 1000, f"{call}: a message of {len(text)} characters"


def broadcast(shapes: Iterable[tuple[int, ...]]) -> bool:
    """Whether shapes of any size and number of axes broadcast to one."""
    result: list[int] = []
    for shape in shapes:
        result[:0] = [1] * (len(shape) - len(result))
        for axis in range(-len(shape), 0):
            if shape[axis] != 1 and result[axis] not in (1, shape[axis]):
                return False
            if shape[axis] != 1:
                result[axis] = shape[axis]
    return True


def quaternions(model: dtau.Model) -> list[int]:
    """Where quaternions begin in configurations."""
    starts = [(joint.q.start, kind_of(joint.type).quaternion) for joint in model.joints]
    return [start + of_joint for start, of_joint in starts if of_joint is not None]


def far_from_unit(q: Array, starts: list[int]) -> bool:
    """Whether any quaternion has finite numbers and another norm than 1."""
    once = [slice(1) if stride == 0 else slice(None) for stride in q.strides[:-1]]
    q = q[tuple(once)]
    for at in starts if q.size else ():
        for x in q[..., at : at + 4].reshape(-1, 4):
            if np.isfinite(x).all() and abs(math.hypot(*x) - 1.0) > 1e-6:
                return True
    return False


def integer(value: Any) -> int:
    """The value as an integer; -1 if it is none."""
    if isinstance(value, bool | np.bool_):
        return -1
    try:
        return operator.index(value)
    except TypeError:
        return -1


def memory(values: Iterable[Any]) -> list[Array]:
    """The arrays among these, and in tuples among them, that can be copied."""
    found = []
    for value in values:
        found += value if isinstance(value, tuple | list) else [value]
    return [np.asarray(x) for x in found if isinstance(x, np.ndarray) and x.size < 100_000]


def untouched(before: Iterable[tuple[Array, Array]], call: Call) -> None:
    """Arguments are as they were, and nothing was written around the results."""
    for x, copy in before:
        assert x.tobytes() == copy.tobytes(), f"{call}: wrote into an argument"
    for block, x in call.blocks:
        start = (block.size - x.size) // 2
        outside = np.concatenate([block[:start], block[start + x.size :]])
        assert (outside == MARK).all(), f"{call}: wrote around a result"
