"""Write the Raises section of a function from its arguments: `errors`."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache

from dtau.docstrings.entries import MORE, Entries, shared

# Prefixes of the functions that solve with the mass matrix. A test compares them with the registry.
_SOLVES = (
    *("forward_dynamics", "hybrid_dynamics", "constrained_dynamics", "impulse_dynamics"),
    *("linearize", "step", "mass_matrix_inverse"),
)

_WITHOUT = "``active``, ``positions`` or ``regularization`` are given without contacts"
_WITH_QUATERNIONS = ("q", "q0", "targets", "pose", "quaternion", "first", "start")
# By argument; ``step*.active``: the argument of functions whose names begin with ``step``.
_VALUE = {
    "frames": ("a name is unknown",),
    "frame": ("the name is unknown or the frame is fixed to the world",),
    "axes": ("``axes`` is unknown",),
    "kind": ("``kind`` is unknown",),
    "f_ext_axes": ("``f_ext_axes`` is unknown",),
    "integrator": ("the integrator is unknown",),
    "layout": ("``layout`` is unknown",),
    "order": ("a stack is too short or has the shape of a batch", "``order`` is out of range"),
    "prescribed": ("a name is unknown", "a mask has another length than ``v`` or splits a joint"),
    "contacts": ("the contacts belong to another model",),
    "inputs": ("motors belong to a model with other joints",),
    **dict.fromkeys(_WITH_QUATERNIONS, ("a quaternion is further than 1e-6 from unit norm",)),
    "side": ("``side`` is unknown",),
    "coordinates": ("``coordinates`` is unknown",),
    "by": ("``by`` has an unknown name, or adds results to a call with ``out``",),
    "step*.active": (_WITHOUT,),
    "linearize*.active": (_WITHOUT,),
    "from_quaternion*.order": ("``order`` is unknown",),
    "to_quaternion*.order": ("``order`` is unknown",),
}
# Arguments of poses and rotations, of which every function has one.
_POSES = (
    *("pose", "twist", "quaternion", "vector", "rpy", "matrix", "rotation", "placements"),
    *("first", "start"),
)
_TYPE = {
    "model": "``model`` is not a `Model`",
    "q": "an array is complex or holds objects",
    "q0": "an array is complex or holds objects",
    **dict.fromkeys(_POSES, "an array is complex or holds objects"),
    "contacts": "``contacts`` is not a `Contacts`",
    "prescribed": "``prescribed`` is neither names nor a boolean array",
    "order": "``order`` is not an integer",
    "from_quaternion*.order": "",  # a word
    "to_quaternion*.order": "",
    "symmetric": "``symmetric`` is not a bool",
    "joint_parameters": "``joint_parameters`` is not a bool",
    "forces": "``forces`` is not a bool",
    "by": "``by`` is neither a name nor a sequence of names",
}
_WIDTH = 96
_INERTIA = "joints {} have no inertia to accelerate (they are named)"
_DEPENDENT = (
    " In a call of one state also if the rows of its contacts depend on each other or on nothing "
    "but rounding errors (the first such row is named). In a batch such a state has NaN for its "
    "results."
)


def errors(function: str, arguments: Collection[str], own: Entries) -> Entries:
    """Return the errors of a function: the errors of its arguments, and those its docstring adds.

    An entry in the docstring replaces the text; an entry that begins with ``...`` adds a condition.
    """
    value = ["a shape does not fit"] if {"q", "q0", *_POSES} & set(arguments) else []
    conditions, types = shared(function, _VALUE), shared(function, _TYPE)
    value += [condition for name in arguments for condition in conditions.get(name, ())]
    if "coordinates" in arguments:  # by numbers, quaternions may have any norm
        tangent = ", with ``coordinates='tangent'``"
        value = [
            x + tangent if x in _VALUE["q"] and "targets" not in arguments else x for x in value
        ]
    solves = function.startswith(_SOLVES)
    if solves:
        which = "that are not prescribed" if "prescribed" in arguments else "of the model"
        value.append(_INERTIA.format(which))
    kinds = {"ValueError": value, "TypeError": [types[x] for x in arguments if types.get(x)]}
    found: Entries = {}
    for error, known in kinds.items():
        text = own.pop(error, f"{error}\n{MORE}").removeprefix(f"{error}\n")
        if text.startswith(MORE):
            further = " ".join(text.removeprefix(MORE).split()).removesuffix(".")
            text = _sentence([*known, further] if further else known)
            if text and error == "ValueError" and solves and "contacts" in arguments:
                text += _DEPENDENT
            text = wrapped(text) if text else ""
        if text:
            found[error] = f"{error}\n{text}"
    return found | own


def _sentence(conditions: list[str]) -> str:
    """Return the conditions as one sentence."""
    unique = list(dict.fromkeys(conditions))
    if len(unique) < 2:
        return f"If {unique[0]}." if unique else ""
    comma = "," if len(unique) > 2 else ""
    return f"If {', '.join(unique[:-1])}{comma} or {unique[-1]}."


@cache
def wrapped(text: str) -> str:
    """Return a text as indented lines of at most 100 characters."""
    lines = []
    while len(text) > _WIDTH:
        end = text.rindex(" ", 0, _WIDTH + 1)
        lines.append("    " + text[:end])
        text = text[end + 1 :]
    return "\n".join([*lines, "    " + text])
