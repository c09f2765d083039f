"""Arrows, and the shapes of what is shown."""

from __future__ import annotations

import numpy as np
import pytest
from compare import assert_close
from messages import has_words, message

import dtau
from dtau.support.options import Axes
from dtau.viewer.motion import ARROWS, motion

MODEL = dtau.robots.quadruped()


def test_one_configuration_is_a_motion_of_one_frame() -> None:
    shown = motion(MODEL)
    assert shown.length == 1
    assert shown.arrows == {}
    assert shown.translation.shape == (1, MODEL.nbodies, 3)


def test_arrows_are_what_the_functions_say() -> None:
    q, v, _ = dtau.random_state(MODEL, np.random.default_rng(0), shape=(7,))
    f_ext = np.random.default_rng(1).standard_normal((7, MODEL.nbodies, 6))
    shown = motion(MODEL, q, v, f_ext)
    assert set(shown.arrows) == set(ARROWS)
    for arrows in shown.arrows.values():
        assert arrows.vectors.shape[0] == 7
    twists = dtau.frame_velocities(MODEL, q, v, MODEL.bodies, "mixed")
    velocities = shown.arrows["velocities"]
    assert_close(velocities.vectors * velocities.unit, twists[..., :3], 1e-12)
    momentum = shown.arrows["momentum"]
    velocity = dtau.center_of_mass_velocity(MODEL, q, v)
    assert_close(momentum.vectors[:, 0] * momentum.unit, MODEL.mass * velocity, 1e-10)
    assert_close(momentum.starts[:, 0], dtau.center_of_mass(MODEL, q), 1e-12)


def test_wrenches_are_the_same_along_any_axes() -> None:
    """What acts on the robot as its torques say it."""
    rng = np.random.default_rng(2)
    q = dtau.random_state(MODEL, rng, shape=(3,)).q
    given = rng.standard_normal((3, MODEL.nbodies, 6))
    still = np.zeros(MODEL.nv)
    axes: Axes
    for axes in ("body", "mixed", "world"):
        shown = motion(MODEL, q, f_ext=given, f_ext_axes=axes)
        parts = [shown.arrows[name] for name in ("forces", "moments")]
        mixed = np.concatenate([part.vectors * part.unit for part in parts], axis=-1)
        assert_close(
            dtau.inverse_dynamics(MODEL, q, still, still, mixed, f_ext_axes="mixed"),
            dtau.inverse_dynamics(MODEL, q, still, still, given, f_ext_axes=axes),
            1e-12,
        )


def test_tiny_arrows_are_left_out() -> None:
    f_ext = np.zeros((MODEL.nbodies, 6))
    f_ext[3, 2], f_ext[5, 2] = 100.0, 0.1
    shown = motion(MODEL, f_ext=f_ext)
    assert list(shown.arrows) == ["forces"]
    assert shown.arrows["forces"].ends(0).shape == (1, 2, 3)
    moved = shown.at(dtau.neutral(MODEL), 0)
    assert_close(moved.arrows["forces"].ends(0), shown.arrows["forces"].ends(0), 1e-15)


def test_what_is_given_may_change_afterwards() -> None:
    q = dtau.neutral(MODEL)
    shown = motion(MODEL, q)
    q[:3] = 5.0
    assert (shown.q[0, :3] == 0).all()


@pytest.mark.parametrize(
    ("q", "v", "f_ext", "words"),
    [
        (np.zeros(3), None, None, ["q", "(3,)"]),
        (np.zeros((2, 2, 19)), None, None, ["q", "(2, 2)"]),
        (np.zeros((0, 19)), None, None, ["q", "(0,)"]),
        (None, np.zeros(5), None, ["v", "(5,)"]),
        (None, None, np.zeros(6), ["f_ext"]),
        (np.full(19, np.nan), None, None, ["q", "finite"]),
        (np.zeros((3, 19)), np.zeros((2, 18)), None, ["batch", "q", "v"]),
    ],
)
def test_wrong_shapes(q: object, v: object, f_ext: object, words: list[str]) -> None:
    has_words(message(ValueError, motion, MODEL, q, v, f_ext), *words)


def test_wrenches_at_frames() -> None:
    """Wrenches that hold a posture: as the function gives them and as the dynamics take them."""
    feet = ["LF_FOOT", "RH_FOOT"]
    q = np.stack([dtau.neutral(MODEL)] * 4)
    contacts = dtau.Contacts(MODEL, [dtau.PointContact(foot, "mixed") for foot in feet])
    forces = dtau.equilibrium(MODEL, q, contacts=contacts).forces.reshape(4, 2, 3)
    by_name = {foot: np.hstack([forces[:, k], np.zeros((4, 3))]) for k, foot in enumerate(feet)}
    shown = motion(MODEL, q, f_ext=by_name, f_ext_axes="mixed")
    arrows = shown.arrows["forces"]
    assert_close(arrows.vectors * arrows.unit, forces, 1e-12)
    assert_close(arrows.starts, dtau.frame_placements(MODEL, q, feet).translation, 1e-12)
    one = motion(MODEL, q, f_ext={"LF_FOOT": [0, 0, 1, 0, 0, 0]}, f_ext_axes="mixed")
    assert one.arrows["forces"].vectors.shape == (4, 1, 3)
    assert shown.at(q[0], 2).arrows["forces"].vectors.shape == (1, 2, 3)
    assert not motion(MODEL, q, f_ext={}).arrows


def test_frames_and_their_wrenches_must_be_right() -> None:
    has_words(message(ValueError, motion, MODEL, f_ext={"LF_FOO": np.zeros(6)}), "LF_FOOT")
    has_words(message(ValueError, motion, MODEL, f_ext={"LF_FOOT": np.zeros(3)}), "LF_FOOT", "(3,)")


def test_unknown_axes() -> None:
    has_words(message(ValueError, motion, MODEL, None, None, None, "base"), "f_ext_axes", "body")
