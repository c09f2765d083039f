"""Values and derivatives that an independent program computed (tests/oracles/README.md)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from files import ORACLES
from trees import KINDS, Array, Body, Tree

import dtau

STATES = ("s0", "s1", "s2")


TYPES = {"R": "revolute", "P": "prismatic", "H": "helical", "S": "spherical", "Fb": "free"}


# The oracle's coordinates of a joint, in the package's order.
Q_ORDER = {"spherical": [1, 2, 3, 0], "free": [4, 5, 6, 1, 2, 3, 0]}


V_ORDER = {"free": [3, 4, 5, 0, 1, 2]}


def joint_of(code: str) -> tuple[str, Array]:
    """Kind and axis of a joint code such as Rx, H or Rx-."""
    kind = TYPES[code] if code in TYPES else TYPES[code[0]]
    letter = code[1] if kind in ("revolute", "prismatic") else "z"
    return kind, np.eye(3)["xyz".index(letter)] * (-1.0 if code.endswith("-") else 1.0)


@dataclass(frozen=True)
class Oracle:
    """An oracle's model and numbers, and where its coordinates are in the package's arrays."""

    tree: Tree
    model: dtau.Model
    numbers: dict[str, Array]
    to_q: Array  # package q = oracle q[to_q]
    to_v: Array

    def q(self, state: str) -> Array:
        return self.numbers[f"{state}_q"][self.to_q]

    def vector(self, state: str, name: str) -> Array:
        return self.numbers[f"{state}_{name}"][self.to_v]

    def matrix(self, state: str, name: str) -> Array:
        return self.numbers[f"{state}_{name}"][np.ix_(self.to_v, self.to_v)]

    def tensor(self, name: str) -> Array:
        return self.numbers[f"s0_{name}"][np.ix_(self.to_v, self.to_v, self.to_v)]


@cache
def oracle(name: str) -> Oracle:
    numbers = {}
    for kind in ("sv2", "second"):
        with np.load(ORACLES / f"{kind}_{name}.npz") as file:
            numbers.update({key: file[key] for key in file.files})
    bodies = []
    for i, code in enumerate(numbers["model_jtype"]):
        kind, axis = joint_of(str(code))
        bodies.append(
            Body(
                name=f"joint{i}",
                parent=int(numbers["model_parent"][i]) - 1,
                kind=kind,
                axis=axis,
                pitch=float(numbers["model_pitch"][i]),
                rotation=numbers["model_E"][i].T,
                translation=numbers["model_r"][i],
                mass=float(numbers["model_mass"][i]),
                com=numbers["model_com"][i],
                tensor=numbers["model_Icom"][i],
                armature=np.zeros(KINDS[kind].nv),
                damping=np.zeros(KINDS[kind].nv),
                stiffness=np.zeros(KINDS[kind].nv),
                rest=np.zeros(KINDS[kind].nv),
                friction=np.zeros(KINDS[kind].nv),
                speed=np.ones(KINDS[kind].nv),
            )
        )
    tree = Tree(tuple(bodies), numbers["model_gravity"])
    model = tree.model()
    to_q, to_v = np.full(model.nq, -1), np.full(model.nv, -1)
    q0 = v0 = 0
    for body in bodies:
        kind_row, joint = KINDS[body.kind], model.joint(body.name)
        to_q[joint.q] = q0 + np.array(Q_ORDER.get(body.kind, range(kind_row.nq)))
        to_v[joint.v] = v0 + np.array(V_ORDER.get(body.kind, range(kind_row.nv)))
        q0, v0 = q0 + kind_row.nq, v0 + kind_row.nv
    assert sorted(to_q) == list(range(model.nq))
    assert sorted(to_v) == list(range(model.nv))
    return Oracle(tree, model, numbers, to_q, to_v)
