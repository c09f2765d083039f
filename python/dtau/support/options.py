"""The values that options take, and their check: `require_option`."""

from __future__ import annotations

from collections import abc
from typing import Any, Literal, get_args

from dtau.support.checks import plain

AccelerationKind = Literal["spatial", "classical"]
Axes = Literal["body", "world", "mixed"]
Coordinates = Literal["tangent", "numbers"]
ForceAxes = Literal["body", "mixed"]
HingeAxis = Literal["x", "y", "z"]
Inertias = Literal["keep", "repair"]
Integrator = Literal["euler", "semi_implicit", "rk4", "implicit"]
Language = Literal["c", "cuda"]
Layout = Literal["dense", "pattern"]
MimicJoints = Literal["independent", "exact"]
QuaternionOrder = Literal["xyzw", "wxyz"]
Root = Literal["fixed", "free"]
Scalar = Literal["double", "float"]
Side = Literal["right", "left"]
Variable = Literal["dt", "f_ext"]
Variables = Variable | abc.Sequence[Variable]
Gradient = Literal["dt", "f_ext", "parameters"]
Gradients = Gradient | abc.Sequence[Gradient]
JointKindName = Literal[
    "revolute", "prismatic", "helical", "spherical", "free", "cylindrical", "planar", "universal"
]

_ELSEWHERE = {  # names of other libraries, in lower case
    "local": "body",
    "local_world_aligned": "mixed",
    "scalar_first": "wxyz",
    "scalar_last": "xyzw",
    "floating": "free",
    "freeflyer": "free",
}


def require_option(argument: str, value: object, option: Any) -> None:
    """Raise ValueError unless `value` is one of the values of an option, a Literal."""
    words = get_args(option)
    if not isinstance(value, str) or value not in words:
        listed = ", ".join(map(repr, words[:-1])) + f" or {words[-1]!r}"
        word = str(value).lower()
        here = _ELSEWHERE.get(word, word)
        hint = f": that is {here!r} here" if here in words else ""
        raise ValueError(f"{argument}: expected {listed}, got {plain(value)!r}{hint}")
