"""How to draw every argument of every public function: `SWITCHES`, `POSE_SWITCHES`, `LQR_SWITCHES`.

Arrays of states come from the registry: their axes are there, so that an array which joins it takes
part at once. Options with a list of words (Literal) and flags are drawn from their annotation. Any
other argument needs a row here; `unknown_switches` names arguments that have none.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, get_args

import numpy as np
from cases import random_q
from law_robots import Robot
from numpy.typing import NDArray
from trees import random_quaternion, rotation_of

import dtau
from dtau.model.parameters import to_parameters
from dtau.registry import FUNCTIONS, Array
from dtau.support import options

Numbers = NDArray[Any]


@dataclass(frozen=True)
class States:
    """An array with the batch before the axes of one state.

    `unit`: the array must keep its norm; `free`: so many of its first numbers may be anything.
    """

    array: Numbers
    core: int  # how many axes one state has
    unit: bool = False
    free: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "array", np.array(self.array, order="C"))  # writable


@dataclass(frozen=True)
class Together:
    """Several arrays of states, of which an argument is made."""

    parts: tuple[States, ...]
    make: Callable[..., Any]


@dataclass
class Draw:
    """What one case draws its arguments from."""

    function: str
    rng: np.random.Generator
    robot: Robot
    batch: tuple[int, ...]
    chosen: dict[str, Any] = field(default_factory=dict)  # arguments so far
    order: int = 0  # of stacks of time derivatives

    @property
    def model(self) -> dtau.Model:
        return self.robot.model

    def pick(self, choices: Any) -> Any:
        choices = list(choices)
        return choices[int(self.rng.integers(len(choices)))]

    def chance(self, probability: float) -> bool:
        return bool(self.rng.random() < probability)

    def shape(self) -> tuple[int, ...]:
        """The whole batch, or one that broadcasts to it; of the first array the whole one."""
        if not any(isinstance(x, States | Together) for x in self.chosen.values()):
            return self.batch
        if self.chance(0.75):
            return self.batch
        shape = tuple(1 if self.chance(0.5) else n for n in self.batch)
        return shape[int(self.rng.integers(len(shape) + 1)) :]

    def numbers(self, *core: int, low: float = -1.5, high: float = 1.5) -> States:
        return States(self.rng.uniform(low, high, (*self.shape(), *core)), len(core))

    @property
    def by_numbers(self) -> bool:
        return bool(self.chosen.get("coordinates") == "numbers")

    @property
    def contacts(self) -> dtau.Contacts:
        held: dtau.Contacts = self.chosen["contacts"]
        return held

    @property
    def size(self) -> Mapping[str, int]:
        """The lengths of symbolic axes."""
        model, held = self.model, self.chosen.get("contacts")
        inertial = 10 * model.nbodies
        given = self.chosen.get("parameters")
        long = isinstance(given, States) and given.array.shape[-1] > inertial
        joints = 4 * model.nv if long or self.chosen.get("joint_parameters") else 0
        return {
            "nq": model.nq,
            "nv": model.nv,
            "nbodies": model.nbodies,
            "10 nbodies": inertial,
            "nparameters": inertial + joints,
            "ncontacts": len(held) if held is not None else 0,
            "nrows": held.nrows if held is not None else 0,
        }


Switch = Callable[[Draw], Any]

# Drawn in this order, before all others, because others depend on them.
FIRST = ("coordinates", "contacts", "frames", "order", "q", "parameters", "joint_parameters")
# An argument on the left needs one on the right.
NEEDS = {name: "contacts" for name in ("active", "positions", "regularization", "forces")}
NEEDS |= {"a": "v", "df_ext": "f_ext", "df_ext_derivatives": "f_ext_derivatives"}
BY_THE_CASE = ("model", "out", "threads")  # what a case itself gives, in several ways


# Models


def _configuration(draw: Draw) -> States:
    return States(random_q(draw.model, draw.rng, draw.shape()), 1, unit=True)


def _contacts(draw: Draw) -> Any:
    return draw.pick(draw.robot.contacts)


def _frames(draw: Draw) -> Any:
    names = list(draw.model.frames)
    if draw.chance(0.2):
        return draw.pick(names)
    return [draw.pick(names) for _ in range(int(draw.rng.integers(1, 5)))]


def _active(draw: Draw) -> States:
    """Each state its own; a walk; one for all; one of two: at most or at least one contact."""
    count, shape = draw.size["ncontacts"], draw.shape()
    kind = int(draw.rng.integers(5))
    mask = draw.rng.integers(0, 2, (*shape, count))
    if kind == 1:  # blocks of states, each without one contact
        states = int(np.prod(shape))
        block = np.arange(states) // max(1, states // (count + 1)) % (count + 1)
        mask = (block[:, None] != np.arange(count)).astype(int).reshape(*shape, count)
    elif kind == 2:
        mask[...] = draw.rng.integers(0, 2, count)
    elif kind == 3:
        mask[...] = 0
        mask[..., 0] = draw.rng.integers(0, 2, shape)
    elif kind == 4:
        mask[...] = 1
        mask[..., -1] = draw.rng.integers(0, 2, shape)
    return States(mask.astype(draw.pick([float, bool, np.int64])), 1)


def _regularization(draw: Draw) -> float:
    """Without it, sets of contacts whose rows depend on each other are refused."""
    return float(draw.pick([0.0, 0.0, 1e-6, 1.0]))


def _inputs(draw: Draw) -> Any:
    """A mask of what is driven, a matrix, or motors."""
    nv = draw.model.nv
    if draw.function.startswith("constrained_inverse_dynamics") or draw.chance(0.3):
        mask: Any = draw.rng.random(nv) < 0.7
        mask[int(draw.rng.integers(nv))] = True
        return mask
    if draw.robot.motors is not None and draw.chance(0.3):
        return draw.robot.motors
    return draw.numbers(nv, int(draw.pick([1, 2, nv, nv + 2, 2 * nv])))


def _prescribed(draw: Draw) -> Any:
    names = [joint.name for joint in draw.model.joints if draw.chance(0.4)]
    if draw.chance(0.5):
        return names
    mask = np.zeros(draw.model.nv, bool)
    for name in names:
        mask[draw.model.joint(name).v] = True
    return mask


def _parameters(draw: Draw) -> States:
    shape = draw.shape()
    shape = () if draw.model.nbodies == 1 and shape[-1:] == (1,) else shape  # or a row of a body
    mass = draw.rng.uniform(0.3, 3.0, (*shape, draw.model.nbodies))
    com = draw.rng.uniform(-0.2, 0.2, (*mass.shape, 3))
    tensor = 0.02 * mass[..., None, None] * np.diag([1.0, 1.2, 1.5])
    found = to_parameters(mass, com, tensor).reshape(*mass.shape[:-1], -1)
    if draw.chance(0.5):  # of joints too
        joints = draw.rng.uniform(0.0, 0.5, (*shape, 4 * draw.model.nv))
        return States(np.concatenate([found, joints], axis=-1), 1)
    if draw.model.nbodies > 1 and draw.chance(0.3):  # in rows, as Model.parameters has them
        return States(found.reshape(*shape, draw.model.nbodies, 10), 2)
    return States(found, 1)


def _lengths(draw: Draw) -> States:
    """Of time steps: short, backwards, so long that joints turn far, and hardly any."""
    low, high = draw.pick([(0.001, 0.05), (0.001, 0.05), (-0.3, 3.0), (0.0, 1e-300)])
    return draw.numbers(low=low, high=high)


def _quaternions(draw: Draw, *core: int) -> Numbers:
    """Any; or half turns about axes and none, whose zeros have either sign."""
    turns = random_quaternion(draw.rng, (*draw.shape(), *core))
    if draw.chance(0.3):
        axes = draw.rng.integers(4, size=turns.shape[:-1])[..., None] == np.arange(4)
        zeros = np.copysign(0.0, turns)
        half = np.where(axes, np.copysign(1.0, turns), zeros)
        turns = np.where(draw.rng.random(turns.shape[:-1])[..., None] < 0.7, half, turns)
    return turns


def _pose_array(draw: Draw, *core: int) -> States:
    turns = _quaternions(draw, *core)
    places = draw.rng.uniform(-1.0, 1.0, (*turns.shape[:-1], 3))
    if draw.chance(0.3):
        places = draw.rng.choice([0.0, -0.0, 1.0], places.shape)
    return States(np.concatenate([places, turns], -1), len(core) + 1, unit=True)


def _targets(draw: Draw) -> States:
    frames = draw.chosen["frames"]
    return _pose_array(draw) if isinstance(frames, str) else _pose_array(draw, len(frames))


def _order(draw: Draw) -> int:
    """Stacks say their order: without it, some have the shape of another argument's batch."""
    draw.order = int(draw.rng.integers(0, 4))
    return draw.order


