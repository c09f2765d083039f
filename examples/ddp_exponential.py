"""Second derivative of the exponential map of a free joint: `curvature`.

The exponential takes a displacement phi of the joint, [linear, angular], to a motion, and

    exp(-phi) exp(phi + eta) = exp(J eta + 1/2 Q(eta, eta) + ...),    Q(eta, eta) = dJ/dphi[eta] eta

with the right Jacobian J = sum of (-ad)^k / (k + 1)! over k = 0, 1, ..., where ad x = [phi, x].
Vectors (..., nv) hold all joints of a model, and so do matrices (..., nv, nv). The model may have
a free root; its other joints must have one degree of freedom, whose displacements add up: Q is zero
there.
"""

from __future__ import annotations

import numpy as np

import dtau

NEGLIGIBLE = 1e-17  # where series end
SE3 = np.zeros((6, 6, 6))  # [e_i, e_j] is SE3[:, i, j]
for _i, _j, _k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
    for _a, _b, _sign in ((_i, _j, 1.0), (_j, _i, -1.0)):
        SE3[3 + _k, 3 + _a, 3 + _b] = _sign  # of two turns: a turn
        SE3[_k, 3 + _a, _b] = SE3[_k, _a, 3 + _b] = _sign  # of a turn and a shift: a shift


def curvature(model: dtau.Model, phi: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The symmetric matrix of the quadratic form weights . Q(eta, eta) at phi."""
    matrices = np.zeros((*phi.shape, model.nv))
    if isinstance(model.joints[0].type, dtau.Free):
        matrices[..., :6, :6] = _curvature(phi[..., :6], weights[..., :6])
    return matrices


def _adjoint(phi: np.ndarray) -> np.ndarray:
    return np.einsum("kij,...i->...kj", SE3, phi)


def _bracket_form(weights: np.ndarray) -> np.ndarray:
    return np.einsum("kij,...k->...ij", SE3, weights)


def _curvature(phi: np.ndarray, weights: np.ndarray) -> np.ndarray:
    # weights . d(ad^k)[eta] eta = sum of (weights ad^m) . [eta, ad^(k-1-m) eta] over m < k
    ad, left, total = _adjoint(phi), weights, np.zeros((*phi.shape, 6))
    inner, factor, k = _bracket_form(weights), -0.5, 1
    while np.abs(factor * inner).max() > NEGLIGIBLE * np.abs(weights).max():
        total += factor * inner
        left = np.einsum("...i,...ij->...j", left, ad)
        inner = inner @ ad + _bracket_form(left)
        k += 1
        factor /= -(k + 1)
    return 0.5 * (total + np.swapaxes(total, -1, -2))
