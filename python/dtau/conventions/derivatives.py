"""How first derivatives change with the form of velocities, v' = A(q) v.

Each function differentiates a composition by the chain rule: of tau' = A^-T tau(q, v, a) at fixed
v' and a', or of a' = A (a(q, v, tau) + N(v)) at fixed v' and tau'. Displacements d' = A d give the
A^-1 (or, back, the A) on the right. W(v), N, U and the other variations: `dtau.conventions.twists`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dtau.conventions.twists import TwistMap, Variations
from dtau.results import ForwardDynamicsDerivatives, InverseDynamicsDerivatives

Array = NDArray[np.float64]


def inverse_from_dtau(
    twists: TwistMap, maps: tuple[Array, Array], by: Variations, d: InverseDynamicsDerivatives
) -> InverseDynamicsDerivatives:
    """Derivatives of tau' by q', v' and a'."""
    _, inverse = maps
    nv = d.dtau_da.shape[-1]
    dtau_dq = (
        d.dtau_dq
        + twists.product(d.dtau_dv, by.v_by_q)
        + twists.product(d.dtau_da, by.a_by_q)
        + twists.embedded(by.force_by_q, nv)
    )
    dtau_dv = d.dtau_dv - twists.product(d.dtau_da, by.rate_by_v)
    left = _transposed(inverse)
    return InverseDynamicsDerivatives(
        twists.sandwich(left, dtau_dq, inverse),
        twists.sandwich(left, dtau_dv, inverse),
        twists.sandwich(left, d.dtau_da, inverse),
    )


def inverse_to_dtau(
    twists: TwistMap, maps: tuple[Array, Array], by: Variations, d: InverseDynamicsDerivatives
) -> InverseDynamicsDerivatives:
    """Undo `inverse_from_dtau`."""
    forward, _ = maps
    nv = d.dtau_da.shape[-1]
    dtau_dq, dtau_dv, dtau_da = (twists.sandwich(_transposed(forward), x, forward) for x in d)
    dtau_dv = dtau_dv + twists.product(dtau_da, by.rate_by_v)
    dtau_dq = (
        dtau_dq
        - twists.product(dtau_dv, by.v_by_q)
        - twists.product(dtau_da, by.a_by_q)
        - twists.embedded(by.force_by_q, nv)
    )
    return InverseDynamicsDerivatives(dtau_dq, dtau_dv, dtau_da)


def forward_from_dtau(
    twists: TwistMap, maps: tuple[Array, Array], by: Variations, d: ForwardDynamicsDerivatives
) -> ForwardDynamicsDerivatives:
    """Derivatives of a' by q', v' and tau'."""
    forward, inverse = maps
    nv = d.da_dtau.shape[-1]
    da_dq = (
        d.da_dq
        + twists.product(d.da_dv, by.v_by_q)
        - twists.product(d.da_dtau, by.force_by_q)
        - twists.embedded(by.a_by_q, nv)
    )
    da_dv = d.da_dv + twists.embedded(by.rate_by_v, nv)
    return ForwardDynamicsDerivatives(
        twists.sandwich(forward, da_dq, inverse),
        twists.sandwich(forward, da_dv, inverse),
        twists.sandwich(forward, d.da_dtau, _transposed(forward)),
    )


def forward_to_dtau(
    twists: TwistMap, maps: tuple[Array, Array], by: Variations, d: ForwardDynamicsDerivatives
) -> ForwardDynamicsDerivatives:
    """Undo `forward_from_dtau`."""
    forward, inverse = maps
    nv = d.da_dtau.shape[-1]
    da_dtau = twists.sandwich(inverse, d.da_dtau, _transposed(inverse))
    da_dv = twists.sandwich(inverse, d.da_dv, forward) - twists.embedded(by.rate_by_v, nv)
    da_dq = (
        twists.sandwich(inverse, d.da_dq, forward)
        - twists.product(da_dv, by.v_by_q)
        + twists.product(da_dtau, by.force_by_q)
        + twists.embedded(by.a_by_q, nv)
    )
    return ForwardDynamicsDerivatives(da_dq, da_dv, da_dtau)


def _transposed(blocks: Array) -> Array:
    return np.swapaxes(blocks, -1, -2)
