"""The robots of example-robot-data in the package and in Pinocchio, where both are installed."""

from __future__ import annotations

import importlib.metadata
import re
import warnings
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from trees import Array

import dtau

pin = pytest.importorskip("pinocchio")


def _files() -> dict[str, Path]:
    """The robot files of example-robot-data, whether or not it comes with a Python module."""
    try:
        listed = importlib.metadata.files("example-robot-data") or []
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("example-robot-data is not installed", allow_module_level=True)
    found = (Path(str(file.locate())) for file in listed if file.suffix == ".urdf")
    return {"/".join([path.parts[-3], path.name]): path for path in found}


FILES = _files()


@dataclass(frozen=True)
class Pair:
    """One robot in both libraries, and how Pinocchio's coordinates follow from the package's."""

    model: dtau.Model
    peer: Any
    iv: Array  # peer v = v[iv]
    joints: list[Any]  # the package's records, in the peer's order

    def q(self, q: Array) -> Array:
        """A continuous joint is (cos, sin) there."""
        parts = []
        for joint, record in zip(list(self.peer.joints)[1:], self.joints, strict=True):
            x = q[record.q]
            if joint.nq == 2 and joint.nv == 1:
                x = np.array([np.cos(x[0]), np.sin(x[0])])
            parts.append(x)
        return np.concatenate(parts)

    def wrenches(self, f_ext: Array) -> Any:
        out = pin.StdVec_Force()
        out.append(pin.Force.Zero())
        for record in self.joints:
            out.append(pin.Force(f_ext[record.body]))
        return out

    def square(self, matrix: Array) -> Array:
        """A matrix of the package with rows and columns in the peer's order."""
        return matrix[np.ix_(self.iv, self.iv)]


@cache
def pair(name: str, root: str) -> Pair:
    path = FILES[name]
    if root == "free":
        peer = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())
    else:
        peer = pin.buildModelFromUrdf(str(path))
    peer.armature[:] = 0.0
    peer.damping[:] = 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dtau.ModelWarning)
        model = undamped(path, root)
    names = list(peer.names)[1:]
    assert sorted(names) == sorted(joint.name for joint in model.joints)
    joints = [model.joint(joint) for joint in names]
    iv = np.concatenate([np.r_[joint.v] for joint in joints])
    assert peer.nv == model.nv
    return Pair(model, peer, iv, joints)


def undamped(path: Path, root: str) -> dtau.Model:
    """The robot without the damping that its file may give; Pinocchio's functions have none."""
    text = path.read_text(encoding="utf-8", errors="replace")
    return dtau.load(re.sub(r"""\bdamping\s*=\s*("[^"]*"|'[^']*')""", "", text), root=root)
