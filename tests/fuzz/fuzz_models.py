"""Models from Python code with numbers that are wrong or extreme, and what a model must endure."""

from __future__ import annotations

import math
import pickle
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from cases import random_state
from compare import assert_same_bits
from functions import FUNCTIONS
from odd_arrays import extreme, meaning, mutated
from odd_values import choose
from trees import Array, random_quaternion, random_tensor, rotation_of

import dtau


def finite(*arrays: Any) -> bool:
    return all(bool(np.isfinite(x).all()) for x in arrays)


def endures(model: dtau.Model, what: str) -> None:
    """A model that was accepted has finite numbers, and can be used, printed and pickled."""
    assert finite(model.gravity, model.armature, model.damping, model.mass), what
    assert finite(*(link.placement.translation for link in model.links)), what
    for joint in model.joints:
        assert finite(joint.placement.rotation, joint.placement.translation), what
    for name in model.frames:
        placement = model.frame(name).placement
        assert finite(placement.rotation, placement.translation), what
    limits = (model.lower_limits, model.upper_limits, model.velocity_limits, model.effort_limits)
    assert not any(np.isnan(x).any() for x in limits), what
    drawn = dtau.random_state(model, np.random.default_rng(0), (2,))
    assert finite(*drawn), what
    state = random_state(model, 0, (2,))
    for function in FUNCTIONS:
        if not (function.solves and model.massless_joints):
            results = function(model, state)
            assert [x.shape for x in results] == function.shapes(model, (2,)), f"{function}, {what}"
    repr(model), str(model), hash(model)
    again = pickle.loads(pickle.dumps(model))
    assert again == model, what
    q, v, a = (state[name] for name in "qva")
    tau = (dtau.inverse_dynamics(m, q, v, a) for m in (again, model))
    assert_same_bits(*tau, what)


# Parts of a model, with arguments that are mostly right


@dataclass(frozen=True)
class Part:
    """Something that can be made from numbers, and how they are drawn when they are right."""

    make: Callable[..., Any]
    right: dict[str, Callable[[np.random.Generator], Any]]


def vector(rng: np.random.Generator) -> Array:
    return rng.uniform(-1.0, 1.0, 3)


def positive(rng: np.random.Generator) -> Array:
    return np.array(rng.uniform(0.1, 2.0))


def rotation(rng: np.random.Generator) -> Array:
    return rotation_of(random_quaternion(rng))


def tensor(rng: np.random.Generator) -> Array:
    return random_tensor(rng, 1.0)


PARTS: dict[str, Part] = {
    "pose": Part(dtau.Pose, {"rotation": rotation, "translation": vector}),
    "rpy": Part(dtau.Pose.from_rpy, {"rpy": vector, "xyz": vector}),
    "matrix": Part(
        dtau.Pose.from_matrix, {"matrix": lambda rng: dtau.Pose(rotation(rng)).matrix()}
    ),
    "quaternion": Part(
        lambda **given: dtau.Pose.from_quaternion(**given, order="wxyz"),
        {"quaternion": random_quaternion, "translation": vector},
    ),
    "twist": Part(dtau.Pose.exp, {"twist": lambda rng: rng.uniform(-3.0, 3.0, 6)}),
    "inertia": Part(dtau.Inertia, {"mass": positive, "com": vector, "tensor": tensor}),
    "revolute": Part(dtau.Revolute, {"axis": vector}),
    "prismatic": Part(dtau.Prismatic, {"axis": vector}),
    "helical": Part(dtau.Helical, {"axis": vector, "pitch": positive}),
    "cylindrical": Part(dtau.Cylindrical, {"axis": vector}),
    "planar": Part(dtau.Planar, {"normal": vector}),
    "universal": Part(dtau.Universal, {"axis1": vector, "axis2": vector}),
    "mimic": Part(
        lambda **given: dtau.Mimic("other", **given), {"multiplier": positive, "offset": positive}
    ),
    "limits": Part(
        lambda **given: dtau.Limits(**given),
        {
            "lower": lambda rng: -positive(rng),
            "upper": positive,
            "velocity": positive,
            "effort": positive,
        },
    ),
    "revolute placed": Part(lambda q: dtau.Revolute((0, 0, 1)).placement(q), {"q": positive}),
    "spherical placed": Part(lambda q: dtau.Spherical().placement(q), {"q": random_quaternion}),
    "free placed": Part(
        lambda q: dtau.Free().placement(q),
        {"q": lambda rng: np.concatenate([vector(rng), random_quaternion(rng)])},
    ),
    **{
        f"{type(joint).__name__.lower()} placed": Part(
            lambda q, joint=joint: (joint.placement(q), joint.motion_subspace(q))[0],
            {"q": lambda rng, joint=joint: rng.uniform(-1.0, 1.0, joint.nq)},
        )
        for joint in (
            *(dtau.Prismatic((0, 0, 1)), dtau.Helical((1, 0, 0), 0.1), dtau.Cylindrical((1, 0, 0))),
            *(dtau.Planar((0, 1, 0)), dtau.Universal((1, 0, 0), (0, 1, 0))),
        )
    },
    "changed": Part(
        lambda **given: dtau.robots.chain(3).replace(**given),
        {"gravity": vector, "armature": positive, "damping": positive},
    ),
    "loaded": Part(lambda mass: dtau.robots.chain(3).add_load("body2", mass), {"mass": positive}),
    "chain": Part(
        lambda branching: dtau.robots.chain(4, branching=branching),
        {"branching": lambda rng: 1 + positive(rng)},
    ),
    "robot": Part(
        lambda **given: robot(**given),
        {
            "gravity": vector,
            "armature": positive,
            "damping": positive,
            **{f"mass {k}": positive for k in range(3)},
            **{f"com {k}": vector for k in range(3)},
            **{f"tensor {k}": tensor for k in range(3)},
            **{f"translation {k}": vector for k in range(3)},
            **{name: vector for name in ("axis", "normal", "axis1", "axis2")},
            "multiplier": positive,
            "offset": positive,
            "angle": positive,
        },
    ),
}


