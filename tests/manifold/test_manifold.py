"""integrate, difference, normalize, neutral and random_state."""

from __future__ import annotations

import numpy as np
import pytest
import taylor
from cases import ROBOTS, TREES, random_state, robot
from compare import TOLERANCE, assert_close, assert_same_bits
from hypothesis import given
from trees import KINDS, MOVING, SEEDS, Array, Tree, kind_of, skew, trees

import dtau

PI = float(np.pi)

# Sizes of a step: where series take over, where squares underflow, and around half a turn.
ANGLES = [0.0, 5e-324, 1e-300, 1e-160, 1e-20, 1e-9, 1e-8, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1.0, 2.0]
ANGLES += [3.0, PI - 1e-2, PI - 1e-4, PI - 1e-6, PI - 1e-8, PI - 1e-10, PI - 1e-13]


def exponential(matrix: Array) -> Array:
    """Exponential of a small matrix by scaling, series and squaring."""
    halvings = max(0, int(np.ceil(np.log2(max(float(np.linalg.norm(matrix)), 1e-9)))) + 3)
    scaled = matrix / 2.0**halvings
    term = total = np.eye(len(matrix))
    for k in range(1, 20):
        term = term @ scaled / k
        total = total + term
    for _ in range(halvings):
        total = total @ total
    return total


def hat(twist: Array) -> Array:
    """4 x 4 matrix of a twist, linear part first."""
    out = np.zeros((4, 4))
    out[:3, :3] = skew(twist[3:])
    out[:3, 3] = twist[:3]
    return out


def pose(rotation: Array, translation: Array) -> Array:
    out = np.eye(4)
    out[:3, :3] = rotation
    out[:3, 3] = translation
    return out


def quaternions(model: dtau.Model) -> list[slice]:
    """Where the quaternions are in q."""
    found = []
    for joint in model.joints:
        start = kind_of(joint.type).quaternion
        if start is not None:
            found.append(slice(joint.q.start + start, joint.q.start + start + 4))
    return found


@pytest.mark.parametrize("kind", MOVING)
@pytest.mark.parametrize("seed", range(5))
def test_integrate_multiplies_by_the_exponential(kind: str, seed: int) -> None:
    """The joint's placement after a step is the one before times exp of the step's twist."""
    tree = TREES[f"one {kind}"]
    body, model = tree.bodies[0], tree.model()
    s = random_state(model, seed)
    moved = dtau.integrate(model, s["q"], s["dq"])
    row = KINDS[kind]
    before = pose(*row.placement(body.axis, body.pitch, s["q"]))
    after = pose(*row.placement(body.axis, body.pitch, moved))
    if row.subspace is None:  # no subgroup: its angles add
        assert_close(moved, s["q"] + s["dq"], TOLERANCE["rounding"], "q")
        return
    step = exponential(hat(row.subspace(body.axis, body.pitch) @ s["dq"]))
    assert_close(after, before @ step, TOLERANCE["long sums"], "placement")


def steps(model: dtau.Model, size: float, rng: np.random.Generator) -> Array:
    """A step whose rotations are all of this angle, about any axis."""
    dq = rng.uniform(-1.0, 1.0, model.nv)
    for joint in model.joints:
        if kind_of(joint.type).quaternion is not None:
            at = slice(joint.v.stop - 3, joint.v.stop)
            axis = rng.standard_normal(3)
            dq[at] = size * axis / np.linalg.norm(axis)
    return dq


@pytest.mark.parametrize("size", ANGLES)
@pytest.mark.parametrize("name", ["one spherical", "one free", "every joint in a chain"])
def test_difference_undoes_integrate(name: str, size: float) -> None:
    model = robot(name)
    rng = np.random.default_rng(7)
    for seed in range(4):
        q = random_state(model, seed)["q"]
        dq = steps(model, size, rng)
        got = dtau.difference(model, q, dtau.integrate(model, q, dq))
        assert_close(got, dq, TOLERANCE["short sums"], "difference", floor=1.0)


@pytest.mark.parametrize("size", [s for s in ANGLES if s <= 1e-8])
@pytest.mark.parametrize("kind", ["spherical", "free"])
def test_small_rotations_from_neutral_keep_their_digits(kind: str, size: float) -> None:
    """Relative to the step itself, however small: nothing else is in the way."""
    model = robot(f"one {kind}")
    dq = np.zeros(model.nv)
    dq[-3:] = size * np.array([0.6, -0.64, 0.48])
    neutral = dtau.neutral(model)
    got = dtau.difference(model, neutral, dtau.integrate(model, neutral, dq))
    assert_close(got, dq, TOLERANCE["rounding"], "difference", floor=1e-307)


