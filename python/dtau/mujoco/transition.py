"""Differentiate MuJoCo's time step: `transition_derivatives`, `transition_derivatives_batch`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from dtau import _core
from dtau.mujoco.numbers import require_finite
from dtau.mujoco.parameters import Parameters
from dtau.mujoco.plan import Plan, plan_of
from dtau.mujoco.runs import Geometry, Run, Use, for_solutions
from dtau.mujoco.scope import require_covered_data
from dtau.mujoco.solved import integration_state, solvers
from dtau.support.arrays import Array
from dtau.support.checks import class_name, integer, real_numbers
from dtau.support.options import require_option

_STATE = int(mujoco.mjtState.mjSTATE_FULLPHYSICS)
_LARGEST = float(np.finfo(float).max)
_PARTS = [mujoco.mjtState(1 << k) for k in range(int(mujoco.mjtState.mjNSTATE))]


class TransitionDerivatives(NamedTuple):
    """Derivatives of the state after MuJoCo's step, of `transition_derivatives`.

    Attributes
    ----------
    A : ndarray (..., 2 nv + na, 2 nv + na)
        Derivative by the state before the step: ``qpos`` (a displacement in its tangent space),
        ``qvel``, ``act``.
    B : ndarray (..., 2 nv + na, nu)
        Derivative by ``ctrl``.
    """

    A: Array
    B: Array


def transition_derivatives(
    mj_model: Any, mj_data: Any, *, geometry: Geometry = "exact"
) -> TransitionDerivatives:
    """Exact derivatives of MuJoCo's time step by state and control, as `mujoco.mjd_transitionFD`.

    Parameters
    ----------
    mj_model : mujoco.MjModel
        MuJoCo's model, with the integrator Euler, implicitfast or RK4.
    mj_data : mujoco.MjData
        State, control and applied joint torques. It is only read: the constraints are solved in a
        copy, from its warm start.
    geometry : {"exact", "differences"}
        Derivatives of contact points and frames. "exact": by formulas, for planes with solids and
        meshes, spheres and capsules with each other, and spheres with boxes and cylinders.
        "differences": all other pairs of geoms collide again at displacements of 1e-5 and 3e-5, and
        the moment arms of spatial tendons are differenced at displacements of 1e-6. Where MuJoCo's
        iterative collision is not smooth, the curvature of the geoms takes the place of
        differences. The model's ``opt.ccd_tolerance`` bounds how exact such a collision is; 1e-12
        is advised.

    Returns
    -------
    TransitionDerivatives
        A ``(2 nv + na, 2 nv + na)`` and B ``(2 nv + na, nu)``, in the order of
        `mujoco.mjd_transitionFD`, at the constraints' active set: active rows stay active, sliding
        contacts go on sliding and sticking ones stick. A control beyond its range, or a force at
        its limit, has the derivative 0.

    Raises
    ------
    ValueError
        If `mj_data` belongs to another model or is not finite, or `geometry` is unknown. If masses
        or frames of the model changed and MuJoCo's step does not read them. If a contact with a
        force has a frame that jumps in this state, where the step has no derivative. This is a
        capsule with friction that stands upright on a plane (to a tilt of 1e-10) and can tilt, a
        cylinder that stands so and turns over, or a pair of spheres or capsules whose centers or
        axes meet or coincide. If the limit of a ball joint is active at the angle 0. The message
        names the contact and its geoms, or the joint.
    TypeError
        If an argument is not MuJoCo's.
    NotImplementedError
        If the model or an active constraint has a part that is not covered, or differences of a
        contact's geometry by two steps disagree and its geoms touch in more than a point or one is
        a mesh. The message names it, and the contact and its geoms.

    Examples
    --------
    >>> import dtau.mujoco, mujoco
    >>> mj_model = mujoco.MjModel.from_xml_string(
    ...     '<mujoco><worldbody><body><joint name="pivot" axis="0 1 0"/>'
    ...     '<geom type="sphere" size="0.1" pos="0 0 -1" mass="1"/></body></worldbody>'
    ...     '<actuator><motor joint="pivot"/></actuator></mujoco>'
    ... )
    >>> A, B = dtau.mujoco.transition_derivatives(mj_model, mujoco.MjData(mj_model))
    >>> A.round(4)
    array([[ 1.    ,  0.002 ],
           [-0.0195,  1.    ]])
    """
    a, b, _ = derivatives_at(mj_model, mj_data, geometry, None)
    return TransitionDerivatives(a, b)


def transition_derivatives_batch(
    mj_model: Any,
    mj_data: Any,
    states: ArrayLike,
    ctrl: ArrayLike,
    *,
    geometry: Geometry = "exact",
    threads: int | None = None,
) -> TransitionDerivatives:
    """Exact derivatives of MuJoCo's time step at many states, as along a rollout.

    A state of a batch costs a fraction of a call of `transition_derivatives`.

    Parameters
    ----------
    mj_model, mj_data
        As in `transition_derivatives`. The data has the applied joint torques, poses of mocap
        bodies, active equality constraints and the warm start of all states.
    states : array_like (n, nstate)
        States as `mujoco.mj_getState` with ``mjSTATE_FULLPHYSICS`` and `mujoco.rollout` return
        them: time, ``qpos``, ``qvel``, ``act``.
    ctrl : array_like (n, nu)
        Controls, one row for each state.
    geometry : {"exact", "differences"}
        As in `transition_derivatives`.
    threads : int, optional
        Number of threads. By default one for each 32 states, and at most one per processor.

    Returns
    -------
    TransitionDerivatives
        A ``(n, 2 nv + na, 2 nv + na)`` and B ``(n, 2 nv + na, nu)``.

    Raises
    ------
    ValueError
        If an array has another shape or is not finite, `mj_data` belongs to another model,
        `geometry` is unknown, or `threads` is not a number from 1 to 1024. If the step has no
        derivative at one of the states, as in `transition_derivatives`: the message names the
        number of the state too.
    TypeError, NotImplementedError
        As in `transition_derivatives`. One state that is not covered refuses the batch; the message
        names its number.

    Examples
    --------
    >>> import dtau.mujoco, mujoco, numpy as np
    >>> mj_model = mujoco.MjModel.from_xml_string(
    ...     '<mujoco><worldbody><body><joint name="pivot" axis="0 1 0"/>'
    ...     '<geom type="sphere" size="0.1" pos="0 0 -1" mass="1"/></body></worldbody>'
    ...     '<actuator><motor joint="pivot"/></actuator></mujoco>'
    ... )
    >>> angles = np.linspace(0.0, 1.0, 5)
    >>> states = np.stack([np.zeros(5), angles, np.zeros(5)], axis=1)
    >>> A, B = dtau.mujoco.transition_derivatives_batch(
    ...     mj_model, mujoco.MjData(mj_model), states, np.zeros((5, 1))
    ... )
    >>> A.shape, B.shape
    ((5, 2, 2), (5, 2, 1))
    """
    a, b, _ = derivatives_along(mj_model, mj_data, states, ctrl, geometry, threads, None)
    return TransitionDerivatives(a, b)


def derivatives_at(
    mj_model: Any, mj_data: Any, geometry: Geometry, parameters: Parameters | None
) -> tuple[Array, Array, Array]:
    """Return the derivatives by state, control and parameters in the state of the data."""
    require_arguments(mj_model, mj_data, geometry)
    plan = plan_of(mj_model)
    require_covered_data(mj_data)
    given = integration_state(mj_model, mj_data)
    if not _core.mujoco_is_within((given,), _LARGEST):
        for name in ("qpos", "qvel", "act", "ctrl", "qfrc_applied"):
            require_finite(f"mj_data.{name}", getattr(mj_data, name))
    with solvers(mj_model, given, 1) as (solver,):
        run = Run(plan, mj_model, solver, 1)
        run.add(0)
        found = run.derivatives(geometry, None, parameters)[0]
        a, b, by_parameters = _parts(found, plan.nu)
        return a.copy(), b.copy(), by_parameters.copy()


def derivatives_along(
    mj_model: Any,
    mj_data: Any,
    states: ArrayLike,
    ctrl: ArrayLike,
    geometry: Geometry,
    threads: int | None,
    parameters: Parameters | None,
) -> tuple[Array, Array, Array]:
    """Return the derivatives by state, control and parameters at many states."""
    require_arguments(mj_model, mj_data, geometry)
    plan = plan_of(mj_model)
    require_covered_data(mj_data)
    if threads is not None:
        threads = integer("threads", threads, 1, 1024)
    nstate = mujoco.mj_stateSize(mj_model, _STATE)
    states, ctrl = (
        np.ascontiguousarray(real_numbers(name, x), dtype=np.float64)
        for name, x in (("states", states), ("ctrl", ctrl))
    )
    n = len(states) if states.ndim else 0
    for name, value, shape in (("states", states, (n, nstate)), ("ctrl", ctrl, (n, plan.nu))):
        if value.shape != shape:
            expected = f"(n, {shape[1]})" if name == "states" else str(shape)
            raise ValueError(f"{name}: expected shape {expected}, got {value.shape}")
        require_finite(name, value)
    given = integration_state(mj_model, mj_data)
    return derivatives_of(
        plan,
        n,
        geometry,
        partial(for_solutions, plan, mj_model, given, states, ctrl, None, threads),
        parameters,
    )


def derivatives_of(
    plan: Plan,
    n: int,
    geometry: Geometry,
    solve: Callable[[Use], None],
    parameters: Parameters | None = None,
) -> tuple[Array, Array, Array]:
    """Return the derivatives by state, control and parameters at n states.

    `solve` calls a function with solutions at them.
    """
    width = 2 * plan.nv + plan.na
    columns = 0 if parameters is None else parameters.columns
    a, b, by_parameters = (np.empty((n, width, size)) for size in (width, plan.nu, columns))

    def differentiate(run: Run, some: slice) -> None:
        found = run.derivatives(geometry, some.start, parameters)
        a[some], b[some], by_parameters[some] = _parts(found, plan.nu)

    solve(differentiate)
    return a, b, by_parameters


def _parts(found: Array, nu: int) -> tuple[Array, Array, Array]:
    """Return the columns of state, control and parameters."""
    width = found.shape[-2]
    return found[..., :width], found[..., width : width + nu], found[..., width + nu :]


def require_arguments(mj_model: Any, mj_data: Any, geometry: Geometry) -> None:
    """Raise an error if arguments are not MuJoCo's, or do not belong together."""
    for name, value, kind in (
        ("mj_model", mj_model, mujoco.MjModel),
        ("mj_data", mj_data, mujoco.MjData),
    ):
        if not isinstance(value, kind):
            raise TypeError(f"{name}: expected a mujoco.{kind.__name__}, got {class_name(value)}")
    require_option("geometry", geometry, Geometry)
    theirs = mj_data.model
    if theirs is mj_model:
        return
    for part in _PARTS:  # MuJoCo reads as many numbers of the data as the model says
        expected, got = (mujoco.mj_stateSize(model, part) for model in (mj_model, theirs))
        if expected != got:
            name = part.name.removeprefix("mjSTATE_").lower()
            raise ValueError(
                f"mj_data: expected data of mj_model, with {expected} numbers of {name}, got "
                f"another model's, with {got}"
            )
