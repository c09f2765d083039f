"""Joint torques as linear functions of parameters of bodies and joints: `Regressor`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike

from dtau.functions.parameters import inverse_dynamics_parameter_jvp, inverse_dynamics_regressor
from dtau.functions.products import inverse_dynamics_vjp
from dtau.model.model import Model
from dtau.model.parameters import pseudo_inertias
from dtau.support.arrays import Array
from dtau.support.checks import batch_arrays, listing, real_array, require, shown, tuple_of
from dtau.support.immutable import Immutable

JointTerm = Literal["armature", "damping", "coulomb", "stiffness", "offset"]

JOINT_TERMS: tuple[str, ...] = get_args(JointTerm)
_OF_BODIES = ("m", "mc_x", "mc_y", "mc_z", "I_xx", "I_xy", "I_yy", "I_xz", "I_yz", "I_zz")
_UNIT_BODY = np.array([1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0])  # a body that exists


class StateGradient(NamedTuple):
    """Gradient by a state, of `Regressor.vjp`.

    Attributes
    ----------
    by_q, by_v, by_a : ndarray (..., nv)
        By the configuration, in its tangent space, by the velocity and by the acceleration.
    """

    by_q: Array
    by_v: Array
    by_a: Array


class Regressor(Immutable):
    """Joint torques that are linear in parameters of bodies and joints.

        tau = Y(q, v, a) pi

    The parameters are ten of each body, as in `dtau.Model.parameters`, then the joints' terms in
    the order of `joint_terms`. Only `model_parameters` reads the model's own numbers.

    Parameters
    ----------
    model : Model
        The robot.
    joint_terms : iterable of str
        Parameters of the joints with one velocity, besides the bodies' parameters:

        ============= ==================================== ==================
        ``armature``  rotor inertia                        a
        ``damping``   viscous friction                     v
        ``coulomb``   Coulomb friction, smoothed           tanh(v / coulomb_speed)
        ``stiffness`` of a spring                          q
        ``offset``    a constant torque                    1
        ============= ==================================== ==================

        A spring at rest at q0 has the offset ``-stiffness * q0``. Joints that mimic others have no
        terms of their own: the terms of the mimicked joint include them.
    coulomb_speed : float, optional
        Speed, in rad/s or m/s, at which Coulomb friction reaches 76 % of its value. Needed with
        ``"coulomb"``: choose a speed that is small for the motions at hand.

    Attributes
    ----------
    model : Model
        The robot.
    joint_terms : tuple of str
        The terms.
    joints : tuple of str
        Names of the joints that have them: all joints with one velocity that mimic none.
    coulomb_speed : float or None
        The speed.
    names : tuple of str
        Names of the parameters: ``"link1.m"``, ``"link1.mc_x"``, ``"joint1.damping"`` and so on.

    Raises
    ------
    ValueError
        If a term is not known or given twice, `coulomb_speed` is missing, not needed or not
        positive.
    TypeError
        If an argument is of the wrong type.

    Examples
    --------
    >>> import dtau, numpy as np
    >>> from dtau import identification
    >>> model = dtau.robots.chain(7)
    >>> regressor = identification.Regressor(model, ["damping", "coulomb"], coulomb_speed=0.02)
    >>> len(regressor.names), regressor.names[-1]
    (84, 'body7.coulomb')
    >>> q, v, a = dtau.random_state(model, np.random.default_rng(0), shape=(100,))
    >>> Y = regressor.matrix(q, v, a)
    >>> tau = Y @ regressor.model_parameters
    >>> bool(np.allclose(tau, dtau.inverse_dynamics(model, q, v, a)))
    True
    """

    model: Model
    joint_terms: tuple[str, ...]
    joints: tuple[str, ...]
    coulomb_speed: float | None
    names: tuple[str, ...]
    _units: Model  # with unit bodies, see vjp

    def __init__(
        self,
        model: Model,
        joint_terms: Iterable[JointTerm] = (),
        *,
        coulomb_speed: float | None = None,
    ) -> None:
        self._require_new()
        require("model", model, Model)
        terms = tuple_of("joint_terms", joint_terms, str, "names of terms")
        for term in terms:
            if term not in JOINT_TERMS:
                raise ValueError(f"joint_terms: expected {listing(JOINT_TERMS)}, got {shown(term)}")
        if len(set(terms)) < len(terms):
            raise ValueError(f"joint_terms: expected each term once, got {listing(terms)}")
        joints = [joint for joint in model.joints if joint.type.nv == 1 and joint.mimic is None]
        names = [f"{body}.{name}" for body in model.bodies for name in _OF_BODIES]
        names += [f"{joint.name}.{term}" for term in terms for joint in joints]
        vars(self).update(
            model=model,
            joint_terms=terms,
            joints=tuple(joint.name for joint in joints),
            coulomb_speed=_speed("coulomb" in terms, coulomb_speed),
            names=tuple(names),
            _units=model.replace(
                parameters=np.tile(_UNIT_BODY, (model.nbodies, 1)), friction=np.zeros(model.nv)
            ),
        )

    @property
    def model_parameters(self) -> Array:
        """Parameters of the model itself; its springs give the offsets."""
        at, model = self._at_v(), self.model
        own = {
            "armature": model.armature[at],
            "damping": model.damping[at],
            "coulomb": model.friction[at],
            "stiffness": model.stiffness[at],
            "offset": -model.stiffness[at] * model.rest_position[at],
        }
        rows = [own.get(term, np.zeros(len(at))) for term in self.joint_terms]
        return np.concatenate([self.model.parameters.ravel(), *rows])

    def matrix(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, threads: int | None = None
    ) -> Array:
        """Compute the regressor Y.

        Parameters
        ----------
        q : array_like (..., nq)
            Configuration; leading axes are the batch.
        v, a : array_like (..., nv)
            Velocity and acceleration.
        threads : int, optional
            Number of threads, as in `dtau.inverse_dynamics_regressor`.

        Returns
        -------
        Y : ndarray (..., nv, nparameters)
        """
        batch, (q, v, a) = self._states(q, v, a)
        bodies = 10 * self.model.nbodies
        matrix = np.zeros((len(q), self.model.nv, len(self.names)))
        matrix[..., :bodies] = inverse_dynamics_regressor(self.model, q, v, a, threads=threads)
        at, start = self._at_v(), bodies
        for term in self.joint_terms:
            columns = range(start, start + len(at))
            matrix[:, at, columns] = self._factors(term, q, v, a)
            start += len(at)
        return matrix.reshape(*batch, *matrix.shape[1:])

    def torque(
        self,
        parameters: ArrayLike,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        *,
        threads: int | None = None,
    ) -> Array:
        """Compute the torque Y pi in O(N), without Y.

        Parameters
        ----------
        parameters : array_like (nparameters,)
            In the order of `names`.
        q, v, a : array_like
            The states, as in `matrix`.
        threads : int, optional
            As in `matrix`.

        Returns
        -------
        tau : ndarray (..., nv)
        """
        parameters = self._read(parameters)
        batch, (q, v, a) = self._states(q, v, a)
        bodies = parameters[: 10 * self.model.nbodies]
        tau = inverse_dynamics_parameter_jvp(self.model, q, v, a, bodies, threads=threads)
        for term, values in self._joint_values(parameters).items():
            tau[:, self._at_v()] += values * self._factors(term, q, v, a)
        return tau.reshape(*batch, self.model.nv)

    def vjp(
        self,
        parameters: ArrayLike,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        lam: ArrayLike,
        *,
        threads: int | None = None,
    ) -> StateGradient:
        """Compute the gradient of ``lam . Y pi`` by the state, for any parameters.

        Numbers that no body can have are parameters too, for example a singular vector of Y: this
        makes the gradient of any function of Y a few calls. [Derivations] section 18.

        Parameters
        ----------
        parameters : array_like (nparameters,)
            In the order of `names`.
        q, v, a : array_like
            The states, as in `matrix`.
        lam : array_like (..., nv)
            Weights of the torques.
        threads : int, optional
            As in `matrix`.

        Returns
        -------
        StateGradient
        """
        parameters = self._read(parameters)
        batch, (q, v, a, lam) = self._states(q, v, a, lam)
        rows = parameters[: 10 * self.model.nbodies].reshape(-1, 10)
        # Models hold bodies that exist. So a small multiple is added to unit bodies, and their
        # gradient is subtracted, together with the gradient of the model's own damping.
        least = np.linalg.eigvalsh(pseudo_inertias(rows))
        small = 0.25 / (float(np.abs(least).max()) or 1.0)
        moved = self._units.replace(parameters=_UNIT_BODY + small * rows)
        more, less = (
            inverse_dynamics_vjp(model, q, v, a, lam, threads=threads)[:3]
            for model in (moved, self._units)
        )
        by_q, by_v, by_a = ((x - y) / small for x, y in zip(more, less, strict=True))
        at = self._at_v()
        for term, values in self._joint_values(parameters).items():
            weights = values * lam[:, at]
            if term == "armature":
                by_a[:, at] += weights
            elif term == "damping":
                by_v[:, at] += weights
            elif term == "stiffness":
                by_q[:, at] += weights
            elif term == "coulomb":
                fall = np.exp(-2.0 * np.abs(v[:, at] / self._smoothing))
                slope = 4.0 * fall / (1.0 + fall) ** 2  # 1 - tanh^2, without cancellation
                by_v[:, at] += weights * slope / self._smoothing
        return StateGradient(*(x.reshape(*batch, self.model.nv) for x in (by_q, by_v, by_a)))

    def joint_values(self, parameters: ArrayLike, term: JointTerm) -> dict[str, float]:
        """Return the values of a joint term by the names of the joints.

        Parameters
        ----------
        parameters : array_like (nparameters,)
            In the order of `names`.
        term : str
            One of `joint_terms`.

        Returns
        -------
        dict of str to float

        Raises
        ------
        ValueError
            If the regressor does not have this term.
        """
        values = self._joint_values(self._read(parameters))
        if term not in values:
            raise ValueError(f"term: expected {listing(self.joint_terms)}, got {shown(term)}")
        return dict(zip(self.joints, values[term].tolist(), strict=True))

    def model_with(self, parameters: ArrayLike) -> Model:
        """Return the model with these parameters of bodies and joints.

        The offset of a joint with stiffness makes its spring's rest position. Other offsets are not
        in the model. Coulomb friction has the speed `coulomb_speed`.

        Parameters
        ----------
        parameters : array_like (nparameters,)
            In the order of `names`.

        Returns
        -------
        Model

        Raises
        ------
        ValueError
            If no rigid body can have these parameters; the message names the body. If a value of
            armature, damping, friction or stiffness is negative.
        """
        parameters = self._read(parameters)
        values, at = self._joint_values(parameters), self._at_v()
        made = {
            term: getattr(self.model, term).copy()
            for term in ("armature", "damping", "stiffness", "rest_position")
        }
        for term in values.keys() & made.keys():
            made[term][at] = values[term]
        if "stiffness" in values:
            offset = values.get("offset", np.zeros(len(at)))
            stiff = values["stiffness"] != 0.0
            rest = np.divide(-offset, values["stiffness"], out=np.zeros(len(at)), where=stiff)
            made["rest_position"][at] = rest
        if "coulomb" in values:
            made["friction"] = self.model.friction.copy()
            made["friction"][at] = values["coulomb"]
            speed = self.model.friction_speed.copy()
            speed[at] = np.where(values["coulomb"] != 0.0, self._smoothing, speed[at])
            made["friction_speed"] = speed
        rows = parameters[: 10 * self.model.nbodies].reshape(-1, 10)
        return self.model.replace(parameters=rows, **made)

    def __repr__(self) -> str:
        terms = ", ".join(["bodies", *self.joint_terms])
        return f"<Regressor of {self.model.name!r}: {len(self.names)} parameters of {terms}>"

    @property
    def _smoothing(self) -> float:
        """The speed of Coulomb friction, of regressors that have it."""
        assert self.coulomb_speed is not None
        return self.coulomb_speed

    def _at_v(self) -> list[int]:
        """Return the entries in v of the joints that have terms."""
        return [self.model.joint(name).v.start for name in self.joints]

    def _read(self, parameters: ArrayLike) -> Array:
        return real_array("parameters", parameters, (len(self.names),))

    def _states(self, q: ArrayLike, *rates: ArrayLike) -> tuple[tuple[int, ...], list[Array]]:
        """Read a state and optional weights with one batch axis; return the batch too."""
        arrays: dict[str, tuple[ArrayLike, tuple[int, ...]]] = {"q": (q, (self.model.nq,))}
        arrays |= dict(zip(["v", "a", "lam"], ((x, (self.model.nv,)) for x in rates), strict=False))
        return batch_arrays(arrays)

    def _joint_values(self, parameters: Array) -> dict[str, Array]:
        """Return the values of the joints' terms, (joints,) each."""
        rows = parameters[10 * self.model.nbodies :]
        rows = rows.reshape(len(self.joint_terms), len(self.joints))
        return dict(zip(self.joint_terms, rows, strict=True))

    def _factors(self, term: str, q: Array, v: Array, a: Array) -> Array:
        """Return the factors of a term's parameters in the torque, (n, joints)."""
        at = self._at_v()
        if term == "armature":
            return a[:, at]
        if term == "damping":
            return v[:, at]
        if term == "coulomb":
            return np.tanh(v[:, at] / self._smoothing)
        if term == "stiffness":
            return q[:, [self.model.joint(name).q.start for name in self.joints]]
        return np.ones((len(q), len(at)))


def _speed(needed: bool, speed: float | None) -> float | None:
    """Read the speed of Coulomb friction."""
    if not needed:
        if speed is not None:
            raise ValueError(
                f'coulomb_speed: expected None without "coulomb" in joint_terms, got {shown(speed)}'
            )
        return None
    if speed is None:
        raise ValueError(
            "coulomb_speed: expected the speed, in rad/s or m/s, that smooths Coulomb friction, "
            "tanh(v / coulomb_speed); got None"
        )
    value = float(real_array("coulomb_speed", speed, ()))
    if value <= 0:
        raise ValueError(f"coulomb_speed: expected a positive number, got {value}")
    return value
