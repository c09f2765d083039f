"""Identify parameters from measured torques: `least_squares`, and `fit` for bodies that exist.

    least_squares    min |W (Y_b beta - tau)|^2

    fit              min |W (Y pi - tau)|^2 / 2 + w sum of D(J_i, J_i prior)

W divides by the noise of each torque. The divergence D of pseudo-inertias is convex, zero at the
prior, and infinite where a body ceases to exist, so that the result is unique and exists
([Convex-identification]). Parameters that torques do not determine stay close to the prior:

    D(J, J0) = tr(J0^-1 J) - log det(J0^-1 J) - 4
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dtau.identification.base import BaseParameters
from dtau.identification.confidence import DEFICIENT, Confidence
from dtau.identification.feasible import Barrier, minimize, minimize_near
from dtau.identification.samples import Reduced, read_noise, read_samples, reduced, spread
from dtau.model.model import Model
from dtau.support.arrays import Array
from dtau.support.checks import real_array, require
from dtau.support.errors import ModelWarning

_NEAR = 0.25  # of the mean distance of the true parameters: half a standard error


@dataclass(frozen=True, eq=False)
class LeastSquares:
    """Base parameters from measured torques, of `least_squares`.

    Attributes
    ----------
    values : ndarray (rank,)
        The base parameters.
    covariance : ndarray (rank, rank)
        Their covariance, for the given or estimated noise.
    noise : ndarray (nv,)
        Standard deviation of what is left of each torque, in N m or N.
    condition : float
        Condition number of the weighted regressor of the base parameters.
    """

    values: Array
    covariance: Array
    noise: Array
    condition: float

    @property
    def standard_errors(self) -> Array:
        """Standard deviations of the base parameters, (rank,)."""
        return np.sqrt(self.covariance.diagonal())


@dataclass(frozen=True, eq=False)
class Fit:
    """Parameters of bodies that exist, from measured torques, of `fit`.

    Attributes
    ----------
    parameters : ndarray (nparameters,)
        All parameters, in the order of `Regressor.names`.
    base : BaseParameters
        The base parameters; ``base.map @ parameters`` are their values.
    noise : ndarray (nv,)
        Standard deviation of what is left of each torque, in N m or N.
    cost : float
        Half the weighted sum of squares that is left.
    prior_weight : float
        Weight of the prior, as given or chosen.
    prior_cost : float
        The prior's share of the cost: its weight times the sum of divergences.
    standard_errors : ndarray (rank,)
        Standard deviations of the base parameters by the samples alone, as in `least_squares`,
        for the given or estimated noise; infinite where the motion does not determine them.
    """

    parameters: Array
    base: BaseParameters
    noise: Array
    cost: float
    prior_weight: float
    prior_cost: float
    standard_errors: Array

    @property
    def model(self) -> Model:
        """The model with the identified inertias and joint terms."""
        return self.base.regressor.model_with(self.parameters)

    def torque(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
        """Compute the torque with all identified terms, offsets included.

        Parameters
        ----------
        q, v, a : array_like
            The states, as in `Regressor.matrix`.

        Returns
        -------
        tau : ndarray (..., nv)
        """
        return self.base.regressor.torque(self.parameters, q, v, a)


def least_squares(
    base: BaseParameters,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    tau: ArrayLike,
    *,
    noise: ArrayLike | None = None,
) -> LeastSquares:
    """Identify base parameters by weighted least squares, without constraints.

        min |W (Y_b beta - tau)|^2

    Parameters
    ----------
    base : BaseParameters
        From `base_parameters`.
    q : array_like (..., nq)
        Measured configurations; leading axes are samples.
    v, a : array_like (..., nv)
        Velocities and accelerations.
    tau : array_like (..., nv)
        Joint torques, torques of contacts subtracted.
    noise : array_like (nv,) or float, optional
        Standard deviation of the noise of each torque. By default from the residual of a first fit
        without weights.

    Returns
    -------
    LeastSquares

    Raises
    ------
    ValueError
        If shapes do not fit, numbers are not finite, the noise is not positive, all torques are
        zero and no noise is given, there are fewer torques than base parameters, or the motion does
        not tell base parameters apart (the message names them).
    TypeError
        If an argument is of the wrong type.

    Notes
    -----
    [Gautier], with weights. Samples are reduced in chunks by QR factorizations: O(S nv r^2) for S
    samples and r base parameters.

    Examples
    --------
    >>> import dtau, numpy as np
    >>> from dtau import identification
    >>> model = dtau.robots.chain(7)
    >>> base = identification.base_parameters(identification.Regressor(model))
    >>> rng = np.random.default_rng(0)
    >>> q, v, a = dtau.random_state(model, rng, shape=(1000,))
    >>> tau = dtau.inverse_dynamics(model, q, v, a) + 0.01 * rng.standard_normal((1000, 7))
    >>> found = identification.least_squares(base, q, v, a, tau)
    >>> errors = found.values - base.map @ base.regressor.model_parameters
    >>> bool((np.abs(errors) < 5 * found.standard_errors).all())
    True
    """
    require("base", base, BaseParameters)
    samples = read_samples(base, q, v, a, tau)
    problem = reduced(base, samples, read_noise(base, samples, noise))
    scale = np.linalg.norm(problem.matrix, axis=0)
    _require_excited(base, problem, scale)
    inverse = np.linalg.inv(problem.matrix / scale) / scale[:, None]
    values = inverse @ problem.right
    return LeastSquares(
        values,
        inverse @ inverse.T,
        spread(base, samples, values),
        float(np.linalg.cond(problem.matrix)),
    )


def fit(
    base: BaseParameters,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    tau: ArrayLike,
    *,
    noise: ArrayLike | None = None,
    prior: ArrayLike | None = None,
    prior_weight: float | None = None,
) -> Fit:
    """Identify parameters of bodies that exist: positive masses, inertias of mass distributions.

        min |W (Y pi - tau)|^2 / 2 + w sum of D(J_i, J_i prior)

    Pseudo-inertias stay positive definite, armature, damping, Coulomb friction and stiffness stay
    positive. Offsets may have both signs.

    Parameters
    ----------
    base : BaseParameters
        From `base_parameters`.
    q, v, a, tau : array_like
        The samples, as in `least_squares`.
    noise : array_like (nv,) or float, optional
        As in `least_squares`.
    prior : array_like (nparameters,), optional
        Parameters to stay close to, by default the model's. Bodies must exist. A joint's
        term that is zero there has no prior, and is only kept positive.
    prior_weight : float, optional
        Weight w of the prior, in the units of the cost: with 1, an error of a parameter of its own
        size counts like one standard deviation of one torque. With 0.01 the result follows the data
        in directions in which they tell little. By default the largest of 1, 0.1, ..., 1e-6 that
        keeps base parameters within half a standard error of `least_squares` (root mean square, in
        the metric of its covariance), or of the nearest bodies that exist.

    Returns
    -------
    Fit

    Raises
    ------
    ValueError
        As in `least_squares`, but for the motion, which may be any; if a body of the prior cannot
        exist or a joint's term there is negative (the message names it), or `prior_weight` is not
        positive.
    TypeError
        If an argument is of the wrong type.

    Warns
    -----
    ModelWarning
        If base parameters leave the region that contains the true ones with 99 % confidence, by
        `least_squares`. The message names the base parameters that are the farthest off.

    Notes
    -----
    [Convex-identification]. The problem is convex: Newton's method with a decreasing weight of the
    prior ends at its only minimum. After the reduction of `least_squares`, a step takes O(n^3) for
    n parameters.

    Examples
    --------
    >>> import dtau, numpy as np
    >>> from dtau import identification
    >>> model = dtau.robots.chain(7)
    >>> regressor = identification.Regressor(model, ["damping"])
    >>> base = identification.base_parameters(regressor)
    >>> rng = np.random.default_rng(0)
    >>> q, v, a = dtau.random_state(model, rng, shape=(200,))
    >>> tau = dtau.inverse_dynamics(model.replace(damping=0.3), q, v, a)
    >>> tau += 0.1 * rng.standard_normal(tau.shape)
    >>> found = identification.fit(base, q, v, a, tau)
    >>> bool(np.allclose(found.model.damping, 0.3, atol=0.05))
    True
    >>> J = identification.pseudo_inertia(found.model.parameters)
    >>> bool((np.linalg.eigvalsh(J) > 0).all())
    True
    """
    require("base", base, BaseParameters)
    if prior_weight is not None:
        prior_weight = float(real_array("prior_weight", prior_weight, ()))
        if not prior_weight > 0:
            raise ValueError(f"prior_weight: expected a positive number, got {prior_weight}")
    start = base.regressor.model_parameters if prior is None else prior
    barrier = Barrier.around(
        base.regressor, real_array("prior", start, (len(base.regressor.names),))
    )
    samples = read_samples(base, q, v, a, tau)
    problem = reduced(base, samples, read_noise(base, samples, noise))
    confidence = Confidence.of(problem)
    matrix = problem.matrix @ base.map
    if prior_weight is None:
        parameters, weight = minimize_near(
            matrix,
            problem.right,
            barrier,
            lambda x: confidence.distance(base.map @ x),
            _NEAR * confidence.determined,
        )
    else:
        weight = prior_weight
        parameters = minimize(matrix, problem.right, barrier, weight)
    parameters.flags.writeable = False
    values = base.map @ parameters
    if confidence.distance(values) > confidence.limit():
        _warn_of_prior(base, confidence, values, prior_weight)
    error = matrix @ parameters - problem.right
    return Fit(
        parameters,
        base,
        spread(base, samples, values),
        0.5 * (float(error @ error) + problem.rest),
        weight,
        weight * barrier.divergence(parameters),
        confidence.standard_errors,
    )


def _warn_of_prior(
    base: BaseParameters, confidence: Confidence, values: Array, given: float | None
) -> None:
    way = (
        "no bodies that exist and positive joint terms come closer: check the noise, and give the "
        "Regressor the joint terms that the robot has"
        if given is None
        else f"the prior pulls them: give a prior_weight below {given:g}, or none"
    )
    farthest = confidence.farthest(base, values)
    warnings.warn(
        f"identification.fit: base parameters leave the 99 % confidence region of least_squares, "
        f"in its standard errors {farthest}; {way}",
        ModelWarning,
        stacklevel=3,
    )


def _require_excited(base: BaseParameters, problem: Reduced, scale: Array) -> None:
    """Raise ValueError, with names, if samples do not tell base parameters apart."""
    names = base.regressor.names
    silent = np.flatnonzero(scale == 0.0)
    if not silent.size:
        _, sizes, ways = np.linalg.svd(problem.matrix / scale)
        missing = ways[sizes <= DEFICIENT * sizes[0]]
        if not len(missing):
            return
        silent = np.flatnonzero((np.abs(missing) > 0.1).any(axis=0))
        count = len(missing)
    else:
        count = len(silent)
    listed = ", ".join(names[base.columns[k]] for k in silent[:8])
    more = ", ..." if len(silent) > 8 else ""
    raise ValueError(
        f"the motion does not determine {count} of {base.rank} base parameters, see "
        f"{listed}{more}; drive one from excite(), or use fit(), which has a prior"
    )
