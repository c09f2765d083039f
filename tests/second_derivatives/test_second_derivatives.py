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


@pytest.mark.parametrize("tensors", TENSORS)
@pytest.mark.parametrize("name", ["free root, branches", "every joint in a chain", "chain of 40"])
def test_results_larger_than_the_caches(name: str, tensors: str) -> None:
    """Written past the caches they are the same, wherever they lie, and all around stays."""
    function = TENSORS[tensors]
    model = dtau.robots.chain(40) if name == "chain of 40" else robot(name)
    few = random_state(model, 1, (7,))
    arguments = ("q", "v", "tau" if tensors == "forward" else "a", "f_ext")
    alone = [
        function(model, **{argument: few[argument][i] for argument in arguments}) for i in range(7)
    ]
    want = [np.stack(results) for results in zip(*alone, strict=True)]
    size = want[0][0].size
    assert 32 * size < 2**22, "lone calls must stay within the caches"
    which = np.arange(2**22 // (32 * size) + 9) % 7
    many = {argument: few[argument][which] for argument in arguments}
    for shift in range(0, 8, 3):
        blocks = [np.full(len(which) * size + 24, 7.5) for _ in want]
        places = [slice(8 + (shift + o) % 8, -16 + (shift + o) % 8) for o in range(4)]
        out = tuple(
            block[place].reshape(len(which), *x.shape[1:])
            for block, place, x in zip(blocks, places, want, strict=True)
        )
        for x in out:
            x[...] = np.nan
        function(model, **many, out=out, threads=2)
        for x, y, block, place in zip(out, want, blocks, places, strict=True):
            assert_same_bits(x, y[which])
            assert (block[: place.start] == 7.5).all()
            assert (block[place.stop :] == 7.5).all()


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


def test_symmetric_is_true_or_false() -> None:
    model = robot("one revolute")
    state = dtau.random_state(model, np.random.default_rng(0))
    with pytest.raises(TypeError, match="symmetric: expected bool, got int"):
        dtau.inverse_dynamics_second_derivatives(model, *state, symmetric=1)
