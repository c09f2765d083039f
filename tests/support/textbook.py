"""Conventions by their definitions, composed with the package's own algorithms.

`Textbook` writes each map of velocities out on its own, for complex numbers too, so that complex
steps of the composition give derivatives to compare with.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import complex_step
import numpy as np
import pytest
from complex_step import STEP
from core import complex_core
from trees import Array, cross, kind_of, rotation_of, skew

import dtau
from dtau.conventions.convention import Convention
from dtau.conventions.twists import TwistMap


def kinematic_block(model: dtau.Model, v: Array) -> Array:
    """-ad_v of every joint by its motion subspace in body axes: S^+ (S v) x S."""
    block = np.zeros((model.nv, model.nv))
    for joint in model.joints:
        subspace = kind_of(joint.type).subspace
        if subspace is None or joint.mimic is not None:  # angles add
            continue
        axis = getattr(joint.type, "axis", getattr(joint.type, "normal", np.eye(3)[2]))
        S = subspace(np.asarray(axis), getattr(joint.type, "pitch", 0.0))
        block[joint.v, joint.v] = -np.linalg.pinv(S) @ cross(S @ v[joint.v]) @ S
    return block


def half_mixed(model: dtau.Model) -> Convention:
    """What MuJoCo does to velocities, without a model of MuJoCo's."""
    return Convention("half mixed", model, twists=TwistMap(model))


CONVENTIONS: dict[str, Callable[[dtau.Model], Convention]] = {
    "half mixed": half_mixed,
    "mixed": dtau.conventions.mixed_twist,
    "spatial": dtau.conventions.spatial_twist,
    "angular first": dtau.conventions.angular_first,
}


each_convention = pytest.mark.parametrize("kind", CONVENTIONS)


