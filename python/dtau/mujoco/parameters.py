"""Lay out columns for parameters of a MuJoCo model: `Parameters`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtau.mujoco.body_forces import gravity_compensation
from dtau.mujoco.numbers import require_finite
from dtau.mujoco.scope import disabled, names_of
from dtau.support.arrays import Array
from dtau.support.checks import class_name, real_numbers

_FIXED, _AFFINE, _MUSCLE = (
    int(getattr(mujoco.mjtGain, f"mjGAIN_{name}")) for name in ("FIXED", "AFFINE", "MUSCLE")
)
_AFFINE_BIAS = int(mujoco.mjtBias.mjBIAS_AFFINE)
_MUSCLE_BIAS = int(mujoco.mjtBias.mjBIAS_MUSCLE)
_OVERRIDE = int(mujoco.mjtEnableBit.mjENBL_OVERRIDE)


class Parameters:
    """Parameters that the step is differentiated by, and their columns.

    Attributes
    ----------
    shapes : dict
        Shapes of the parameters by name, as they were asked for.
    parts : dict
        Columns of the parameters by name, in order.
    columns : int
        Number of the parameters.
    damps : bool
        Whether Euler's step takes the damping at the end of the step.
    """

    def __init__(self, mj_model: Any, names: Iterable[str]) -> None:
        m = mj_model
        shapes = shapes_of(m)
        self.shapes = {name: shapes[name] for name in known(names, tuple(shapes))}
        self._require_covered(m)
        self.parts: dict[str, slice] = {}
        starts, self.columns = [], 0
        for name, shape in shapes.items():
            starts.append(self.columns if name in self.shapes else -1)
            if name in self.shapes:
                self.parts[name] = slice(self.columns, self.columns + math.prod(shape))
                self.columns += math.prod(shape)
        dampers = not disabled(m, "DAMPER")
        damps = "dof_damping" in self.shapes and dampers and not disabled(m, "EULERDAMP")
        self.damps = damps
        compensated = np.zeros(m.nbody)
        bodies, *_ = gravity_compensation(m)
        compensated[bodies] = m.body_gravcomp[bodies]
        gravity = np.zeros(3) if disabled(m, "GRAVITY") else m.opt.gravity.copy()
        gains = np.select([m.actuator_gaintype == x for x in (_FIXED, _AFFINE)], [1, 3])
        biases = np.where(m.actuator_biastype == _AFFINE_BIAS, 3, 0)
        self.constants = (
            *(np.array([self.columns, *starts], dtype=np.intp), m.body_ipos.copy()),
            *(compensated, gravity, np.array([float(dampers)]), m.dof_jntid.astype(np.intp)),
            *(gains.astype(np.intp), biases.astype(np.intp)),
        )

    def of_solutions(self, mj_model: Any, q: Array, geoms: NDArray[np.int32]) -> list[Array]:
        """Return the displacements of springs (n, nv), and the shares of geoms in the friction."""
        m, stretch = mj_model, np.zeros((len(q), mj_model.nv))
        if "jnt_stiffness" in self.shapes and not disabled(m, "SPRING"):
            for out, at in zip(stretch, q, strict=True):
                mujoco.mj_differentiatePos(m, out, 1.0, m.qpos_spring, at)
        return [stretch, _friction_shares(m, geoms.reshape(-1, 2))]

    def by_name(self, columns: Array) -> dict[str, Array]:
        """Return the columns (..., columns) of each parameter."""
        return {
            name: columns[..., self.parts[name]].reshape(*columns.shape[:-1], *shape)
            for name, shape in self.shapes.items()
        }

    def columns_of(self, variations: Mapping[str, ArrayLike]) -> Array:
        """Return the numbers of all columns, from the numbers of some parameters."""
        out = np.zeros(self.columns)
        for name, found in checked("variations", variations, self.shapes).items():
            out[self.parts[name]] = found.ravel()
        return out

    def _require_covered(self, m: Any) -> None:
        """Raise NotImplementedError for noslip, and if forces are not linear in a parameter."""
        names = self.shapes
        if m.opt.noslip_iterations > 0:
            raise NotImplementedError(
                "dtau.mujoco does not differentiate by parameters with the noslip solver; set "
                "noslip_iterations to 0"
            )
        if "body_inertial" in names and (m.opt.density or m.opt.viscosity):
            raise NotImplementedError(
                "dtau.mujoco does not differentiate by body_inertial in a fluid, whose forces "
                "depend on inertias; leave it out, or set density and viscosity to 0"
            )
        for name, kinds, muscle in (
            ("actuator_gainprm", m.actuator_gaintype, _MUSCLE),
            ("actuator_biasprm", m.actuator_biastype, _MUSCLE_BIAS),
        ):
            if name in names and (kinds == muscle).any():
                which = names_of(m, "actuator", kinds == muscle)
                raise NotImplementedError(
                    f"dtau.mujoco does not differentiate by {name} of muscles ({which}), whose "
                    f"force is not linear in it; leave {name} out"
                )


def shapes_of(m: Any) -> dict[str, tuple[int, ...]]:
    """Return the shapes of all parameters, in the order of ``src/mujoco/step.hpp``."""
    return {
        "body_inertial": (m.nbody, 10),
        "dof_damping": (m.nv,),
        "dof_armature": (m.nv,),
        "jnt_stiffness": (m.njnt,),
        "dof_frictionloss": (m.nv,),
        "actuator_gainprm": (m.nactuator, 3),
        "actuator_biasprm": (m.nactuator, 3),
        "geom_friction": (m.ngeom, 3),
    }


def checked(
    argument: str, given: Mapping[str, ArrayLike], shapes: Mapping[str, tuple[int, ...]]
) -> dict[str, Array]:
    """Check numbers of parameters, by name."""
    if not isinstance(given, Mapping):
        raise TypeError(f"{argument}: expected a dict of names and arrays, got {class_name(given)}")
    out = {}
    for name, numbers in given.items():
        if name not in shapes:
            raise ValueError(f"{argument}: expected names among {', '.join(shapes)}, got {name!r}")
        found = np.asarray(real_numbers(name, numbers), dtype=np.float64)
        if found.shape != shapes[name]:
            raise ValueError(f"{name}: expected shape {shapes[name]}, got {found.shape}")
        require_finite(name, found)
        out[name] = found
    return out


def known(names: Iterable[str], known: tuple[str, ...]) -> tuple[str, ...]:
    """Check names of parameters."""
    if not isinstance(names, Iterable):
        raise TypeError(f"parameters: expected names of parameters, got {class_name(names)}")
    found = () if isinstance(names, str) else tuple(names)
    wrong = [name for name in found if name not in known]
    if not found or wrong or len(set(found)) < len(found):
        expected = ", ".join(known)
        got = repr(wrong[0]) if wrong else repr(names)
        raise ValueError(f"parameters: expected one or more of {expected}, got {got}")
    return found


def _friction_shares(m: Any, geoms: NDArray[np.int32]) -> Array:
    """Return derivatives of the friction of contacts by the friction of their geoms, (n, 2, 3).

    A contact takes the friction of the geom with the higher priority, or the larger one. Geoms of
    the same friction share the derivative.
    """
    if m.opt.enableflags & _OVERRIDE:
        return np.zeros((len(geoms), 2, 3))
    friction, priority = m.geom_friction[geoms], m.geom_priority[geoms]
    largest = (friction == friction.max(axis=1, keepdims=True)).astype(float)
    first = (priority == priority.max(axis=1, keepdims=True)).astype(float)[..., np.newaxis]
    decided = (priority[:, 0] != priority[:, 1])[:, np.newaxis, np.newaxis]
    out = np.where(decided, first, largest / largest.sum(axis=1, keepdims=True))
    out *= friction > mujoco.mjMINMU
    if m.npair:  # which have a friction of their own
        pairs = np.sort(np.stack([m.pair_geom1, m.pair_geom2], axis=1), axis=1)
        of_pairs = (np.sort(geoms, axis=1)[:, np.newaxis] == pairs).all(axis=-1).any(axis=-1)
        out[of_pairs] = 0.0
    return np.ascontiguousarray(out)
