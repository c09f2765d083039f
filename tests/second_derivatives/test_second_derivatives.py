"""Identities of second derivatives, their exponential chart, and large tensors."""

from __future__ import annotations

from functools import partial

import complex_step
import numpy as np
import pytest
from cases import on_robots, random_state, robot
from compare import TOLERANCE, assert_close, assert_same_bits, solved
from core import complex_core
from hypothesis import given
from trees import SEEDS, Array, Tree, cross, grow, trees

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


def bracket(model: dtau.Model) -> Array:
    """c[l, j, k]: [s_j, s_k] = sum of c[l, j, k] s_l, in the columns of each joint."""
    c = np.zeros((model.nv,) * 3)
    for joint in model.joints:
        if not isinstance(joint.type, (dtau.Spherical, dtau.Free, dtau.Planar)):
            continue
        S = joint.type.motion_subspace()
        for j in range(joint.type.nv):
            columns = np.linalg.lstsq(S, cross(S[:, j]) @ S, rcond=None)[0]
            c[joint.v, joint.v.start + j, joint.v] = columns
    return c


@on_robots
def test_derivatives_by_q_commute_but_inside_joints(name: str) -> None:
    """X[i, j, k] - X[i, k, j] is the first derivative along [s_k, s_j]; 0 across joints."""
    model = robot(name)
    s = random_state(model, 3)
    c = bracket(model)
    state = (s["q"], s["v"], s["a"], s["f_ext"])
    first = dtau.inverse_dynamics_derivatives(model, *state).dtau_dq
    second = dtau.inverse_dynamics_second_derivatives(model, *state).d2tau_dqdq
    want = np.einsum("il,lkj->ijk", first, c)
    floor = float(np.abs(second).max())
    assert_close(
        second - np.swapaxes(second, 1, 2), want, TOLERANCE["long sums"], "inverse", floor=floor
    )

    state = (s["q"], s["v"], s["tau"], s["f_ext"])
    tolerance = solved(TOLERANCE["identity"], dtau.mass_matrix(model, s["q"]))
    first = dtau.forward_dynamics_derivatives(model, *state).da_dq
    second = dtau.forward_dynamics_second_derivatives(model, *state).d2a_dqdq
    want = np.einsum("il,lkj->ijk", first, c)
    floor = max(1.0, float(np.abs(second).max()))
    assert_close(second - np.swapaxes(second, 1, 2), want, tolerance, "forward", floor=floor)


@on_robots
@pytest.mark.parametrize("problem", ["inverse", "forward"])
def test_the_exponential_chart(name: str, problem: str) -> None:
    """Along a line xi of that chart: d2/dt2 of y(q (+) t xi) is xi^T X xi, and X is symmetric."""
    model = robot(name)
    s = random_state(model, 5)
    x = s["a" if problem == "inverse" else "tau"]
    state = (s["q"], s["v"], x, s["f_ext"])
    tensors = getattr(dtau, f"{problem}_dynamics_second_derivatives")
    raw, chart = tensors(model, *state), tensors(model, *state, symmetric=True)
    scale = max(1.0, float(np.abs(raw[0]).max()))
    mean = 0.5 * (raw[0] + np.swapaxes(raw[0], 1, 2))
    assert_close(chart[0], mean, TOLERANCE["rounding"], "mean", floor=10.0 * scale)
    assert_same_bits(chart[0], np.ascontiguousarray(np.swapaxes(chart[0], 1, 2)), "symmetry")
    for one, other in zip(raw[1:], chart[1:], strict=True):
        assert_same_bits(other, one, "other tensors")

    xi = s["dq"]
    moved = complex_step.moved(model, s["q"], xi[None])
    rate = complex_step.columns(
        lambda y: complex_core(f"{problem}_dynamics_derivatives", model, y, *state[1:])[0] @ xi,
        moved,
    )[:, 0]
    tolerance = solved(TOLERANCE["complex_step"], dtau.mass_matrix(model, s["q"]))
    assert_close(np.einsum("ijk,j,k->i", chart[0], xi, xi), rate, tolerance, floor=10.0 * scale)

    function = getattr(dtau, f"{problem}_dynamics_hessian")
    one, other = (
        function(model, *state[:3], s["lam"], s["f_ext"], symmetric=y) for y in (0 > 1, 1 > 0)
    )
    assert_close(
        other.dqdq,
        0.5 * (one.dqdq + one.dqdq.T),
        TOLERANCE["rounding"],
        "hessian",
        floor=10.0 * scale,
    )
    assert_same_bits(other.dqdq, np.ascontiguousarray(other.dqdq.T), "symmetry")
    for block in ("dqdv", "dvdv"):
        assert_same_bits(getattr(other, block), getattr(one, block), block)


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