@pytest.mark.parametrize("name", ["one spherical", "every joint in a chain"])
def test_angles_side_by_side_have_the_bits_of_each_alone(name: str) -> None:
    """Where one state of a group takes the series, and its neighbor the closed form."""
    model = robot(name)
    rng = np.random.default_rng(8)
    dq = np.stack([steps(model, size, rng) for size in ANGLES])
    q = np.stack([random_state(model, seed)["q"] for seed in range(len(ANGLES))])
    moved = dtau.integrate(model, q, dq)
    back = dtau.difference(model, q, moved)
    for k in range(len(ANGLES)):
        assert_same_bits(moved[k], dtau.integrate(model, q[k], dq[k]), "integrate")
        assert_same_bits(back[k], dtau.difference(model, q[k], moved[k]), "difference")


@given(trees(), SEEDS)
def test_integrate_undoes_difference(tree: Tree, seed: int) -> None:
    model = tree.model()
    s = random_state(model, seed)
    got = dtau.integrate(model, s["q0"], dtau.difference(model, s["q0"], s["q1"]))
    want = s["q1"].copy()
    for at in quaternions(model):  # q and -q are one rotation
        want[at] *= np.sign(got[at] @ want[at])
    for joint in model.joints:
        if isinstance(joint.type, dtau.Planar):  # its angle: up to whole turns
            angle = joint.q.stop - 1
            want[angle] -= 2.0 * PI * np.round((want[angle] - got[angle]) / (2.0 * PI))
    assert_close(got, want, TOLERANCE["long sums"], "integrate")


@given(trees(), SEEDS)
def test_difference_is_the_shortest_and_antisymmetric(tree: Tree, seed: int) -> None:
    model = tree.model()
    s = random_state(model, seed)
    forth = dtau.difference(model, s["q0"], s["q1"])
    assert_close(
        dtau.difference(model, s["q1"], s["q0"]),
        -forth,
        TOLERANCE["long sums"],
        "difference",
        floor=1.0,
    )
    for joint in model.joints:
        if isinstance(joint.type, dtau.Planar):
            assert abs(forth[joint.v.stop - 1]) <= PI
        if kind_of(joint.type).quaternion is not None:
            assert np.linalg.norm(forth[joint.v.stop - 3 : joint.v.stop]) <= PI * (
                1.0 + TOLERANCE["rounding"]
            )
    flipped = s["q1"].copy()
    for at in quaternions(model):
        flipped[at] *= -1.0
    assert_close(
        dtau.difference(model, s["q0"], flipped), forth, TOLERANCE["short sums"], "-q", floor=1.0
    )


@pytest.mark.parametrize("kind", ["spherical", "free"])
@pytest.mark.parametrize("axis", [*np.eye(3).tolist(), [0.6, -0.64, 0.48]])
def test_half_a_turn(kind: str, axis: list[float]) -> None:
    """At exactly pi either sense is right, and the result is finite."""
    model = robot(f"one {kind}")
    q = dtau.neutral(model)
    turned = q.copy()
    turned[-4:] = [*axis, 0.0]
    got = dtau.difference(model, q, turned)
    sense = np.sign(got[-3:] @ axis)
    assert_close(got[-3:], sense * PI * np.array(axis), TOLERANCE["rounding"], "half a turn")
    if kind == "free":
        assert_close(got[:3], np.zeros(3), TOLERANCE["rounding"], "linear part", floor=1.0)


@given(trees(), SEEDS)
def test_integrate_keeps_quaternions_unit(tree: Tree, seed: int) -> None:
    model = tree.model()
    q = random_state(model, seed)["q"]
    rng = np.random.default_rng(seed)
    for _ in range(50):
        q = dtau.integrate(model, q, rng.uniform(-3.0, 3.0, model.nv))
    for at in quaternions(model):
        assert abs(np.linalg.norm(q[at]) - 1.0) < TOLERANCE["short sums"]


