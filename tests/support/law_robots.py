"""Random robots with contacts and motors, by number: `robot`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from trees import KINDS, Array, random_axis, random_quaternion, random_tree, rotation_of

import dtau

ROBOTS = 24  # numbers of robots that cases draw from; more of them in the runs that take long
MOST_DOFS = 20


@dataclass(frozen=True)
class Robot:
    """A model, several sets of its contacts, and its motors, if any joint can have one."""

    name: str
    model: dtau.Model
    contacts: tuple[dtau.Contacts, ...]
    motors: dtau.Motors | None


@cache
def robot(number: int) -> Robot:
    """A robot of the package for the first numbers, else a random tree."""
    rng = np.random.default_rng([number, 52])
    if number == 0:
        model = dtau.robots.quadruped()
        feet = dtau.robots.QUADRUPED_FEET
        sets = [
            dtau.Contacts(model, [dtau.PointContact(foot, kd=1.0) for foot in feet]),
            dtau.Contacts(model, [_fixed_frame("LF_FOOT"), *map(dtau.PointContact, feet)]),
        ]
        return Robot("quadruped", model, (*sets, _random_contacts(model, rng)), _motors(model, rng))
    if number == 1:
        model, contacts, _ = dtau.robots.delta()
        return Robot("delta", model, (contacts, _random_contacts(model, rng)), _motors(model, rng))
    if number == 2:
        model, contacts, _ = dtau.robots.four_bar()
        return Robot("four-bar", model, (contacts,), _motors(model, rng))
    model = _random_model(number, rng)
    sets = [_random_contacts(model, rng) for _ in range(4)]
    return Robot(f"tree {number}", model, tuple(sets), _motors(model, rng))


def _fixed_frame(name: str) -> dtau.FrameContact:
    return dtau.FrameContact(name, name="all of it")


def _random_model(number: int, rng: np.random.Generator) -> dtau.Model:
    """Any joints, any roots; where joints of one kind meet, some follow others."""
    while True:
        bodies = int(rng.integers(1, 8))
        few = tuple(KINDS) if rng.random() < 0.6 else ("free", *["revolute"] * 3, "prismatic")
        tree = random_tree(int(rng.integers(2**31)), bodies, few)
        if rng.random() < 0.3:
            tree = tree.bare()
        if sum(KINDS[body.kind].nv for body in tree.bodies) > MOST_DOFS:
            continue
        single = [body for body in tree.bodies if KINDS[body.kind].nv == 1]
        mimics = {}
        if len(single) > 1 and rng.random() < 0.6:
            leader = single[int(rng.integers(len(single)))]
            for body in single:
                if body is not leader and body.kind == leader.kind and rng.random() < 0.7:
                    mimics[body.name] = dtau.Mimic(leader.name, rng.uniform(-2.0, 2.0), 0.1)
        return tree.model(mimics)


def _motors(model: dtau.Model, rng: np.random.Generator) -> dtau.Motors | None:
    """A motor for each joint of one coordinate, and one that drives two of them."""
    single = [x.name for x in model.joints if x.v.stop - x.v.start == 1 and x.mimic is None]
    if not single:
        return None
    gears: dict[str, Any] = {f"motor {name}": {name: rng.uniform(1.0, 9.0)} for name in single}
    gears["both"] = {name: rng.uniform(-9.0, 9.0) for name in single[:2]}
    return dtau.Motors(model, gears)


# Contacts


def _pose(rng: np.random.Generator) -> dtau.Pose:
    return dtau.Pose(rotation_of(random_quaternion(rng)), rng.uniform(-0.5, 0.5, 3))


def _pick(rng: np.random.Generator, choices: list[Any]) -> Any:
    return choices[int(rng.integers(len(choices)))]


def _gains(rng: np.random.Generator, holds: bool) -> dict[str, float]:
    gains = {"kd": float(rng.uniform(0.0, 3.0))} if rng.random() < 0.5 else {}
    return gains | ({"kp": float(rng.uniform(0.0, 5.0))} if holds else {})


def _point(rng: np.random.Generator, frame: str, _: str) -> Any:
    place: Array | None = rng.uniform(-0.5, 0.5, 3) if rng.random() < 0.5 else None
    along = random_axis(rng) if rng.random() < 0.4 else None
    axes = _pick(rng, ["body", "mixed"])
    gains = _gains(rng, place is not None)
    return dtau.PointContact(frame, axes, position=place, direction=along, **gains)


def _frame(rng: np.random.Generator, frame: str, _: str) -> Any:
    place = _pose(rng) if rng.random() < 0.5 else None
    axes, kind = _pick(rng, ["body", "mixed"]), _pick(rng, ["classical", "spatial"])
    gains = _gains(rng, place is not None)
    return dtau.FrameContact(frame, axes, placement=place, acceleration=kind, **gains)


def _loop(rng: np.random.Generator, frame: str, other: str) -> Any:
    rows = _pick(rng, [6, 5, 3])
    hinge = _pick(rng, ["x", "y", "z"]) if rows == 5 else None
    axes = "body" if hinge else _pick(rng, ["body", "mixed"])
    gains = _gains(rng, rng.random() < 0.5)
    return dtau.Loop(frame, other, rows, hinge, axes, placement=_pose(rng), **gains)


_MAKERS: tuple[Callable[..., Any], ...] = (_point, _point, _frame, _loop)


def _random_contacts(model: dtau.Model, rng: np.random.Generator) -> dtau.Contacts:
    """One to five, of all kinds; some of them hold what others hold already."""
    moving = [name for name in model.frames if model.frame(name).body >= 0]
    made: list[Any] = []
    for _ in range(int(rng.integers(1, 6))):
        frame = _pick(rng, moving)
        others = [x for x in model.frames if model.frame(x).body != model.frame(frame).body]
        make = _pick(rng, [x for x in _MAKERS if others or x is not _loop])
        contact = make(rng, frame, _pick(rng, others) if others else "")
        made.append(contact.__class__(**{**vars(contact), "name": f"contact {len(made)}"}))
    return dtau.Contacts(model, made)
