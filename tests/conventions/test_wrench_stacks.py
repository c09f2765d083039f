"""Stacks of external wrenches in other axes: against Taylor series of the poses of all bodies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
import taylor
from cases import ROBOTS, TREES, random_state, robot
from compare import TOLERANCE, assert_close, assert_same_bits
from conversions import CONVENTIONS
from files import ORACLES
from hypothesis import given, settings
from time_oracle import LINEAR_FIRST, NAMES, oracle
from trees import KINDS, SEEDS, Array, Tree, trees

import dtau
from dtau.conventions.convention import Convention
from dtau.conventions.twists import TwistMap
from dtau.conventions.wrenches import WrenchMap

ORDER = 5
EXACT = 1e-11  # of the largest number of each order


def points(model: dtau.Model) -> Array:
    return np.random.default_rng(3).uniform(-0.3, 0.3, (model.nbodies + 2, 3))


def at_points(model: dtau.Model) -> Convention:
    """As MuJoCo: rows in another order, the world's first, two for body 0; about other points."""
    n = model.nbodies
    carriers = [-1, *reversed(range(n)), 0]
    rows = {body: n - body for body in range(n)}
    wrenches = WrenchMap(model, carriers, rows=rows, axes="mixed", points=points(model))
    return Convention("at points", model, twists=TwistMap(model), wrenches=wrenches)


@dataclass(frozen=True)
class Axes:
    """A convention of wrenches along world axes, and what its rows are about."""

    make: Callable[[dtau.Model], Convention]
    at_world_origin: bool = False
    about: Callable[[dtau.Model], Array] = lambda model: np.zeros((model.nbodies, 3))
    row: Callable[[int, int], int] = lambda body, count: body

    def from_body(self, pose: tuple[Array, Array], point: Array, wrench: Array) -> Array:
        """Of a series in the body's axes."""
        R, p = pose
        force = taylor.product(R, wrench[:, :3])
        moment = taylor.product(R, wrench[:, 3:] - np.cross(point, wrench[:, :3]))
        if self.at_world_origin:
            moment = moment + taylor.product(p, force, np.cross)
        return np.concatenate([force, moment], axis=-1)

    def to_body(self, pose: tuple[Array, Array], point: Array, wrench: Array) -> Array:
        """A series in the body's axes."""
        R, p = pose
        force, moment = wrench[:, :3], wrench[:, 3:]
        if self.at_world_origin:
            moment = moment - taylor.product(p, force, np.cross)
        force, moment = (taylor.product(taylor.transposed(R), x) for x in (force, moment))
        return np.concatenate([force, moment + np.cross(point, force)], axis=-1)


AXES = {
    "mixed": Axes(lambda model: dtau.conventions.mixed_twist(model, wrenches="mixed")),
    "mixed of spatial twists": Axes(
        lambda model: dtau.conventions.spatial_twist(model, wrenches="mixed")
    ),
    "world": Axes(lambda model: dtau.conventions.spatial_twist(model, wrenches="world"), True),
    "at points": Axes(
        at_points,
        about=lambda model: points(model)[1 : model.nbodies + 1][::-1],
        row=lambda body, count: count - body,
    ),
}
each_axes = pytest.mark.parametrize("kind", AXES)


def assert_orders(got: Array, want: Array, what: str, within: float = EXACT) -> None:
    assert got.shape == want.shape
    for k in range(len(want)):
        assert_close(got[k], want[k], within, f"{what} of order {k}")


def check(kind: str, tree: Tree, seed: int) -> None:
    model, axes = tree.model(), AXES[kind]
    convention, about = axes.make(model), axes.about(model)
    rng, n = np.random.default_rng(seed), model.nbodies
    q = random_state(model, seed)["q"]
    v = rng.uniform(-1.0, 1.0, (ORDER, model.nv))
    there, rates = convention.from_dtau(q).q, convention.convert(v, of="v_derivatives", at={"q": q})
    poses = dict(
        zip([body.name for body in tree.bodies], taylor.poses(tree, model, q, v), strict=True)
    )
    moving = [
        (model.joint(body.name).body, poses[body.name][:2])
        for body in tree.bodies
        if KINDS[body.kind].nv
    ]

    given = rng.uniform(-1.0, 1.0, (ORDER + 1, n, 6))
    want = np.zeros((ORDER + 1, convention.nwrenches, 6))
    for i, pose in moving:
        series = axes.from_body(pose, about[i], taylor.coefficients(given[:, i]))
        want[:, axes.row(i, n)] = taylor.derivatives(series)
    got = convention.convert(given, of="f_ext_derivatives", at={"q": q, "v_derivatives": v})
    assert_orders(got, want, "from dtau")

    given = np.zeros_like(want)
    given[:, [axes.row(i, n) for i in range(n)]] = rng.uniform(-1.0, 1.0, (ORDER + 1, n, 6))
    want = np.zeros((ORDER + 1, n, 6))
    for i, pose in moving:
        series = axes.to_body(pose, about[i], taylor.coefficients(given[:, axes.row(i, n)]))
        want[:, i] = taylor.derivatives(series)
    assert_orders(
        convention.convert(
            given, of="f_ext_derivatives", at={"q": there, "v_derivatives": rates}, to_dtau=True
        ),
        want,
        "to dtau",
    )


