"""Momentum of a robot, about the world's origin and about the center of mass.

All components are along the world's axes. All moving bodies count; armatures do not, for they stand
for rotors whose axes are not known. Derivatives by the configuration are taken in the tangent
space: column k is the derivative along q (+) eps e_k (`dtau.integrate`), at fixed v and a.
"""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import ArrayLike

from dtau.model.model import Model
from dtau.results import CentroidalMomentumDerivatives, CentroidalMomentumRateDerivatives
from dtau.support.arrays import Array
from dtau.support.direct import direct
from dtau.support.options import Coordinates


@direct
def momentum(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    *,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """Momentum of all moving bodies, about the world's origin.

        h_0 = sum of [m_i c_i', I_i omega_i + c_i x m_i c_i']

    Returns
    -------
    h
        ... The angular part is about the world's origin. Zeros for a model without mass.

    Notes
    -----
    [Derivations] eq. 13.16; O(N). `dtau.centroidal_momentum` loses no digit far from the world's
    origin.

    Examples
    --------
    Gravity alone changes the momentum of a free robot, whatever the joints do:

    >>> rate = dtau.momentum_time_derivatives(
    ...     model, q, [v, dtau.forward_dynamics(model, q, v, np.zeros(model.nv))]
    ... )[1]
    >>> bool(np.allclose(rate[:3], model.mass * model.gravity))
    True
    """


@direct
def centroidal_momentum(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    *,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """Momentum of all moving bodies, about their center of mass.

        h = sum of [m_i c_i', I_i omega_i + (c_i - c) x m_i c_i']

    Returns
    -------
    h
        ... The angular part is about `dtau.center_of_mass`; it is NaN for a model without mass.

    Notes
    -----
    [Derivations] eq. 13.16; O(N). No digit is lost far from the world's origin.

    Examples
    --------
    >>> h = dtau.centroidal_momentum(model, q, v)
    >>> about_origin = h[3:] + np.cross(dtau.center_of_mass(model, q), h[:3])
    >>> bool(np.allclose(dtau.momentum(model, q, v), [*h[:3], *about_origin]))
    True
    """


@direct
def centroidal_momentum_matrix(
    model: Model, q: ArrayLike, *, out: Array | None = None, threads: int | None = None
) -> Array:
    """Centroidal momentum matrix A: the momentum about the center of mass is ``A @ v``.

    Returns
    -------
    A : ndarray (..., 6, nv)
        Rows [linear, angular] along the world's axes; the linear ones divided by the mass are the
        Jacobian of `dtau.center_of_mass`. The angular ones are NaN for a model without mass.

    Notes
    -----
    Composite inertias, [Derivations] eq. 13.17; O(N). No digit is lost far from the world's origin.

    Examples
    --------
    >>> A = dtau.centroidal_momentum_matrix(model, q)
    >>> A.shape
    (6, 18)
    >>> bool(np.allclose(A @ v, dtau.centroidal_momentum(model, q, v)))
    True
    """


@direct
def centroidal_momentum_rate(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    *,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """Time derivative of the momentum about the center of mass.

        dh/dt = A a + dA/dt v

    Returns
    -------
    rate : ndarray (..., 6)
        [force, moment] along the world's axes in N and N m: the time derivative of the components
        of `dtau.centroidal_momentum`, about the moving center of mass. This is the sum of all
        wrenches that act on the robot from outside, gravity included. The moment is NaN for a model
        without mass.

    Notes
    -----
    [Derivations] eq. 15.5; O(N). No digit is lost far from the world's origin.
    `dtau.centroidal_momentum_time_derivatives` gives any order.

    Examples
    --------
    Gravity alone changes the momentum of a free robot, whatever the joints do:

    >>> q, v, tau = dtau.random_state(model, np.random.default_rng(0))
    >>> tau[:6] = 0.0  # nothing holds the trunk
    >>> a = dtau.forward_dynamics(model, q, v, tau)
    >>> rate = dtau.centroidal_momentum_rate(model, q, v, a)
    >>> bool(np.allclose(rate, [*model.mass * model.gravity, 0.0, 0.0, 0.0]))
    True
    """


@direct
def centroidal_momentum_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    *,
    coordinates: Coordinates = "tangent",
    out: Sequence[Array] | None = None,
    threads: int | None = None,
) -> CentroidalMomentumDerivatives:
    """Derivatives of the momentum about the center of mass by q and v.

        by q and by v of A v    by v it is A

    Returns
    -------
    CentroidalMomentumDerivatives
        Rows [linear, angular] along the world's axes. Angular rows are about the center of mass,
        which moves with ``q``. They are NaN for a model without mass.

    Notes
    -----
    [Derivations] eqs. 15.6, 15.8; O(N). No digit is lost far from the world's origin.

    Examples
    --------
    >>> q, v, a = dtau.random_state(model, np.random.default_rng(0))
    >>> d = dtau.centroidal_momentum_derivatives(model, q, v)
    >>> rate = d.dh_dq @ v + d.dh_dv @ a
    >>> bool(np.allclose(rate, dtau.centroidal_momentum_rate(model, q, v, a)))
    True
    """


@direct
def centroidal_momentum_rate_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    *,
    coordinates: Coordinates = "tangent",
    out: Sequence[Array] | None = None,
    threads: int | None = None,
) -> CentroidalMomentumRateDerivatives:
    """Derivatives of the rate of the momentum about the center of mass by q, v and a.

        by q, by v and by a of A a + dA/dt v    by a it is A

    Returns
    -------
    CentroidalMomentumRateDerivatives
        Rows [force, moment] along the world's axes. Moments are about the center of mass, which
        moves with ``q``. They are NaN for a model without mass.

    Notes
    -----
    [Derivations] eqs. 15.7, 15.8; O(N). No digit is lost far from the world's origin.

    Examples
    --------
    >>> d = dtau.centroidal_momentum_rate_derivatives(model, q, v, a)
    >>> bool(np.allclose(d.drate_da, dtau.centroidal_momentum_matrix(model, q)))
    True
    """
