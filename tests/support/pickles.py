"""Damage the pickles of the package's objects."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
from cases import contacts, robot
from conversions import CONVENTIONS
from odd_values import EXTREMES, choose

import dtau
from dtau.identification import Regressor
from dtau.support.immutable import Immutable

# One object of every class that a pickle can have.
EXAMPLES: dict[str, Callable[[], Any]] = {
    "model": lambda: robot("joints that mimic others"),
    "builder": lambda: _builder(),
    "pose": lambda: dtau.Pose.from_rpy((0.1, 0.2, 0.3), (1, 2, 3)),
    "inertia": lambda: dtau.Inertia(1.0, (0, 0, 1), np.eye(3)),
    "limits": lambda: dtau.Limits(-1, 1, 2, (3, 4)),
    "mimic": lambda: dtau.Mimic("other", 2.0, 0.5),
    "link": lambda: robot("joints that mimic others").links[3],
    "contacts": lambda: contacts(robot("quadruped")),
    "point contact": lambda: dtau.PointContact("foot", "mixed", 3.0, 2.0, (1, 2, 3)),
    "frame contact": lambda: dtau.FrameContact("foot", placement=dtau.Pose()),
    "loop": lambda: dtau.Loop("a", "b", 5, "x", kd=1.0),
    "regressor": lambda: Regressor(dtau.robots.chain(2), ["coulomb"], coulomb_speed=0.1),
    "motors": lambda: dtau.Motors(dtau.robots.chain(2), {"body2": 50.0}, gain=2.0),
    "joint": lambda: robot("joints that mimic others").joints[2],
    "frame": lambda: robot("quadruped").frame("LF_FOOT"),
    "body": lambda: robot("quadruped")._bodies[1],
    **{
        type(joint).__name__.lower(): lambda joint=joint: joint
        for joint in (
            *(dtau.Fixed(), dtau.Free(), dtau.Spherical(), dtau.Revolute((0, 0.6, 0.8))),
            *(dtau.Prismatic((0, 0, 1)), dtau.Helical((1, 0, 0), 0.1)),
            *(dtau.Cylindrical((1, 0, 0)), dtau.Planar((0, 1, 0))),
            dtau.Universal((1, 0, 0), (0, 1, 0)),
        )
    },
    **{
        f"{name} {what}": lambda name=name, part=part: part(CONVENTIONS[name]())
        for name in ("angular_first", "spatial_twist", "world wrenches")
        for what, part in {
            "convention": lambda convention: convention,
            "maps": lambda convention: convention._maps,
            "coordinates": lambda convention: convention._maps.coordinates,
            "twists": lambda convention: convention._maps.twists,
            "order": lambda convention: convention._maps.order,
            "wrenches": lambda convention: convention._maps.wrenches,
        }.items()
    },
}


def _builder() -> dtau.ModelBuilder:
    builder = dtau.ModelBuilder("r")
    builder.add(dtau.Free(), name="base", inertia=dtau.Inertia(1.0, tensor=np.eye(3)))
    return builder


def is_ours(value: Any) -> bool:
    return isinstance(value, Immutable | dtau.ModelBuilder) or (
        dataclasses.is_dataclass(value) and not isinstance(value, type)
    )


def state_of(value: Any) -> Any:
    """What a pickle keeps of an object: what `__setstate__` gets."""
    return value.__reduce_ex__(4)[2]


def restored(cls: type, state: Any) -> Any:
    """What unpickling makes of a state."""
    made = cls.__new__(cls)
    if state is None:
        return made
    made.__setstate__(state)
    return made


def damaged(rng: np.random.Generator, value: Any) -> Any:
    """Another value in place of one, or a part of it damaged."""
    if rng.random() < 0.3:
        return choose(rng, EXTREMES)
    if isinstance(value, dict):
        return damaged_state(rng, value)
    if is_ours(value):
        return hollow(rng, value)
    if isinstance(value, tuple | list) and value:
        items = list(value)
        at = int(rng.integers(len(items)))
        change = rng.integers(4)
        if change == 0:
            del items[at]
        elif change == 1:
            items.insert(at, copy.copy(items[at]))
        else:
            items[at] = damaged(rng, items[at])
        return type(value)(items) if type(value) in (tuple, list) else items
    if isinstance(value, np.ndarray) and value.size:
        array = np.array(value)
        change = rng.integers(5)
        if change == 0:
            number = choose(rng, [-1, 0, 1, 5, 10**6, -(10**6)])
            with contextlib.suppress(OverflowError):  # of small integers
                array.reshape(-1)[rng.integers(array.size)] = number
        elif change == 1:
            return array[:-1]
        elif change == 2:
            return array[..., None]
        elif change == 3:
            kind = choose(rng, [np.float32, np.int8, complex, object, bool])
            return np.ones(array.shape).astype(kind)
        else:
            return array.tolist()
        return array
    return choose(rng, EXTREMES)


def damaged_state(rng: np.random.Generator, state: dict[Any, Any]) -> dict[Any, Any]:
    state = dict(state)
    names = list(state)
    change = rng.integers(6)
    if change == 0 or not names:
        state[choose(rng, ["more", "_tree", 3, None, "__class__", "__dict__"])] = choose(
            rng, EXTREMES
        )
    elif change == 1:
        del state[choose(rng, names)]
    else:
        name = choose(rng, names)
        state[name] = damaged(rng, state[name])
    return state


def hollow(rng: np.random.Generator, value: Any) -> Any:
    """An object as a pickle can leave it, without contents; or put back from damaged ones."""
    state = state_of(value) if vars(value) else None
    if isinstance(state, dict) and rng.random() < 0.5:
        with contextlib.suppress(TypeError, ValueError):
            return restored(type(value), damaged_state(rng, state))
    return type(value).__new__(type(value))