@given(trees(), SEEDS)
def test_normalize(tree: Tree, seed: int) -> None:
    model = tree.model()
    q = random_state(model, seed)["q"]
    scaled = q.copy()
    rng = np.random.default_rng(seed)
    for at in quaternions(model):
        scaled[at] *= rng.uniform(0.1, 10.0)
    got = dtau.normalize(model, scaled)
    assert_close(got, q, TOLERANCE["rounding"], "normalize", floor=1.0)
    others = np.ones(model.nq, dtype=bool)
    for at in quaternions(model):
        others[at] = False
        assert abs(np.linalg.norm(got[at]) - 1.0) <= 5e-16  # a few roundings
    assert_same_bits(got[others], q[others], "coordinates that are no quaternion")


def test_normalize_of_a_quaternion_of_zeros_is_nan() -> None:
    """It has no direction; the other states of the batch keep theirs."""
    model = robot("every joint in a chain")
    q = random_state(model, 8, (3,))["q"]
    zero = quaternions(model)[0]
    q[1, zero] = 0.0
    got = dtau.normalize(model, q)
    assert np.isnan(got[1, zero]).all()
    assert_close(got[[0, 2]], q[[0, 2]], TOLERANCE["rounding"], "normalize")


@pytest.mark.parametrize("name", ROBOTS)
def test_neutral(name: str) -> None:
    """Zero, and quaternions of the identity: every body in its joint's frame."""
    model = robot(name)
    q = dtau.neutral(model)
    want = np.zeros(model.nq)
    for at in quaternions(model):
        want[at.stop - 1] = 1.0
    assert_same_bits(q, want, "neutral")
    q[:] = 7.0  # the caller's own array
    assert_same_bits(dtau.neutral(model), want, "neutral, again")


def test_neutral_stacks_placements() -> None:
    tree = TREES["every joint in a chain"]
    model = tree.model()
    moved = taylor.poses(tree, model, dtau.neutral(model), np.zeros((1, model.nv)))
    place = np.eye(4)
    for body, (R, p, _) in zip(tree.bodies, moved, strict=True):
        place = place @ pose(body.rotation, body.translation)
        assert_close(pose(R[0], p[0]), place, TOLERANCE["short sums"], body.name)
        got = dtau.frame_placements(model, dtau.neutral(model), body.name)
        assert_close(pose(*got), place, TOLERANCE["short sums"], body.name)


@pytest.mark.parametrize("shape", [(), (4,), (2, 3), (0,)])
@pytest.mark.parametrize("name", ["every joint in a chain", "forest", "quadruped"])
def test_random_state(name: str, shape: tuple[int, ...]) -> None:
    model = robot(name)
    first = dtau.random_state(model, np.random.default_rng(1), shape)
    again = dtau.random_state(model, np.random.default_rng(1), shape)
    other = dtau.random_state(model, np.random.default_rng(2), shape)
    for x, y, z, size in zip(first, again, other, (model.nq, model.nv, model.nv), strict=True):
        assert x.shape == (*shape, size)
        assert_same_bits(x, y)
        if x.size:
            assert (x != z).any()
            assert np.isfinite(x).all()
    q = first[0]
    for at in quaternions(model):
        assert np.all(np.abs(np.linalg.norm(q[..., at], axis=-1) - 1.0) < TOLERANCE["short sums"])
    if q.size > model.nq:
        flat = q.reshape(-1, model.nq)
        assert (flat[0] != flat[1]).any()


def test_random_state_keeps_to_the_limits() -> None:
    builder = dtau.ModelBuilder("limited")
    inertia = dtau.Inertia(1.0, (0.0, 0.0, 0.1), 0.01 * np.eye(3))
    narrow = dtau.Limits(lower=2.0, upper=2.5)
    parent = builder.add(dtau.Revolute((0, 0, 1)), name="narrow", inertia=inertia, limits=narrow)
    far = dtau.Limits(lower=-30.0, upper=-20.0)
    parent = builder.add(
        dtau.Prismatic((1, 0, 0)), name="far", parent=parent, inertia=inertia, limits=far
    )
    builder.add(dtau.Revolute((1, 0, 0)), name="continuous", parent=parent, inertia=inertia)
    model = builder.build()
    q = dtau.random_state(model, np.random.default_rng(3), (2000,)).q
    assert np.all(q >= model.lower_limits)
    assert np.all(q <= model.upper_limits)
    assert q[:, 0].min() < 2.05
    assert q[:, 0].max() > 2.45
    assert q[:, 1].min() < -29.0
    assert q[:, 1].max() > -21.0
    assert np.ptp(q[:, 2]) > PI
