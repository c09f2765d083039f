"""Making models: the builder, joints without inertia, extreme numbers."""

from __future__ import annotations

import math
import pickle
import warnings

import numpy as np
import pytest
from compare import TOLERANCE
from links import BALL, UP, link, model_of
from test_model import X, Y, Z

import dtau


class TestBuilder:
    def test_is_the_same_as_links(self) -> None:
        builder = dtau.ModelBuilder("robot", gravity=(0, 0, -1))
        arm = builder.add(
            Z,
            name="arm",
            placement=UP,
            inertia=BALL,
            armature=0.1,
            damping=0.2,
            limits=dtau.Limits(-1, 1),
        )
        builder.add(dtau.Fixed(), name="tool", parent=arm)
        limits = dtau.Limits(-1, 1)
        links = [
            dtau.Link("arm", None, Z, "arm", UP, BALL, armature=0.1, damping=0.2, limits=limits),
            dtau.Link("tool", "arm", dtau.Fixed(), "tool"),
        ]
        assert arm == "arm"
        assert builder.build() == dtau.Model("robot", links, gravity=(0, 0, -1))

    def test_a_model_does_not_see_later_links(self) -> None:
        builder = dtau.ModelBuilder("robot")
        builder.add(Z, name="a", inertia=BALL)
        before = builder.build()
        builder.add(Z, name="b", parent="a", inertia=BALL)
        assert before.nv == 1
        assert builder.build().nv == 2

    def test_mistakes_are_found_at_once(self) -> None:
        builder = dtau.ModelBuilder("robot")
        builder.add(Z, name="shoulder", inertia=BALL)
        with pytest.raises(ValueError, match="parent: no link named 'sholder'; close names: 'sho"):
            builder.add(Z, name="elbow", parent="sholder")
        with pytest.raises(ValueError, match="name: there is already a link named 'shoulder'"):
            builder.add(Z, name="shoulder")
        with pytest.raises(TypeError, match="joint: expected JointType"):
            builder.add(dtau.Revolute, name="elbow")  # type: ignore[arg-type]
        for name in (["elbow"], None, 3):
            with pytest.raises(TypeError, match=r"^name: expected str, got"):
                builder.add(Z, name=name)  # type: ignore[arg-type]
        for parent in (["shoulder"], 3):
            with pytest.raises(TypeError, match=r"^parent: expected str, got"):
                builder.add(Z, name="elbow", parent=parent)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match=r"^name: expected text without lone surrogates"):
            builder.add(Z, name="\ud800")
        assert builder.build().nv == 1

    def test_mistakes_of_the_robot_are_found_at_once(self) -> None:
        with pytest.raises(TypeError, match=r"^name: expected str, got int"):
            dtau.ModelBuilder(3)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match=r"^gravity: expected shape \(3,\), got \(\)"):
            dtau.ModelBuilder("robot", gravity=-9.81)
        gravity = np.array([0, 0, -1.0])
        builder = dtau.ModelBuilder("robot", gravity=gravity)
        gravity[:] = 5
        builder.add(Z, name="arm", inertia=BALL)
        assert builder.build().gravity.tolist() == [0, 0, -1]

    def test_build_refuses_a_robot_without_moving_joints(self) -> None:
        with pytest.raises(ValueError, match="model 'robot': expected a joint that moves"):
            dtau.ModelBuilder("robot").build()


