"""Kinetic and potential energy of a robot, and their gradients.

All moving bodies count, and the rotors that armatures stand for: the kinetic energy is v . M v / 2
with M of `dtau.mass_matrix`. Derivatives by the configuration are taken in the tangent space: entry
k is the derivative along q (+) eps e_k (`dtau.integrate`), at fixed v.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtau import _core
from dtau.docstrings import documented
from dtau.model.model import Model
from dtau.results import KineticEnergyDerivatives


@documented
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

    Returns
    -------
    T : ndarray (...)
        v . M v / 2 in J, with the mass matrix M of `dtau.mass_matrix`: the armature counts. Never
        negative. Zero for a model without mass and armature.

    Notes
    -----
    A sum of squares over bodies and joints, [Notes] eq. 15.9; O(N).

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


@documented
def potential_energy(
    model: Model,
    q: ArrayLike,
    *,
    out: NDArray[np.float64] | None = None,
    threads: int | None = None,
) -> NDArray[np.float64]:
    """Potential energy of all moving bodies in the field of gravity.

        V = -m gravity . c    m the mass of all bodies, c their center

    Returns
    -------
    V : ndarray (...)
        In J, relative to the world's origin, from which heights count. Zero for a model without
        mass.

    Notes
    -----
    [Notes] eq. 15.11; O(N).

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


@documented
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

    Notes
    -----
    [Notes] eq. 15.10; O(N). The torque of inverse dynamics without gravity and damping is
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


@documented
def potential_energy_derivatives(
    model: Model,
    q: ArrayLike,
    *,
    out: NDArray[np.float64] | None = None,
    threads: int | None = None,
) -> NDArray[np.float64]:
    """Derivatives of the potential energy by q.

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
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> q, _, _ = dtau.random_state(model, np.random.default_rng(0))
    >>> gradient = dtau.potential_energy_derivatives(model, q)
    >>> bool(np.array_equal(gradient, dtau.gravity_torque(model, q)))
    True
    """
    return _core.potential_energy_derivatives(model, q, out, threads)
