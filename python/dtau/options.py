"""The words that options take, and how they are checked."""

from __future__ import annotations

from typing import Any, Literal, get_args

AccelerationKind = Literal["spatial", "classical"]
Axes = Literal["body", "world", "mixed"]
Contact = Literal["wrench", "force"]
Integrator = Literal["euler", "semi_implicit", "rk4"]
MimicJoints = Literal["independent", "exact"]
Root = Literal["fixed", "free"]
JointKindName = Literal[
    "revolute", "prismatic", "helical", "spherical", "free", "cylindrical", "planar", "universal"
]

PINOCCHIO_AXES = {"LOCAL": "body", "LOCAL_WORLD_ALIGNED": "mixed", "WORLD": "world"}


def require_option(argument: str, value: object, option: Any) -> None:
    """Raise ValueError unless `value` is one of the words of an option, a Literal."""
    words = get_args(option)
    if not isinstance(value, str) or value not in words:
        listed = ", ".join(map(repr, words[:-1])) + f" or {words[-1]!r}"
        here = PINOCCHIO_AXES.get(str(value))
        hint = f": that is {here!r} here" if here in words else ""
        raise ValueError(f"{argument}: expected {listed}, got {value!r}{hint}")
