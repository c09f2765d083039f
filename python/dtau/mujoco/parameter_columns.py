"""Differentiate MuJoCo's step by parameters of the model: `parameter_derivatives`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from numpy.typing import ArrayLike

from dtau.mujoco.parameters import Parameters
from dtau.mujoco.runs import Geometry
from dtau.mujoco.transition import derivatives_along, derivatives_at, require_arguments
from dtau.support.arrays import Array


def parameter_derivatives(
    mj_model: Any, mj_data: Any, parameters: Iterable[str], *, geometry: Geometry = "exact"
) -> dict[str, Array]:
    """Exact derivatives of MuJoCo's time step by parameters of the model.

    The state after the step is differentiated at constant state and control, and at the
    constraints' active set.

    Parameters
    ----------
    mj_model, mj_data
        As in `transition_derivatives`.
    parameters : iterable of str
        Names of MuJoCo's arrays, or "body_inertial". Of each body these are the ten numbers of
        `inertial_parameters`. The others are "dof_damping", "dof_armature", "jnt_stiffness",
        "dof_frictionloss", "actuator_gainprm" and "actuator_biasprm" (the three coefficients of
        affine actuators), and "geom_friction".
    geometry : {"exact", "differences"}
        As in `transition_derivatives`.

    Returns
    -------
    dict of str to ndarray
        For each name, the derivatives of the displacement of ``qpos``, ``qvel`` and ``act`` by its
        parameters: (2 nv + na, nbody, 10), (2 nv + na, nv), (2 nv + na, njnt),
        (2 nv + na, nactuator, 3) or (2 nv + na, ngeom, 3). Two geoms of the same friction and
        priority share the derivative by the friction of their contact, half and half.

    Raises
    ------
    ValueError
        If a name of a parameter is unknown or there is none, and as in `transition_derivatives`.
    TypeError
        If `parameters` are no names, and as in `transition_derivatives`.
    NotImplementedError
        If inertial parameters are asked for in a fluid, or coefficients of muscles, or the model
        uses the noslip solver, and as in `transition_derivatives`.

    Examples
    --------
    >>> import dtau.mujoco, mujoco
    >>> mj_model = mujoco.MjModel.from_xml_string(
    ...     '<mujoco><worldbody><body><joint axis="0 1 0" damping="0.1"/>'
    ...     '<geom type="sphere" size="0.1" pos="0 0 -1" mass="1"/></body></worldbody></mujoco>'
    ... )
    >>> data = mujoco.MjData(mj_model)
    >>> data.qvel[0] = 1.0
    >>> by = dtau.mujoco.parameter_derivatives(mj_model, data, ["dof_damping"])
    >>> by["dof_damping"].round(6)
    array([[-4.000e-06],
           [-1.991e-03]])
    """
    require_arguments(mj_model, mj_data, geometry)
    chosen = Parameters(mj_model, parameters)
    *_, found = derivatives_at(mj_model, mj_data, geometry, chosen)
    return chosen.by_name(found)


def parameter_derivatives_batch(
    mj_model: Any,
    mj_data: Any,
    states: ArrayLike,
    ctrl: ArrayLike,
    parameters: Iterable[str],
    *,
    geometry: Geometry = "exact",
    threads: int | None = None,
) -> dict[str, Array]:
    """Exact derivatives of MuJoCo's time step by parameters, at many states.

    Parameters
    ----------
    mj_model, mj_data, states, ctrl
        As in `transition_derivatives_batch`.
    parameters : iterable of str
        As in `parameter_derivatives`.
    geometry, threads
        As in `transition_derivatives_batch`.

    Returns
    -------
    dict of str to ndarray
        As in `parameter_derivatives`, with an axis of the n states in front.

    Raises
    ------
    ValueError, TypeError, NotImplementedError
        As in `parameter_derivatives` and `transition_derivatives_batch`.

    Examples
    --------
    >>> import dtau.mujoco, mujoco, numpy as np
    >>> mj_model = mujoco.MjModel.from_xml_string(
    ...     '<mujoco><worldbody><body><joint axis="0 1 0" damping="0.1"/>'
    ...     '<geom type="sphere" size="0.1" pos="0 0 -1" mass="1"/></body></worldbody></mujoco>'
    ... )
    >>> states = np.stack([np.zeros(5), np.linspace(0.0, 1.0, 5), np.ones(5)], axis=1)
    >>> by = dtau.mujoco.parameter_derivatives_batch(
    ...     mj_model, mujoco.MjData(mj_model), states, np.zeros((5, 0)), ["body_inertial"]
    ... )
    >>> by["body_inertial"].shape
    (5, 2, 2, 10)
    """
    require_arguments(mj_model, mj_data, geometry)
    chosen = Parameters(mj_model, parameters)
    *_, found = derivatives_along(mj_model, mj_data, states, ctrl, geometry, threads, chosen)
    return chosen.by_name(found)
