"""The motors of a robot, and the joint torques that they give: `Motors`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from dtau.model.model import Model
from dtau.model.motor_limits import law_at_forces, law_at_inputs, range_at
from dtau.support.arrays import Array
from dtau.support.checks import real_array, real_numbers, require, require_name, shown, unknown_name
from dtau.support.immutable import Immutable


class Motors(Immutable):
    """The motors of a robot: a linear map from their forces to joint torques, and their data.

        tau = G f        f = gain u + bias_0 + bias_1 l + bias_2 w        l = Gᵀ q,  w = Gᵀ v

    G has a column for each motor, with the gear ratios to the joints that it drives: one joint, or
    several as a differential or a tendon does. f are the motors' torques (N m, or N of a linear
    motor), l and w their angles and speeds; by virtual work they belong to the same G. The input u
    is f itself, or the command of a servo: with gain kp and bias (0, -kp, -kd) f is the force of a
    PD controller with the target u.

    Functions with the argument ``inputs=`` take motors for it: then their u is the motors' u, and
    forces follow the state. A linearization at ``tau = motors.torque(u, q, v)`` contains
    `dtau_dq` and `dtau_dv`: it is the closed loop's. A time step has the torque of the state
    before it. The law has no limits: where u or f is at one, give `clipped` motors.

    Parameters
    ----------
    model : Model
        The robot.
    gears : mapping of str to float, or to a mapping of str to float
        The motors by name: for each the ratio by which its speed exceeds the speed of the joint of
        the same name, or the ratios to joints by their names. The joints have one coordinate each.
    gain : float or array_like (nu,)
        Factor of u in f.
    bias : array_like (3,) or (nu, 3)
        Terms of f: constant, and per angle and speed of the motor.
    rotor_inertia : float or array_like (nu,)
        Of the motor (kg m², or kg), before the gear.
    input_limits : array_like (2,) or (nu, 2)
        Least and largest u.
    force_limits : array_like (2,) or (nu, 2)
        Least and largest f.
    stall_force, no_load_speed : float or array_like (nu,)
        Where the torque-speed line of a motor begins and ends: f is at most
        ``stall_force * (1 - w / no_load_speed)`` in the direction of w. Both positive, or infinite.

    Attributes
    ----------
    model : Model
        The robot.
    names : tuple of str
        The motors, in the order of u.
    G : ndarray (nv, nu)
        The map. A joint that mimics another adds its multiplier times its ratio to the other's.
    gain, rotor_inertia, stall_force, no_load_speed : ndarray (nu,)
        As given; the gain of `clipped` motors has their batch axes.
    bias : ndarray (nu, 3)
        As given; angles of joints that mimic others have their offsets in the constant term. It has
        the batch axes of `clipped` motors.
    input_limits, force_limits : ndarray (nu, 2)
        As given.

    Raises
    ------
    ValueError
        If a name is unknown, a joint has not one coordinate, or a number is out of its range.
    TypeError
        If an argument is of the wrong type.

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.chain(3)
    >>> pair = {"left": {"body2": 50, "body3": 50}, "right": {"body2": 50, "body3": -50}}
    >>> gears = {"body1": 100.0, **pair}  # a differential moves body2 and body3
    >>> motors = dtau.Motors(model, gears)
    >>> motors.torque([0.1, 0.2, -0.1])
    array([10.,  5., 15.])
    >>> q, v, tau = dtau.random_state(model, np.random.default_rng(0))
    >>> dtau.linearize(model, q, v, tau, inputs=motors).B.shape
    (6, 3)
    """

    model: Model
    names: tuple[str, ...]
    G: Array
    gain: Array
    bias: Array
    rotor_inertia: Array
    input_limits: Array
    force_limits: Array
    stall_force: Array
    no_load_speed: Array

    def __init__(
        self,
        model: Model,
        gears: Mapping[str, float | Mapping[str, float]],
        *,
        gain: ArrayLike = 1.0,
        bias: ArrayLike = (0.0, 0.0, 0.0),
        rotor_inertia: ArrayLike = 0.0,
        input_limits: ArrayLike = (-np.inf, np.inf),
        force_limits: ArrayLike = (-np.inf, np.inf),
        stall_force: ArrayLike = np.inf,
        no_load_speed: ArrayLike = np.inf,
    ) -> None:
        self._require_new()
        require("model", model, Model)
        if not isinstance(gears, Mapping):
            raise TypeError(f"gears: expected a mapping by names of motors, got {shown(gears)}")
        nu = len(gears)
        ratios_to, offset = np.zeros((model.nv, nu)), np.zeros(nu)
        for column, (name, ratios) in enumerate(gears.items()):
            require_name("gears", name)
            driven = ratios if isinstance(ratios, Mapping) else {name: ratios}
            for joint, ratio in driven.items():
                place, factor, constant = _of_joint(model, joint)
                number = float(real_array(f"gears[{name!r}]", ratio, ()))
                ratios_to[place, column] += factor * number
                offset[column] += constant * number
        terms = _each("bias", bias, (nu, 3), finite=True)
        terms[:, 0] += terms[:, 1] * offset
        values = {
            "G": ratios_to,
            "gain": _each("gain", gain, (nu,), finite=True),
            "bias": terms,
            "rotor_inertia": _each("rotor_inertia", rotor_inertia, (nu,), finite=True, least=0.0),
            "input_limits": _range("input_limits", input_limits, nu),
            "force_limits": _range("force_limits", force_limits, nu),
            "stall_force": _each("stall_force", stall_force, (nu,), positive=True),
            "no_load_speed": _each("no_load_speed", no_load_speed, (nu,), positive=True),
        }
        for array in values.values():
            array.setflags(write=False)
        vars(self).update(model=model, names=tuple(gears), **values)

    @property
    def dtau_du(self) -> Array:
        """Derivative of the joint torques by u (..., nv, nu): G gain."""
        return self.G * self.gain[..., np.newaxis, :]

    @property
    def dtau_dq(self) -> Array:
        """Derivative of the joint torques by q (..., nv, nv): G bias_1 Gᵀ."""
        return self._by_motion(1)

    @property
    def dtau_dv(self) -> Array:
        """Derivative of the joint torques by v (..., nv, nv): G bias_2 Gᵀ."""
        return self._by_motion(2)

    def torque(self, u: ArrayLike, q: ArrayLike | None = None, v: ArrayLike | None = None) -> Array:
        """Compute the joint torques, without limits.

        Parameters
        ----------
        u : array_like (..., nu)
            Inputs, in the order of `names`; leading axes are the batch.
        q : array_like (..., nq), optional
            Configuration. Needed if a bias depends on angles.
        v : array_like (..., nv), optional
            Velocity. Needed if a bias depends on speeds.

        Returns
        -------
        tau : ndarray (..., nv)

        Raises
        ------
        ValueError
            If a shape does not fit, or `q` or `v` is needed and missing.
        """
        tau: Array = self._forces(u, q, v) @ self.G.T
        return tau

    def clipped(
        self, u: ArrayLike, q: ArrayLike | None = None, v: ArrayLike | None = None
    ) -> Motors:
        """Return motors whose law is the clipped one near a state, affine again.

        Their `torque` at this state comes from inputs within `input_limits` and forces within
        `force_range`, and their derivatives are the clipped law's. A motor beyond a limit of
        u has gain 0. A motor beyond a limit of f has gain 0 and as bias that limit: a constant, or
        the torque-speed line. Motors within their limits, or exactly at one, are as before.

        Parameters
        ----------
        u : array_like (..., nu)
            Inputs, in the order of `names`; leading axes are the batch.
        q : array_like (..., nq), optional
            Configuration. Needed if a bias depends on angles.
        v : array_like (..., nv), optional
            Velocity. Needed if a bias depends on speeds, or a motor has a `stall_force`.

        Returns
        -------
        Motors
            With the batch axes in `gain` and `bias`.

        Raises
        ------
        ValueError
            If a shape does not fit, or `q` or `v` is needed and missing.

        Examples
        --------
        >>> import dtau, numpy as np
        >>> model = dtau.robots.chain(2)
        >>> gears = {"body1": 1.0, "body2": 1.0}
        >>> servo = {"gain": 100.0, "bias": (0.0, -100.0, 0.0), "force_limits": (-20.0, 20.0)}
        >>> motors = dtau.Motors(model, gears, **servo)
        >>> q, v = np.zeros(2), np.zeros(2)
        >>> near = motors.clipped([0.1, 0.5], q, v)
        >>> near.torque([0.1, 0.5], q, v)
        array([10., 20.])
        >>> near.dtau_dq.diagonal()
        array([-100.,    0.])
        """
        given = _rows("u", u, len(self.names))
        if v is None:
            if np.isfinite(self.stall_force).any():
                raise ValueError("v: expected an array, as the largest forces depend on speeds")
            v = np.zeros(self.model.nv)
        inputs = self._with(*law_at_inputs(self, given))
        return self._with(*law_at_forces(inputs, inputs._forces(given, q, v), self.force_range(v)))

    def _with(self, gain: Array, bias: Array) -> Motors:
        """Return motors with another law."""
        gain.setflags(write=False)
        bias.setflags(write=False)
        return Motors._trusted(**{**vars(self), "gain": gain, "bias": bias})

    def _forces(self, u: ArrayLike, q: ArrayLike | None, v: ArrayLike | None) -> Array:
        """Return the motors' forces (..., nu), without limits."""
        force: Array = self.gain * _rows("u", u, len(self.names)) + self.bias[..., 0]
        for argument, value, column in (("q", q, 1), ("v", v, 2)):
            if not self.bias[..., column].any():
                continue
            if value is None:
                what = "angles" if argument == "q" else "speeds"
                raise ValueError(f"{argument}: expected an array, as forces depend on {what}")
            moved = self.angles(value) if argument == "q" else self.speeds(value)
            force = force + self.bias[..., column] * moved
        return force

    def _by_motion(self, column: int) -> Array:
        """Return the derivative of the joint torques by angles or speeds of the joints."""
        return np.asarray((self.G * self.bias[..., np.newaxis, :, column]) @ self.G.T)

    def angles(self, q: ArrayLike) -> Array:
        """Return the angles of the motors, Gᵀ q.

        Parameters
        ----------
        q : array_like (..., nq)
            Configuration.

        Returns
        -------
        angles : ndarray (..., nu)
            In rad, or m of linear motors.
        """
        at = np.zeros(self.model.nv, dtype=np.intp)  # entries of joints without motors: any
        for joint in self.model.joints:
            if joint.type.nv == 1:
                at[joint.v] = joint.q.start
        angles: Array = _rows("q", q, self.model.nq)[..., at] @ self.G
        return angles

    def speeds(self, v: ArrayLike) -> Array:
        """Return the speeds of the motors, Gᵀ v.

        Parameters
        ----------
        v : array_like (..., nv)
            Velocity.

        Returns
        -------
        speeds : ndarray (..., nu)
            In rad/s, or m/s of linear motors.
        """
        speeds: Array = _rows("v", v, self.model.nv) @ self.G
        return speeds

    def force_range(self, v: ArrayLike) -> tuple[Array, Array]:
        """Return the least and largest force of each motor at its speed, (..., nu) each.

        They are `force_limits`, cut by the lines from `stall_force` to `no_load_speed`.

        Parameters
        ----------
        v : array_like (..., nv)
            Velocity.

        Returns
        -------
        least, largest : ndarray (..., nu)
        """
        return range_at(self, self.speeds(v))

    def model_with_rotors(self) -> Model:
        """Return the model with the rotors' inertia added to its armature, gear² rotor_inertia.

        Returns
        -------
        Model

        Raises
        ------
        ValueError
            If a motor with rotor inertia drives several joints, whose inertias it couples: the
            armature of joints cannot say that.
        """
        turning = self.rotor_inertia > 0.0
        coupled = turning & (np.count_nonzero(self.G, axis=0) > 1)
        if coupled.any():
            name = self.names[int(np.flatnonzero(coupled)[0])]
            raise ValueError(
                f"rotor_inertia of {name!r}: expected 0 of a motor that drives several joints, "
                "as it couples them; armature is of one joint"
            )
        return self.model.replace(armature=self.model.armature + self.G**2 @ self.rotor_inertia)

    def __len__(self) -> int:
        return len(self.names)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.dtau_du, dtype=dtype)

    def __repr__(self) -> str:
        return f"<Motors of {self.model.name!r}: {len(self)} motors, nv = {self.model.nv}>"


