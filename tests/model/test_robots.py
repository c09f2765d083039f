"""Robots that the package makes: their shape, their numbers, and that the numbers stay the same."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from compare import TOLERANCE, assert_close
from trees import Array

import dtau
from dtau import robots
from dtau.robots import chain, generated

KINDS = tuple(generated._JOINTS)
FACTORS = (1, 1.0, 1.25, 1.5, 2, math.pi, 7, 64, 1e6, 1.7e308)
CHAINS: dict[str, dict[str, Any]] = {
    "one body": {"bodies": 1},
    "serial": {"bodies": 9},
    "serial, free root": {"bodies": 9, "root": "free", "seed": 1},
    "binary tree of every kind": {"bodies": 13, "branching": 2, "joints": KINDS, "seed": 2},
    "few branches, free root": {
        "bodies": 12,
        "branching": 1.5,
        "joints": ["spherical", "prismatic", "revolute"],
        "root": "free",
        "seed": 3,
    },
}
every_chain = pytest.mark.parametrize("name", CHAINS)


def made(name: str) -> dtau.Model:
    return chain(**CHAINS[name])


def number(name: str) -> int:
    """The number of a body by its name; 0 is the world."""
    return int(name.removeprefix("body"))


def parents(model: dtau.Model) -> dict[int, int]:
    """The parent's number of every body's number."""
    return {
        number(model.bodies[joint.body]): number(model.bodies[joint.parent])
        if joint.parent >= 0
        else 0
        for joint in model.joints
    }


class TestShape:
    @pytest.mark.parametrize("factor", FACTORS)
    def test_parents_follow_featherstones_rule(self, factor: float) -> None:
        bodies, exact = 40, Fraction(factor)
        expected = {i: math.floor((i - 2 + math.ceil(exact)) / exact) for i in range(1, bodies + 1)}
        assert parents(chain(bodies, branching=factor)) == expected

    def test_parents_of_some_trees(self) -> None:
        assert list(parents(chain(5)).values()) == [0, 1, 2, 3, 4]
        tree = dict(sorted(parents(chain(7, branching=2)).items()))
        assert list(tree.values()) == [0, 1, 1, 2, 2, 3, 3]
        tree = dict(sorted(parents(chain(7, branching=1.5)).items()))
        assert list(tree.values()) == [0, 1, 2, 2, 3, 4, 4]

    def test_a_serial_chain_is_in_order(self) -> None:
        model = chain(12)
        assert model.bodies == tuple(f"body{i}" for i in range(1, 13))
        assert [joint.name for joint in model.joints] == list(model.bodies)
        assert model.frames == model.bodies
        assert model.name == "chain of 12"

    @pytest.mark.parametrize("root", ["fixed", "free"])
    @pytest.mark.parametrize("bodies", [1, 2, 30])
    def test_the_root_is_one_of_the_bodies(self, bodies: int, root: Any) -> None:
        model = chain(bodies, root=root)
        assert model.nbodies == bodies
        assert model.nv == bodies + 5 * (root == "free")

    def test_a_free_root_is_given_in_the_world(self) -> None:
        model = chain(3, root="free")
        assert model.joints[0].type == dtau.Free()
        assert model.joints[0].placement == dtau.Pose()

    def test_joints_come_in_turn(self) -> None:
        kinds = ["spherical", "prismatic", "revolute", "revolute"]
        for root in ("fixed", "free"):
            model = chain(10, branching=2, joints=kinds, root=root)
            for joint in model.joints:
                i = number(joint.name)
                expected = "free" if root == "free" and i == 1 else kinds[(i - 1) % 4]
                assert type(joint.type).__name__.lower() == expected

    def test_more_kinds_than_bodies(self) -> None:
        assert [joint.type.nv for joint in chain(2, joints=["spherical", *KINDS]).joints] == [3, 1]

    def test_kinds_are_all_that_move(self) -> None:
        """A new joint type needs a row in the table, and a word in the documentation."""
        assert chain.__doc__
        moving = {kind for kind in dtau.JointType.__subclasses__() if kind.nv}
        assert set(KINDS) == {kind.__name__.lower() for kind in moving}
        for kind in KINDS:
            assert f'"{kind}"' in chain.__doc__
            assert type(chain(1, joints=[kind]).joints[0].type).__name__.lower() == kind


def numbers(model: dtau.Model) -> Iterator[float]:
    """All numbers of a model, in a fixed order."""
    for link in model.links:
        for part in vars(link.joint).values():  # axes, pitch
            yield from np.ravel(part).tolist()
        for array in (link.placement.rotation, link.placement.translation):
            yield from array.ravel().tolist()
        yield link.inertia.mass
        for array in (link.inertia.com, link.inertia.tensor):
            yield from array.ravel().tolist()


def digest(model: dtau.Model) -> int:
    """A number that changes with any bit of the model's numbers."""
    value = 0
    for x in numbers(model):
        (bits,) = struct.unpack("<Q", struct.pack("<d", x + 0.0))  # without the sign of zeros
        value = (value * 1_000_003 + bits) % 2**61
    return value


