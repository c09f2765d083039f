"""The terms of the equation of motion, and the energies.

    tau = M a + C v + D v + g - sum of J^T f_ext

with M including the armature, D the viscous damping of the joints and g the torque of gravity and
of their springs.

The energies include all moving bodies. The kinetic energy v . M v / 2 also includes the rotors that
the armature models. Derivatives by the configuration are taken in the tangent space: entry k is the
derivative along q (+) eps e_k (`dtau.integrate`), at fixed v.
"""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import ArrayLike

from dtau.model.model import Model
from dtau.results import KineticEnergyDerivatives
from dtau.support.arrays import Array
from dtau.support.direct import direct
from dtau.support.options import Axes, Coordinates, Layout


@direct
def mass_matrix(
    model: Model,
    q: ArrayLike,
    *,
    layout: Layout = "dense",
    parameters: ArrayLike | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """Mass matrix M, with the armature on its diagonal.

        M = sum over bodies of J_i^T I_i J_i + armature

    Returns
    -------
    M : ndarray (..., nv, nv)
        Complete and symmetric; rows of a free joint are [linear, angular] in the body frame.

    Notes
    -----
    Composite-rigid-body algorithm, [RBDA] section 6.2; O(N d) with the depth d of the tree.

    Examples
    --------
    >>> M = dtau.mass_matrix(model, dtau.neutral(model))
    >>> bool(abs(M[0, 0] - model.mass) < 1e-12)
    True
    """


@direct
def mass_matrix_inverse(
    model: Model,
    q: ArrayLike,
    *,
    layout: Layout = "dense",
    parameters: ArrayLike | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """Inverse of the mass matrix: the derivative of the acceleration by the torque.

        M^-1

    Returns
    -------
    M_inverse : ndarray (..., nv, nv)
        Complete and symmetric.

    Notes
    -----
    Factorization that keeps the zeros of the tree, [RBDA] section 6.5; O(N d) for each column with
    the depth d of the tree. A singular configuration is not detected and gives huge numbers or NaN:
    see `dtau.forward_dynamics`.

    Examples
    --------
    >>> q = dtau.neutral(model)
    >>> product = dtau.mass_matrix_inverse(model, q) @ dtau.mass_matrix(model, q)
    >>> bool(np.allclose(product, np.eye(model.nv)))
    True
    """


@direct
def coriolis_matrix(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    *,
    layout: Layout = "dense",
    parameters: ArrayLike | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """Admissible Coriolis matrix C: ``C @ v`` is the Coriolis torque, and dM/dt = C + C^T.

        tau = M a + C v + D v + g    and dM/dt = C + C^T

    Returns
    -------
    C : ndarray (..., nv, nv)
        Damping and friction are not part of it: ``C @ v + damping * v + gravity_torque =
        bias_torque`` without friction.

    Notes
    -----
    [Echeandia] algorithm 1; O(N d). Many matrices give the same torque; this one is admissible, so
    that dM/dt - 2 C is skew-symmetric, as passivity-based control needs. Among the admissible
    matrices it is the matrix of Christoffel symbols: ``C(v) @ w = C(w) @ v`` up to the brackets of
    spherical, planar and free joints, whose displacements do not add ([Derivations] eq. 3.8).

    Examples
    --------
    >>> C = dtau.coriolis_matrix(model, q, v)
    >>> bias = C @ v + model.damping * v + dtau.gravity_torque(model, q)
    >>> bool(np.allclose(bias, dtau.bias_torque(model, q, v)))
    True
    """


@direct
def bias_torque(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    parameters: ArrayLike | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """Bias torque, inverse dynamics at ``a = 0``: Coriolis, damping, gravity, external forces.

        C v + D v + g - sum of J^T f_ext    D v with Coulomb friction, g with springs

    Returns
    -------
    tau

    Notes
    -----
    Recursive Newton-Euler algorithm, [RBDA] section 5.3; O(N).

    Examples
    --------
    >>> q = dtau.neutral(model)
    >>> still = dtau.bias_torque(model, q, np.zeros(model.nv))
    >>> bool(np.array_equal(still, dtau.gravity_torque(model, q)))
    True
    """


@direct
def gravity_torque(
    model: Model,
    q: ArrayLike,
    *,
    parameters: ArrayLike | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """Gravity torque: the torque that holds the robot still against gravity.

        g = K (q - rest) - sum of m_i J_i^T gravity

    J_i is the Jacobian of the center of mass of body i. In a model with springs, of stiffness K, it
    also holds against these. For a spherical joint q - rest stands for the rotation vector from
    rest.

    Returns
    -------
    tau

    Notes
    -----
    Recursive Newton-Euler algorithm, [RBDA] section 5.3; O(N).

    Examples
    --------
    >>> weight = dtau.gravity_torque(model, dtau.neutral(model))[2]
    >>> bool(abs(weight - 9.81 * model.mass) < 1e-9)
    True
    """


@direct
def kinetic_energy(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    *,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """Kinetic energy of all moving bodies and of the joints' rotors.

        T = v^T M v / 2

    Returns
    -------
    T : ndarray (...)
        v . M v / 2 in J, with the mass matrix M of `dtau.mass_matrix`, armature included. It is
        never negative, and zero for a model without mass and armature.

    Notes
    -----
    A sum of squares over bodies and joints, [Derivations] eq. 15.9; O(N).

    Examples
    --------
    >>> T = dtau.kinetic_energy(model, q, v)
    >>> bool(np.isclose(T, v @ dtau.mass_matrix(model, q) @ v / 2))
    True
    """


@direct
def potential_energy(
    model: Model, q: ArrayLike, *, out: Array | None = None, threads: int | None = None
) -> Array:
    """Potential energy of all moving bodies in the field of gravity, and of the joints' springs.

        V = (q - rest) . K (q - rest) / 2 - m gravity . c

    m is the mass of all bodies, c their center, and K the stiffness of the springs. For a spherical
    joint q - rest stands for the rotation vector from rest.

    Returns
    -------
    V : ndarray (...)
        In J, with heights relative to the world's origin. Zero for a model without mass and
        springs.

    Notes
    -----
    [Derivations] eq. 15.11; O(N).

    Examples
    --------
    >>> q, _, _ = dtau.random_state(model, np.random.default_rng(0))
    >>> V = dtau.potential_energy(model, q)
    >>> bool(np.isclose(V, -model.mass * model.gravity @ dtau.center_of_mass(model, q)))
    True
    """


@direct
def kinetic_energy_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    *,
    coordinates: Coordinates = "tangent",
    out: Sequence[Array] | None = None,
    threads: int | None = None,
) -> KineticEnergyDerivatives:
    """Derivatives of the kinetic energy by q and v.

        dT_dq[k] = v^T (dM/dq_k) v / 2    dT_dv = M v

    Notes
    -----
    [Derivations] eq. 15.10; O(N). The torque of inverse dynamics without gravity, springs,
    damping and friction is d(dT_dv)/dt - dT_dq where displacements add (Lagrange's equations);
    joints of several degrees of freedom that do not commute have further terms.

    Examples
    --------
    >>> d = dtau.kinetic_energy_derivatives(model, q, v)
    >>> bool(np.allclose(d.dT_dv, dtau.mass_matrix(model, q) @ v))
    True
    """


@direct
def potential_energy_derivatives(
    model: Model,
    q: ArrayLike,
    *,
    coordinates: Coordinates = "tangent",
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """Derivative of the potential energy by q: the gravity torque.

        dV_dq = g    the gravity torque

    Returns
    -------
    dV_dq : ndarray (..., nv)
        The same numbers as `dtau.gravity_torque`, the torque that holds the robot still.

    Notes
    -----
    Recursive Newton-Euler algorithm, [RBDA] section 5.3; O(N).

    Examples
    --------
    >>> q, _, _ = dtau.random_state(model, np.random.default_rng(0))
    >>> gradient = dtau.potential_energy_derivatives(model, q)
    >>> bool(np.array_equal(gradient, dtau.gravity_torque(model, q)))
    True
    """
