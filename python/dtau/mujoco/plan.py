"""Keep the parts of a MuJoCo model that do not depend on the state: `plan_of`."""

from __future__ import annotations

import copy
import threading
from operator import attrgetter
from typing import Any, NamedTuple

import mujoco
import numpy as np

from dtau import _core
from dtau.conventions.mujoco_model import mujoco as mujoco_convention
from dtau.loaders.live_mujoco import from_mujoco
from dtau.model.model import Model
from dtau.mujoco.actuators import Actuators
from dtau.mujoco.body_forces import gravity_compensation
from dtau.mujoco.compiled_arrays import require_read
from dtau.mujoco.equalities import equality_parts
from dtau.mujoco.fluids import fluid_parts
from dtau.mujoco.numbers import lists
from dtau.mujoco.parameters import Parameters
from dtau.mujoco.scope import (
    IMPLICITFAST,
    OF_JOINTS,
    QUATERNIONS,
    RK4,
    disabled,
    require_covered_model,
)
from dtau.mujoco.spatial_tendons import SpatialTendons
from dtau.mujoco.tendons import fixed_tendons, spring_constants, tendon_springs
from dtau.support.arrays import Array, Indices
from dtau.support.errors import without_model_warnings
from dtau.support.locks import fork_safe_lock

# Arrays and options that a Plan depends on: a changed model never gets an earlier plan.
_ARRAYS = attrgetter(
    *("body_parentid", "body_weldid", "body_jntadr", "body_pos", "body_quat", "body_ipos"),
    *("body_iquat", "body_mass", "body_inertia", "body_mocapid", "jnt_type", "jnt_bodyid"),
    *("jnt_pos", "jnt_axis", "jnt_stiffness", "jnt_stiffnesspoly", "jnt_actfrclimited"),
    *("jnt_actfrcrange", "jnt_actgravcomp", "body_gravcomp", "qpos0", "dof_damping"),
    *("dof_dampingpoly", "dof_armature"),
    *("eq_type", "eq_data", "eq_obj1id", "eq_obj2id", "eq_objtype"),
    *("actuator_trntype", "actuator_trnid", "actuator_dyntype", "actuator_dynprm"),
    *("actuator_gaintype", "actuator_gainprm", "actuator_biastype", "actuator_biasprm"),
    *("actuator_gear", "actuator_ctrllimited", "actuator_ctrlrange", "actuator_forcelimited"),
    *("actuator_forcerange", "actuator_actlimited", "actuator_actrange", "actuator_actearly"),
    *("actuator_ctrladr", "actuator_ctrlnum", "actuator_outnum", "actuator_actadr"),
    *("actuator_lengthrange", "actuator_acc0", "actuator_actnum"),
    *("actuator_damping", "actuator_dampingpoly", "actuator_armature"),
    *("tendon_adr", "tendon_num", "tendon_stiffness", "tendon_stiffnesspoly", "tendon_damping"),
    *("tendon_dampingpoly", "tendon_lengthspring", "tendon_armature", "tendon_actfrclimited"),
    *("tendon_length0", "tendon_frictionloss", "wrap_type", "wrap_objid", "wrap_prm"),
    *("site_bodyid", "site_pos", "site_quat", "site_sameframe"),
    *("body_sameframe", "dof_simplenum", "dof_M0"),
)
_SIZES = attrgetter(*("names", "ntendon", "nflex", "nplugin", "nplastic", "nhistory"))
_FLAGS = attrgetter("flg_adhesion", "flg_surfacevel", "flg_gravcomp")
_OF_FLUIDS = attrgetter(
    *("geom_fluid", "geom_size", "geom_type", "geom_bodyid", "geom_pos", "geom_quat"),
    "geom_sameframe",
)
_OPTIONS = attrgetter(
    *("integrator", "timestep", "cone", "solver", "disableflags", "enableflags"),
    *("disableactuator", "noslip_iterations", "density", "viscosity"),
)
# How the core goes on from accelerations: Integrator in src/mujoco/step.hpp.
_EXPLICIT_EULER, _IMPLICIT_EULER, _IMPLICIT_FAST, _STAGE = range(4)
_NO_PARAMETERS = np.array([0, *8 * [-1]], dtype=np.intp)
_MOST_KEPT = 8
_one_at_a_time = fork_safe_lock()
_kept: dict[tuple[Any, ...], Plan] = {}
_latest = threading.local()


