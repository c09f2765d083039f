"""Refuse models that are not covered, and convert the others: `require_covered`, `smooth_model`."""

from __future__ import annotations

import copy
import warnings
from typing import Any

import mujoco
import numpy as np

from dtau.conventions.convention import Convention
from dtau.conventions.mujoco_model import mujoco as mujoco_convention
from dtau.errors import ModelWarning
from dtau.loaders.live_mujoco import from_mujoco
from dtau.locks import fork_safe_lock
from dtau.model.model import Model

# MuJoCo's enumerators do not equal NumPy's integers.
QUATERNIONS = (int(mujoco.mjtJoint.mjJNT_FREE), int(mujoco.mjtJoint.mjJNT_BALL))
_INTEGRATORS = (int(mujoco.mjtIntegrator.mjINT_EULER), int(mujoco.mjtIntegrator.mjINT_IMPLICITFAST))
_TRANSMISSIONS = (int(mujoco.mjtTrn.mjTRN_JOINT), int(mujoco.mjtTrn.mjTRN_JOINTINPARENT))
_GAINS = (int(mujoco.mjtGain.mjGAIN_FIXED), int(mujoco.mjtGain.mjGAIN_AFFINE))
_BIASES = (int(mujoco.mjtBias.mjBIAS_NONE), int(mujoco.mjtBias.mjBIAS_AFFINE))
_ENABLED = int(
    mujoco.mjtEnableBit.mjENBL_ENERGY
    | mujoco.mjtEnableBit.mjENBL_FWDINV
    | mujoco.mjtEnableBit.mjENBL_INVDISCRETE
)
# Arrays that the smooth dynamics depends on.
_NUMBERS = (
    *("body_parentid", "body_weldid", "body_jntadr", "body_pos", "body_quat", "body_ipos"),
    *("body_iquat", "body_mass", "body_inertia", "jnt_type", "jnt_bodyid", "jnt_pos", "jnt_axis"),
    *("jnt_qposadr", "jnt_dofadr", "qpos0", "eq_type", "eq_data", "eq_obj1id", "eq_obj2id"),
)
_MOST_KEPT = 8
_one_at_a_time = fork_safe_lock()
_kept: dict[tuple[Any, ...], tuple[Model, Convention]] = {}
_CALLBACKS = ("control", "passive", "act_gain", "act_bias", "act_dyn", "contactfilter")


def disabled(mj_model: Any, flag: str) -> bool:
    """Tell if ``option/flag`` disables a part: `flag` is a name of `mujoco.mjtDisableBit`."""
    return bool(mj_model.opt.disableflags & int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{flag}")))


def not_covered(parts: str) -> NotImplementedError:
    """Return the error that names parts that are not covered."""
    return NotImplementedError(
        f"dtau.mujoco does not differentiate {parts}; mujoco.mjd_transitionFD does, by differences"
    )


def require_covered(mj_model: Any, mj_data: Any) -> None:
    """Raise NotImplementedError if a part of the model or data is not covered."""
    opt, m = mj_model.opt, mj_model
    turning = np.isin(m.jnt_type, QUATERNIONS)
    driven = np.isin(m.actuator_trntype, _TRANSMISSIONS)
    uncovered = {
        "integrators other than Euler and implicitfast": opt.integrator not in _INTEGRATORS,
        "implicitfast for free bodies that carry no joint": (
            opt.integrator == _INTEGRATORS[1] and _has_lone_free_body(m)
        ),
        "the noslip solver": opt.noslip_iterations > 0,
        "these flags of option/flag that are enabled": opt.enableflags & ~_ENABLED,
        "option/actuatorgroupdisable": opt.disableactuator,
        "fluid forces": opt.density or opt.viscosity,
        "tendons": m.ntendon,
        "flexes": m.nflex,
        "plugins": m.nplugin,
        "plastic joints": m.nplastic,
        "activation states of actuators": m.na,
        "delays": m.nhistory,
        "gravity compensation": m.ngravcomp,
        "actuators with several controls or forces": (
            (m.actuator_ctrlnum != 1).any() or (m.actuator_outnum != 1).any()
        ),
        "actuators of anything but hinges and slides": (
            not driven.all() or turning[m.actuator_trnid[driven, 0]].any()
        ),
        "gains other than fixed and affine": not np.isin(m.actuator_gaintype, _GAINS).all(),
        "biases other than affine": not np.isin(m.actuator_biastype, _BIASES).all(),
        "damping and armature of actuators": (
            m.actuator_damping.any() or m.actuator_dampingpoly.any() or m.actuator_armature.any()
        ),
        "limits of the actuators' force on a joint": m.jnt_actfrclimited.any(),
        "springs of free and ball joints": m.jnt_stiffness[turning].any(),
        "springs and dampers that are not linear": (
            m.jnt_stiffnesspoly.any() or m.dof_dampingpoly.any()
        ),
        "joints on mocap bodies": (m.body_mocapid[m.body_rootid[m.jnt_bodyid]] >= 0).any(),
        "xfrc_applied": mj_data.xfrc_applied.any(),
        "callbacks": any(getattr(mujoco, f"get_mjcb_{name}")() for name in _CALLBACKS),
    }
    found = [name for name, present in uncovered.items() if present]
    if found:
        raise not_covered(", ".join(found))


def _has_lone_free_body(mj_model: Any) -> bool:
    """Tell if a tree is one free joint: implicitfast has gyroscopic terms for it."""
    free = mj_model.jnt_dofadr[mj_model.jnt_type == QUATERNIONS[0]]
    sizes = np.bincount(mj_model.dof_treeid)
    return bool((sizes[mj_model.dof_treeid[free]] == 6).any())


def smooth_model(mj_model: Any) -> tuple[Model, Convention]:
    """Return dtau's model without armature, springs and dampers, and MuJoCo's convention for it.

    The armature does not depend on the configuration, and `mj_fullM` has it. Models are kept by
    their numbers, so that a changed `mj_model` never gets an earlier model.
    """
    key: tuple[Any, ...] = (
        mj_model.names,
        disabled(mj_model, "GRAVITY"),
        mj_model.opt.gravity.tobytes(),
    )
    key += tuple(getattr(mj_model, name).tobytes() for name in _NUMBERS)
    found = _kept.get(key)
    if found is None:
        bare = copy.copy(mj_model)
        for array in (bare.dof_armature, bare.dof_damping, bare.dof_frictionloss):
            array[:] = 0.0
        bare.jnt_stiffness[:] = 0.0
        if disabled(mj_model, "GRAVITY"):
            bare.opt.gravity[:] = 0.0
        with warnings.catch_warnings():
            # This package differentiates the parts that a Model does not carry, or refuses them.
            warnings.simplefilter("ignore", ModelWarning)
            model = from_mujoco(bare)
        found = model, mujoco_convention(model, bare)
        with _one_at_a_time:
            while len(_kept) >= _MOST_KEPT:
                del _kept[next(iter(_kept))]
            _kept[key] = found
    return found
