"""Packed tensors of second derivatives and large ones; the laws of derivatives check numbers."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from cases import random_state, robot
from trees import grow

import dtau


def test_the_pattern_is_the_triples_on_one_path() -> None:
    model = robot("free root, branches")
    related = dtau.inverse_dynamics_derivatives(
        model, *dtau.random_state(model, np.random.default_rng(0))
    ).dtau_dv
    related = (related != 0) | (related != 0).T | np.eye(model.nv, dtype=bool)
    i, j, k = dtau.pattern(model, "inverse_dynamics_second_derivatives").coordinates
    assert len(set(zip(i, j, k, strict=True))) == len(i)
    want = related[:, :, None] & related[:, None, :] & related[None, :, :]
    got = np.zeros_like(want)
    got[i, j, k] = True
    assert (got == want).all()


TENSORS = {
    "packed": partial(dtau.inverse_dynamics_second_derivatives, layout="pattern"),
    "dense": dtau.inverse_dynamics_second_derivatives,
    "forward": dtau.forward_dynamics_second_derivatives,
}


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("axes", ["body", "world"])
def test_packed_tensors_larger_than_the_caches_made_dense(*, symmetric: bool, axes: str) -> None:
    """Then dense ones are computed output by output: all joints, wrenches, alone and in batches."""
    kinds = ["free", *["revolute", "spherical", "universal"] * 6, *["revolute", "planar"] * 2]
    model = grow(kinds, [-1, *range(18), 9, 19, 18, 21], seed=43).model()
    packed = partial(dtau.inverse_dynamics_second_derivatives, layout="pattern")
    i, j, k = dtau.pattern(model, "inverse_dynamics_second_derivatives").coordinates
    assert 32 * len(i) > 2**21, "they would be unpacked"
    s = random_state(model, 3, (3,))
    for at in (slice(None), 1):  # three states: past the caches
        arguments = [s[x][at] for x in ("q", "v", "a", "f_ext")]
        options = {"symmetric": symmetric, "f_ext_axes": axes}
        dense = dtau.inverse_dynamics_second_derivatives(model, *arguments, **options)
        for x, entries in zip(dense, packed(model, *arguments, **options), strict=True):
            want = np.zeros_like(x)
            want[..., i, j, k] = entries
            assert np.array_equal(x, want)


def test_results_that_do_not_fit_into_memory() -> None:
    model = robot("quadruped")
    q, v, a = dtau.random_state(model, np.random.default_rng(0))
    many = np.broadcast_to(v, (10**8, model.nv))
    bytes_asked = str(4 * 18**3 * 8 * 10**8)
    with pytest.raises(
        MemoryError, match=f"{bytes_asked} bytes.*layout='pattern', or inverse_dynamics_hess"
    ):
        dtau.inverse_dynamics_second_derivatives(model, q, many, a)
    with pytest.raises(MemoryError, match="or inverse_dynamics_hessian"):
        dtau.inverse_dynamics_second_derivatives(model, q, many, a, layout="pattern")
    with pytest.raises(MemoryError, match="or forward_dynamics_hessian"):
        dtau.forward_dynamics_second_derivatives(model, q, many, a)
