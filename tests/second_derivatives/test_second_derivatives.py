"""Packed tensors of second derivatives and large ones; the laws of derivatives check numbers."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from cases import on_robots, random_state, robot
from compare import assert_same_bits
from hypothesis import given
from trees import SEEDS, Tree, grow, trees

import dtau


def check_packed(model: dtau.Model, seed: int) -> None:
    s = random_state(model, seed)
    point = model, s["q"], s["v"], s["a"], s["f_ext"]
    i, j, k = dtau.pattern(model, "inverse_dynamics_second_derivatives").coordinates
    packed = dtau.inverse_dynamics_second_derivatives(*point, layout="pattern")
    got = dtau.inverse_dynamics_second_derivatives(*point)
    for name, x, y in zip(got._fields, got, packed, strict=True):
        dense = np.zeros_like(x)
        dense[i, j, k] = y
        assert_same_bits(dense, x, f"packed {name}")


@on_robots
def test_packed_tensors_of_robots(name: str) -> None:
    check_packed(robot(name), 1)


@given(trees(max_bodies=6), SEEDS)
def test_packed_tensors_of_trees(tree: Tree, seed: int) -> None:
    check_packed(tree.model(), seed)


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
