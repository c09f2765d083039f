"""Center of mass of a robot: position, velocity, acceleration, Jacobian and derivatives.

All components are along the world's axes. All moving bodies count; bodies that are fixed to the
world do not count. Derivatives by the configuration are taken in the tangent space: column k is the
derivative along q (+) eps e_k (`dtau.integrate`), at fixed v and a.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtau import _core
from dtau.model.model import Model
from dtau.results import CenterOfMassAccelerationDerivatives, CenterOfMassVelocityDerivatives


def center_of_mass(
    model: Model,
    q: ArrayLike,
    *,
    out: NDArray[np.float64] | None = None,
    threads: int | None = None,
) -> NDArray[np.float64]:
    """Center of mass of all moving bodies, in the world.

        c = (sum of m_i c_i) / (sum of m_i)

    Parameters
    ----------
    model : Model
        The robot.
    q : array_like (..., nq)
        Configuration. Batch axes of all arguments broadcast against each other.
    out : ndarray (..., 3), optional
        Array for the result: float64, C-contiguous, writable, of the result's shape, sharing no memory
        with the arguments.
    threads : int, optional
        Number of threads. By default one for a small batch, and one per processor for a batch that
        would keep a single thread busy for more than about 0.2 ms.

    Returns
    -------
    center : ndarray (..., 3)
        Position in meters, in the world's axes; NaN for a model without mass. Links that are fixed
        to the world do not count.

    Raises
    ------
    ValueError
        If a shape does not fit or a quaternion is further than 1e-6 from unit norm.
    TypeError
        If ``model`` is not a `Model` or an array is complex or holds objects.

    Notes
    -----
    [RBDA] section 2.13; O(N).

    Examples
    --------
    >>> import dtau
    >>> model = dtau.robots.quadruped()
    >>> q = dtau.neutral(model)
    >>> q[:3] = 1.0, 2.0, 3.0  # where the trunk is
    >>> print(dtau.center_of_mass(model, q).round(2))
    [1.   2.   2.97]
    """
    return _core.center_of_mass(model, q, out, threads)


def center_of_mass_velocity(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    *,
    out: NDArray[np.float64] | None = None,
    threads: int | None = None,
) -> NDArray[np.float64]:
    """Velocity of the center of mass of all moving bodies.

        c' = (sum of m_i c_i') / (sum of m_i)

    Parameters
    ----------
    model : Model
        The robot.
    q : array_like (..., nq)
        Configuration. Batch axes of all arguments broadcast against each other.
    v : array_like (..., nv)
        Velocity in rad/s and m/s; for a free joint [linear, angular] in the body frame.
    out : ndarray (..., 3), optional
        Array for the result: float64, C-contiguous, writable, of the result's shape, sharing no memory
        with the arguments.
    threads : int, optional
        Number of threads. By default one for a small batch, and one per processor for a batch that
        would keep a single thread busy for more than about 0.2 ms.

    Returns
    -------
    velocity : ndarray (..., 3)
        In m/s along the world's axes; NaN for a model without mass.

    Raises
    ------
    ValueError
        If a shape does not fit or a quaternion is further than 1e-6 from unit norm.
    TypeError
        If ``model`` is not a `Model` or an array is complex or holds objects.

    Notes
    -----
    The total momentum over the mass, [Derivations] eq. 15.1; O(N). No digit is lost far from the
    world's origin.

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> q, v, a = dtau.random_state(model, np.random.default_rng(0))
    >>> velocity = dtau.center_of_mass_velocity(model, q, v)
    >>> bool(np.allclose(model.mass * velocity, dtau.momentum(model, q, v)[:3]))
    True
    """
    return _core.center_of_mass_velocity(model, q, v, out, threads)


def center_of_mass_acceleration(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    *,
    out: NDArray[np.float64] | None = None,
    threads: int | None = None,
) -> NDArray[np.float64]:
    """Acceleration of the center of mass of all moving bodies.

        c'' = (sum of m_i c_i'') / (sum of m_i)

    Parameters
    ----------
    model : Model
        The robot.
    q : array_like (..., nq)
        Configuration. Batch axes of all arguments broadcast against each other.
    v : array_like (..., nv)
        Velocity in rad/s and m/s; for a free joint [linear, angular] in the body frame.
    a : array_like (..., nv)
        Time derivative of ``v``, component by component.
    out : ndarray (..., 3), optional
        Array for the result: float64, C-contiguous, writable, of the result's shape, sharing no memory
        with the arguments.
    threads : int, optional
        Number of threads. By default one for a small batch, and one per processor for a batch that
        would keep a single thread busy for more than about 0.2 ms.

    Returns
    -------
    acceleration : ndarray (..., 3)
        In m/s^2 along the world's axes: the second time derivative of `dtau.center_of_mass`.
        Gravity is not part of it. NaN for a model without mass.

    Raises
    ------
    ValueError
        If a shape does not fit or a quaternion is further than 1e-6 from unit norm.
    TypeError
        If ``model`` is not a `Model` or an array is complex or holds objects.

    Notes
    -----
    The net force over the mass, [Derivations] eq. 15.1; O(N). No digit is lost far from the world's
    origin.

    Examples
    --------
    A free robot falls, whatever its joints do:

    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> q, v, tau = dtau.random_state(model, np.random.default_rng(0))
    >>> tau[:6] = 0.0  # nothing holds the trunk
    >>> a = dtau.forward_dynamics(model, q, v, tau)
    >>> bool(np.allclose(dtau.center_of_mass_acceleration(model, q, v, a), model.gravity))
    True
    """
    return _core.center_of_mass_acceleration(model, q, v, a, out, threads)


def center_of_mass_jacobian(
    model: Model,
    q: ArrayLike,
    *,
    out: NDArray[np.float64] | None = None,
    threads: int | None = None,
) -> NDArray[np.float64]:
    """Jacobian of the center of mass: its velocity is ``J @ v``.

    Parameters
    ----------
    model : Model
        The robot.
    q : array_like (..., nq)
        Configuration. Batch axes of all arguments broadcast against each other.
    out : ndarray (..., 3, nv), optional
        Array for the result: float64, C-contiguous, writable, of the result's shape, sharing no memory
        with the arguments.
    threads : int, optional
        Number of threads. By default one for a small batch, and one per processor for a batch that
        would keep a single thread busy for more than about 0.2 ms.

    Returns
    -------
    J : ndarray (..., 3, nv)
        Along the world's axes; NaN for a model without mass.

    Raises
    ------
    ValueError
        If a shape does not fit or a quaternion is further than 1e-6 from unit norm.
    TypeError
        If ``model`` is not a `Model` or an array is complex or holds objects.

    Notes
    -----
    Column k is the momentum that joint k alone gives its subtree, over the mass: [Derivations] eq.
    15.2; O(N). No digit is lost far from the world's origin.

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> q, v, a = dtau.random_state(model, np.random.default_rng(0))
    >>> J = dtau.center_of_mass_jacobian(model, q)
    >>> bool(np.allclose(J @ v, dtau.center_of_mass_velocity(model, q, v)))
    True
    """
    return _core.center_of_mass_jacobian(model, q, out, threads)


def center_of_mass_velocity_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    *,
    out: Sequence[NDArray[np.float64]] | None = None,
    threads: int | None = None,
) -> CenterOfMassVelocityDerivatives:
    """Derivatives of the velocity of the center of mass by q and v.

        by q and by v of J v    by v it is J

    Parameters
    ----------
    model : Model
        The robot.
    q : array_like (..., nq)
        Configuration. Batch axes of all arguments broadcast against each other.
    v : array_like (..., nv)
        Velocity in rad/s and m/s; for a free joint [linear, angular] in the body frame.
    out : sequence of ndarray, optional
        One array for each result of the call, in their order: float64, C-contiguous, writable, of the
        result's shape, sharing no memory with the arguments or with each other. The tuple that an
        earlier call returned is valid.
    threads : int, optional
        Number of threads. By default one for a small batch, and one per processor for a batch that
        would keep a single thread busy for more than about 0.2 ms.

    Returns
    -------
    CenterOfMassVelocityDerivatives
        Rows along the world's axes; NaN for a model without mass.

        dvelocity_dq : ndarray (..., 3, nv)
            Column k is the derivative along q (+) eps e_k, in the tangent space.
        dvelocity_dv : ndarray (..., 3, nv)
            The Jacobian, the derivative by ``v``.

    Raises
    ------
    ValueError
        If a shape does not fit or a quaternion is further than 1e-6 from unit norm.
    TypeError
        If ``model`` is not a `Model` or an array is complex or holds objects.

    Notes
    -----
    [Derivations] eq. 15.3; O(N). No digit is lost far from the world's origin.

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> q, v, a = dtau.random_state(model, np.random.default_rng(0))
    >>> d = dtau.center_of_mass_velocity_derivatives(model, q, v)
    >>> bool(np.allclose(d.dvelocity_dv, dtau.center_of_mass_jacobian(model, q)))
    True
    """
    return _core.center_of_mass_velocity_derivatives(model, q, v, out, threads)


def center_of_mass_acceleration_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    *,
    out: Sequence[NDArray[np.float64]] | None = None,
    threads: int | None = None,
) -> CenterOfMassAccelerationDerivatives:
    """Derivatives of the acceleration of the center of mass by q, v and a.

        by q, by v and by a of J a + dJ/dt v    by a it is J

    Parameters
    ----------
    model : Model
        The robot.
    q : array_like (..., nq)
        Configuration. Batch axes of all arguments broadcast against each other.
    v : array_like (..., nv)
        Velocity in rad/s and m/s; for a free joint [linear, angular] in the body frame.
    a : array_like (..., nv)
        Time derivative of ``v``, component by component.
    out : sequence of ndarray, optional
        One array for each result of the call, in their order: float64, C-contiguous, writable, of the
        result's shape, sharing no memory with the arguments or with each other. The tuple that an
        earlier call returned is valid.
    threads : int, optional
        Number of threads. By default one for a small batch, and one per processor for a batch that
        would keep a single thread busy for more than about 0.2 ms.

    Returns
    -------
    CenterOfMassAccelerationDerivatives
        Rows along the world's axes; NaN for a model without mass.

        dacceleration_dq : ndarray (..., 3, nv)
            Column k is the derivative along q (+) eps e_k, in the tangent space.
        dacceleration_dv : ndarray (..., 3, nv)
            Column k is the derivative by velocity k.
        dacceleration_da : ndarray (..., 3, nv)
            The Jacobian, the derivative by ``a``.

    Raises
    ------
    ValueError
        If a shape does not fit or a quaternion is further than 1e-6 from unit norm.
    TypeError
        If ``model`` is not a `Model` or an array is complex or holds objects.

    Notes
    -----
    [Derivations] eq. 15.4; O(N). No digit is lost far from the world's origin.

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> q, v, a = dtau.random_state(model, np.random.default_rng(0))
    >>> d = dtau.center_of_mass_acceleration_derivatives(model, q, v, a)
    >>> bool(np.allclose(d.dacceleration_da, dtau.center_of_mass_jacobian(model, q)))
    True
    """
    return _core.center_of_mass_acceleration_derivatives(model, q, v, a, out, threads)
