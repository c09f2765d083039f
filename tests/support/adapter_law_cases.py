"""The table of the laws of the array libraries: rows, switches and states.

It comes from the registry and from the signatures of the libraries' public functions, and knows
nothing of how these are made.
"""

from __future__ import annotations

import inspect
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import cases
import numpy as np
from core import complex_core
from trees import Array, grow, kind_of

import dtau
from dtau.registry import FUNCTIONS, arrays_of

CONFIGURATIONS = cases.CONFIGURATIONS
CONSTANT_RESULTS = {("constrained_dynamics", 2)}  # residuals, documented to have zero derivatives
STATES = 2  # in a batch; their masks of contacts differ


@dataclass(frozen=True)
class Switch:
    """What changes the mathematics: a robot, the options, which inputs are given, the state."""

    name: str
    robot: str
    wrenches: str | None = None  # their axes; None: no wrenches
    axes: str = "body"
    frames: int = 1
    kind: str = "spatial"
    integrator: str = "euler"
    contacts: bool = True  # of a step; other functions with contacts always have some
    mask: bool = False
    loop: bool = False
    regularization: float = 0.0
    order: int | None = None
    parameters: str = ""  # whose: of "bodies", or of "joints" too
    state: tuple[str, ...] = ()


SWITCHES = (
    Switch("plain", "roots"),
    Switch("arm", "arm", None, "mixed", integrator="semi_implicit", contacts=False,
           regularization=1e-3, order=1),
    Switch("mimics", "mimics", "mixed", "mixed", 2, "classical", "semi_implicit", mask=True,
           regularization=1e-4, order=0, parameters="joints", state=("long quaternions",)),
    Switch("world", "manifold", "world", "world", 2, "spatial", "rk4", mask=True,
           parameters="joints", state=("far",)),
    Switch("world, arm", "arm", "world", "world", 1, "classical", "euler", contacts=False,
           regularization=1e-2, parameters="bodies"),
    Switch("inertias", "roots", "mixed", "world", 1, "classical", "implicit", False,
           regularization=1e-6, order=1, parameters="joints", state=("turned",)),
    Switch("fast", "manifold", "body", "body", 2, "classical", "implicit", loop=True,
           regularization=1e-3, state=("fast", "loaded")),
    Switch("off norm", "roots", "world", "mixed", 1, "spatial", "euler", mask=True,
           state=("short quaternions", "fast")),
    Switch("free step", "manifold", None, "mixed", 1, "spatial", "rk4", False,
           state=("short quaternions",)),
    Switch("world, mimics", "mimics", "world", "world", 1, "spatial", "euler", False,
           regularization=1e-3, order=1),
)  # fmt: skip
NAMED = {switch.name: switch for switch in SWITCHES}


@cache
def robot(name: str) -> dtau.Model:
    """Small robots with springs, dampers and friction, of joints that are hard to differentiate."""
    if name == "roots":
        return grow(["free", "universal", "spherical", "prismatic"], [-1, 0, -1, 2], 3).model()
    if name == "arm":  # displacements add
        return grow(["revolute", "prismatic", "helical", "revolute"], [-1, 0, 1, 1], 4).model()
    if name == "manifold":
        return cases.serial("free", "spherical", "planar", seed=3).model()
    assert name == "mimics"
    tree = grow(["revolute", "spherical", "universal", "helical", "prismatic"], range(-1, 4), 5)
    names = [body.name for body in tree.bodies]
    return tree.model({names[3]: dtau.Mimic(names[0], -1.5, 0.2), names[4]: dtau.Mimic(names[0])})


