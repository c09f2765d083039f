"""Center of mass of a robot: position, velocity, acceleration, Jacobian and derivatives.

All components are along the world's axes. All moving bodies count; bodies that are fixed to the
world do not count. Derivatives by the configuration are taken in the tangent space: column k is the
derivative along q (+) eps e_k (`dtau.integrate`), at fixed v and a.
"""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import ArrayLike

from dtau.model.model import Model
from dtau.results import CenterOfMassAccelerationDerivatives, CenterOfMassVelocityDerivatives
from dtau.support.arrays import Array
from dtau.support.direct import direct
from dtau.support.options import Coordinates


@direct
def center_of_mass(
    model: Model, q: ArrayLike, *, out: Array | None = None, threads: int | None = None
) -> Array:
    """Center of mass of all moving bodies, in the world.

        c = (sum of m_i c_i) / (sum of m_i)

    Returns
    -------
    center : ndarray (..., 3)
        Position in meters, in the world's axes; NaN for a model without mass. Links that are fixed
        to the world do not count.

    Notes
    -----
    [RBDA] section 2.13; O(N).

    Examples
    --------
    >>> q = dtau.neutral(model)
    >>> q[:3] = 1.0, 2.0, 3.0  # where the trunk is
    >>> print(dtau.center_of_mass(model, q).round(2))
    [1.   2.   2.97]
    """


@direct
def center_of_mass_velocity(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    *,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """Velocity of the center of mass of all moving bodies.

        c' = (sum of m_i c_i') / (sum of m_i)

    Returns
    -------
    velocity : ndarray (..., 3)
        In m/s along the world's axes; NaN for a model without mass.

    Notes
    -----
    The total momentum over the mass, [Derivations] eq. 15.1; O(N). No digit is lost far from the
    world's origin.

    Examples
    --------
    >>> q, v, a = dtau.random_state(model, np.random.default_rng(0))
    >>> velocity = dtau.center_of_mass_velocity(model, q, v)
    >>> bool(np.allclose(model.mass * velocity, dtau.momentum(model, q, v)[:3]))
    True
    """


@direct
def center_of_mass_acceleration(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    *,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """Acceleration of the center of mass of all moving bodies.

        c'' = (sum of m_i c_i'') / (sum of m_i)

    Returns
    -------
    acceleration : ndarray (..., 3)
        In m/s^2 along the world's axes: the second time derivative of `dtau.center_of_mass`.
        Gravity is not part of it. NaN for a model without mass.

    Notes
    -----
    The net force over the mass, [Derivations] eq. 15.1; O(N). No digit is lost far from the world's
    origin.

    Examples
    --------
    A free robot falls, whatever its joints do:

    >>> q, v, tau = dtau.random_state(model, np.random.default_rng(0))
    >>> tau[:6] = 0.0  # nothing holds the trunk
    >>> a = dtau.forward_dynamics(model, q, v, tau)
    >>> bool(np.allclose(dtau.center_of_mass_acceleration(model, q, v, a), model.gravity))
    True
    """


@direct
def center_of_mass_jacobian(
    model: Model,
    q: ArrayLike,
    *,
    coordinates: Coordinates = "tangent",
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """Jacobian of the center of mass: its velocity is ``J @ v``.

    Returns
    -------
    J : ndarray (..., 3, nv)
        Along the world's axes; NaN for a model without mass.

    Notes
    -----
    Column k is the momentum that joint k alone gives its subtree, over the mass: [Derivations] eq.
    15.2; O(N). No digit is lost far from the world's origin.

    Examples
    --------
    >>> q, v, a = dtau.random_state(model, np.random.default_rng(0))
    >>> J = dtau.center_of_mass_jacobian(model, q)
    >>> bool(np.allclose(J @ v, dtau.center_of_mass_velocity(model, q, v)))
    True
    """


@direct
def center_of_mass_velocity_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    *,
    coordinates: Coordinates = "tangent",
    out: Sequence[Array] | None = None,
    threads: int | None = None,
) -> CenterOfMassVelocityDerivatives:
    """Derivatives of the velocity of the center of mass by q and v.

        by q and by v of J v    by v it is J

    Returns
    -------
    CenterOfMassVelocityDerivatives
        Rows along the world's axes; NaN for a model without mass.

    Notes
    -----
    [Derivations] eq. 15.3; O(N). No digit is lost far from the world's origin.

    Examples
    --------
    >>> q, v, a = dtau.random_state(model, np.random.default_rng(0))
    >>> d = dtau.center_of_mass_velocity_derivatives(model, q, v)
    >>> bool(np.allclose(d.dvelocity_dv, dtau.center_of_mass_jacobian(model, q)))
    True
    """


@direct
def center_of_mass_acceleration_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    *,
    coordinates: Coordinates = "tangent",
    out: Sequence[Array] | None = None,
    threads: int | None = None,
) -> CenterOfMassAccelerationDerivatives:
    """Derivatives of the acceleration of the center of mass by q, v and a.

        by q, by v and by a of J a + dJ/dt v    by a it is J

    Returns
    -------
    CenterOfMassAccelerationDerivatives
        Rows along the world's axes; NaN for a model without mass.

    Notes
    -----
    [Derivations] eq. 15.4; O(N). No digit is lost far from the world's origin.

    Examples
    --------
    >>> d = dtau.center_of_mass_acceleration_derivatives(model, q, v, a)
    >>> bool(np.allclose(d.dacceleration_da, dtau.center_of_mass_jacobian(model, q)))
    True
    """