class TestNumbers:
    @every_chain
    def test_the_same_again(self, name: str) -> None:
        np.random.seed(1)  # noqa: NPY002 - the global generator must not matter
        first = made(name)
        np.random.seed(2)  # noqa: NPY002
        assert made(name) == first

    def test_seeds_give_recorded_robots(self) -> None:
        """If this fails, users' robots change: say so in the changelog."""
        (link,) = chain(1).links
        assert link.joint == dtau.Revolute(
            (0.41525854896693, 0.8937001510186142, 0.16988342349736815)
        )
        assert link.inertia.mass == 6.324511275867176
        tree = chain(50, branching=1.5, joints=KINDS, seed=2**100)
        assert digest(tree) == 1111304776379205591

    def test_a_seed_makes_a_difference(self) -> None:
        digests = {digest(chain(3, seed=seed)) for seed in (0, 1, 2, 2**32, 2**64, 2**200)}
        assert len(digests) == 6

    @pytest.mark.parametrize("factor", [1, 1.5, 3])
    def test_a_longer_chain_begins_as_a_shorter_one(self, factor: float) -> None:
        short, long = (chain(n, branching=factor, joints=KINDS, seed=4) for n in (5, 20))
        links = {link.name: link for link in long.links}
        assert all(link == links[link.name] for link in short.links)

    def test_a_free_root_carries_the_same_bodies(self) -> None:
        fixed, free = chain(6, seed=5), chain(6, root="free", seed=5)
        assert fixed.links[1:] == free.links[1:]
        assert fixed.links[0].inertia == free.links[0].inertia

    def test_bodies_are_physical(self) -> None:
        for link in chain(300, joints=KINDS, seed=6).links:
            inertia = link.inertia
            assert 1000 * 0.05**3 < inertia.mass < 1000 * 0.25**3
            assert np.array_equal(inertia.tensor, inertia.tensor.T)
            moments = np.linalg.eigvalsh(inertia.tensor)  # of a box: m/12 (b² + c²) and so on
            squares = 6 / inertia.mass * (moments.sum() - 2 * moments)
            assert squares.min() > 0.05**2
            assert squares.max() < 0.25**2
            assert inertia.mass == pytest.approx(1000 * math.sqrt(squares.prod()))
            assert np.abs(inertia.com).max() < 0.1
            assert np.abs(link.placement.translation).max() < 0.3

    def test_rotations_and_axes_need_no_correction(self) -> None:
        """So that no number comes from a library whose last bit could differ."""
        draws = generated._Draws(7)
        for _ in range(3000):
            rotation, direction = draws.rotation(), draws.direction()
            assert np.abs(rotation.T @ rotation - np.eye(3)).max() < 1.5e-15  # accepted: 2.2e-15
            assert np.array_equal(dtau.Pose(rotation).rotation, rotation)
            assert dtau.Revolute(direction).axis == tuple(direction)

    def test_numbers_are_spread_evenly(self) -> None:
        draws = generated._Draws(8)
        rotations = np.array([draws.rotation() for _ in range(4000)])
        directions = np.array([draws.direction() for _ in range(4000)])
        uniform = np.array([draws.uniform(-1.0, 3.0) for _ in range(4000)])
        slack = 4 / math.sqrt(4000)  # four standard deviations of what is at most 1
        assert np.abs(rotations.mean(axis=0)).max() < slack
        assert np.abs((rotations**2).mean(axis=0) - 1 / 3).max() < slack
        assert np.abs(directions.mean(axis=0)).max() < slack
        assert np.abs((directions**2).mean(axis=0) - 1 / 3).max() < slack
        assert uniform.min() >= -1
        assert uniform.max() < 3
        assert abs(uniform.mean() - 1) < 4 * slack

    @pytest.mark.parametrize("kind", KINDS)
    def test_every_joint_of_a_long_chain_can_be_accelerated(self, kind: str) -> None:
        """Rounding must not add up until a joint looks as if it carried nothing."""
        model = chain(300, joints=["spherical", kind], seed=6)
        assert model.massless_joints == ()
        q, v, a = dtau.random_state(model, np.random.default_rng(0))
        tau = dtau.inverse_dynamics(model, q, v, a)
        again = dtau.inverse_dynamics(model, q, v, dtau.forward_dynamics(model, q, v, tau))
        assert_close(again, tau, TOLERANCE["identity"])

    def test_nothing_is_added_to_joints(self) -> None:
        model = made("binary tree of every kind")
        assert not model.armature.any()
        assert not model.damping.any()
        assert np.isinf(model.upper_limits).all()
        assert model.gravity.tolist() == [0, 0, -9.81]
        assert model.notes == model.massless_joints == ()


