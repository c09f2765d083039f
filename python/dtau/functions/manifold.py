"""The configuration manifold: `integrate`, `difference`, their Jacobians, and the tangent map."""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import ArrayLike

from dtau.model.model import Model
from dtau.results import DifferenceJacobians, IntegrateJacobians, TangentMap
from dtau.support.arrays import Array
from dtau.support.direct import direct
from dtau.support.options import Coordinates


@direct
def integrate(
    model: Model,
    q: ArrayLike,
    dq: ArrayLike,
    *,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """Configuration reached from ``q`` by the displacement ``dq``: q (+) dq.

        q (+) dq = q exp(dq)    for each joint; q + dq where displacements add

    Parameters
    ----------
    dq
        Displacement in the tangent space, for example ``v * dt``; for a free joint
        [linear, angular] in the body frame.

    Returns
    -------
    q : ndarray (..., nq)
        Joint by joint T exp(S dq): coordinates of joints with one degree of freedom add, a
        spherical joint moves by the exponential of SO(3), a free joint by the exponential of SE(3).
        Quaternions have unit norm.

    Notes
    -----
    The exponentials of SO(3), SE(3) and SE(2), [Sola] appendices B to D; O(N).

    Examples
    --------
    >>> step = dtau.integrate(model, q, 0.01 * v)
    >>> bool(np.allclose(dtau.difference(model, q, step), 0.01 * v))
    True
    """


@direct
def difference(
    model: Model,
    q0: ArrayLike,
    q1: ArrayLike,
    *,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """Displacement from ``q0`` to ``q1``: a dq with q0 (+) dq = q1.

        dq = log(q0^-1 q1)    for each joint; q1 - q0 where displacements add

    The sign (+) stands for `dtau.integrate`.

    Returns
    -------
    dq : ndarray (..., nv)
        Displacement in the tangent space at ``q0``. For a spherical joint: the shortest rotation
        vector, of angle at most pi. For a free joint: the logarithm of SE(3), a screw motion whose
        rotation is the shortest. For a planar joint: the logarithm of SE(2), whose angle is wrapped
        to at most pi. For other joints: the difference of coordinates, angles not wrapped.

    Notes
    -----
    The logarithms of SO(3), SE(3) and SE(2), [Sola] appendices B to D; O(N). Quaternions q and -q
    are one rotation: their difference is zero. At an angle of exactly pi both directions are
    equally short; the sign of w in the relative quaternion decides. For gradients of functions
    of the displacement see `dtau.difference_jacobians`.

    Examples
    --------
    >>> q0, q1 = dtau.random_state(model, np.random.default_rng(0), shape=(2,)).q
    >>> dq = dtau.difference(model, q0, q1)
    >>> dq.shape
    (18,)
    """


@direct
def normalize(
    model: Model, q: ArrayLike, *, out: Array | None = None, threads: int | None = None
) -> Array:
    """Normalize the quaternions of a configuration; the rest is unchanged.

        x / |x|    of each quaternion x

    Parameters
    ----------
    q
        Configuration with quaternions of any finite norm except zero (zero gives NaN).

    Returns
    -------
    q : ndarray (..., nq)
        Configuration with quaternions of unit norm.

    Raises
    ------
    ValueError
        If the shape does not fit.

    Examples
    --------
    >>> q = dtau.neutral(model)
    >>> q[6] = 2.0
    >>> float(dtau.normalize(model, q)[6])
    1.0
    """


@direct
def integrate_jacobians(
    model: Model,
    q: ArrayLike,
    dq: ArrayLike,
    *,
    coordinates: Coordinates = "tangent",
    out: Sequence[Array] | None = None,
    threads: int | None = None,
) -> IntegrateJacobians:
    """Jacobians of `dtau.integrate`: how the result moves with ``q`` and with ``dq``.

        (q (+) xi) (+) (dq + eta) = (q (+) dq) (+) (by_q xi + by_dq eta)    to first order

    Parameters
    ----------
    dq
        Displacement in the tangent space; for a free joint [linear, angular] in the body frame.

    Returns
    -------
    IntegrateJacobians
        (q (+) xi) (+) (dq + delta) is, to first order, (q (+) dq) (+) (``by_q`` xi + ``by_dq``
        delta). All displacements of a free joint are [linear, angular] along the current axes of
        its body. The matrices differ from the identity only at spherical, free and planar joints.
    by_q : ndarray (..., nv, nv)
        Derivative by ``q``.
    by_dq : ndarray (..., nv, nv)
        Derivative by ``dq``.

    Notes
    -----
    In an estimator's prediction, a covariance P of q becomes ``by_q @ P @ by_q.T``. In
    backpropagation, a gradient g by the resulting configuration becomes ``by_q.T @ g`` and
    ``by_dq.T @ g``. Exact for displacements of any size. [Sola]; [Derivations] eqs. 12.5, 12.6;
    O(N).

    Examples
    --------
    >>> by_q, by_dq = dtau.integrate_jacobians(model, q, v)
    >>> delta = np.full(model.nv, 1e-7)
    >>> reached = dtau.integrate(model, q, v)
    >>> moved = dtau.difference(model, reached, dtau.integrate(model, q, v + delta))
    >>> bool(np.allclose(moved, by_dq @ delta, rtol=0, atol=1e-12))
    True
    """


@direct
def difference_jacobians(
    model: Model,
    q0: ArrayLike,
    q1: ArrayLike,
    *,
    coordinates: Coordinates = "tangent",
    out: Sequence[Array] | None = None,
    threads: int | None = None,
) -> DifferenceJacobians:
    """Jacobians of `dtau.difference`: how the displacement changes with ``q0`` and with ``q1``.

        difference(q0 (+) xi, q1 (+) eta) = difference(q0, q1) + by_q0 xi + by_q1 eta

    Returns
    -------
    DifferenceJacobians
        The displacement from q0 (+) xi0 to q1 (+) xi1 is, to first order, difference(q0, q1) +
        ``by_q0`` xi0 + ``by_q1`` xi1. The matrices differ from minus the identity and the identity
        only at spherical, free and planar joints.
    by_q0 : ndarray (..., nv, nv)
        Derivative by ``q0``.
    by_q1 : ndarray (..., nv, nv)
        Derivative by ``q1``.

    Notes
    -----
    Use these Jacobians for gradients of a distance on the manifold. The cost d.T d / 2 with d =
    difference(goal, q) has the gradient ``by_q1.T @ d`` by q. This gradient is not d. Both agree
    for a pure rotation and for a pure translation, which hides the mistake in simple tests; for a
    free base that moves and turns, d is wrong in its linear and its angular part. For a weighted
    distance d.T W d / 2 the gradient is ``by_q1.T @ W @ d``, which differs from W d for pure
    rotations too. A step along -d leads to the goal. But d is wrong beside another term of a cost,
    in a Gauss-Newton matrix ``by_q1.T @ W @ by_q1``, and in the update of a Kalman filter.

    Exact at all angles below pi. At an angle of exactly pi `difference` has two possible values,
    and these are the derivatives of the one that it returns. [Sola]; [Derivations] eq. 16.1; O(N).

    Examples
    --------
    The gradient of a distance to a goal equals central differences, and d does not:

    >>> goal, q = dtau.random_state(model, np.random.default_rng(0), shape=(2,)).q
    >>> d = dtau.difference(model, goal, q)
    >>> gradient = dtau.difference_jacobians(model, goal, q).by_q1.T @ d
    >>> def cost(xi):
    ...     d = dtau.difference(model, goal, dtau.integrate(model, q, xi))
    ...     return 0.5 * np.sum(d**2, axis=-1)
    >>> step = 1e-5 * np.eye(model.nv)
    >>> slopes = (cost(step) - cost(-step)) / 2e-5
    >>> bool(np.allclose(gradient, slopes, atol=1e-8))
    True
    >>> bool(np.allclose(d, slopes, atol=0.1))
    False
    """


@direct
def tangent_map(
    model: Model, q: ArrayLike, *, out: Sequence[Array] | None = None, threads: int | None = None
) -> TangentMap:
    """Tangent map: matrices between rates of the nq numbers of ``q`` and the velocity ``v``.

        d(numbers)/dt = from_tangent v    v = to_tangent d(numbers)/dt

    Returns
    -------
    TangentMap
        Both are identities except at quaternions and at positions of free and planar joints,
        because v is along the body's axes.
    from_tangent : ndarray (..., nq, nv)
        The numbers of q change at the rate ``from_tangent @ v``.
    to_tangent : ndarray (..., nv, nq)
        Its left inverse, v = ``to_tangent @ (dq/dt)``: it treats quaternions as normalized, so that
        a rate along a quaternion itself has no effect.

    Notes
    -----
    Derivatives of this package by q are in the tangent space, g (..., nv). An optimizer, or
    automatic differentiation, may have the nq numbers of q as its variables. Convert gradients:

        by the numbers      ``to_tangent.T @ g``          of f(normalize(q))
        in tangent space    ``from_tangent.T @ g_numbers``

    and the columns of a Jacobian: ``J @ to_tangent``. An optimizer that steps along the numbers
    leaves the manifold: call `dtau.normalize` after each step, or step in the tangent space with
    `dtau.integrate`.

    Without the conversion results are silently wrong: a small rotation is twice the vector part of
    its quaternion, and positions are along the world's axes. [Derivations] eqs. 16.3, 16.4; O(N).

    Examples
    --------
    The gradient of an energy by the numbers of q equals central differences:

    >>> down = np.array([0.0, 0.0, model.mass * 9.81])
    >>> potential = lambda q: dtau.center_of_mass(model, dtau.normalize(model, q)) @ down
    >>> in_tangent_space = dtau.gravity_torque(model, q)
    >>> gradient = dtau.tangent_map(model, q).to_tangent.T @ in_tangent_space
    >>> step = 1e-5 * np.eye(model.nq)
    >>> bool(np.allclose(gradient, (potential(q + step) - potential(q - step)) / 2e-5, atol=1e-6))
    True

    The rate of the numbers of q for a velocity:

    >>> rate = dtau.tangent_map(model, q).from_tangent @ v
    >>> bool(np.allclose(dtau.integrate(model, q, 1e-6 * v), q + 1e-6 * rate, atol=1e-10))
    True
    """
