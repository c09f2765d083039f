"""Find the parameters that torques determine: `base_parameters`.

Torques determine only some parameters alone, and sums of others. The columns of the stacked
regressor of random states are orthogonalized one after the other; a column that depends on earlier
ones is added to them, [Gautier]. The kept columns give base parameters, the independent sums:

    tau = Y pi = Y_b beta    beta = B pi    Y_b the kept columns of Y
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from dtau.functions.manifold_states import random_state
from dtau.identification.regressor import Regressor
from dtau.support.arrays import Array, Indices, Mask
from dtau.support.checks import real_array, require, require_memory

_NEGLIGIBLE = 1e-9  # of a column's norm: dependent columns leave some 1e-14, others 1e-4 and more
_ROUNDING = 1e-12  # of a coefficient of a sum
_STATES = 100
_PER_MIMIC = 20  # more states: one row of torque then has columns of several bodies
_SHOWN = 4  # terms of a sum in a table


@dataclass(frozen=True, eq=False, repr=False)
class BaseParameters:
    """The parameters that torques determine, of `base_parameters`.

    Attributes
    ----------
    regressor : Regressor
        The regressor.
    map : ndarray (rank, nparameters)
        From all parameters to base parameters, ``beta = map @ pi``. Its columns `columns` are the
        identity.
    columns : ndarray (rank,)
        The columns of the regressor that belong to base parameters.
    alone : tuple of str
        Parameters that torques determine alone.
    combined : tuple of str
        Parameters that torques determine only in sums with others.
    unidentifiable : tuple of str
        Parameters without effect on torques.
    """

    regressor: Regressor
    map: Array
    columns: Indices
    alone: tuple[str, ...]
    combined: tuple[str, ...]
    unidentifiable: tuple[str, ...]

    @property
    def rank(self) -> int:
        """Number of base parameters."""
        return len(self.columns)

    @property
    def sums(self) -> tuple[str, ...]:
        """The base parameters as text: a sum of parameters each."""
        names = self.regressor.names
        return tuple(
            _sum(row, names, int(k)) for row, k in zip(self.map, self.columns, strict=True)
        )

    def matrix(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, threads: int | None = None
    ) -> Array:
        """Compute the regressor of the base parameters, Y_b with full column rank.

        Parameters
        ----------
        q, v, a : array_like
            The states, as in `Regressor.matrix`.
        threads : int, optional
            As in `Regressor.matrix`.

        Returns
        -------
        Y_b : ndarray (..., nv, rank)
        """
        matrix = self.regressor.matrix(q, v, a, threads=threads)
        return np.ascontiguousarray(matrix[..., self.columns])

    def nearest(self, values: ArrayLike, parameters: ArrayLike) -> Array:
        """Return the parameters with these base parameters that are nearest to given ones.

        Least squares of the change, without any check: bodies of the result may not exist.

        Parameters
        ----------
        values : array_like (rank,)
            Values of the base parameters.
        parameters : array_like (nparameters,)
            Parameters to start from.

        Returns
        -------
        ndarray (nparameters,)
        """
        values = real_array("values", values, (self.rank,))
        start = real_array("parameters", parameters, (len(self.regressor.names),))
        return start + np.linalg.pinv(self.map) @ (values - self.map @ start)

    def __repr__(self) -> str:
        name = self.regressor.model.name
        return f"<BaseParameters of {name!r}: {self.rank} of {len(self.regressor.names)}>"

    def __str__(self) -> str:
        lines = [
            f"{self.rank} base parameters of {len(self.regressor.names)}: {len(self.alone)} "
            f"parameters alone, {len(self.combined)} only in sums, "
            f"{len(self.unidentifiable)} without effect"
        ]
        return "\n".join([*lines, *(f"  {text}" for text in self.sums)])


def base_parameters(regressor: Regressor, *, seed: int = 0) -> BaseParameters:
    """Find the parameters that torques determine, alone or in sums.

        beta = B pi    with tau = Y pi = Y_b beta for all states

    Parameters
    ----------
    regressor : Regressor
        The regressor.
    seed : int
        Seed of the random states.

    Returns
    -------
    BaseParameters

    Raises
    ------
    TypeError
        If `regressor` is not a `Regressor`.
    MemoryError
        If there is no memory for the stacked regressor.

    Notes
    -----
    [Gautier]: which columns are kept depends on their order, the rank does not. Parameters of a
    body go over into parameters of bodies closer to the root. O(n^3) for n parameters.

    Examples
    --------
    A pendulum: only its moment of inertia about the axis and two first moments have an effect.

    >>> import dtau, numpy as np
    >>> from dtau import identification
    >>> builder = dtau.ModelBuilder("pendulum")
    >>> ball = dtau.Inertia(1.0, (0, 0, -0.5), 0.01 * np.eye(3))
    >>> _ = builder.add(dtau.Revolute((0, 1, 0)), name="rod", inertia=ball)
    >>> regressor = identification.Regressor(builder.build(), ["armature", "damping"])
    >>> base = identification.base_parameters(regressor)
    >>> base.sums
    ('rod.mc_x', 'rod.mc_z', 'rod.I_yy + rod.armature', 'rod.damping')
    >>> base.unidentifiable
    ('rod.m', 'rod.mc_y', 'rod.I_xx', 'rod.I_xy', 'rod.I_xz', 'rod.I_yz', 'rod.I_zz')
    """
    require("regressor", regressor, Regressor)
    model = regressor.model
    mimics = sum(joint.mimic is not None for joint in model.joints)
    count = _STATES + _PER_MIMIC * mimics
    require_memory("the stacked regressor", 4.0 * count * model.nv * len(regressor.names))
    states = random_state(model, np.random.default_rng(seed), shape=(count,))
    stacked = regressor.matrix(*states).reshape(-1, len(regressor.names))
    columns, mapping = _independent(triangle(stacked))
    used = mapping != 0.0
    single = used.sum(axis=1) == 1
    is_alone = np.zeros(len(regressor.names), dtype=bool)
    is_alone[columns[single]] = True
    has_effect = used.any(axis=0)

    def named(chosen: Mask) -> tuple[str, ...]:
        return tuple(name for name, ok in zip(regressor.names, chosen, strict=True) if ok)

    return BaseParameters(
        regressor,
        mapping,
        columns,
        named(is_alone),
        named(has_effect & ~is_alone),
        named(~has_effect),
    )


def triangle(matrix: Array) -> Array:
    """Return the triangular factor R of a QR factorization."""
    return cast("Array", np.linalg.qr(matrix, mode="r"))


def _independent(matrix: Array) -> tuple[Indices, Array]:
    """Return the columns that do not depend on earlier ones, and all columns as sums of them."""
    norms = np.linalg.norm(matrix, axis=0)
    basis = np.empty((len(matrix), 0))
    kept: list[int] = []
    no_effect = norms <= _NEGLIGIBLE * norms.max()
    for k in np.flatnonzero(~no_effect):
        rest = matrix[:, k] / norms[k]
        for _ in range(2):  # the second time for what rounding has left
            rest = rest - basis @ (basis.T @ rest)
        left = float(np.linalg.norm(rest))
        if left > _NEGLIGIBLE:
            kept.append(int(k))
            basis = np.column_stack([basis, rest / left])
    columns = np.array(kept, dtype=np.intp)
    scaled = matrix[:, columns] / norms[columns]
    mapping = np.linalg.lstsq(scaled, matrix, rcond=None)[0]
    mapping[(np.abs(mapping) < _ROUNDING * norms) | no_effect] = 0.0
    mapping /= norms[columns][:, None]
    mapping[:, columns] = np.eye(len(columns))
    return columns, mapping


def _sum(row: Array, names: tuple[str, ...], first: int) -> str:
    """Write one row of the map as a sum of names, the base parameter's own first."""
    others = [int(k) for k in np.flatnonzero(row) if k != first]
    text = names[first]
    for k in others[:_SHOWN]:
        size = abs(row[k])
        factor = "" if abs(size - 1.0) < _NEGLIGIBLE else f"{size:.6g} "
        text += f" {'-' if row[k] < 0 else '+'} {factor}{names[k]}"
    return text if len(others) <= _SHOWN else f"{text} + ... ({len(others) - _SHOWN} more)"
