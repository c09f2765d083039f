"""Methods of a convention that convert stacks of time derivatives."""

from __future__ import annotations

from numpy.typing import ArrayLike

from dtau.conventions import matrix_time_derivatives, time_derivatives
from dtau.conventions.maps import Array, Maps


class StackConversions:
    """The methods of `Convention` that convert stacks of time derivatives.

    If a motion has more rows than a conversion needs, the others are ignored; if it has fewer, the
    error names the required number.
    """

    _maps: Maps

    def time_derivatives_from_dtau(self, q: ArrayLike, v_derivatives: ArrayLike) -> Array:
        """Convert the velocity and its time derivatives from dtau's to this convention.

        Parameters
        ----------
        q : array_like (..., model.nq)
            Configuration, in dtau's convention.
        v_derivatives : array_like (..., n, nv)
            The velocity and its time derivatives of order 1 to n - 1 in dtau's convention,
            component by component, as for `dtau.inverse_dynamics_time_derivatives`.

        Returns
        -------
        ndarray (..., n, nv)
            The velocity in this convention and its time derivatives. Rows 0 and 1 are ``v`` and
            ``a`` of `from_dtau`.
        """
        return time_derivatives.velocities_from_dtau(self._maps, q, v_derivatives)

    def time_derivatives_to_dtau(self, q: ArrayLike, v_derivatives: ArrayLike) -> Array:
        """Convert the velocity and its time derivatives from this convention to dtau's.

        As `time_derivatives_from_dtau`, with q ``(..., nq)`` and the stack ``(..., n, nv)`` in
        this convention, and the result ``(..., n, nv)`` in dtau's.
        """
        return time_derivatives.velocities_to_dtau(self._maps, q, v_derivatives)

    def torque_time_derivatives_from_dtau(
        self, q: ArrayLike, v_derivatives: ArrayLike, tau_derivatives: ArrayLike
    ) -> Array:
        """Convert joint torques and their time derivatives from dtau's to this convention.

        Parameters
        ----------
        q : array_like (..., model.nq)
            Configuration, in dtau's convention.
        v_derivatives : array_like (..., n, nv)
            The velocity and its time derivatives, in dtau's convention: at least one row, and at
            most one fewer than the torques.
        tau_derivatives : array_like (..., r + 1, nv)
            The joint torque and its time derivatives of order 1 to r, in dtau's convention.

        Returns
        -------
        ndarray (..., r + 1, nv)
            The torque in this convention and its time derivatives, component by component.
        """
        return time_derivatives.torques_from_dtau(self._maps, q, v_derivatives, tau_derivatives)

    def torque_time_derivatives_to_dtau(
        self, q: ArrayLike, v_derivatives: ArrayLike, tau_derivatives: ArrayLike
    ) -> Array:
        """Convert joint torques and their time derivatives from this convention to dtau's.

        As `torque_time_derivatives_from_dtau`, with q ``(..., nq)`` and the stacks ``(..., n, nv)``
        and ``(..., r + 1, nv)`` in this convention, and the result ``(..., r + 1, nv)`` in dtau's,
        as `dtau.forward_dynamics_time_derivatives` takes it. That function computes the motion
        itself, so give it a base's wrench along world axes by its ``f_ext_axes`` instead
        (docs/conventions.md shows how).
        """
        return time_derivatives.torques_to_dtau(self._maps, q, v_derivatives, tau_derivatives)

    def wrench_time_derivatives_from_dtau(
        self, q: ArrayLike, v_derivatives: ArrayLike, f_ext_derivatives: ArrayLike
    ) -> Array:
        """Convert external wrenches and their time derivatives from dtau's to this convention.

        ValueError is also raised if a wrench acts on a body that this convention does not have.

        Parameters
        ----------
        q : array_like (..., model.nq)
            Configuration, in dtau's convention.
        v_derivatives : array_like (..., n, nv)
            The velocity and its time derivatives, in dtau's convention: at least one row, and at
            most one fewer than the wrenches.
        f_ext_derivatives : array_like (..., r + 1, model.nbodies, 6)
            Wrench on each body, [force, moment] in the body frame at its origin, N and N m, and
            the time derivatives of these components of order 1 to r. At most 101 rows.

        Returns
        -------
        ndarray (..., r + 1, nwrenches, 6)
            The wrenches in this convention and their time derivatives, component by component. Rows
            of wrenches and frames: see the function that made the convention.

        Examples
        --------
        The form of [HO-FBS], [force, moment] about the world's origin:

        >>> import dtau, numpy as np
        >>> model = dtau.robots.quadruped()
        >>> q, v, a = dtau.random_state(model, np.random.default_rng(0))
        >>> push = np.zeros((3, model.nbodies, 6))
        >>> push[0, 3, 0] = 10.0  # constant along the axes of a shank, at its origin
        >>> spatial = dtau.conventions.spatial_twist(model, wrenches="world")
        >>> there = spatial.wrench_time_derivatives_from_dtau(q, [v, a], push)
        >>> turning = dtau.kinematics_time_derivatives(model, q, [v]).rotation[1, 3]
        >>> bool(np.allclose(there[1, 3, :3], turning @ push[0, 3, :3]))
        True
        """
        return time_derivatives.wrenches_from_dtau(self._maps, q, v_derivatives, f_ext_derivatives)

    def wrench_time_derivatives_to_dtau(
        self, q: ArrayLike, v_derivatives: ArrayLike, f_ext_derivatives: ArrayLike
    ) -> Array:
        """Convert external wrenches and their time derivatives from this convention to dtau's.

        As `wrench_time_derivatives_from_dtau`, with q ``(..., nq)`` and the stacks ``(..., n, nv)``
        and ``(..., r + 1, nwrenches, 6)`` in this convention. The result
        ``(..., r + 1, model.nbodies, 6)`` is the sum of the wrenches on each body, as
        `dtau.inverse_dynamics_time_derivatives` takes it.
        """
        return time_derivatives.wrenches_to_dtau(self._maps, q, v_derivatives, f_ext_derivatives)

    def mass_matrix_time_derivatives_from_dtau(
        self, q: ArrayLike, v_derivatives: ArrayLike, M_derivatives: ArrayLike
    ) -> Array:
        """Convert the mass matrix and its time derivatives to this convention.

        Parameters
        ----------
        q : array_like (..., model.nq)
            Configuration, in dtau's convention.
        v_derivatives : array_like (..., n, nv)
            The velocity and its time derivatives, in dtau's convention: at least one row, and at
            most one fewer than the matrices.
        M_derivatives : array_like (..., r + 1, nv, nv)
            Result of `dtau.mass_matrix_time_derivatives`. A single row is the matrix of
            `dtau.mass_matrix`: ``M[..., None, :, :]``.

        Returns
        -------
        ndarray (..., r + 1, nv, nv)
            The matrix of the same kinetic energy with this convention's velocities, complete and
            symmetric, and its time derivatives, entry by entry.

        Examples
        --------
        >>> import dtau, numpy as np
        >>> model = dtau.robots.quadruped()
        >>> q, v, _ = dtau.random_state(model, np.random.default_rng(0))
        >>> M = dtau.mass_matrix(model, q)
        >>> mixed = dtau.conventions.mixed_twist(model)
        >>> there = mixed.mass_matrix_time_derivatives_from_dtau(q, [v], M[None])[0]
        >>> velocity = mixed.from_dtau(q, v).v
        >>> bool(np.isclose(velocity @ there @ velocity, v @ M @ v))
        True
        """
        return matrix_time_derivatives.mass_matrix_from_dtau(
            self._maps, q, v_derivatives, M_derivatives
        )

    def coriolis_matrix_time_derivatives_from_dtau(
        self,
        q: ArrayLike,
        v_derivatives: ArrayLike,
        C_derivatives: ArrayLike,
        M_derivatives: ArrayLike,
    ) -> Array:
        """Convert an admissible Coriolis matrix and its time derivatives to this convention.

        Parameters
        ----------
        q : array_like (..., model.nq)
            Configuration, in dtau's convention.
        v_derivatives : array_like (..., n, nv)
            The velocity and its time derivatives, in dtau's convention: at least as many rows as
            there are Coriolis matrices.
        C_derivatives : array_like (..., r + 1, nv, nv)
            Result of `dtau.coriolis_matrix_time_derivatives`. A single row is the matrix alone.
        M_derivatives : array_like (..., n, nv, nv)
            What `dtau.mass_matrix_time_derivatives` gives: at least as many rows.

        Returns
        -------
        ndarray (..., r + 1, nv, nv)
            A matrix C with which ``C v`` are the Coriolis and centrifugal forces in this
            convention and dM/dt = C + C^T, and its time derivatives, entry by entry.

        Examples
        --------
        The equation of motion in the spatial twist of the base:

        >>> import dtau, numpy as np
        >>> model = dtau.robots.quadruped()
        >>> q, v, a = dtau.random_state(model, np.random.default_rng(0))
        >>> spatial = dtau.conventions.spatial_twist(model)
        >>> M = dtau.mass_matrix_time_derivatives(model, q, [v])
        >>> C = dtau.coriolis_matrix_time_derivatives(model, q, [v])
        >>> M_there = spatial.mass_matrix_time_derivatives_from_dtau(q, [v], M)
        >>> C_there = spatial.coriolis_matrix_time_derivatives_from_dtau(q, [v], C, M)
        >>> bool(np.allclose(M_there[1], C_there[0] + C_there[0].T))
        True
        >>> there = spatial.from_dtau(q, v, a)
        >>> tau = dtau.mass_matrix(model, q) @ a + dtau.coriolis_matrix(model, q, v) @ v
        >>> tau_there = spatial.torque_from_dtau(q, tau)
        >>> bool(np.allclose(M_there[0] @ there.a + C_there[0] @ there.v, tau_there))
        True
        """
        return matrix_time_derivatives.coriolis_matrix_from_dtau(
            self._maps, q, v_derivatives, C_derivatives, M_derivatives
        )

    def bias_torque_time_derivatives_from_dtau(
        self,
        q: ArrayLike,
        v_derivatives: ArrayLike,
        bias_derivatives: ArrayLike,
        M_derivatives: ArrayLike,
    ) -> Array:
        """Convert the bias torque and its time derivatives to this convention.

        The bias is the torque at which this convention's acceleration vanishes, not dtau's.
        `torque_time_derivatives_from_dtau` converts the gravity torque, like any other torque.

        Parameters
        ----------
        q : array_like (..., model.nq)
            Configuration, in dtau's convention.
        v_derivatives : array_like (..., n, nv)
            The velocity and its time derivatives, in dtau's convention: at least as many rows as
            there are bias torques.
        bias_derivatives : array_like (..., r + 1, nv)
            Result of `dtau.bias_torque_time_derivatives`. A single row is the torque alone.
        M_derivatives : array_like (..., n, nv, nv)
            What `dtau.mass_matrix_time_derivatives` gives: at least as many rows.

        Returns
        -------
        ndarray (..., r + 1, nv)
            The torque C v + D v + g minus the torque of external wrenches, in this convention, and
            its time derivatives, component by component.

        Examples
        --------
        >>> import dtau, numpy as np
        >>> model = dtau.robots.quadruped()
        >>> q, v, a = dtau.random_state(model, np.random.default_rng(0))
        >>> mixed = dtau.conventions.mixed_twist(model)
        >>> M, bias = dtau.mass_matrix(model, q), dtau.bias_torque(model, q, v)
        >>> bias = mixed.bias_torque_time_derivatives_from_dtau(q, [v], bias[None], M[None])[0]
        >>> q, v, a = mixed.to_dtau(q, mixed.from_dtau(q, v).v, np.zeros(model.nv))
        >>> tau = dtau.inverse_dynamics(model, q, v, a)
        >>> bool(np.allclose(bias, mixed.torque_from_dtau(q, tau)))
        True
        """
        return matrix_time_derivatives.bias_torque_from_dtau(
            self._maps, q, v_derivatives, bias_derivatives, M_derivatives
        )