class TestUse:
    @pytest.mark.parametrize("factor", [1, 2])
    def test_a_thousand_bodies(self, factor: float) -> None:
        model = chain(1000, branching=factor)
        assert model.massless_joints == ()
        q, v, a = dtau.random_state(model, np.random.default_rng(0))
        tau = dtau.inverse_dynamics(model, q, v, a)
        residual = dtau.forward_dynamics(model, q, v, tau) - a
        assert np.abs(residual).max() < 1e-3  # the condition of M is 5e9


class TestErrors:
    @pytest.mark.parametrize(
        ("arguments", "error", "said"),
        [
            ({"bodies": 0}, ValueError, "bodies: expected an integer of 1 to 26000, got 0"),
            ({"bodies": -3}, ValueError, "bodies: expected an integer of 1 to 26000, got -3"),
            ({"bodies": 10**9}, ValueError, "bodies: expected an integer of 1 to 26000, got 1000"),
            ({"bodies": 1.5}, TypeError, "bodies: expected an integer, got 1.5"),
            ({"bodies": None}, TypeError, "bodies: expected an integer, got None"),
            ({"bodies": "3"}, TypeError, "bodies: expected an integer, got '3'"),
            ({"branching": 0.99}, ValueError, "branching: expected a number of at least 1, got 0."),
            ({"branching": -2}, ValueError, "branching: expected a number of at least 1, got -2"),
            ({"branching": math.nan}, ValueError, "branching: expected finite numbers, got nan"),
            ({"branching": math.inf}, ValueError, "branching: expected finite numbers, got inf"),
            ({"branching": [1, 2]}, ValueError, r"branching: expected shape (), got (2,)"),
            ({"branching": "2"}, TypeError, "branching: expected real numbers, got '2'"),
            ({"joints": []}, ValueError, "joints: expected at least one kind, got none"),
            ({"joints": "revolute"}, TypeError, "joints: expected a sequence of kinds of joint, g"),
            ({"joints": 3}, TypeError, "joints: expected a sequence of kinds of joint, got 3"),
            ({"joints": [dtau.Free()]}, TypeError, "joints: expected a sequence of kinds of joint"),
            ({"joints": ["fixed"]}, ValueError, "joints: expected kinds among revolute, prismatic"),
            ({"joints": ["free", "hinge"]}, ValueError, "; got 'hinge'"),
            ({"root": "floating"}, ValueError, "root: expected 'fixed' or 'free', got 'floating'"),
            ({"root": None}, ValueError, "root: expected 'fixed' or 'free', got None"),
            ({"seed": -1}, ValueError, "seed: expected an integer of at least 0, got -1"),
            ({"seed": 0.5}, TypeError, "seed: expected an integer, got 0.5"),
            ({"seed": None}, TypeError, "seed: expected an integer, got None"),
        ],
    )
    def test_bad_arguments(self, arguments: Any, error: type[Exception], said: str) -> None:
        with pytest.raises(error) as caught:
            chain(**({"bodies": 3} | arguments))
        assert said in str(caught.value)

    def test_integers_of_other_types(self) -> None:
        model = chain(np.int8(3), branching=np.float32(2), seed=np.uint64(1))
        assert model == chain(3, branching=2, seed=1)