class Plan:
    """Index arrays, masks and constants of a model that is covered.

    Attributes
    ----------
    spatial_tendons : SpatialTendons or None
    model : Model
        dtau's model, without armature, springs and dampers.
    free, angles, plain : ndarray
        First degrees of freedom of free joints and of all rotations by quaternions, and all
        degrees of freedom of the rest.
    """

    def __init__(self, mj_model: Any) -> None:
        require_covered_model(mj_model)
        m = mj_model
        self.integrator, self.timestep = int(m.opt.integrator), float(m.opt.timestep)
        self.nv, self.nu, self.na = m.nv, m.nu, m.na
        self.noslip = m.opt.noslip_iterations > 0
        self.damping = np.zeros(m.nv) if disabled(m, "DAMPER") else m.dof_damping.copy()
        self.stiffness = np.zeros(m.nv)
        if not disabled(m, "SPRING"):
            self.stiffness += m.jnt_stiffness[m.dof_jntid]
        self.elliptic = int(m.opt.cone) == int(mujoco.mjtCone.mjCONE_ELLIPTIC)
        self.armature = m.dof_armature.copy()
        fixed = (m.wrap_type == OF_JOINTS).all()
        self.spatial_tendons = None if fixed else SpatialTendons(m)
        ancestors, *_ = self._masks = _masks(m)
        of_tendons = fixed_tendons(m)
        self.actuators = Actuators(m, of_tendons, ancestors)
        carried = ancestors[m.dof_bodyid]
        # MuJoCo's implicitfast keeps derivatives where the mass matrix may have entries.
        self._related = np.maximum(carried, carried.T)
        free = m.jnt_type == QUATERNIONS[0]
        self.free = m.jnt_dofadr[free].astype(np.intp)
        self._free_bodies = m.jnt_bodyid[free].astype(np.intp)
        turning = np.isin(m.jnt_type, QUATERNIONS)
        self.angles = m.jnt_dofadr[turning].astype(np.intp) + 3 * free[turning]
        plain = np.ones(m.nv, dtype=bool)
        for first in self.angles:
            plain[first : first + 3] = False
        self.plain = np.flatnonzero(plain)
        self.model, self._coordinates, self._offsets, self._order = _smooth_model(m)
        inertia = _core.mass_matrix(self.model, m.qpos0[self._coordinates] - self._offsets)
        require_read(m, inertia[np.ix_(self._order, self._order)])
        self._constants = self._arrays(m, of_tendons)

    @property
    def matrices_only(self) -> bool:
        """Whether products with the derivatives of a step form its matrices."""
        return self.noslip or self.integrator == RK4

    def constants(self, mj_model: Any, parameters: Parameters | None = None) -> Any:
        """Return what the core reads, in the order of ``src/mujoco/step.hpp``."""
        m = mj_model
        live = m.geom_bodyid, m.geom_type, m.geom_size, m.jnt_type, m.jnt_dofadr, m.jnt_range
        if parameters is None:
            return _core.mujoco_constants((*self._constants, *live, _NO_PARAMETERS))
        sizes, *others = self._constants
        if sizes[0] == _EXPLICIT_EULER and parameters.damps and not self.damping.any():
            # More damping than none is taken at the end of the step.
            sizes = np.array([_IMPLICIT_EULER, *sizes[1:]], dtype=np.intp)
        return _core.mujoco_constants((sizes, *others, *live, *parameters.constants))

    def _arrays(self, m: Any, of_tendons: Array) -> tuple[Any, ...]:
        implicit = np.diag(self.damping)
        if self.integrator == RK4:
            way = _STAGE
        elif self.integrator == IMPLICITFAST:
            way = _IMPLICIT_FAST
            _, damping = spring_constants(m)
            implicit += (of_tendons.T * damping) @ of_tendons * self._related
        elif not disabled(m, "EULERDAMP") and (self.damping > 0.0).any():
            way = _IMPLICIT_EULER
        else:
            way = _EXPLICIT_EULER
        *tendons, springs = tendon_springs(m, of_tendons)
        sizes = (
            *(way, self.elliptic, m.nq, m.nv, m.na, m.nu, m.nactuator, m.nbody, m.ngeom),
            *(len(self.free), len(self.angles), len(self.plain), m.njnt, len(springs), m.neq),
        )
        actuators = self.actuators
        return (
            *(np.array(sizes, dtype=np.intp), np.array([self.timestep])),
            *(self.damping, self.stiffness, self.armature, implicit, self._related),
            *(x.astype(np.intp) for x in (m.body_rootid[m.dof_bodyid], m.dof_bodyid)),
            *(part for masks in self._masks for part in lists(masks)),
            *(self._coordinates, self._offsets, np.argsort(self._order), self._order),
            *(self.free, self._free_bodies, self.angles, self.plain),
            *lists(actuators.moments),
            *(actuators.columns, actuators.state_of, actuators.dofs, actuators.numbers()),
            *(*gravity_compensation(m), *actuators.thrusters, *tendons, springs),
            *(*equality_parts(m, of_tendons), *fluid_parts(m)),
            *(actuators.joint_low, actuators.joint_high),
        )