def _further(draw: Draw) -> Any:
    """Variables of `by`; gradients by wrenches have rules of their own."""
    if draw.function in ("constrained_dynamics_vjp", "impulse_dynamics_vjp"):
        return "parameters"
    if draw.function == "step_vjp":
        return draw.pick(["dt", ["parameters"], ("dt", "parameters")])
    return draw.pick(["dt", ["f_ext"], ("dt", "f_ext")])


SWITCHES: dict[str, Switch] = {
    "q": _configuration,
    "q0": _configuration,
    "q1": _configuration,
    "contacts": _contacts,
    "frames": _frames,
    "frame": lambda draw: draw.pick(draw.model.frames),
    "active": _active,
    "regularization": _regularization,
    "inputs": _inputs,
    "prescribed": _prescribed,
    "parameters": _parameters,
    "targets": _targets,
    "order": _order,
    "dt": _lengths,
    "by": _further,
    # Derivatives by numbers are dense, and symmetric without being asked.
    "symmetric": lambda draw: not draw.by_numbers and draw.chance(0.5),
    "layout": lambda draw: "dense" if draw.by_numbers else draw.pick(get_args(options.Layout)),
    "restitution": lambda draw: draw.numbers(low=0.0, high=1.0),
    "tolerance": lambda draw: draw.pick([1e-10, 1e-6]),
    "max_iterations": lambda draw: draw.pick([1, 3, 10]),
    "other": lambda draw: draw.model.replace(name="other"),
}


