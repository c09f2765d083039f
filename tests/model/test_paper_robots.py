"""The robots of the papers: the tree of [Bos] and the aerial manipulator of [HO-FBS]."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from compare import TOLERANCE, assert_close
from files import ORACLES
from trees import Array, skew

import dtau

# The 10-body tree


def test_moving_base_tree_meets_the_criteria_of_the_paper() -> None:
    model = dtau.robots.moving_base_tree()
    assert (model.nbodies, model.nv) == (10, 15)
    kinds = Counter((type(j.type).__name__, getattr(j.type, "axis", None)) for j in model.joints)
    axes = [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)]
    names = ("Revolute", "Prismatic", "Helical")
    assert kinds == Counter([("Free", None), *((name, axis) for name in names for axis in axes)])
    children = Counter(joint.parent for joint in model.joints)
    base = model.joint("base").body
    assert children[base] == 2
    assert any(count > 1 for parent, count in children.items() if parent not in (-1, base))


def test_moving_base_tree_is_drawn() -> None:
    rng = np.random.default_rng(0)
    first, second = (dtau.robots.moving_base_tree(rng) for _ in range(2))
    assert first == dtau.robots.moving_base_tree()
    assert first != second
    with pytest.raises(TypeError, match="rng: expected Generator, got int"):
        dtau.robots.moving_base_tree(0)  # type: ignore[arg-type]


# The aerial manipulator


def angular_last(vector: Array) -> Array:
    return np.roll(vector, 3)


def test_aerial_manipulator_has_the_torques_of_the_paper() -> None:
    """Order 0 of the oracle: its base twist and wrench are spatial, about the world's origin."""
    with np.load(ORACLES / "p002_table3_t7.5.npz") as file:
        numbers = {key: file[key] for key in file.files}
    model = dtau.robots.aerial_manipulator()
    rotation, position = numbers["C"][:3, :3], numbers["C"][:3, 3]
    turn = rotation.T
    to_body = np.block([[turn, -turn @ skew(position)], [np.zeros((3, 3)), turn]])

    q = dtau.neutral(model)
    q[:3] = position
    half = 0.5 * np.arctan2(rotation[1, 0], rotation[0, 0])  # the base yaws only
    q[3:7] = [0.0, 0.0, np.sin(half), np.cos(half)]
    assert_close(dtau.Free().placement(q[:7]).rotation, rotation, TOLERANCE["rounding"], "rotation")
    q[7:] = numbers["q"][1:, 0]
    v = np.concatenate([to_body @ angular_last(numbers["V"][:, 0]), numbers["q"][1:, 1]])
    a = np.concatenate([to_body @ angular_last(numbers["V"][:, 1]), numbers["q"][1:, 2]])

    tau = dtau.inverse_dynamics(model, q, v, a)
    assert_close(tau[6:], numbers["ID_tau"][1:, 0], TOLERANCE["time oracle"], "joint torques")
    wrench = to_body.T @ tau[:6]
    assert_close(
        wrench,
        angular_last(numbers["ID_base_wrench"][:, 0]),
        TOLERANCE["time oracle"],
        "base wrench",
    )


def test_aerial_manipulator_repeats_the_pattern() -> None:
    model = dtau.robots.aerial_manipulator(branches=5, links=4)
    assert model.nbodies == 21
    assert model.joint("arm3_link4").type == model.joint("arm3_link1").type
    assert model.mass == pytest.approx(2.5 + 20 * 0.25)
    at = dtau.frame_placements(model, dtau.neutral(model), [f"arm{i}_link1" for i in range(1, 6)])
    gaps = np.linalg.norm(at.translation - np.roll(at.translation, 1, axis=0), axis=-1)
    assert_close(
        gaps,
        np.full(5, 0.18 * np.sin(np.pi / 5)),
        TOLERANCE["time oracle"],
        "distance of neighbours",
    )
    tips = dtau.frame_placements(model, dtau.neutral(model), "arm2_link4").translation
    assert tips[2] == pytest.approx(-0.10 - 3 * 0.12)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"branches": 0}, ValueError, "branches: expected at least 1, got 0"),
        ({"links": -2}, ValueError, "links: expected at least 1, got -2"),
        ({"links": 2.5}, TypeError, "links: expected an integer, got 2.5"),
    ],
)
def test_aerial_manipulator_says_what_is_wrong(
    arguments: dict[str, int], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        dtau.robots.aerial_manipulator(**arguments)