class _Seen(NamedTuple):
    """The latest model of a thread, and what its plan depends on."""

    model: Any
    arrays: tuple[Any, ...]  # of the model itself, so that they change with it
    numbers: bytes
    others: tuple[Any, ...]
    plan: Plan


def plan_of(mj_model: Any) -> Plan:
    """Return the plan of a model; raise NotImplementedError if a part of it is not covered."""
    opt = mj_model.opt
    seen: _Seen | None = getattr(_latest, "seen", None)
    if seen is not None and seen.model is not mj_model:
        seen = None
    fluid = b"".join(_OF_FLUIDS(mj_model)) if opt.density or opt.viscosity else b""
    others = fluid, _FLAGS(mj_model), _OPTIONS(opt)
    if (
        seen is not None
        and _core.mujoco_is_same(seen.arrays, seen.numbers)
        and seen.others == others
    ):
        return seen.plan
    arrays = *_ARRAYS(mj_model), opt.gravity, opt.wind
    numbers = b"".join(arrays)
    key = numbers, others, _SIZES(mj_model)
    found = _kept.get(key)
    if found is None:
        found = Plan(mj_model)
        with _one_at_a_time:
            while len(_kept) >= _MOST_KEPT:
                del _kept[next(iter(_kept))]
            _kept[key] = found
    _latest.seen = _Seen(mj_model, arrays, numbers, others, found)
    return found


def _masks(m: Any) -> tuple[Array, Array, Array]:
    """Return masks of the lists `paths`, `still` and `carried` of src/mujoco/step.hpp.

    1 where a degree of freedom moves a body, (nbody, nv). 1 where that of the row does not move the
    axis of the one of the column, though the axis moves its body, (nv, nv). 1 where that of the
    column moves the axis.
    """
    ancestors = np.zeros((m.nbody, m.nv), dtype=bool)
    for body in range(1, m.nbody):
        ancestors[body] = ancestors[m.body_parentid[body]]
        first = m.body_dofadr[body]
        ancestors[body, first : first + m.body_dofnum[body]] = m.body_dofnum[body] > 0
    carried = ancestors[m.dof_bodyid]  # row i: the degrees of freedom that move the body of i
    before = m.dof_jntid[:, np.newaxis] < m.dof_jntid
    same_body = m.dof_bodyid[:, np.newaxis] == m.dof_bodyid
    moves = carried.T & (~same_body | before)
    for kind, start in zip(m.jnt_type, m.jnt_dofadr, strict=True):
        if kind == QUATERNIONS[0]:  # translations move the axes of rotation, not conversely
            moves[start : start + 6, start + 3 : start + 6] = True
        elif kind == QUATERNIONS[1]:
            moves[start : start + 3, start : start + 3] = True
    return ancestors.astype(float), (carried & ~moves).astype(float), moves.T.astype(float)


def _smooth_model(mj_model: Any) -> tuple[Model, Indices, Array, Indices]:
    """Return dtau's model, and the maps of MuJoCo's coordinates and velocities to it.

    The armature does not depend on the configuration, and `mj_fullM` has it.
    """
    bare = copy.copy(mj_model)
    for array in (bare.dof_armature, bare.dof_damping, bare.dof_frictionloss, bare.jnt_stiffness):
        array[:] = 0.0
    for body in mj_model.jnt_bodyid[mj_model.jnt_type == QUATERNIONS[0]]:
        # The pose of a free body is its configuration.
        bare.body_pos[body], bare.body_quat[body] = 0.0, (1.0, 0.0, 0.0, 0.0)
    if disabled(mj_model, "GRAVITY"):
        bare.opt.gravity[:] = 0.0
    with without_model_warnings():
        # This package differentiates the parts that a Model does not carry, or refuses them.
        model = from_mujoco(bare)
    convention = mujoco_convention(model, bare)
    # The maps copy and add: two configurations show them. Quaternions need not be of unit norm.
    maps = convention._maps
    offsets = -maps.coordinates.to_dtau(np.zeros(mj_model.nq))
    ranks = maps.coordinates.to_dtau(np.arange(mj_model.nq, dtype=float)) + offsets
    order = maps.order.from_dtau(np.arange(mj_model.nv))
    return model, np.rint(ranks).astype(np.intp), offsets, order.astype(np.intp)
