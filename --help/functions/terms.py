"""The terms of the equation of motion, and the energies.

    tau = M a + C v + D v + g - sum of J^T f_ext

with M including the armature and D the viscous damping of the joints.

The energies include all moving bodies. The kinetic energy v . M v / 2 also includes the rotors that
the armature models. Derivatives by the configuration are taken in the tangent space: entry k is the
derivative along q (+) eps e_k (`dtau.integrate`), at fixed v.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtau import _core
from dtau.model.model import Model
from dtau.options import Axes
from dtau.results import KineticEnergyDerivatives


def mass_matrix(
    model: Model,
    q: ArrayLike,
    *,
    out: NDArray[np.float64] | None = None,
    threads: int | None = None,
) -> NDArray[np.float64]:
    """Mass matrix M, with the armature on its diagonal.

        M = sum over bodies of J_i^T I_i J_i + armature

    Parameters
    ----------
    model : Model
        The robot.
    q : array_like (..., nq)
        Configuration. Batch axes of all arguments broadcast against each other.
    out : ndarray (..., nv, nv), optional
        Array for the result: float64, C-contiguous, writable, of the result's shape, sharing no memory
        with the arguments.
    threads : int, optional
        Number of threads. By default one for a small batch, and one per processor for a batch that
        would keep a single thread busy for more than about 0.2 ms.

    Returns
    -------
    M : ndarray (..., nv, nv)
        Complete and symmetric; rows of a free joint are [linear, angular] in the body frame.

    Raises
    ------
    ValueError
        If a shape does not fit or a quaternion is further than 1e-6 from unit norm.
    TypeError
        If ``model`` is not a `Model` or an array is complex or holds objects.

    Notes
    -----
    Composite-rigid-body algorithm, [RBDA] section 6.2; O(N d) with the depth d of the tree.

    Examples
    --------
    >>> import dtau
    >>> model = dtau.robots.quadruped()
    >>> M = dtau.mass_matrix(model, dtau.neutral(model))
    >>> bool(abs(M[0, 0] - model.mass) < 1e-12)
    True
    """
    return _core.mass_matrix(model, q, out, threads)


def mass_matrix_inverse(
    model: Model,
    q: ArrayLike,
    *,
    out: NDArray[np.float64] | None = None,
    threads: int | None = None,
) -> NDArray[np.float64]:
    """Inverse of the mass matrix: the derivative of the acceleration by the torque.

        M^-1

    Parameters
    ----------
    model : Model
        The robot.
    q : array_like (..., nq)
        Configuration. Batch axes of all arguments broadcast against each other.
    out : ndarray (..., nv, nv), optional
        Array for the result: float64, C-contiguous, writable, of the result's shape, sharing no memory
        with the arguments.
    threads : int, optional
        Number of threads. By default one for a small batch, and one per processor for a batch that
        would keep a single thread busy for more than about 0.2 ms.

    Returns
    -------
    M_inverse : ndarray (..., nv, nv)
        Complete and symmetric.

    Raises
    ------
    ValueError
        If a shape does not fit, a quaternion is further than 1e-6 from unit norm, or joints of the
        model have no inertia to accelerate (they are named).
    TypeError
        If ``model`` is not a `Model` or an array is complex or holds objects.

    Notes
    -----
    Factorization that keeps the zeros of the tree, [RBDA] section 6.5; O(N d) for each column with
    the depth d of the tree. A singular configuration is not detected and gives huge numbers or NaN:
    see `dtau.forward_dynamics`.

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> q = dtau.neutral(model)
    >>> product = dtau.mass_matrix_inverse(model, q) @ dtau.mass_matrix(model, q)
    >>> bool(np.allclose(product, np.eye(model.nv)))
    True
    """
    return _core.mass_matrix_inverse(model, q, out, threads)


def coriolis_matrix(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    *,
    out: NDArray[np.float64] | None = None,
    threads: int | None = None,
) -> NDArray[np.float64]:
    """Admissible Coriolis matrix C: ``C @ v`` is the Coriolis torque, and dM/dt = C + C^T.

        tau = M a + C v + D v + g    and dM/dt = C + C^T

    Parameters
    ----------
    model : Model
        The robot.
    q : array_like (..., nq)
        Configuration. Batch axes of all arguments broadcast against each other.
    v : array_like (..., nv)
        Velocity in rad/s and m/s; for a free joint [linear, angular] in the body frame.
    out : ndarray (..., nv, nv), optional
        Array for the result: float64, C-contiguous, writable, of the result's shape, sharing no memory
        with the arguments.
    threads : int, optional
        Number of threads. By default one for a small batch, and one per processor for a batch that
        would keep a single thread busy for more than about 0.2 ms.

    Returns
    -------
    C : ndarray (..., nv, nv)
        Damping is not part of it: ``C @ v + damping * v + gravity_torque = bias_torque``.

    Raises
    ------
    ValueError
        If a shape does not fit or a quaternion is further than 1e-6 from unit norm.
    TypeError
        If ``model`` is not a `Model` or an array is complex or holds objects.

    Notes
    -----
    [Echeandia] algorithm 1; O(N d). Many matrices give the same torque; this one is admissible, so
    that dM/dt - 2 C is skew-symmetric, as passivity-based control needs. Among the admissible
    matrices it is the matrix of Christoffel symbols: ``C(v) @ w = C(w) @ v`` up to the brackets of
    spherical, planar and free joints, whose displacements do not add ([Derivations] eq. 3.8).

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> q, v, _ = dtau.random_state(model, np.random.default_rng(0))
    >>> C = dtau.coriolis_matrix(model, q, v)
    >>> bias = C @ v + model.damping * v + dtau.gravity_torque(model, q)
    >>> bool(np.allclose(bias, dtau.bias_torque(model, q, v)))
    True
    """
    return _core.coriolis_matrix(model, q, v, out, threads)


def bias_torque(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    out: NDArray[np.float64] | None = None,
    threads: int | None = None,
) -> NDArray[np.float64]:
    """Bias torque, inverse dynamics at ``a = 0``: Coriolis, damping, gravity, external forces.

        C v + D v + g - sum of J^T f_ext

    Parameters
    ----------
    model : Model
        The robot.
    q : array_like (..., nq)
        Configuration. Batch axes of all arguments broadcast against each other.
    v : array_like (..., nv)
        Velocity in rad/s and m/s; for a free joint [linear, angular] in the body frame.
    f_ext : array_like (..., nbodies, 6), optional
        External wrench on each body, [force, moment] in the axes ``f_ext_axes``, in N and N m.
        `dtau.wrench_at_frame` converts a force at another point of a body, such as a foot, into these
        numbers, in body axes.
    f_ext_axes : {"body", "world", "mixed"}
        Axes of the external wrenches. ``"body"``: in the body frame, at the body's origin. ``"mixed"``:
        in world axes, at the body's origin. ``"world"``: in world axes, moment about the world's origin
        (the spatial wrenches of [HO-FBS]). Time derivatives are the derivatives of the components along
        these axes. Derivatives by ``q``, and time steps, hold these components constant: ``"body"``
        wrenches turn with their bodies, the others stay constant in the world. For a wrench that acts
        at a frame and is constant in the world, add `dtau.wrench_at_frame_derivatives` to the
        derivatives by ``q``.
    out : ndarray (..., nv), optional
        Array for the result: float64, C-contiguous, writable, of the result's shape, sharing no memory
        with the arguments.
    threads : int, optional
        Number of threads. By default one for a small batch, and one per processor for a batch that
        would keep a single thread busy for more than about 0.2 ms.

    Returns
    -------
    tau : ndarray (..., nv)
        Joint torque in N m and force in N, per degree of freedom; for a free joint the wrench
        [force, moment] in the body frame.

    Raises
    ------
    ValueError
        If a shape does not fit, a quaternion is further than 1e-6 from unit norm, or ``f_ext_axes`` is
        unknown.
    TypeError
        If ``model`` is not a `Model` or an array is complex or holds objects.

    Notes
    -----
    Recursive Newton-Euler algorithm, [RBDA] section 5.3; O(N).

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> q = dtau.neutral(model)
    >>> still = dtau.bias_torque(model, q, np.zeros(model.nv))
    >>> bool(np.array_equal(still, dtau.gravity_torque(model, q)))
    True
    """
    return _core.bias_torque(model, q, v, f_ext, f_ext_axes, out, threads)


def gravity_torque(
    model: Model,
    q: ArrayLike,
    *,
    out: NDArray[np.float64] | None = None,
    threads: int | None = None,
) -> NDArray[np.float64]:
    """Gravity torque: the torque that holds the robot still against gravity.

        g = -sum of m_i J_i^T gravity    J_i the Jacobian of the center of mass of body i

    Parameters
    ----------
    model : Model
        The robot.
    q : array_like (..., nq)
        Configuration. Batch axes of all arguments broadcast against each other.
    out : ndarray (..., nv), optional
        Array for the result: float64, C-contiguous, writable, of the result's shape, sharing no memory
        with the arguments.
    threads : int, optional
        Number of threads. By default one for a small batch, and one per processor for a batch that
        would keep a single thread busy for more than about 0.2 ms.

    Returns
    -------
    tau : ndarray (..., nv)
        Joint torque in N m and force in N, per degree of freedom; for a free joint the wrench
        [force, moment] in the body frame.

    Raises
    ------
    ValueError
        If a shape does not fit or a quaternion is further than 1e-6 from unit norm.
    TypeError
        If ``model`` is not a `Model` or an array is complex or holds objects.

    Notes
    -----
    Recursive Newton-Euler algorithm, [RBDA] section 5.3; O(N).

    Examples
    --------
    >>> import dtau
    >>> model = dtau.robots.quadruped()
    >>> weight = dtau.gravity_torque(model, dtau.neutral(model))[2]
    >>> bool(abs(weight - 9.81 * model.mass) < 1e-9)
    True
    """
    return _core.gravity_torque(model, q, out, threads)


def kinetic_energy(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    *,
    out: NDArray[np.float64] | None = None,
    threads: int | None = None,
) -> NDArray[np.float64]:
    """Kinetic energy of all moving bodies and of the joints' rotors.

        T = v^T M v / 2

    Parameters
    ----------
    model : Model
        The robot.
    q : array_like (..., nq)
        Configuration. Batch axes of all arguments broadcast against each other.
    v : array_like (..., nv)
        Velocity in rad/s and m/s; for a free joint [linear, angular] in the body frame.
    out : ndarray (...), optional
        Array for the result: float64, C-contiguous, writable, of the result's shape, sharing no memory
        with the arguments.
    threads : int, optional
        Number of threads. By default one for a small batch, and one per processor for a batch that
        would keep a single thread busy for more than about 0.2 ms.

    Returns
    -------
    T : ndarray (...)
        v . M v / 2 in J, with the mass matrix M of `dtau.mass_matrix`, armature included. It is
        never negative, and zero for a model without mass and armature.

    Raises
    ------
    ValueError
        If a shape does not fit or a quaternion is further than 1e-6 from unit norm.
    TypeError
        If ``model`` is not a `Model` or an array is complex or holds objects.

    Notes
    -----
    A sum of squares over bodies and joints, [Derivations] eq. 15.9; O(N).

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> q, v, _ = dtau.random_state(model, np.random.default_rng(0))
    >>> T = dtau.kinetic_energy(model, q, v)
    >>> bool(np.isclose(T, v @ dtau.mass_matrix(model, q) @ v / 2))
    True
    """
    return _core.kinetic_energy(model, q, v, out, threads)


def potential_energy(
    model: Model,
    q: ArrayLike,
    *,
    out: NDArray[np.float64] | None = None,
    threads: int | None = None,
) -> NDArray[np.float64]:
    """Potential energy of all moving bodies in the field of gravity.

        V = -m gravity . c    m the mass of all bodies, c their center

    Parameters
    ----------
    model : Model
        The robot.
    q : array_like (..., nq)
        Configuration. Batch axes of all arguments broadcast against each other.
    out : ndarray (...), optional
        Array for the result: float64, C-contiguous, writable, of the result's shape, sharing no memory
        with the arguments.
    threads : int, optional
        Number of threads. By default one for a small batch, and one per processor for a batch that
        would keep a single thread busy for more than about 0.2 ms.

    Returns
    -------
    V : ndarray (...)
        In J, with heights relative to the world's origin. Zero for a model without mass.

    Raises
    ------
    ValueError
        If a shape does not fit or a quaternion is further than 1e-6 from unit norm.
    TypeError
        If ``model`` is not a `Model` or an array is complex or holds objects.

    Notes
    -----
    [Derivations] eq. 15.11; O(N).

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> q, _, _ = dtau.random_state(model, np.random.default_rng(0))
    >>> V = dtau.potential_energy(model, q)
    >>> bool(np.isclose(V, -model.mass * model.gravity @ dtau.center_of_mass(model, q)))
    True
    """
    return _core.potential_energy(model, q, out, threads)


def kinetic_energy_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    *,
    out: Sequence[NDArray[np.float64]] | None = None,
    threads: int | None = None,
) -> KineticEnergyDerivatives:
    """Derivatives of the kinetic energy by q and v.

        dT_dq[k] = v^T (dM/dq_k) v / 2    dT_dv = M v

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
    KineticEnergyDerivatives
        dT_dq : ndarray (..., nv)
            Entry k is the derivative along q (+) eps e_k, in the tangent space.
        dT_dv : ndarray (..., nv)
            The generalized momentum M v, with the armature.

    Raises
    ------
    ValueError
        If a shape does not fit or a quaternion is further than 1e-6 from unit norm.
    TypeError
        If ``model`` is not a `Model` or an array is complex or holds objects.

    Notes
    -----
    [Derivations] eq. 15.10; O(N). The torque of inverse dynamics without gravity and damping is
    d(dT_dv)/dt - dT_dq where displacements add (Lagrange's equations); joints of several degrees
    of freedom that do not commute have further terms.

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> q, v, _ = dtau.random_state(model, np.random.default_rng(0))
    >>> d = dtau.kinetic_energy_derivatives(model, q, v)
    >>> bool(np.allclose(d.dT_dv, dtau.mass_matrix(model, q) @ v))
    True
    """
    return _core.kinetic_energy_derivatives(model, q, v, out, threads)


def potential_energy_derivatives(
    model: Model,
    q: ArrayLike,
    *,
    out: NDArray[np.float64] | None = None,
    threads: int | None = None,
) -> NDArray[np.float64]:
    """Derivative of the potential energy by q: the gravity torque.

        dV_dq = g    the gravity torque

    Parameters
    ----------
    model : Model
        The robot.
    q : array_like (..., nq)
        Configuration. Batch axes of all arguments broadcast against each other.
    out : ndarray (..., nv), optional
        Array for the result: float64, C-contiguous, writable, of the result's shape, sharing no memory
        with the arguments.
    threads : int, optional
        Number of threads. By default one for a small batch, and one per processor for a batch that
        would keep a single thread busy for more than about 0.2 ms.

    Returns
    -------
    dV_dq : ndarray (..., nv)
        The same numbers as `dtau.gravity_torque`, the torque that holds the robot still.

    Raises
    ------
    ValueError
        If a shape does not fit or a quaternion is further than 1e-6 from unit norm.
    TypeError
        If ``model`` is not a `Model` or an array is complex or holds objects.

    Notes
    -----
    Recursive Newton-Euler algorithm, [RBDA] section 5.3; O(N).

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> q, _, _ = dtau.random_state(model, np.random.default_rng(0))
    >>> gradient = dtau.potential_energy_derivatives(model, q)
    >>> bool(np.array_equal(gradient, dtau.gravity_torque(model, q)))
    True
    """
    return _core.potential_energy_derivatives(model, q, out, threads)