class TestMassless:
    def massless(self, *links: dtau.Link) -> tuple[str, ...]:
        """Names of the massless joints, which the warning has to give too."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = model_of(*links)
        messages = [str(item.message) for item in caught if item.category is dtau.ModelWarning]
        assert len(messages) == (1 if model.massless_joints else 0)
        assert all(name in messages[0] for name in model.massless_joints)
        return model.massless_joints

    def test_joints_that_move_no_inertia_are_named(self) -> None:
        finger = [
            link("hand", None, dtau.Free()),
            link("first", "hand", X, inertia=dtau.Inertia()),
            link("second", "first", Y, inertia=dtau.Inertia()),
            link("other", "hand", Y),
        ]
        assert self.massless(*finger) == ("first_joint", "second_joint")

    @pytest.mark.parametrize(
        ("joint", "inertia", "singular"),
        [
            (X, dtau.Inertia(1.0), True),
            (X, dtau.Inertia(1.0, (5, 0, 0)), True),
            (X, dtau.Inertia(1.0, (5, 1e-3, 0)), False),
            (X, dtau.Inertia(1.0, (1, 0, 0), np.diag([0, 1, 1])), True),
            (X, dtau.Inertia(0.0, (0, 0, 0), np.diag([1, 1, 1])), False),
            (dtau.Prismatic((1, 2, 3)), dtau.Inertia(1.0), False),
            (dtau.Prismatic((1, 2, 3)), dtau.Inertia(0.0, (0, 0, 0), np.eye(3)), True),
            (dtau.Helical((1, 2, 3), 0.1), dtau.Inertia(1.0), False),
            (dtau.Spherical(), dtau.Inertia(1.0, (0, 0, 1)), True),
            (dtau.Spherical(), dtau.Inertia(1.0, (0, 0, 0), 1e-6 * np.eye(3)), False),
            (dtau.Free(), dtau.Inertia(1.0), True),
            (dtau.Free(), dtau.Inertia(1.0, (9, 9, 9), 1e-9 * np.eye(3)), False),
            (dtau.Free(), dtau.Inertia(1e-12, (0, 0, 0), 1e-20 * np.eye(3)), False),
            (dtau.Free(), dtau.Inertia(1e12, (0, 0, 0), 1e14 * np.eye(3)), False),
        ],
    )
    def test_single_bodies(
        self, joint: dtau.JointType, inertia: dtau.Inertia, singular: bool
    ) -> None:
        expected = ("a_joint",) if singular else ()
        assert self.massless(link("a", None, joint, inertia=inertia)) == expected

    def test_coaxial_joints_with_nothing_between(self) -> None:
        """The upper one turns nothing that the lower one could not turn alone."""
        links = [link("upper", None, Z, inertia=dtau.Inertia()), link("lower", "upper", Z)]
        assert self.massless(*links) == ("upper_joint",)

    def test_crossed_joints_with_nothing_between_are_sound(self) -> None:
        """Links of a wrist without inertia of their own, but with a hand behind them."""
        links = [
            link("first", None, X, inertia=dtau.Inertia()),
            link("second", "first", Y, inertia=dtau.Inertia()),
            link("hand", "second", Z),
        ]
        assert self.massless(*links) == ()

    def test_a_singular_configuration_of_a_massless_universal_joint_is_not_found(self) -> None:
        """It is sound but where its first axis comes to lie along the last: huge numbers or NaN."""
        links = [
            link("first", None, X, inertia=dtau.Inertia(), placement=dtau.Pose()),
            link("second", "first", Y, inertia=dtau.Inertia(), placement=dtau.Pose()),
            link("hand", "second", Z, placement=dtau.Pose()),
        ]
        assert self.massless(*links) == ()
        model = model_of(*links)
        tau = np.array([1.0, 2.0, 3.0])
        v = np.zeros(3)
        sound, singular = np.array([0.1, 0.2, 0.3]), np.array([0.1, math.pi / 2, 0.3])
        a = dtau.forward_dynamics(model, sound, v, tau)
        again = dtau.inverse_dynamics(model, sound, v, a)
        np.testing.assert_allclose(again, tau, atol=TOLERANCE["identity"])
        for found in (
            dtau.forward_dynamics(model, singular, v, tau),
            dtau.mass_matrix_inverse(model, singular),
            dtau.forward_dynamics_derivatives(model, singular, v, tau).da_dtau,
        ):
            assert not np.abs(found).max() < 1e12

    def test_armature_helps(self) -> None:
        assert self.massless(link("a", None, X, inertia=dtau.Inertia(), armature=1e-9)) == ()
        nothing_between = [
            link("upper", None, Z, inertia=dtau.Inertia(), armature=1e-11),
            link("lower", "upper", Z),
        ]
        assert self.massless(*nothing_between) == ()

    def test_copies_and_locked_models_do_not_warn_again(self) -> None:
        with pytest.warns(dtau.ModelWarning, match="of the inertia that they carry: b_joint;"):
            model = model_of(link("a", None), link("b", "a", inertia=dtau.Inertia()))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert pickle.loads(pickle.dumps(model)).massless_joints == ("b_joint",)
            assert model.lock({"a_joint": 1.0}).massless_joints == ("b_joint",)
            assert model.lock({"b_joint": 1.0}).massless_joints == ()


@pytest.mark.large
class TestExtremes:
    def test_a_chain_of_ten_thousand_links(self) -> None:
        builder = dtau.ModelBuilder("chain")
        parent = None
        for k in range(10_000):
            parent = builder.add(
                (X, Y)[k % 2], name=f"link{k}", parent=parent, placement=UP, inertia=BALL
            )
        model = builder.build()
        assert model.nv == 10_000
        assert model.massless_joints == ()
        assert model.joint("link9999").parent == 9998
        assert len(str(model).splitlines()) == 10_002
        assert pickle.loads(pickle.dumps(model)) == model

    def test_ten_thousand_fixed_links(self) -> None:
        links = [link("link0", None)]
        step = dtau.Pose.from_rpy((0, 0, 2 * math.pi / 100), (1, 0, 0))
        for k in range(1, 10_000):
            links.append(link(f"link{k}", f"link{k - 1}", dtau.Fixed(), placement=step))
        model = model_of(*links)
        assert model.nbodies == 1
        assert model.mass == 20_000
        end = model.frame("link9999").placement @ step  # a hundred rounds of a polygon
        np.testing.assert_allclose(end.translation, np.zeros(3), atol=TOLERANCE["identity"])

    @pytest.mark.parametrize("scale", [1e-150, 1e-30, 1e30, 1e100])
    def test_any_unit_of_mass_will_do(self, scale: float) -> None:
        inertia = dtau.Inertia(scale, (0, 0, 1), scale * np.eye(3))
        model = model_of(
            link("a", None, dtau.Free(), inertia=inertia), link("b", "a", inertia=inertia)
        )
        assert model.massless_joints == ()
        assert model.mass == 2 * scale

    @pytest.mark.parametrize(
        "links",
        [
            [
                link("a", None, inertia=dtau.Inertia(1e308)),
                link("b", "a", dtau.Fixed(), inertia=dtau.Inertia(1e308)),
            ],
            [link("a", None, inertia=dtau.Inertia(1.0, (0, 0, 1e200)))],
            [
                link("a", None, placement=dtau.Pose(translation=(1e308, 0, 0))),
                link("b", "a", dtau.Fixed(), placement=dtau.Pose(translation=(1e308, 0, 0))),
                link("c", "b", dtau.Fixed(), placement=dtau.Pose(translation=(1e308, 0, 0))),
            ],
        ],
    )
    def test_numbers_too_large_to_be_added_up(self, links: list[dtau.Link]) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(ValueError, match=r"link '.'|'a' and its subtree: too large"):
                model_of(*links)