def robot(**given: Any) -> dtau.Model:
    """A robot of every kind of joint, one of which follows another; also with that one locked."""
    builder = dtau.ModelBuilder("robot", gravity=given["gravity"])
    joints = (
        *(dtau.Free(), dtau.Helical((0.6, 0.0, 0.8), 0.1), dtau.Fixed(), dtau.Spherical()),
        *(dtau.Cylindrical(given["axis"]), dtau.Planar(given["normal"])),
        *(dtau.Universal(given["axis1"], given["axis2"]), dtau.Revolute(given["axis"])),
        dtau.Prismatic(given["axis"]),
    )
    parent = None
    for k, joint in enumerate(joints):
        own = {} if joint.nv != 1 else {name: given[name] for name in ("armature", "damping")}
        if isinstance(joint, dtau.Revolute):
            own["mimic"] = dtau.Mimic("link1", given["multiplier"], given["offset"])
        parent = builder.add(
            joint,
            name=f"link{k}",
            parent=parent,
            placement=dtau.Pose(translation=given[f"translation {k % 3}"]),
            inertia=dtau.Inertia(
                given[f"mass {k % 3}"], given[f"com {k % 3}"], given[f"tensor {k % 3}"]
            ),
            **own,
        )
    model = builder.build()
    endures(model.lock({"link1": given["angle"]}), "with a locked joint")
    return model


def check(rng: np.random.Generator) -> str:
    """Make one part; return "result" or "refused", or raise AssertionError."""
    name = choose(rng, ["robot", choose(rng, list(PARTS))])
    part = PARTS[name]
    given = {argument: draw(rng) for argument, draw in part.right.items()}
    changed = set()
    for _ in range(rng.integers(1, 3)):
        argument = choose(rng, list(given))
        change = choose(rng, [mutated, extreme])
        given[argument] = change(rng, np.asarray(part.right[argument](rng)))
        changed.add(argument)
    what = f"{name}, " + ", ".join(f"{argument}={given[argument]!r:.200}" for argument in changed)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.filterwarnings("ignore", ".* encountered in cast|.* masked element")
            warnings.simplefilter("ignore", dtau.ModelWarning)
            made = part.make(**given)
    except MemoryError:
        assert any(is_huge(given[argument]) for argument in changed), what
        return "refused"
    except Exception as error:
        words = {argument.split()[0] for argument in changed} | ALSO_SAID.get(name, set())
        said = any(re.search(rf"\b{word}\b", str(error)) for word in words)
        if said and isinstance(error, TypeError | ValueError):
            return "refused"
        raise AssertionError(f"{what}: {type(error).__name__}: {error}") from error
    if isinstance(made, dtau.Model):
        endures(made, what)
    elif isinstance(made, dtau.Limits):
        assert made.lower <= made.upper, what
        assert not any(math.isnan(x) for x in (*made.velocity, *made.effort)), what
    else:
        assert finite(*(x for x in vars(made).values() if not isinstance(x, str))), what
    return "result"


# What a message may name in place of the argument.
ALSO_SAID = {
    "limits": {"limits"},
    "loaded": {"inertias"},
    "robot": {"inertias", "link", "too large", "position", "rotation"},
    "universal": {"axis2"},
    "spherical placed": {"quaternion"},
    "free placed": {"quaternion"},
}


def is_huge(value: Any) -> bool:
    x = meaning(value)
    return x is not None and max(x.shape, default=0) > 2**40
