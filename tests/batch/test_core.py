"""The compiled core's own guards: what the Python layer never sends must not crash it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from core import Tree, real_core


def tree(parents: list[int], **changes: Any) -> Tree:
    """A tree of revolute joints about z, with some arguments replaced."""
    n = len(parents)
    arguments = {
        "kind": np.zeros(n, dtype=np.int32),
        "parent": np.array(parents, dtype=np.int32),
        "link": np.arange(n, dtype=np.int32),
        "mimicked": np.full(n, -1, dtype=np.int32),
        "multiplier": np.ones(n),
        "offset": np.zeros(n),
        "rotation": np.tile(np.eye(3), (n, 1, 1)),
        "translation": np.zeros((n, 3)),
        "axis": np.tile([0.0, 0.0, 1.0], (n, 1)),
        "pitch": np.zeros(n),
        "mass": np.ones(n),
        "com": np.zeros((n, 3)),
        "tensor": np.tile(np.eye(3), (n, 1, 1)),
        "armature": np.zeros(n),
        "damping": np.zeros(n),
        "stiffness": np.zeros(n),
        "rest_position": np.zeros(n),
        "friction": np.zeros(n),
        "friction_speed": np.zeros(n),
        "gravity": [0.0, 0.0, -9.81],
        "joint_names": [f"j{i}" for i in range(n)],
        "massless_joints": [],
        "frame_names": ["tip"],
        "frame_link": np.array([n - 1], dtype=np.int32),
        "frame_rotation": np.eye(3)[np.newaxis],
        "frame_translation": np.zeros((1, 3)),
    }
    return Tree(**(arguments | changes))


class Holder:
    """Looks like a model."""

    def __init__(self, held: object) -> None:
        self._tree = held


class Fresh:
    """Gives a new tree at every look, which nobody else keeps alive."""

    @property
    def _tree(self) -> Tree:
        return tree([-1, 0])


def test_a_tree_computes() -> None:
    assert np.array_equal(real_core("mass_matrix", Holder(tree([-1])), [0.3]), [[1.0]])


def test_a_tree_that_only_the_call_keeps_alive() -> None:
    q = np.array([0.1, 0.2])
    expected = real_core("mass_matrix", Holder(tree([-1, 0])), q)
    for _ in range(100):
        assert np.array_equal(real_core("mass_matrix", Fresh(), q), expected)


def test_a_tree_that_was_never_made() -> None:
    empty = Tree.__new__(Tree)
    with pytest.raises(TypeError, match=r"model: expected a dtau\.Model, got test_core\.Holder"):
        real_core("mass_matrix", Holder(empty), [0.0])


_PLANAR = np.array([6], dtype=np.int32)
_OF_JOINTS = ("armature", "damping", "stiffness", "rest_position", "friction", "friction_speed")


@pytest.mark.parametrize(
    ("parents", "changes", "said"),
    [
        ([-1, 1], {}, "depth first"),
        ([-1, -2], {}, "depth first"),
        ([-1, 0, -1, 0], {}, "depth first"),
        ([-1], {"kind": np.array([99], dtype=np.int32)}, "joint kind"),
        ([-1], {"mass": np.array([np.nan])}, "finite"),
        ([-1], {"axis": np.array([[0.0, np.inf, 0.0]])}, "finite"),
        ([-1], {"pitch": np.zeros(2)}, "different lengths"),
        ([-1], {"armature": np.zeros(2)}, "armature"),
        ([-1], {"stiffness": np.zeros(2)}, "stiffness and rest position"),
        ([-1], {"friction": np.zeros(2)}, "friction and its smoothing speed"),
        ([-1], {"friction": np.ones(1)}, "smoothing speeds of friction above 0"),
        (
            [-1],
            {"kind": _PLANAR, **{x: np.ones(3) for x in _OF_JOINTS}},
            "no stiffness of a joint of this kind",
        ),
        ([-1], {"frame_names": []}, "different lengths"),
        ([-1], {"frame_link": np.array([1], dtype=np.int32)}, "body that does not exist"),
        ([-1], {"frame_link": np.array([-2], dtype=np.int32)}, "body that does not exist"),
    ],
)
def test_bad_trees(parents: list[int], changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        tree(parents, **changes)


def test_more_degrees_of_freedom_than_can_be_counted() -> None:
    with pytest.raises(ValueError, match=r"at most \d+ degrees of freedom, got 50000"):
        tree([-1] * 50_000)


def test_frames_are_known_by_name() -> None:
    model = Holder(tree([-1]))
    placed = real_core.module.frame_placements(model, [0.0], "tip")
    assert np.array_equal(placed.rotation, np.eye(3))
    with pytest.raises(AttributeError, match="frame"):  # the model would say which are close
        real_core.module.frame_placements(model, [0.0], "tips")
