"""Inertias of rigid bodies: `Inertia`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dtau.model.moments import (
    DEFINITE,
    breaks_triangle_inequality,
    is_clearly_of_a_body,
    is_indefinite,
)
from dtau.model.parameters import from_parameters, to_parameters
from dtau.model.pose import Pose
from dtau.model.rotations import IDENTITY, NO_ROTATION
from dtau.support.arrays import Array
from dtau.support.checks import real_array
from dtau.support.errors import warn_of_model
from dtau.support.immutable import Immutable, checking


class Inertia(Immutable):
    """Mass, center of mass and rotational inertia of a rigid body.

    Parameters
    ----------
    mass : float
        Mass in kilograms.
    com : array_like (3,)
        Center of mass in the body's frame, in meters.
    tensor : array_like (3, 3)
        Rotational inertia **about the center of mass**, along the axes of the body's frame,
        in kg m².

    Raises
    ------
    ValueError
        If a shape is wrong, a number is not finite, the mass is negative, or the tensor is not
        symmetric and positive semidefinite (to 1e-9 of its size).
    TypeError
        If the numbers are not real.

    Warns
    -----
    ModelWarning
        If a principal moment exceeds the sum of the other two by more than 1e-6 of itself:
        no distribution of mass has such a tensor, although the equations can be solved.

    Examples
    --------
    >>> import dtau
    >>> import numpy as np
    >>> ball = dtau.Inertia(mass=2.0, tensor=0.02 * np.eye(3))
    >>> pair = ball + ball.transformed(dtau.Pose(translation=(0, 0, 1)))
    >>> pair.mass, pair.com
    (4.0, array([0. , 0. , 0.5]))
    >>> pair.tensor.diagonal()
    array([1.04, 1.04, 0.04])
    """

    mass: float
    com: Array
    tensor: Array

    def __init__(
        self,
        mass: float = 0.0,
        com: ArrayLike = (0, 0, 0),
        tensor: ArrayLike = ((0, 0, 0), (0, 0, 0), (0, 0, 0)),
    ) -> None:
        self._set(mass, com, tensor)
        problem = self._problem()
        if problem:
            warn_of_model(problem, stacklevel=2)

    @classmethod
    def from_parameters(cls, parameters: ArrayLike) -> Inertia:
        """Make an inertia from inertial parameters, one row of `Model.parameters`.

        Parameters
        ----------
        parameters : array_like (10,)
            m, m c_x, m c_y, m c_z, I_xx, I_xy, I_yy, I_xz, I_yz, I_zz in kg, kg m and kg m²: first
            moment and tensor **about the origin** of the body's frame, along its axes.

        Raises
        ------
        ValueError, TypeError
            In the same cases as the constructor; or if a body without mass has a first moment.

        Examples
        --------
        >>> import dtau
        >>> dtau.Inertia.from_parameters([2, 0, 0, 1, 0.6, 0, 0.6, 0, 0, 0.1]).com
        array([0. , 0. , 0.5])
        """
        return cls(*from_parameters(parameters))

    @property
    def parameters(self) -> Array:
        """The ten inertial parameters, in the order of `from_parameters`; read-only."""
        return to_parameters(self.mass, self.com, self.tensor)

    def _set(self, mass: float, com: ArrayLike, tensor: ArrayLike) -> None:
        self._require_new()
        vars(self).update(
            mass=float(real_array("mass", mass, ())),
            com=real_array("com", com, (3,)),
            tensor=real_array("tensor", tensor, (3, 3)),
        )

    def __setstate__(self, state: dict[str, Any]) -> None:
        with checking(state, ("mass", "com", "tensor")):
            self._set(**state)
            self._problem(leeway=2.0)  # after a change of frame it may be off by some roundings

    @classmethod
    def _unchecked(cls, mass: float, com: ArrayLike, tensor: ArrayLike) -> Inertia:
        """Make an inertia without checking that a rigid body can have it."""
        inertia = cls.__new__(cls)
        inertia._set(mass, com, tensor)
        return inertia

    def _problem(self, leeway: float = 1.0) -> str:
        """Describe what is odd about this inertia, if anything; raise ValueError if impossible."""
        if self.mass < 0:
            raise ValueError(f"mass: expected a number of at least 0, got {self.mass}")
        tensor = self.tensor
        if is_clearly_of_a_body(tensor.tolist()):
            return ""
        (a, b, c), (d, e, f), (g, h, i) = tensor.tolist()
        if b == c == d == f == g == h == 0.0:  # no eigenvalues to compute; much faster
            moments = sorted((a, e, i))
        else:
            half = 0.5 * tensor  # differences of full numbers could overflow
            if np.abs(half - half.T).max() > leeway * DEFINITE * np.abs(half).max():
                raise ValueError(f"tensor: expected a symmetric matrix, got {tensor.tolist()}")
            moments = np.linalg.eigvalsh(tensor).tolist()
        if is_indefinite(self.mass, moments, leeway):
            raise ValueError(
                "tensor: expected a positive semidefinite matrix, "
                f"got one with the eigenvalue {moments[0]:.6g}"
            )
        if breaks_triangle_inequality(self.mass, moments, leeway):
            return (
                f"principal moments {', '.join(f'{x:.6g}' for x in moments)} break the triangle "
                "inequality: no rigid body has them"
            )
        return ""

    def __add__(self, other: Inertia) -> Inertia:
        """Add inertias: two bodies welded together, both given in the same frame."""
        if not isinstance(other, Inertia):
            return NotImplemented
        mass = self.mass + other.mass
        share = other.mass / mass if mass > 0 else 0.0
        d = other.com - self.com
        parallel = self.mass * share * (d @ d * IDENTITY - d[:, None] * d)
        return Inertia._unchecked(mass, self.com + share * d, self.tensor + other.tensor + parallel)

    def transformed(self, pose: Pose) -> Inertia:
        """Return the inertia of the same body in another frame.

        Parameters
        ----------
        pose : Pose
            Pose of the present frame in the other frame.

        Returns
        -------
        Inertia

        Examples
        --------
        >>> import dtau
        >>> dtau.Inertia(1.0).transformed(dtau.Pose(translation=(0, 0, 2))).com
        array([0., 0., 2.])
        """
        return Inertia._unchecked(
            self.mass,
            pose.rotation @ self.com + pose.translation,
            turned(self.tensor, pose.rotation),
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Inertia):
            return NotImplemented
        return (
            self.mass == other.mass
            and np.array_equal(self.com, other.com)
            and np.array_equal(self.tensor, other.tensor)
        )

    def __hash__(self) -> int:
        return hash((self.mass, *self.com.tolist(), *self.tensor.ravel().tolist()))

    def __repr__(self) -> str:
        return f"Inertia(mass={self.mass}, com={self.com.tolist()}, tensor={self.tensor.tolist()})"


def turned(tensor: Array, rotation: Array) -> Array:
    """Return symmetric tensors (..., 3, 3) along other axes; symmetric to the last bit."""
    if rotation.tolist() == NO_ROTATION:
        return tensor
    other = rotation @ tensor @ np.swapaxes(rotation, -1, -2)
    return 0.5 * other + 0.5 * np.swapaxes(other, -1, -2)