def contacts(model: dtau.Model, loop: bool) -> dtau.Contacts:
    """Two points along both kinds of axes, pulled to where they are held; a hinge of two bodies."""
    first, last = model.bodies[0], model.bodies[-1]
    held: list[dtau.PointContact | dtau.Loop] = [
        dtau.PointContact(first, kp=3.0, kd=1.0, position=(0.1, 0.2, 0.3), name="first"),
        dtau.PointContact(last, kp=1.0, kd=2.0, position=(0.3, -0.2, 0.1), axes="mixed"),
    ]
    if loop:
        held.append(dtau.Loop(first, last, 5, "y", kp=2.0, kd=1.0))
    return dtau.Contacts(model, held)


def public(module: Any) -> list[str]:
    """The functions of a library that are rows of the registry."""
    return [name for name in FUNCTIONS if name in module.__all__]


@dataclass(frozen=True, eq=False)
class Case:
    """A row with a switch: the function, its inputs for a batch of states, and its options."""

    row: str
    switch: Switch
    seed: int
    model: dtau.Model = field(repr=False)
    inputs: Mapping[str, Array] = field(repr=False)
    options: Mapping[str, Any] = field(repr=False)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.inputs)

    def function(self, module: Any, **more: Any) -> Callable[..., tuple[Any, ...]]:
        """The library's function of its arrays alone, which returns a tuple."""
        of, options = getattr(module, self.row), {**self.options, **more}

        def function(*arrays: Any) -> tuple[Any, ...]:
            given = dict(zip(self.names, arrays, strict=True))
            return arrays_of(of(self.model, **given, **options))

        return function

    def value(self, *arrays: Array) -> tuple[Array, ...]:
        """The package's function at normalized configurations, of any number of states."""
        unit = [
            dtau.normalize(self.model, x) if name in CONFIGURATIONS else x
            for name, x in zip(self.names, arrays, strict=True)
        ]
        return self.function(dtau)(*unit)

    def complex_value(self, *arrays: Array) -> tuple[Array, ...]:
        """The same by the core in complex numbers."""
        unit = {
            name: _normalized(self.model, x) if name in CONFIGURATIONS else x
            for name, x in zip(self.names, arrays, strict=True)
        }
        given = (unit.get(x.name) for x in FUNCTIONS[self.row].inputs)
        return arrays_of(complex_core(self.row, self.model, *given, **self.options))

    def state(self, k: int) -> list[Array]:
        return [x[k] for x in self.inputs.values()]

    def batch(self) -> list[Array]:
        return list(self.inputs.values())

    def broken(self, k: int, numbers: slice = slice(1)) -> list[Array]:
        """The batch with numbers of the first state that are not finite."""
        x = [y.copy() for y in self.batch()]
        x[k].reshape(STATES, -1)[0, numbers] = np.nan
        return x

    def random(self, what: str, shape: tuple[int, ...]) -> Array:
        """Weights or directions, the same in all modes."""
        return np.random.default_rng(_number(self.seed, what)).standard_normal(shape)


def _normalized(model: dtau.Model, q: Array) -> Array:
    """Configurations in complex numbers, with quaternions divided by their length."""
    q = q.copy()
    for joint in model.joints:
        start = None if joint.mimic else kind_of(joint.type).quaternion
        if start is not None:
            at = slice(joint.q.start + start, joint.q.start + start + 4)
            q[..., at] /= np.sqrt((q[..., at] ** 2).sum(axis=-1, keepdims=True))
    return q


def _number(seed: int, *words: str) -> int:
    return zlib.crc32(" ".join(words).encode()) + seed


def _signature(module: Any, row: str) -> list[str]:
    return list(inspect.signature(getattr(module, row)).parameters)


def _given(module: Any, row: str, switch: Switch) -> Iterator[str]:
    """The inputs of a library's function with a switch."""
    known = _signature(module, row)
    for x in FUNCTIONS[row].inputs:
        absent = (
            (x.name.startswith("f_ext") and switch.wrenches is None)
            or (x.name == "active" and not (_touches(row, switch) and switch.mask))
            or (x.name == "positions" and not _touches(row, switch))
            or (x.name == "parameters" and not switch.parameters)
        )
        if x.name in known and not absent:
            yield x.name