# Poses and rotations


def _rotations(draw: Draw) -> States:
    turns = _quaternions(draw)
    matrices = np.array([rotation_of(x) for x in turns.reshape(-1, 4)])
    return States(matrices.reshape(*turns.shape[:-1], 3, 3), 2, unit=True)


def _places(draw: Draw) -> States:
    return draw.numbers(3)


def _pose(draw: Draw) -> Any:
    """An array, or a rotation and a translation."""
    return _pose_array(draw) if draw.chance(0.7) else _placements(draw)


def _placements(draw: Draw) -> Together:
    return Together((_rotations(draw), _places(draw)), dtau.results.Placements)


def _matrix(draw: Draw) -> States:
    turns = _rotations(draw).array
    matrix = np.zeros((*turns.shape[:-2], 4, 4))
    matrix[..., :3, :3], matrix[..., 3, 3] = turns, 1.0
    matrix[..., :3, 3] = draw.rng.uniform(-1.0, 1.0, (*turns.shape[:-2], 3))
    return States(matrix, 2, unit=True, free=12)


def _direction(draw: Draw) -> States:
    return draw.numbers(6 if draw.function.startswith("poses") else 3)


_VECTORS = {"twist": 6, "vector": 3, "point": 3, "translation": 3, "rpy": 3}
POSE_SWITCHES: dict[str, Switch] = {
    **{name: _pose for name in ("pose", "first", "second", "start", "end")},
    **{name: lambda draw, n=n: draw.numbers(n) for name, n in _VECTORS.items()},
    "placements": _placements,
    "matrix": _matrix,
    "rotation": _rotations,
    "quaternion": lambda draw: States(_quaternions(draw), 1, unit=True),
    "direction": _direction,
    "t": lambda draw: draw.numbers(low=0.0, high=1.0),
}
ROTATION_SWITCHES: dict[str, Switch] = POSE_SWITCHES | {
    name: POSE_SWITCHES["quaternion"] for name in ("first", "second", "start", "end")
}


# Linear-quadratic problems


