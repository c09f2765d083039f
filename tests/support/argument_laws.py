"""The law of arguments: a call with odd parts is refused for what is wrong, or right (`outcome`).

Of a right call some parts are replaced, and it is decided without the package which of them are
wrong (`Verdict`). Then the call must be refused, with a message that names one of these, what was
expected and what came; or it must give the bits that plain copies of the same numbers give.

A new option deserves a row of `OPTIONS`; without it, only what no option can mean is tried.
"""

from __future__ import annotations

import inspect
import math
import operator
import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, get_args

import numpy as np
from cases import CONFIGURATIONS, contacts, random_state, robot
from compare import assert_same_results
from function import FRAME_AXES, INTEGRATORS, KINDS_OF_ACCELERATION, Function
from layouts import misaligned, read_only
from odd_arrays import Subclass, meaning
from odd_values import choose
from trees import Array, kind_of

import dtau
from dtau.registry import arrays_of
from dtau.support.options import Layout

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

    @classmethod
    def right(
        cls, function: Function, model: dtau.Model, seed: int, batch: tuple[int, ...]
    ) -> Call:
        state = random_state(model, seed, batch)
        arrays = {name: state[name] for name in function.arguments}
        return cls(function, model, arrays, function.options_for(model))

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


def outcome(call: Call, model: dtau.Model) -> str:
    """Make a call that was right for this model; return "result" or "refused", or raise."""
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


