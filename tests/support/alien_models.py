"""Models of Pinocchio and MuJoCo, as plain objects that can be damaged."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from odd_values import EXTREMES, choose

import dtau

ATTRIBUTES = {
    "pinocchio": ("names", "joints", "parents", "nq", "nv", "idx_qs", "idx_vs", "nqs", "nvs"),
    "mujoco": (
        *("nq", "nv", "njnt", "nbody", "jnt_type", "jnt_qposadr", "jnt_dofadr", "jnt_bodyid"),
        *("jnt_pos", "jnt_axis", "qpos0", "body_parentid", "body_weldid", "body_pos", "body_quat"),
        "body_ipos",
    ),
}
ARGUMENT = {"pinocchio": "pin_model", "mujoco": "mj_model"}


def urdf() -> str:
    return Path(dtau.robots.__file__).with_name("quadruped.urdf").read_text(encoding="utf-8")


@cache
def healthy(package: str) -> Any:
    """The package's own model of the quadruped."""
    if package == "pinocchio":
        import pinocchio

        return pinocchio.buildModelFromXML(urdf(), pinocchio.JointModelFreeFlyer())
    import mujoco

    spec = mujoco.MjSpec.from_string(urdf())
    spec.compiler.fusestatic = False
    spec.worldbody.first_body().add_freejoint()
    return spec.compile()


def plain(package: str) -> SimpleNamespace:
    """The same as an object of lists and arrays."""
    peer = healthy(package)
    parts = {name: getattr(peer, name) for name in ATTRIBUTES[package]}
    for name, value in parts.items():
        if isinstance(value, np.ndarray):
            parts[name] = np.array(value)
        elif not isinstance(value, int):
            parts[name] = list(value)
    if package == "pinocchio":
        parts["joints"] = [named(joint.shortname()) for joint in parts["joints"]]
        return SimpleNamespace(**parts)
    parts["names_of_joints"] = [peer.joint(i).name for i in range(peer.njnt)]
    parts["names_of_bodies"] = [peer.body(i).name for i in range(peer.nbody)]
    made = SimpleNamespace(**parts)
    made.body = lambda i: SimpleNamespace(name=made.names_of_bodies[i])
    made.joint = lambda i: SimpleNamespace(name=made.names_of_joints[i])
    return made


def named(text: Any) -> SimpleNamespace:
    return SimpleNamespace(shortname=lambda: text)


class Failing:
    """An attribute that cannot be read."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def __iter__(self) -> Any:
        raise self.error

    __getitem__ = __index__ = __float__ = __len__ = __array__ = __call__ = __iter__


NUMBERS = (0, 1, -1, 2, 3, 7, 18, 19, 99, -99, 2**31, 2**70, 0.5, float("nan"), "1", None)


def damage(rng: np.random.Generator, peer: SimpleNamespace) -> str:
    """Damage one attribute; what was done."""
    name = choose(rng, [n for n in vars(peer)])
    value = getattr(peer, name)
    change = int(rng.integers(6))
    if change == 0:
        delattr(peer, name)
        return f"without {name}"
    if change == 1:
        error = choose(rng, [KeyError("x"), RuntimeError("x"), IndexError("x"), OSError("x")])
        setattr(peer, name, Failing(error))
        return f"{name} fails"
    if change == 2:
        setattr(peer, name, choose(rng, EXTREMES))
        return f"{name} = {getattr(peer, name)!r:.80}"
    if isinstance(value, int) or (isinstance(value, list | np.ndarray) and not len(value)):
        setattr(peer, name, choose(rng, NUMBERS))
    elif isinstance(value, list | np.ndarray):
        items: Any = list(value) if isinstance(value, list) else np.array(value)
        at = int(rng.integers(len(items)))
        if change == 3:
            items = items[:-1] if rng.random() < 0.5 else [*items, items[at]]
        elif isinstance(items, np.ndarray):
            numbers = [x for x in NUMBERS if isinstance(x, int) and abs(x) < 2**30]
            items.reshape(-1)[rng.integers(items.size)] = choose(rng, numbers)
        elif items and isinstance(items[at], str):
            items[at] = choose(rng, ["", "x", items[0], None, 3])
        elif hasattr(items[at], "shortname"):
            items[at] = choose(rng, [None, named(3), named("JointModelRX"), named("JointModelPZ")])
        else:
            items[at] = choose(rng, NUMBERS)
        setattr(peer, name, items)
    return f"{name} = {getattr(peer, name, None)!r:.200}"
