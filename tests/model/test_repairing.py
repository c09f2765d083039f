"""Inertias that no rigid body has: what is said of them, and the nearest that one has."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from compare import TOLERANCE, assert_close
from messages import message
from test_urdf import arm, joint, link, robot
from trees import random_quaternion, random_tensor, rotation_of

import dtau
from dtau.model.moments import nearest_of_a_body


def inertial(xx: float, yy: float, zz: float, mass: float = 2.0, rpy: str = "0 0 0") -> str:
    return (
        f'<inertial><origin xyz="0 1 0" rpy="{rpy}"/><mass value="{mass}"/>'
        f'<inertia ixx="{xx}" ixy="0" ixz="0" iyy="{yy}" iyz="0" izz="{zz}"/></inertial>'
    )


SOUND = inertial(1, 1, 1)


class TestMessages:
    TEXT = robot(
        link("base", inertial(1, 1, -1e-3)),
        link("good", SOUND),
        link("bad", inertial(-2, 3, 4)),
        joint("j", "base", "good"),
        joint("k", "good", "bad"),
    )

    def test_error_names_all_impossible_inertias(self) -> None:
        assert message(dtau.ModelError, dtau.load, self.TEXT) == (
            "XML text, line 2: inertias with negative principal moments, which no body has: -0.001 "
            "of link 'base' (line 2), -2 of link 'bad' (line 4); inertia='repair' takes the "
            "nearest ones of rigid bodies, and says in Model.notes by how much"
        )

    def test_repaired(self) -> None:
        model = dtau.load(self.TEXT, inertia="repair", root="free")
        assert model.notes[-2:] == (
            "repaired the inertia of link 'base' (line 2): principal moments -0.001, 1, 1 became "
            "0, 1.0005, 1.0005, by at most 0.001 kg m²",
            "repaired the inertia of link 'bad' (line 4): principal moments -2, 3, 4 became "
            "0, 4.5, 4.5, by at most 2 kg m²",
        )
        assert model.link("bad").inertia.com.tolist() == [0, 1, 0]
        assert model.link("bad").inertia.mass == 2.0

    def test_the_triangle_inequality_is_a_note(self) -> None:
        text = robot(link("a", inertial(1, 1, 3)), link("b", SOUND), joint("j", "a", "b"))
        model = dtau.load(text, root="free")
        assert model.notes[-1] == (
            "principal moments that break the triangle inequality, which no rigid body has "
            "(inertia='repair' takes the nearest ones of rigid bodies), in links a"
        )
        assert model.link("a").inertia.tensor.tolist() == np.diag([1.0, 1.0, 3.0]).tolist()
        repaired = dtau.load(text, root="free", inertia="repair")
        assert "1, 1, 3 became 1.5, 1.5, 3, by at most 0.5 kg m²" in repaired.notes[-1]

    def test_sound_files_are_left_alone(self) -> None:
        text = arm(inertial=inertial(1, 2, 2.5, rpy="0.1 0.2 0.3"))
        assert dtau.load(text, inertia="repair") == dtau.load(text)
        assert dtau.load(text, inertia="repair").notes == dtau.load(text).notes

    def test_negative_masses_cannot_be_repaired(self) -> None:
        text = robot(
            link("a", inertial(1, 1, 1, -1)), link("b", inertial(1, 1, 1, -2)), joint("j", "a", "b")
        )
        for option in ("keep", "repair"):
            assert message(dtau.ModelError, dtau.load, text, inertia=option) == (
                "XML text, line 2: mass: expected numbers of at least 0, got -1.0 of link 'a' "
                "(line 2), -2.0 of link 'b' (line 3)"
            )

    def test_numbers_that_are_missing(self) -> None:
        """As a reader has them that takes 0; a diagonal entry that is missing stays an error."""
        whole = inertial(1, 1.5, 2)
        for lacks, text, mass, moments in (
            ("<mass>", whole.replace('<mass value="2.0"/>', ""), 0.0, [1, 1.5, 2]),
            ("<inertia>", re.sub("<inertia [^>]*>", "", whole), 2.0, [0, 0, 0]),
            ("<mass>, <inertia>", '<inertial><origin xyz="0 1 0"/></inertial>', 0.0, [0, 0, 0]),
            ("ixy of <inertia>", whole.replace('ixy="0"', ""), 2.0, [1, 1.5, 2]),
            (
                "ixz of <inertia>, iyz of <inertia>",
                whole.replace('ixz="0"', "").replace('iyz="0"', ""),
                2.0,
                [1, 1.5, 2],
            ),
        ):
            given = robot(link("a", text), link("b", SOUND), joint("j", "a", "b"))
            assert message(dtau.ModelError, dtau.load, given) == (
                f"XML text, line 2: expected {lacks} in <inertial> of link 'a', got none; "
                "inertia='repair' takes 0 for it, and says so in Model.notes"
            )
            model = dtau.load(given, inertia="repair")
            note = f"missing in the file and taken as 0: {lacks} of link 'a' (line 2)"
            assert note in model.notes
            got = model.link("a").inertia
            assert got.mass == mass
            assert got.tensor.tolist() == np.diag(moments).tolist()
        wrong = robot(link("a", whole.replace('iyy="1.5"', "")), link("b"), joint("j", "a", "b"))
        said = message(dtau.ModelError, dtau.load, wrong, inertia="repair")
        assert said == "XML text, line 2: expected the attribute 'iyy' in <inertia>"

    def test_the_option(self) -> None:
        said = message(ValueError, dtau.load, self.TEXT, inertia="mend")
        assert said == "inertia: expected 'keep' or 'repair', got 'mend'"


class TestNearest:
    @pytest.mark.parametrize("seed", range(8))
    def test_nearest_inertia_of_a_rigid_body(self, seed: int) -> None:
        """No other positive semidefinite matrix of second moments is nearer."""
        rng = np.random.default_rng(seed)
        axes = rotation_of(random_quaternion(rng))
        tensor = axes @ np.diag([-0.3, *rng.uniform(0.1, 1.0, 2)]) @ axes.T
        tensor = 0.5 * (tensor + tensor.T)
        nearest = nearest_of_a_body(tensor)
        moments = np.linalg.eigvalsh(nearest)
        assert moments[0] >= -1e-15
        assert moments[2] <= moments[0] + moments[1] + 1e-15
        dtau.Inertia(1.0, tensor=nearest)
        off = np.linalg.norm(second_moments(nearest) - second_moments(tensor))
        for _ in range(200):
            step = random_tensor(rng, 10.0 ** rng.uniform(-6, 1))
            other = second_moments(nearest) + rng.choice([-1, 1]) * step
            if np.linalg.eigvalsh(other)[0] >= 0:
                assert np.linalg.norm(other - second_moments(tensor)) >= off * (1 - 1e-12)

    def test_possible_inertias_stay(self) -> None:
        rng = np.random.default_rng(9)
        for _ in range(20):
            tensor = random_tensor(rng, 2.0)
            assert_close(nearest_of_a_body(tensor), tensor, TOLERANCE["short sums"], "tensor")

    def test_the_rotation_of_the_inertial_frame_is_kept(self) -> None:
        """Repaired along the file's axes, then turned into the link's."""
        model = dtau.load(
            arm(inertial=inertial(1, 2, 4, rpy=f"0 0 {math.pi / 2}")), inertia="repair"
        )
        want = np.diag([2.5, 1.5, 4.0])
        assert_close(model.link("tip").inertia.tensor, want, TOLERANCE["short sums"], "tensor")


def second_moments(tensor: np.ndarray) -> np.ndarray:
    return 0.5 * np.trace(tensor) * np.eye(3) - tensor