@dataclass(frozen=True)
class Textbook:
    """A(q), dA/dt v and what a displacement does, by their definitions; real or complex."""

    kind: str
    model: dtau.Model
    wrench_axes: str = "body"

    def roots(self) -> list[Any]:
        return [j for j in self.model.joints if type(j.type).__name__ == "Free" and j.parent < 0]

    def order(self) -> Any:
        order = np.arange(self.model.nv)
        if self.kind == "angular first":
            for joint in self.model.joints:
                if type(joint.type).__name__ == "Free":
                    order[joint.v] = np.r_[joint.v.start + 3 : joint.v.stop, order[joint.v][:3]]
        return order

    def matrix(self, q: Any) -> Any:
        out = np.eye(self.model.nv, dtype=q.dtype)
        for joint in self.roots() if self.kind != "angular first" else []:
            placement = joint.placement
            r = placement.rotation @ rotation_of(q[joint.q][3:])
            p = placement.rotation @ q[joint.q][:3] + placement.translation
            at = joint.v.start
            out[at : at + 3, at : at + 3] = r
            if self.kind != "half mixed":
                out[at + 3 : at + 6, at + 3 : at + 6] = r
            if self.kind == "spatial":
                out[at : at + 3, at + 3 : at + 6] = skew(p) @ r
        return out[self.order()]

    def rate(self, q: Any, v: Any) -> Any:
        """dA/dt v."""
        out = np.zeros(self.model.nv, dtype=np.result_type(q, v))
        for joint in self.roots() if self.kind in ("half mixed", "mixed") else []:
            r = joint.placement.rotation @ rotation_of(q[joint.q][3:])
            out[joint.v][:3] = r @ np.cross(v[joint.v][3:], v[joint.v][:3])
        return out[self.order()]

    def matrix_change(self, q: Any, step: Any) -> Any:
        """Change of `matrix` along a displacement, [dp, dr] of a root along its body's axes."""
        out = np.zeros((self.model.nv, self.model.nv), dtype=np.result_type(q, step))
        for joint in self.roots() if self.kind != "angular first" else []:
            placement = joint.placement
            r = placement.rotation @ rotation_of(q[joint.q][3:])
            p = placement.rotation @ q[joint.q][:3] + placement.translation
            dp, dr = r @ step[joint.v][:3], r @ skew(step[joint.v][3:])
            at = joint.v.start
            out[at : at + 3, at : at + 3] = dr
            if self.kind != "half mixed":
                out[at + 3 : at + 6, at + 3 : at + 6] = dr
            if self.kind == "spatial":
                out[at : at + 3, at + 3 : at + 6] = skew(dp) @ r + skew(p) @ dr
        return out[self.order()]

    def rate_change(self, q: Any, v: Any, step: Any, dv: Any) -> Any:
        """Change of `rate` along a displacement and a change of the velocity."""
        out = np.zeros(self.model.nv, dtype=np.result_type(q, v, step, dv))
        for joint in self.roots() if self.kind in ("half mixed", "mixed") else []:
            r = joint.placement.rotation @ rotation_of(q[joint.q][3:])
            (u, w), (du, dw) = v[joint.v].reshape(2, 3), dv[joint.v].reshape(2, 3)
            change = np.cross(step[joint.v][3:], np.cross(w, u)) + np.cross(dw, u) + np.cross(w, du)
            out[joint.v][:3] = r @ change
        return out[self.order()]

    def moved(self, q: Array, direction: Array) -> Any:
        """The configuration after i STEP times a displacement of this convention."""
        d = np.zeros(self.model.nv)
        d[self.order()] = direction
        ours = d.copy()
        if self.kind != "angular first":
            for joint in self.roots():
                ours[joint.v] = 0.0
        out = complex_step.moved(self.model, q, ours[np.newaxis])[0]
        for joint in self.roots() if self.kind != "angular first" else []:
            back = joint.placement.rotation.T
            shift, turn = d[joint.v][:3], d[joint.v][3:]
            p = q[joint.q][:3]
            if self.kind == "spatial":
                world = joint.placement.rotation @ p + joint.placement.translation
                shift = shift + np.cross(turn, world)
            u, w = q[joint.q][3:6], q[joint.q][6]
            if self.kind == "half mixed":  # about the body's axes: from the right
                du, dw = 0.5 * (w * turn + np.cross(u, turn)), -0.5 * turn @ u
            else:
                turn = back @ turn
                du, dw = 0.5 * (w * turn + np.cross(turn, u)), -0.5 * turn @ u
            out[joint.q] = q[joint.q] + 1j * STEP * np.r_[back @ shift, du, dw]
        return out

    def inverse_dynamics(self, q: Any, v: Any, a: Any, f_ext: Any) -> Any:
        """tau' of (q, v', a')."""
        a_map = self.matrix(q)
        ours = np.linalg.solve(a_map, v)
        rate = np.linalg.solve(a_map, a - self.rate(q, ours))
        tau = complex_core(
            "inverse_dynamics", self.model, q, ours, rate, f_ext, f_ext_axes=self.wrench_axes
        )
        return np.linalg.solve(a_map.T, tau)

    def forward_dynamics(self, q: Any, v: Any, tau: Any, f_ext: Any) -> Any:
        """a' of (q, v', tau')."""
        a_map = self.matrix(q)
        ours = np.linalg.solve(a_map, v)
        a = complex_core(
            "forward_dynamics",
            self.model,
            q,
            ours,
            a_map.T @ tau,
            f_ext,
            f_ext_axes=self.wrench_axes,
        )
        return a_map @ a + self.rate(q, ours)

    def derivatives(self, name: str, q: Array, v: Array, x: Array, f_ext: Array) -> list[Array]:
        """By q', v' and x' (a' or tau'), by complex step."""
        function = getattr(self, name)
        unit = np.eye(self.model.nv)
        rates = (
            [function(self.moved(q, e), v, x, f_ext) for e in unit],
            [function(q, v + 1j * STEP * e, x, f_ext) for e in unit],
            [function(q, v, x + 1j * STEP * e, f_ext) for e in unit],
        )
        return [np.stack(columns, axis=-1).imag / STEP for columns in rates]
