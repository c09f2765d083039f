"""Refuse models that are not covered: `require_covered_model`, `require_covered_data`."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from dtau.support.arrays import Mask

# MuJoCo's enumerators do not equal NumPy's integers.
QUATERNIONS = (int(mujoco.mjtJoint.mjJNT_FREE), int(mujoco.mjtJoint.mjJNT_BALL))
EULER = int(mujoco.mjtIntegrator.mjINT_EULER)
RK4 = int(mujoco.mjtIntegrator.mjINT_RK4)
IMPLICITFAST = int(mujoco.mjtIntegrator.mjINT_IMPLICITFAST)
ELLIPTIC = int(mujoco.mjtCone.mjCONE_ELLIPTIC)
PGS = int(mujoco.mjtSolver.mjSOL_PGS)
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
_MOST_NAMES = 3  # in an error


def disabled(mj_model: Any, flag: str) -> bool:
    """Tell if ``option/flag`` disables a part: `flag` is a name of `mujoco.mjtDisableBit`."""
    return bool(mj_model.opt.disableflags & int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{flag}")))


def not_covered(parts: str, where: str = "") -> NotImplementedError:
    """Return the error that names parts that are not covered, and where one of them is."""
    found = f" ({where})" if where else ""
    return NotImplementedError(
        f"dtau.mujoco does not differentiate {parts}{found}; differences do: "
        "mujoco.mjd_transitionFD, or of mujoco.mj_step with RK4"
    )


def jumps(where: str, what: str) -> ValueError:
    """Return the error for a state without derivatives."""
    return ValueError(
        f"{where}: expected {what} that moves continuously, got one that jumps in this state, "
        "where the step has no derivative; displace the state by 1e-6, or take differences of "
        "mujoco.mj_step"
    )


def spatial_tendons(m: Any) -> Mask:
    """Tell which tendons pass through sites."""
    return np.asarray(m.wrap_type[m.tendon_adr] != OF_JOINTS)


def spatial_actuators(m: Any) -> Mask:
    """Tell which actuators pull tendons that pass through sites."""
    out = np.asarray(m.actuator_trntype == TENDON_TRANSMISSION)
    out[out] = spatial_tendons(m)[m.actuator_trnid[out, 0]]
    return out


def require_covered_model(mj_model: Any) -> None:
    """Raise NotImplementedError if a part of the model is not covered."""
    opt, m = mj_model.opt, mj_model
    turning = np.isin(m.jnt_type, QUATERNIONS)
    driven = np.isin(m.actuator_trntype, _TRANSMISSIONS)
    spatial = spatial_tendons(m)
    pulled = m.actuator_trntype == TENDON_TRANSMISSION
    of_sites = m.actuator_trntype == SITE_TRANSMISSION
    of_sites &= m.actuator_trnid[:, 1] < 0  # else along the axes of another site
    turned = driven.copy()
    turned[driven] = turning[m.actuator_trnid[driven, 0]]
    muscles = (m.actuator_gaintype == _GAINS[2]) | (m.actuator_biastype == _BIASES[2])
    damped = m.actuator_biasprm[:, 2] * (m.actuator_biastype == _BIASES[1])
    damped = damped + m.actuator_gainprm[:, 2] * (m.actuator_gaintype == _GAINS[1])
    implicit = opt.integrator == IMPLICITFAST
    free = m.jnt_type == QUATERNIONS[0]  # alone in a tree, implicitfast has gyroscopic terms
    curved = np.isin(np.arange(m.njnt), m.dof_jntid[m.dof_dampingpoly.any(axis=1)])
    _refuse(
        m,
        {
            "integrators other than Euler, implicitfast and RK4": (
                opt.integrator not in (EULER, IMPLICITFAST, RK4)
            ),
            "elliptic cones with the solver PGS, which can end far from the solution (Newton "
            "does not)": opt.cone == ELLIPTIC and opt.solver == PGS,
            "these flags of option/flag that are enabled": opt.enableflags & ~_ENABLED,
            "option/actuatorgroupdisable": opt.disableactuator,
            "fluid forces with implicitfast": implicit and (opt.density or opt.viscosity),
            "flexes": m.nflex,
            "plugins": m.nplugin,
            "plastic joints": m.nplastic,
            "delays": m.nhistory,
            "adhesion of contacts": m.flg_adhesion,
            "velocities of surfaces": m.flg_surfacevel,
        },
        tendon={
            "friction loss of spatial tendons with the noslip solver": (
                (opt.noslip_iterations > 0) & spatial & (m.tendon_frictionloss != 0.0)
            ),
            "armature of spatial tendons": spatial & (m.tendon_armature != 0.0),
            "dampers of spatial tendons with implicitfast": (
                implicit & spatial & (m.tendon_damping != 0.0)
            ),
            "limits of the actuators' force on a tendon": m.tendon_actfrclimited,
            "springs and dampers that are not linear": (
                m.tendon_stiffnesspoly.any(axis=1) | m.tendon_dampingpoly.any(axis=1)
            ),
        },
        actuator={
            "actuators with several controls or forces": (
                (m.actuator_ctrlnum != 1) | (m.actuator_outnum != 1)
            ),
            "actuators of anything but hinges, slides, tendons and single sites": (
                ~(driven | pulled | of_sites) | turned
            ),
            "muscles of sites": muscles & of_sites,
            "actuators of sites and spatial tendons that depend on velocity, with implicitfast": (
                implicit & ((damped != 0.0) | muscles) & (of_sites | spatial_actuators(m))
            ),
            "dynamics of actuators other than integrators, filters and muscles": (
                ~np.isin(m.actuator_dyntype, _DYNAMICS) | (m.actuator_actnum > 1)
            ),
            "gains other than fixed, affine and of muscles": ~np.isin(m.actuator_gaintype, _GAINS),
            "biases other than affine and of muscles": ~np.isin(m.actuator_biastype, _BIASES),
            "damping and armature of actuators": (
                (m.actuator_damping != 0.0)
                | m.actuator_dampingpoly.any(axis=1)
                | (m.actuator_armature != 0.0)
            ),
        },
        joint={
            "implicitfast for free bodies that carry no joint": (
                implicit & (free & (np.bincount(m.dof_treeid)[m.dof_treeid[m.jnt_dofadr]] == 6))
            ),
            "springs of free and ball joints": turning & (m.jnt_stiffness != 0.0),
            "springs and dampers that are not linear": m.jnt_stiffnesspoly.any(axis=1) | curved,
            "joints on mocap bodies": m.body_mocapid[m.body_rootid[m.jnt_bodyid]] >= 0,
        },
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


def names_of(m: Any, kind: str, which: Any) -> str:
    """Return objects of a kind of `mujoco.mjtObj`, as "joints 'hip', 3": names, else indices."""
    objects = int(getattr(mujoco.mjtObj, f"mjOBJ_{kind.upper()}"))
    found = [repr(mujoco.mj_id2name(m, objects, int(i)) or int(i)) for i in np.flatnonzero(which)]
    more = f" and {len(found) - _MOST_NAMES} more" if len(found) > _MOST_NAMES else ""
    return f"{kind}{'s' * (len(found) > 1)} {', '.join(found[:_MOST_NAMES])}{more}"


def _refuse(m: Any, parts: dict[str, Any], **of_objects: dict[str, Any]) -> None:
    """Raise the error for parts that are there, in the model or in some objects of a kind."""
    found = [name for name, present in parts.items() if present]
    for kind, masks in of_objects.items():
        for name, which in masks.items():
            if which.any():
                found.append(f"{name} ({names_of(m, kind, which)})")
    if found:
        raise not_covered(", ".join(found))