def _touches(row: str, switch: Switch) -> bool:
    return "contacts" in FUNCTIONS[row].options and (row != "step" or switch.contacts)


def _options(module: Any, row: str, switch: Switch, model: dtau.Model) -> dict[str, Any]:
    values: dict[str, Any] = {
        "f_ext_axes": switch.wrenches or "body",
        "axes": switch.axes,
        "kind": switch.kind,
        "integrator": switch.integrator,
        "frames": model.bodies[-1] if switch.frames == 1 else (model.bodies[-1], model.bodies[0]),
        "order": switch.order,
    }
    if _touches(row, switch):
        values.update(contacts=contacts(model, switch.loop), regularization=switch.regularization)
    known = _signature(module, row)
    return {x: values[x] for x in FUNCTIONS[row].options if x in values and x in known}


def _changed(model: dtau.Model, state: dict[str, Array], how: tuple[str, ...], far: float) -> None:
    """Make a state one that hurts."""
    if "fast" in how:
        for name in ("v", "v_derivatives"):
            state[name] *= 8.0
    if "loaded" in how:
        for name in ("f_ext", "f_ext_derivatives"):
            state[name] *= 50.0
    norms = {"long quaternions": 1.7, "short quaternions": 1.0 - 4e-7}
    scale = next((norms[word] for word in how if word in norms), 1.0)
    for joint in model.joints:
        start = None if joint.mimic else kind_of(joint.type).quaternion
        if start is None:
            continue
        at = slice(joint.q.start + start, joint.q.start + start + 4)
        for name in CONFIGURATIONS:
            q = state[name]
            if "turned" in how:  # by almost half a turn, from which rotation vectors jump
                axis = q[..., at.start : at.stop - 1]
                axis *= np.sqrt(1.0 - 0.05**2) / np.linalg.norm(axis, axis=-1, keepdims=True)
                q[..., at.stop - 1] = 0.05
            if start == 0:
                _leave_cut(model, joint, q[..., at])
            q[..., at] *= scale
            if "far" in how and start == 3:
                q[..., joint.q.start : joint.q.start + 3] *= far


def _leave_cut(model: dtau.Model, joint: Any, quaternions: Array) -> None:
    """Turn a spherical joint away from half a turn from its spring's rest, where torques jump."""
    half = 0.5 * model.rest_position[joint.v]
    angle = float(np.linalg.norm(half))
    rest = np.append(np.sinc(angle / np.pi) * half, np.cos(angle))
    cosine = quaternions @ rest
    near = np.abs(cosine) < 0.15
    quaternions += np.where(near, np.copysign(0.4, cosine), 0.0)[..., None] * rest
    quaternions /= np.linalg.norm(quaternions, axis=-1, keepdims=True)


@cache
def case(module: Any, row: str, switch: Switch, seed: int) -> Case:
    """The case of a library's function with a switch; states and weights follow from the seed."""
    model = robot(switch.robot)
    state = cases.random_state(model, _number(seed, row, switch.name), (STATES,))
    state["active"] = np.array([[1.0, 0.0], [1.0, 1.0]])
    if switch.loop:  # a third constraint
        state["positions"] = np.concatenate([state["positions"], state["positions"][:, :1]], 1)
    # what holds a base pulls in proportion to how far it is
    _changed(model, state, switch.state, 10.0 if _touches(row, switch) else 500.0)
    if switch.parameters == "joints":
        rng = np.random.default_rng(_number(seed, row, switch.name, "joints"))
        of_joints = rng.uniform(0.05, 0.5, (STATES, 4 * model.nv))
        state["parameters"] = np.concatenate([state["parameters"], of_joints], axis=-1)
    inputs = {name: np.asarray(state[name]) for name in _given(module, row, switch)}
    for x in inputs.values():
        x.flags.writeable = False
    return Case(row, switch, seed, model, inputs, _options(module, row, switch, model))