def rows_of(model: dtau.Model, q: Array, contacts: dtau.Contacts) -> Array:
    """The Jacobian of loops of three rows."""
    frames = [[loop.frame_a, loop.frame_b] for loop in contacts if isinstance(loop, dtau.Loop)]
    J = [dtau.frame_jacobians(model, q, pair, "mixed")[:, :3] for pair in frames]
    return np.concatenate([a - b for a, b in J])


class TestClosedLoops:
    @pytest.mark.parametrize(("make", "free"), [(robots.four_bar, 1), (robots.delta, 3)])
    def test_they_are_closed_and_move(self, make: Any, free: int) -> None:
        model, contacts, q = make()
        for loop in contacts:
            ends = dtau.frame_placements(model, q, [loop.frame_a, loop.frame_b]).translation
            assert_close(ends[0], ends[1], 1e-15)
        J = rows_of(model, q, contacts)
        singular = np.linalg.svd(J, compute_uv=False)
        assert J.shape == (contacts.nrows, model.nv)
        assert contacts.nrows == model.nv - free
        assert singular.min() > 0.01 * singular.max()  # no row depends on others
        assert np.linalg.cond(dtau.mass_matrix(model, q)) < 1e3  # nothing spins without inertia

    @pytest.mark.parametrize("make", [robots.four_bar, robots.delta])
    def test_gains(self, make: Any) -> None:
        _, contacts, _ = make(kp=100, kd=20)
        assert {(loop.kp, loop.kd) for loop in contacts} == {(100.0, 20.0)}
        with pytest.raises(ValueError, match="kp: expected a number of at least 0, got -1"):
            make(kp=-1)

    def test_the_four_bar_stays_in_its_plane(self) -> None:
        model, contacts, q = robots.four_bar()
        still = np.zeros(model.nv)
        result = dtau.constrained_dynamics(model, q, still, still, contacts)
        across = model.joint("coupler").v.stop - 1
        assert abs(result.a[across]) < 1e-12
        assert abs(result.forces[1]) < 1e-14

    def test_the_crank_of_the_four_bar_goes_round(self) -> None:
        """By Grashof: the shortest and the longest bar together are shorter than the others."""
        model = robots.four_bar().model
        placements = [model.link(name).placement for name in ("coupler", "coupler_end")]
        placements += [model.link(name).placement for name in ("rocker", "rocker_end")]
        lengths = sorted(float(np.linalg.norm(placement.translation)) for placement in placements)
        assert lengths[0] + lengths[3] < lengths[1] + lengths[2]

    def test_arms_of_the_delta_lower_the_platform_and_do_not_turn_it(self) -> None:
        model, contacts, q = robots.delta()
        J = rows_of(model, q, contacts)
        motion = np.linalg.svd(J)[2][contacts.nrows :]  # what the loops let move
        platform = dtau.frame_jacobians(model, q, "platform", "mixed") @ motion.T
        assert np.abs(platform[3:]).max() < 1e-14
        assert np.linalg.matrix_rank(platform[:3]) == 3
        arms = motion[:, [model.joint(f"arm{k}").v.start for k in (1, 2, 3)]]
        down = motion.T @ np.linalg.solve(arms.T, np.ones(3))  # all arms by 1 rad/s
        falls = down[model.joint("platform").v]
        assert np.abs(falls[:2]).max() < 1e-14
        assert falls[2] < -0.1


def test_feet_of_the_quadruped() -> None:
    model = robots.quadruped()
    assert set(robots.QUADRUPED_FEET) == {name for name in model.frames if "FOOT" in name}


@pytest.mark.parametrize("name", [name for name in robots.__all__ if name.islower()])
def test_robots_are_documented(name: str) -> None:
    text = getattr(robots, name).__doc__
    for section in ("Returns", "Examples"):
        assert section in text