@each_axes
@pytest.mark.parametrize("name", TREES)
def test_robots(name: str, kind: str) -> None:
    check(kind, TREES[name], 1)


@each_axes
@settings(max_examples=15)
@given(trees(), SEEDS)
def test_trees(kind: str, tree: Tree, seed: int) -> None:
    check(kind, tree, seed)


@pytest.mark.parametrize("name", NAMES)
def test_the_paper_s_own_input_and_output(name: str) -> None:
    """Spatial twists and applied wrenches in, spatial wrench of the base and torques out."""
    o = oracle(name)
    with np.load(ORACLES / f"p002_{name}.npz") as file:
        twist = file["V"].T[: len(o.v), LINEAR_FIRST]
        applied = np.moveaxis(file["Wapp"][:, LINEAR_FIRST], -1, 0)
    bodies = [o.model.joint(f"body{j}").body for j in range(o.model.nbodies)]
    wrenches = np.empty_like(applied)
    wrenches[:, bodies] = applied
    convention = dtau.conventions.spatial_twist(o.model, wrenches="world")
    theirs = np.concatenate([twist, o.v[:, 6:]], axis=-1)
    f_ext = convention.convert(
        wrenches, of="f_ext_derivatives", at={"q": o.q, "v_derivatives": theirs}, to_dtau=True
    )
    assert_orders(f_ext, o.f_ext, "wrenches on bodies")
    v = convention.convert(theirs, of="v_derivatives", at={"q": o.q}, to_dtau=True)
    assert_orders(v, o.v, "body twist", TOLERANCE["identity"])
    tau = dtau.inverse_dynamics_time_derivatives(o.model, o.q, v, f_ext)
    got = convention.convert(tau, of="tau_derivatives", at={"q": o.q, "v_derivatives": v})
    want = np.concatenate([o.wrench[:, LINEAR_FIRST], o.tau], axis=-1)
    assert_orders(got, want, "wrench and torque", TOLERANCE["identity"])


# Against the plain conversions


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("axes", ["body", "mixed", "world"])
def test_one_wrench_is_that_at_a_frame(axes: dtau.support.options.Axes, name: str) -> None:
    model = robot(name)
    q, wrench = random_state(model, 4)["q"], np.arange(1.0, 7.0)
    for make in (dtau.conventions.mixed_twist, dtau.conventions.spatial_twist):
        convention = make(model, wrenches=axes)
        for i, body in enumerate(model.bodies):
            given = np.zeros((model.nbodies, 6))
            given[i] = wrench
            want = dtau.wrench_at_frame(model, q, body, wrench, axes)
            assert_close(
                convention.convert(given, of="f_ext", at={"q": q}, to_dtau=True),
                want,
                TOLERANCE["long sums"],
                body,
            )
            there = convention.convert(want, of="f_ext", at={"q": q})
            assert_close(there, given, TOLERANCE["long sums"], f"{body} there")


