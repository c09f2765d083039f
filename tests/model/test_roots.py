"""`Model.with_root` and `dtau.transfer_state`: one mechanism, hung from different links."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from messages import message
from trees import grow

import dtau


def mechanism() -> dtau.Model:
    """A floating tree with every joint that can be reversed, in a chain with branches."""
    chain = ["free", "revolute", "prismatic", "helical", "fixed", "universal", "cylindrical"]
    kinds, parents = [*chain, "spherical", *["revolute"] * 9], [-1, *range(7), *range(8), 11]
    tree = grow(kinds, parents, 2, armature=False, damping=False, friction=False)
    model = tree.model({"revolute16": dtau.Mimic("revolute1", 1.4, 0.3)})
    own: dict[str, Any] = {name: 0.2 + 0.1 * k for k, name in enumerate(model.bodies[1:4])}
    own |= {"universal5": (0.3, 0.7), "cylindrical6": (0.4, 0.1), "spherical7": 0.3}
    return model.replace(armature=own, damping=own)


@pytest.mark.parametrize(
    "root", ["spherical7", "revolute14", "fixed4", "revolute1", "free0", "revolute16"]
)
def test_postures_are_those_that_transfer_state_gives(root: str) -> None:
    model = mechanism()
    q = dtau.random_state(model, np.random.default_rng(2)).q
    by_joint = {joint.name: q[joint.q] for joint in model.joints if joint.mimic is None}
    posed = dtau.Model("all", model.links, postures={"some": by_joint})
    other = posed.with_root(root)
    want = dtau.transfer_state(posed, other, q).q
    assert dtau.difference(other, want, other.postures["some"]) == pytest.approx(0, abs=1e-12)
    back = other.with_root("free0")
    for frame in model.frames:
        got = dtau.frame_placements(back, back.postures["some"], frame)
        place = dtau.frame_placements(model, q, frame)
        np.testing.assert_allclose(got.translation, place.translation, rtol=0, atol=1e-12)


@pytest.mark.parametrize("root", ["spherical7", "revolute14", "fixed4", "revolute1", "free0"])
def test_the_same_motion_needs_the_same_forces(root: str) -> None:
    model = mechanism()
    other = model.with_root(root)
    assert other.bodies[0] == root
    ours = dtau.random_state(model, np.random.default_rng(1), (5,))
    theirs = dtau.transfer_state(model, other, *ours)
    for frame in model.frames:
        got = dtau.frame_placements(other, theirs.q, frame)
        want = dtau.frame_placements(model, ours.q, frame)
        np.testing.assert_allclose(got.translation, want.translation, rtol=0, atol=1e-12)
        np.testing.assert_allclose(got.rotation, want.rotation, rtol=0, atol=1e-12)
        got_a = dtau.frame_accelerations(other, *theirs, frame, "body")
        want_a = dtau.frame_accelerations(model, *ours, frame, "body")
        np.testing.assert_allclose(got_a, want_a, rtol=0, atol=1e-12 * np.abs(want_a).max())
    units = np.eye(model.nv)
    rates = dtau.transfer_state(model, other, ours.q[:, np.newaxis], units).v
    assert rates is not None  # row k: the velocity of unit velocity k
    tau = dtau.inverse_dynamics(model, *ours)
    back = np.einsum("bki,bi->bk", rates, dtau.inverse_dynamics(other, *theirs))
    np.testing.assert_allclose(back, tau, rtol=0, atol=1e-12 * np.abs(tau).max())
    returned = dtau.transfer_state(other, model, *theirs)
    np.testing.assert_allclose(returned.v, ours.v, rtol=0, atol=1e-12)
    np.testing.assert_allclose(returned.a, ours.a, rtol=0, atol=1e-12 * np.abs(ours.a).max() * 10)
    again = other.with_root("free0")
    home = dtau.transfer_state(other, again, *theirs)
    np.testing.assert_allclose(home.v, dtau.transfer_state(model, again, *ours).v, atol=1e-12)
    assert pickle.loads(pickle.dumps(other)) == other == model.with_root(root)


def test_a_fixed_root_hangs_from_the_other_end() -> None:
    text = dtau.robots.quadruped().to_urdf()
    model = dtau.load(text)
    other = model.with_root("LF_FOOT")
    q = dtau.random_state(model, np.random.default_rng(2)).q
    there = dtau.transfer_state(model, other, q).q
    base, foot = (dtau.frame_placements(model, q, name) for name in ("base", "LF_FOOT"))
    seen = dtau.frame_placements(other, there, "base")
    np.testing.assert_allclose(seen.rotation, foot.rotation.T @ base.rotation, atol=1e-12)
    turned = foot.rotation.T @ (base.translation - foot.translation)
    np.testing.assert_allclose(seen.translation, turned, rtol=0, atol=1e-12)


def test_refused() -> None:
    model = dtau.robots.quadruped()
    assert "no frame named 'foot'" in message(ValueError, model.with_root, "foot")
    held = dtau.ModelBuilder("held")
    held.add(dtau.Revolute((0, 0, 1)), name="a", inertia=dtau.Inertia(1.0, tensor=np.eye(3)))
    said = message(ValueError, held.build().with_root, "a")
    assert "expected a free or fixed joint between the world and 'a', got Revolute 'a'" in said
    free = model.replace(damping={"root_joint": 0.1})
    assert "no armature, damping and friction of the root's joint" in message(
        ValueError, free.with_root, "LF_FOOT"
    )
    other = dtau.robots.chain(3)
    said = message(ValueError, dtau.transfer_state, model, other, dtau.neutral(model))
    assert said.startswith("other: expected the same joints, got joint 'LF_HAA'")
    with pytest.raises(ValueError, match="a: expected v with it"):
        dtau.transfer_state(model, model, dtau.neutral(model), None, np.zeros(18))
