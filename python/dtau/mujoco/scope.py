"""Refuse models that are not covered: `require_covered_model`, `require_covered_data`."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

# MuJoCo's enumerators do not equal NumPy's integers.
QUATERNIONS = (int(mujoco.mjtJoint.mjJNT_FREE), int(mujoco.mjtJoint.mjJNT_BALL))
EULER = int(mujoco.mjtIntegrator.mjINT_EULER)
RK4 = int(mujoco.mjtIntegrator.mjINT_RK4)
IMPLICITFAST = int(mujoco.mjtIntegrator.mjINT_IMPLICITFAST)
_TRANSMISSIONS = (int(mujoco.mjtTrn.mjTRN_JOINT), int(mujoco.mjtTrn.mjTRN_JOINTINPARENT))
TENDON_TRANSMISSION = int(mujoco.mjtTrn.mjTRN_TENDON)
SITE_TRANSMISSION = int(mujoco.mjtTrn.mjTRN_SITE)
_GAINS = tuple(int(getattr(mujoco.mjtGain, f"mjGAIN_{x}")) for x in ("FIXED", "AFFINE", "MUSCLE"))
_BIASES = tuple(int(getattr(mujoco.mjtBias, f"mjBIAS_{x}")) for x in ("NONE", "AFFINE", "MUSCLE"))
_ENABLED = int(
    mujoco.mjtEnableBit.mjENBL_OVERRIDE
    | mujoco.mjtEnableBit.mjENBL_ENERGY
    | mujoco.mjtEnableBit.mjENBL_FWDINV
    | mujoco.mjtEnableBit.mjENBL_INVDISCRETE
)
_DYNAMICS = (
    int(mujoco.mjtDyn.mjDYN_NONE),
    int(mujoco.mjtDyn.mjDYN_INTEGRATOR),
    int(mujoco.mjtDyn.mjDYN_FILTER),
    int(mujoco.mjtDyn.mjDYN_FILTEREXACT),
    int(mujoco.mjtDyn.mjDYN_MUSCLE),
)
OF_JOINTS = int(mujoco.mjtWrap.mjWRAP_JOINT)
_CALLBACKS = tuple(
    getattr(mujoco, f"get_mjcb_{name}")
    for name in ("control", "passive", "act_gain", "act_bias", "act_dyn", "contactfilter")
)


def disabled(mj_model: Any, flag: str) -> bool:
    """Tell if ``option/flag`` disables a part: `flag` is a name of `mujoco.mjtDisableBit`."""
    return bool(mj_model.opt.disableflags & int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{flag}")))


def not_covered(parts: str, where: str = "") -> NotImplementedError:
    """Return the error that names parts that are not covered, and where one of them is."""
    found = f" ({where})" if where else ""
    return NotImplementedError(
        f"dtau.mujoco does not differentiate {parts}{found}; mujoco.mjd_transitionFD does, by "
        "differences"
    )


def jumps(where: str, what: str) -> ValueError:
    """Return the error for a state without derivatives."""
    return ValueError(
        f"{where}: expected {what} that moves continuously, got one that jumps in this state, "
        "where the step has no derivative; displace the state by 1e-6, or difference the step with "
        "mujoco.mjd_transitionFD"
    )


def spatial_actuators(m: Any) -> NDArray[np.bool_]:
    """Tell which actuators pull tendons that pass through sites."""
    out = np.asarray(m.actuator_trntype == TENDON_TRANSMISSION)
    out[out] = (m.wrap_type[m.tendon_adr] != OF_JOINTS)[m.actuator_trnid[out, 0]]
    return out


def require_covered_model(mj_model: Any) -> None:
    """Raise NotImplementedError if a part of the model is not covered."""
    opt, m = mj_model.opt, mj_model
    turning = np.isin(m.jnt_type, QUATERNIONS)
    driven = np.isin(m.actuator_trntype, _TRANSMISSIONS)
    spatial = m.wrap_type[m.tendon_adr] != OF_JOINTS
    pulled = m.actuator_trntype == TENDON_TRANSMISSION
    of_sites = m.actuator_trntype == SITE_TRANSMISSION
    of_sites &= m.actuator_trnid[:, 1] < 0  # else along the axes of another site
    muscles = (m.actuator_gaintype == _GAINS[2]) | (m.actuator_biastype == _BIASES[2])
    damped = m.actuator_biasprm[:, 2] * (m.actuator_biastype == _BIASES[1])
    damped = damped + m.actuator_gainprm[:, 2] * (m.actuator_gaintype == _GAINS[1])
    _refuse(
        {
            "integrators other than Euler, implicitfast and RK4": (
                opt.integrator not in (EULER, IMPLICITFAST, RK4)
            ),
            "implicitfast for free bodies that carry no joint": (
                opt.integrator == IMPLICITFAST and _has_lone_free_body(m)
            ),
            "friction loss of spatial tendons with the noslip solver": (
                opt.noslip_iterations > 0 and m.tendon_frictionloss[spatial].any()
            ),
            "these flags of option/flag that are enabled": opt.enableflags & ~_ENABLED,
            "option/actuatorgroupdisable": opt.disableactuator,
            "fluid forces with implicitfast": (
                opt.integrator == IMPLICITFAST and (opt.density or opt.viscosity)
            ),
            "armature of spatial tendons": m.tendon_armature[spatial].any(),
            "dampers of spatial tendons with implicitfast": (
                opt.integrator == IMPLICITFAST and m.tendon_damping[spatial].any()
            ),
            "limits of the actuators' force on a tendon": m.tendon_actfrclimited.any(),
            "flexes": m.nflex,
            "plugins": m.nplugin,
            "plastic joints": m.nplastic,
            "delays": m.nhistory,
            "adhesion of contacts": m.flg_adhesion,
            "velocities of surfaces": m.flg_surfacevel,
            "actuators with several controls or forces": (
                (m.actuator_ctrlnum != 1).any() or (m.actuator_outnum != 1).any()
            ),
            "actuators of anything but hinges, slides, tendons and single sites": (
                not (driven | pulled | of_sites).all() or turning[m.actuator_trnid[driven, 0]].any()
            ),
            "muscles of sites": muscles[of_sites].any(),
            "actuators of sites and spatial tendons that depend on velocity, with implicitfast": (
                opt.integrator == IMPLICITFAST
                and ((damped != 0.0) | muscles)[of_sites | spatial_actuators(m)].any()
            ),
            "dynamics of actuators other than integrators, filters and muscles": (
                not np.isin(m.actuator_dyntype, _DYNAMICS).all() or (m.actuator_actnum > 1).any()
            ),
            "gains other than fixed, affine and of muscles": not np.isin(
                m.actuator_gaintype, _GAINS
            ).all(),
            "biases other than affine and of muscles": not np.isin(
                m.actuator_biastype, _BIASES
            ).all(),
            "damping and armature of actuators": (
                m.actuator_damping.any()
                or m.actuator_dampingpoly.any()
                or m.actuator_armature.any()
            ),
            "springs of free and ball joints": m.jnt_stiffness[turning].any(),
            "springs and dampers that are not linear": (
                m.jnt_stiffnesspoly.any()
                or m.dof_dampingpoly.any()
                or m.tendon_stiffnesspoly.any()
                or m.tendon_dampingpoly.any()
            ),
            "joints on mocap bodies": (m.body_mocapid[m.body_rootid[m.jnt_bodyid]] >= 0).any(),
        }
    )


def require_covered_data(mj_data: Any) -> None:
    """Raise NotImplementedError if a part of the data, or a callback, is not covered."""
    if np.count_nonzero(mj_data.xfrc_applied):
        raise not_covered("xfrc_applied")
    require_no_callbacks()


def require_no_callbacks() -> None:
    """Raise NotImplementedError if MuJoCo calls functions of the user's."""
    if any([callback() for callback in _CALLBACKS]):
        raise not_covered("callbacks")


def _refuse(parts: dict[str, Any]) -> None:
    found = [name for name, present in parts.items() if present]
    if found:
        raise not_covered(", ".join(found))


def _has_lone_free_body(mj_model: Any) -> bool:
    """Tell if a tree is one free joint: implicitfast has gyroscopic terms for it."""
    free = mj_model.jnt_dofadr[mj_model.jnt_type == QUATERNIONS[0]]
    sizes = np.bincount(mj_model.dof_treeid)
    return bool((sizes[mj_model.dof_treeid[free]] == 6).any())