def _problem(axes: str, *, weight: float = 0.0, scale: float = 0.3) -> Switch:
    """An array of a problem; `weight`: a symmetric one, with at least this in all directions."""

    def switch(draw: Draw) -> Any:
        drawn = np.random.default_rng(draw.batch[-1])  # sizes, the same for all arguments
        sizes_below = (7, 5, 6) if drawn.random() < 0.8 else (22, 10, 4)
        nx, nu, knots = (int(drawn.integers(1, most)) for most in sizes_below)
        sizes = {"x": nx, "u": nu, "N": knots}
        core = tuple(sizes[axis] for axis in axes)
        x = scale * draw.rng.standard_normal((*draw.shape(), *core))
        if weight:
            x = x @ x.swapaxes(-1, -2) + weight * np.eye(core[-1])
        if axes != "Nxx" and axes[0] == "N" and draw.chance(0.15):
            return x[(0,) * (x.ndim - len(core) + 1)]  # the same at all knots, in all problems
        return States(x, len(core), unit=bool(weight))

    return switch


LQR_SWITCHES: dict[str, Switch] = {
    "A": _problem("Nxx"),
    "B": _problem("Nxu"),
    "Q": _problem("Nxx", weight=1.0),
    "R": _problem("Nuu", weight=2.0),
    "Q_final": _problem("xx", weight=0.1),
    "S": _problem("Nux", scale=0.02),
    "c": _problem("Nx"),
    "q": _problem("Nx"),
    "r": _problem("Nu"),
    "q_final": _problem("x"),
    "regularization": lambda draw: draw.pick([0.0, 0.5]),
}


# Any of them


def table(function: str) -> Mapping[str, Switch]:
    """The switches of a function, by its name within the package."""
    if function == "lqr":
        return LQR_SWITCHES
    folder = function.partition(".")[0]
    return {"poses": POSE_SWITCHES, "rotations": ROTATION_SWITCHES}.get(folder, SWITCHES)


def _of_registry(function: str, name: str) -> Switch | None:
    """The array of this name in a row of the registry, or in any row for other functions."""
    rows = [FUNCTIONS[function]] if function in FUNCTIONS else FUNCTIONS.values()
    arrays = [x for row in rows for x in row.inputs if x.name == name]
    return (lambda draw: _array(arrays[0], draw)) if arrays else None


def _array(array: Array, draw: Draw) -> States:
    axes = array.axes_of(draw.chosen.get("coordinates"))
    core = [draw.size[x] if isinstance(x, str) else x for x in axes]
    if array.rows is None:
        return draw.numbers(*core)
    # With fewer axes than the batch, a stack may look like the batch of another argument.
    shape = draw.shape()
    whole = (1,) * (len(draw.batch) - len(shape)) + shape
    needed, more = draw.order + array.rows, int(draw.pick([0, 0, 2]))
    stack = draw.rng.uniform(-1.5, 1.5, (*whole, needed + more, *core))
    stack[(..., slice(needed, None), *(slice(None) for _ in core))] = np.nan  # never read
    return States(stack, len(core) + 1, free=needed * math.prod(core))


def switch_of(function: str, parameter: inspect.Parameter) -> Switch | None:
    """How to draw an argument; None if nothing here knows it."""
    name, word = parameter.name, str(parameter.annotation)
    given = table(function).get(name)
    if given is not None:
        return given
    if word == "bool":
        return lambda draw: draw.chance(0.5)
    if words := get_args(getattr(options, word, None)):
        return lambda draw: draw.pick(words)
    if table(function) is not SWITCHES:
        return None
    return _of_registry(function, name)


def parameters_of(function: str) -> Mapping[str, inspect.Parameter]:
    return inspect.signature(named(function)).parameters


def named(function: str) -> Callable[..., Any]:
    """A public function, by its name within the package."""
    found: Any = dtau
    for part in function.split("."):
        found = getattr(found, part)
    made: Callable[..., Any] = found
    return made


def unknown_switches(function: str) -> list[str]:
    """The arguments of a function that no case would give."""
    return [
        name
        for name, parameter in parameters_of(function).items()
        if name not in BY_THE_CASE and switch_of(function, parameter) is None
    ]