class Index:
    """An integer of another class, or one that fails."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __index__(self) -> Any:
        if isinstance(self.value, Exception):
            raise self.value
        return self.value


INTEGERS = (
    *(None, 1, 2, 3, np.int8(2), np.uint64(1), Index(2)),
    *(0, -1, np.int8(-1), 101, 1025, 2**31, 2**63, 2**70, -(2**70)),
    *(True, False, np.True_, 1.5, 2.0, math.nan),
    *("2", b"2", "", [1], (), np.array([1, 2]), 1j, object()),
    *(Index("2"), Index(None), Index(OverflowError())),
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
    expected: str = ""  # as the message says
    got: Callable[[Any], str] = repr


NUMBERS = (float, int, np.float32, np.int8)
SENSELESS = (object(), {}, [None], b"x", "\ud800", 1j)  # what no option can mean
AXES = Option(
    lambda value, model: is_one_of(value, FRAME_AXES),
    (
        *(*FRAME_AXES, np.str_("world")),
        *("local", "", "Body", None, 3, b"body", [], {}, np.zeros(3), "\ud800"),
    ),
    "'body', 'world' or 'mixed'",
)
FLAG = Option(
    lambda value, model: isinstance(value, bool),
    (True, False, 0, 1, None, "yes", [True]),
    "bool",
    lambda value: type(value).__name__,
)
OPTIONS = {
    "axes": AXES,
    "f_ext_axes": AXES,
    **dict.fromkeys(("symmetric", "joint_parameters", "forces"), FLAG),
    "layout": Option(
        lambda value, model: is_one_of(value, get_args(Layout)),
        ("dense", "pattern", np.str_("dense"), "csr", "", None, True, 3, b"dense", "\ud800"),
        "'dense' or 'pattern'",
    ),
    "kind": Option(
        lambda value, model: is_one_of(value, KINDS_OF_ACCELERATION),
        (
            *(*KINDS_OF_ACCELERATION, np.str_("classical")),
            *("Spatial", "", None, 3, b"spatial", "\ud800"),
        ),
        "'spatial' or 'classical'",
    ),
    "integrator": Option(
        lambda value, model: is_one_of(value, INTEGRATORS),
        (*INTEGRATORS, np.str_("rk4"), "Euler", "", None, 3, b"rk4", "\ud800"),
        f"{', '.join(map(repr, INTEGRATORS[:-1]))} or {INTEGRATORS[-1]!r}",
    ),
    "order": Option(
        lambda value, model: value is None or 0 <= integer(value) <= MOST_ORDER,
        INTEGERS,
        "an int from 0 to 100 or None",
    ),
    "frame": Option(
        lambda value, model: is_one_of(value, model.frames),
        (
            one_frame,
            *("", "no such frame", "\ud800", "\0", "x" * 100_000),
            *(None, 3, b"x", ["x"], np.zeros(2)),
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
    *(None, "quadruped", 3, dtau.Model, object(), np.zeros(3), {}),
    type("M", (), {"_tree": 1})(),
)


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


SHAPES: dict[str, Callable[[tuple[int, ...]], tuple[int, ...]]] = {
    "one state less": lambda s: (max(s[0] - 1, 0), *s[1:]),
    "one state more": lambda s: (s[0] + 1, *s[1:]),
    "one number more": lambda s: (*s[:-1], s[-1] + 1),
    "one number": lambda s: (*s[:-1], 1),
    "the batch's first state": lambda s: s[1:],
    "results would broadcast to it": lambda s: (4, *s),
    "an axis of 1 more": lambda s: (1, *s),
    "an axis of 1 behind": lambda s: (*s, 1),
    "it would broadcast to results": lambda s: (1, *s[1:]),
    "flat": lambda s: (math.prod(s),),
    "scalar": lambda s: (),
    "empty": lambda s: (0, *s[1:]),
}
WRONG_ROOM: dict[str, Any] = {
    "float32": lambda rng, x, others: x.astype(np.float32),
    "float16": lambda rng, x, others: x.astype(np.float16),
    "complex": lambda rng, x, others: x.astype(complex),
    "integers": lambda rng, x, others: np.zeros(x.shape, dtype=np.int64),
    "objects": lambda rng, x, others: x.astype(object),
    "records": lambda rng, x, others: np.zeros(x.shape, dtype=[("x", "f8")]),
    "other bytes first": lambda rng, x, others: x.astype(">f8"),
    "Fortran order": lambda rng, x, others: np.asfortranarray(x),
    "strided": lambda rng, x, others: np.zeros((*x.shape[:-1], 2 * x.shape[-1]))[..., ::2],
    "every other row": lambda rng, x, others: np.full((2 * x.shape[0], *x.shape[1:]), MARK)[::2],
    "backwards": lambda rng, x, others: x[..., ::-1],
    "misaligned": lambda rng, x, others: misaligned(x),
    "read-only": lambda rng, x, others: read_only(x),
    "repeated": lambda rng, x, others: np.broadcast_to(x[..., :1], x.shape),
    "part of a row": lambda rng, x, others: np.full((*x.shape, 3), MARK)[..., 1],
    **{
        name: lambda rng, x, others, change=change: np.full(change(x.shape), MARK)
        for name, change in SHAPES.items()
    },
    "overlapping": overlapping,
    "subclass": lambda rng, x, others: x.view(Subclass),
    "masked": lambda rng, x, others: np.ma.masked_array(x),
    "list": lambda rng, x, others: x.tolist(),
    **{
        type(wrong).__name__: lambda rng, x, others, wrong=wrong: wrong
        for wrong in (None, 3, 3.0, "out", b"", (), {}, object(), memoryview(b""))
    },
}


# What must happen


@dataclass(frozen=True)
class Fault:
    """What the error must be that names a wrong part, and what else its message must have."""

    errors: type[Exception] | tuple[type[Exception], ...] = (TypeError, ValueError)
    words: tuple[str, ...] = ()


class Verdict:
    """Predicts the outcome of a call: its faults, or the results of a right one."""

    def __init__(self, call: Call, model: dtau.Model) -> None:
        self.call, self.model = call, model
        self.wrong: dict[str, Fault] = {}  # of these at least one must be in the message
        self.huge = False  # a number of states that no processor can address
        # Whether out may be refused, but need not: an input that is copied lies there, for example.
        self.shared = False
        self.want: tuple[Array, ...] = ()
        if call.model is not model:
            self.blame("model", "Model", type(call.model).__name__, errors=TypeError)
        self.look_at_arrays()
        for name, value in call.options.items():
            option = OPTIONS.get(name)
            if option is None and any(value is x for x in SENSELESS):
                self.blame(name)
            elif option is not None and not option.is_right(value, model):
                expected = f"{name}: expected {option.expected}"
                self.blame(name, *[expected, f"got {option.got(value)}"] if option.expected else [])
        threads = call.given.get("threads")
        if threads is not None and not 1 <= integer(threads) <= 1024:
            self.blame("threads", repr(threads))
        out = call.given.get("out")
        if self.wrong or self.huge:
            self.shared = out is not None  # no telling what would be right
            return
        self.want = call.on_copies(model)
        if out is not None and (fault := self.misfit(out)):
            self.wrong["out"] = fault

    def blame(self, name: str, *words: object, errors: Any = (TypeError, ValueError)) -> None:
        self.wrong.setdefault(name, Fault(errors, tuple(map(str, words))))

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
            if x is None:  # None, numbers of another kind, or no array at all
                array = type(value) is np.ndarray
                errors = TypeError if array or value is None else (TypeError, ValueError)
                self.blame(name, *["real numbers", value.dtype] if array else [], errors=errors)
                continue
            if x.shape[max(x.ndim - len(core), 0) :] != core:
                has = [f"{name} has shape {x.shape}, expected (...", *core[-1:]]
                self.blame(name, *[x.shape] if name == "inputs" else has, errors=ValueError)
                continue
            batches[name] = x.shape[: x.ndim - len(core)]
            if name.endswith("_derivatives") and x.shape[-len(core)] != 1:
                as_batches[name] = x.shape[: x.ndim - len(core) + 1]
            if len(batches[name]) > MOST_AXES:
                self.blame(name, len(batches[name]), MOST_AXES, errors=ValueError)
            elif name in CONFIGURATIONS or name == "targets":
                starts = [3] if name == "targets" else quaternions(self.model)
                if far_from_unit(x, starts):
                    far.add(name)
        for name in surplus if len(set(surplus.values())) > 1 else ():
            self.blame(name, errors=ValueError)
        others = [batch for name, batch in batches.items() if not name.endswith("_derivatives")]
        for name, batch in as_batches.items():
            if batch in others:
                self.blame(name, errors=ValueError)
        for name in () if broadcast(batches.values()) else batches:
            self.blame(name, errors=ValueError)
        for name in () if function.name == "normalize" else far:
            self.blame(name, "norm", "1e-6", errors=ValueError)

    def misfit(self, out: Any) -> Fault | None:
        """Why `out` cannot hold the results."""
        count = len(self.want)
        if count == 1:
            out = (out,)
        if not isinstance(out, tuple | list):
            return Fault(TypeError, (f"out: expected a tuple of {count}", type(out).__name__))
        if len(out) != count:
            return Fault(ValueError, (f"out: expected a tuple of {count}", f"got {len(out)}"))
        used = [getattr(x, "x", x) for x in self.call.arrays.values()]
        used = [x.obj if isinstance(x, memoryview) else x for x in used]
        used = [x for x in used if isinstance(x, np.ndarray)]
        for o, (x, want) in enumerate(zip(out, self.want, strict=True)):
            name = f"out[{o}]:" if count > 1 else "out:"
            if isinstance(x, np.ma.MaskedArray) or not isinstance(x, np.ndarray):
                return Fault(TypeError, (name, "array", type(x).__name__))
            if x.dtype != np.dtype(np.float64):
                return Fault(TypeError, (name, "float64", str(x.dtype)))
            if x.shape != want.shape:
                return Fault(ValueError, (f"{name} expected shape {want.shape}, got {x.shape}",))
            kinds = ("writable", x.flags.writeable), ("C-contiguous", x.flags.c_contiguous)
            for word, right in (*kinds, ("aligned", x.flags.aligned)):
                if not right:
                    return Fault(ValueError, (name, word))
            for y in used:
                if np.may_share_memory(x, y):
                    self.shared = True
                    if type(y) is np.ndarray and y.dtype == np.float64 and y.flags.carray:
                        return Fault(ValueError, ("expected memory of its own",))
            used.append(x)
        return None

    def judge(self, error: Exception) -> None:
        """An error is right, and says what is wrong."""
        call, text = self.call, str(error)
        if self.huge and re.search(
            "the results take|Unable to allocate|can be counted|too big|a larger batch", text
        ):
            return
        wrong = {"out": Fault()} | self.wrong if self.shared else self.wrong
        assert not isinstance(error, MemoryError), f"{call}: {error!r}"
        assert wrong, f"{call}: refused, although nothing is wrong: {error!r}"
        named = [x for name, x in wrong.items() if re.search(rf"\b{name.rstrip('s')}s?\b", text)]
        said = [x for x in named if isinstance(error, x.errors) and all(w in text for w in x.words)]
        assert said, f"{call}: wrong is {wrong}, but this was said: {error!r}"
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
    """Whether any quaternion has finite numbers, and another norm than 1."""
    once = [slice(1) if stride == 0 else slice(None) for stride in q.strides[:-1]]
    q = q[tuple(once)]
    for at in starts if q.size else ():
        for x in q[..., at : at + 4].reshape(-1, 4):
            if np.abs(x).max() < math.inf and abs(math.hypot(*x) - 1.0) > 1e-6:
                return True
    return False


def integer(value: Any) -> int:
    """The value as an integer; -1 if it is none."""
    if isinstance(value, bool | np.bool_):
        return -1
    try:
        return operator.index(value)
    except (TypeError, OverflowError):
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