@pytest.mark.parametrize("kind", CONVENTIONS)
def test_along_a_motion(kind: str) -> None:
    """Order 0 is the plain conversion, and order 1 its rate, in every convention."""
    if kind in ("pinocchio", "mujoco"):
        pytest.importorskip(kind)
    convention, h = CONVENTIONS[kind](), 1e-3
    model, rng = convention.model, np.random.default_rng(5)
    q, v = random_state(model, 5)["q"], rng.uniform(-1.0, 1.0, model.nv)
    moving = np.stack([v, np.zeros(model.nv)])  # then q(t) is integrate(q, v t)
    ours = rng.uniform(-1.0, 1.0, (2, model.nbodies, 6))
    theirs = rng.uniform(-1.0, 1.0, (2, convention.nwrenches, 6))

    def at(t: float) -> tuple[Array, Array]:
        now = dtau.integrate(model, q, v * t)
        there = convention.from_dtau(now).q
        return (
            convention.convert(ours[0] + t * ours[1], of="f_ext", at={"q": now}),
            convention.convert(
                theirs[0] + t * theirs[1], of="f_ext", at={"q": there}, to_dtau=True
            ),
        )

    got = (
        convention.convert(ours, of="f_ext_derivatives", at={"q": q, "v_derivatives": moving}),
        convention.convert(
            theirs,
            of="f_ext_derivatives",
            at={
                "q": convention.from_dtau(q).q,
                "v_derivatives": convention.convert(moving, of="v_derivatives", at={"q": q}),
            },
            to_dtau=True,
        ),
    )
    for x, now, *near in zip(got, at(0.0), at(-2 * h), at(-h), at(h), at(2 * h), strict=True):
        rate = (near[0] - 8.0 * near[1] + 8.0 * near[2] - near[3]) / (12.0 * h)
        assert_close(x[0], now, TOLERANCE["short sums"], "order 0")
        assert_close(x[1], rate, 1e-10, "order 1")  # h^4 and the roundings over h


# What callers give


def test_body_axes_stay() -> None:
    model = robot("forest")
    rng = np.random.default_rng(7)
    q = random_state(model, 7)["q"]
    v, f_ext = rng.standard_normal((3, model.nv)), rng.standard_normal((4, model.nbodies, 6))
    for make in (dtau.conventions.mixed_twist, dtau.conventions.spatial_twist):
        for convention in (make(model), make(model, wrenches="body")):
            assert repr(convention) == repr(make(model))
            got = convention.convert(f_ext, of="f_ext_derivatives", at={"q": q, "v_derivatives": v})
            assert_same_bits(got, f_ext)
            assert_same_bits(
                convention.convert(
                    f_ext, of="f_ext_derivatives", at={"q": q, "v_derivatives": v}, to_dtau=True
                ),
                f_ext,
            )


def test_errors() -> None:
    model = robot("free root, branches")
    nv, n = model.nv, model.nbodies
    with pytest.raises(ValueError, match=r"^wrenches: expected 'body', 'world' or 'mixed', got 1"):
        dtau.conventions.mixed_twist(model, wrenches=1)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"^wrenches: expected .*got 'spatial'"):
        dtau.conventions.spatial_twist(model, wrenches="spatial")  # type: ignore[arg-type]
    convention = dtau.conventions.spatial_twist(model, wrenches="world")
    assert convention.name == "spatial twist, world wrenches"
    q, v, f_ext = dtau.neutral(model), np.zeros((3, nv)), np.zeros((4, n, 6))
    for to_dtau in (False, True):

        def convert(v: Array, f_ext: Array, to_dtau: bool = to_dtau) -> Array:
            at = {"q": q, "v_derivatives": v}
            return convention.convert(f_ext, of="f_ext_derivatives", at=at, to_dtau=to_dtau)

        for bad in (f_ext[:0], f_ext[0], np.zeros((102, n, 6))):
            expected = rf"^result has shape .*\(..., rows, {n}, 6\) with rows from 1 to 101"
            with pytest.raises(ValueError, match=expected):
                convert(v, bad)
        assert convert(np.zeros((100, nv)), np.zeros((101, n, 6))).shape == (101, n, 6)


def test_wrenches_on_bodies_that_are_not_there() -> None:
    model = robot("free root, branches")
    wrenches = WrenchMap(model, [0, 1], axes="mixed")
    convention = Convention("two bodies", model, wrenches=wrenches)
    q, v, f_ext = dtau.neutral(model), np.zeros((1, model.nv)), np.zeros((2, model.nbodies, 6))
    assert convention.convert(
        f_ext, of="f_ext_derivatives", at={"q": q, "v_derivatives": v}
    ).shape == (2, 2, 6)
    f_ext[1, 2, 0] = 1.0
    said = f"a wrench acts on '{model.bodies[2]}', which the convention does not have"
    pattern = f"^result: {said}"
    with pytest.raises(ValueError, match=pattern):
        convention.convert(f_ext, of="f_ext_derivatives", at={"q": q, "v_derivatives": v})