def _of_joint(model: Model, name: str) -> tuple[int, float, float]:
    """Return the velocity that moves a joint, and how its angle follows: factor and constant."""
    joint = next((joint for joint in model.joints if joint.name == name), None)
    if joint is None:
        raise unknown_name("joint", name, [each.name for each in model.joints])
    if joint.type.nv != 1:
        kind = type(joint.type).__name__.lower()
        raise ValueError(
            f"gears: expected joints with one coordinate, got {name!r}, a {kind} joint"
        )
    mimic = joint.mimic
    factor, constant = (1.0, 0.0) if mimic is None else (mimic.multiplier, mimic.offset)
    return joint.v.start, factor, constant


def _each(
    argument: str,
    value: ArrayLike,
    shape: tuple[int, ...],
    *,
    finite: bool = False,
    least: float = -np.inf,
    positive: bool = False,
) -> Array:
    """Read numbers of each motor; one row or number is for all."""
    given = real_numbers(argument, value, shape).astype(np.float64)
    if given.shape not in (shape, shape[1:]):
        raise ValueError(f"{argument}: expected shape {shape[1:]} or {shape}, got {given.shape}")
    if np.isnan(given).any() or (finite and not np.isfinite(given).all()):
        raise ValueError(f"{argument}: expected finite numbers, got {given.tolist()}")
    if (given < least).any():
        raise ValueError(
            f"{argument}: expected numbers of at least {least:g}, got {given.tolist()}"
        )
    if positive and not (given > 0.0).all():
        raise ValueError(f"{argument}: expected positive numbers, got {given.tolist()}")
    return np.array(np.broadcast_to(given, shape))


def _range(argument: str, value: ArrayLike, count: int) -> Array:
    """Read the least and the largest number of each motor."""
    ranges = _each(argument, value, (count, 2))
    if (ranges[:, 0] > ranges[:, 1]).any():
        raise ValueError(
            f"{argument}: expected the least number before the largest, got {ranges.tolist()}"
        )
    return ranges


def _rows(argument: str, value: ArrayLike, size: int) -> Array:
    """Read (..., size) numbers."""
    array = np.asarray(real_numbers(argument, value), dtype=np.float64)
    if array.ndim == 0 or array.shape[-1] != size:
        raise ValueError(f"{argument}: expected shape (..., {size}), got {array.shape}")
    return array
