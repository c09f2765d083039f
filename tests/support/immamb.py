"""[Bos] Table 9, line by line: the inverse of the mass matrix of a robot with a moving base.

Notation as in `eidamb`. Joint i has row and column i + 5, counted from zero.
"""

from __future__ import annotations

import numpy as np
from eidamb import Bodies
from trees import Array, Tree


def subtree(lam: list[int], i: int) -> list[int]:
    """Body i and all that it carries."""
    inside = [i]
    inside.extend(j for j in range(i + 1, len(lam)) if lam[j] in inside)
    return inside


def mass_matrix_inverse(tree: Tree, s: Array) -> Array:
    bodies = Bodies(tree, s)  # 1-3
    lam, X, G = bodies.lam, bodies.X, bodies.G
    n = len(lam) + 5
    MA = list(bodies.inertia)  # 4
    Minv = np.zeros((n, n))
    F = [np.zeros((6, n)) for _ in lam]
    P = [np.zeros((6, n)) for _ in lam]
    U, D = [np.zeros(6)] * len(lam), [0.0] * len(lam)
    for i in reversed(bodies.joints):  # 6
        row = i + 5
        at = [j + 5 for j in subtree(lam, i)]
        U[i] = MA[i] @ G[i]  # 7
        D[i] = float(G[i] @ U[i])  # 8
        Minv[row, row] = 1.0 / D[i]  # 9
        Minv[row, at] -= G[i] @ F[i][:, at] / D[i]  # 10
        # Correction (one of the two editions): the transform takes the sum, not its first term.
        F[lam[i]][:, at] += X[i].T @ (F[i][:, at] + np.outer(U[i], Minv[row, at]))  # 11
        Ma = MA[i] - np.outer(U[i], U[i]) / D[i]  # 12
        MA[lam[i]] = MA[lam[i]] + X[i].T @ Ma @ X[i]  # 13
    base = np.linalg.inv(MA[0])
    P[0][:, 6:] = -base @ F[0][:, 6:]  # 15
    for i in bodies.joints:  # 16
        row = i + 5
        Minv[row, row:] -= U[i] @ X[i] @ P[lam[i]][:, row:] / D[i]  # 17
        # Correction: the last factor is printed as P[i:i+6:], it is P[:, i+6:].
        P[i][:, row:] = np.outer(G[i], Minv[row, row:]) + X[i] @ P[lam[i]][:, row:]  # 18
    Minv[:6, 6:] = P[0][:, 6:]  # 20
    Minv[6:, :6] = Minv[:6, 6:].T  # Correction: the table never writes this block.
    for i in bodies.joints:  # 21
        Minv[i + 5 :, i + 5] = Minv[i + 5, i + 5 :]  # 22, 23
    Minv[:6, :6] = base  # 26
    return Minv
