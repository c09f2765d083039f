"""Contacts as objects: what they check, say and keep."""

from __future__ import annotations

import pickle
import re
from typing import Any

import numpy as np
import pytest
from cases import random_state, robot

import dtau
from dtau.registry import FUNCTIONS

FEET = ("LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT")


def test_rows_names_and_sizes() -> None:
    model = robot("quadruped")
    contacts = dtau.Contacts(
        model,
        [
            dtau.PointContact(FEET[0]),
            dtau.FrameContact(FEET[1], name="flat"),
            dtau.Loop(FEET[2], FEET[3], 5, "y"),
        ],
    )
    assert contacts.names == ("LF_FOOT", "flat", "LH_FOOT-RH_FOOT")
    assert contacts.nrows == 14
    assert contacts.rows("flat") == slice(3, 9)
    assert [contact.rows for contact in contacts] == [3, 6, 5]
    assert len(contacts) == 3
    assert repr(contacts) == f"<Contacts of {model.name!r}: 3, nrows = 14>"
    with pytest.raises(ValueError, match="no contact named 'flatt'; close names: 'flat'"):
        contacts.rows("flatt")
    with pytest.raises(AttributeError, match="immutable"):
        contacts.nrows = 3  # type: ignore[misc]


def test_held_where_it_is() -> None:
    """Positions come from the configuration, unless a contact has its own."""
    model = robot("quadruped")
    q = random_state(model, 1)["q"]
    own = dtau.FrameContact(FEET[2], kp=1.0, placement=dtau.Pose())
    contacts = dtau.Contacts(
        model, [dtau.PointContact(FEET[0], kp=4.0), dtau.FrameContact(FEET[1], kp=4.0), own], at=q
    )
    place = dtau.frame_placements(model, q, FEET[:2])
    assert contacts.contacts[0].position == tuple(place.translation[0])  # type: ignore[union-attr]
    held = contacts.contacts[1].placement  # type: ignore[union-attr]
    assert np.allclose(held.rotation, place.rotation[1], atol=1e-15)
    assert contacts.contacts[2] == own
    still = np.zeros(model.nv)
    on = [1, 1, 0]
    want = dtau.constrained_dynamics(
        model,
        q,
        still,
        still,
        dtau.Contacts(model, [dtau.PointContact(FEET[0]), dtau.FrameContact(FEET[1])]),
    )
    got = dtau.constrained_dynamics(model, q, still, still, contacts, active=on)
    assert np.allclose(got.a, want.a, atol=1e-9 * abs(want.a).max())


def test_pickled_and_compared() -> None:
    model = robot("quadruped")
    contacts = dtau.Contacts(model, [dtau.PointContact(foot, kd=2.0) for foot in FEET])
    again = pickle.loads(pickle.dumps(contacts))
    assert again == contacts
    assert hash(again) == hash(contacts)
    assert contacts != dtau.Contacts(model, [dtau.PointContact(foot) for foot in FEET])
    s = random_state(model, 2)
    state = s["q"], s["v"], s["tau"]
    # Contacts of an equal model are taken, contacts of another one are not.
    want = dtau.constrained_dynamics(model, *state, contacts)
    assert np.array_equal(dtau.constrained_dynamics(model, *state, again).a, want.a)
    equal, other = pickle.loads(pickle.dumps(model)), model.replace(name="other")
    for _ in range(2):
        assert np.array_equal(dtau.constrained_dynamics(equal, *state, contacts).a, want.a)
        with pytest.raises(ValueError, match="contacts: expected those of this model, got another"):
            dtau.constrained_dynamics(other, *state, contacts)
        assert np.array_equal(dtau.constrained_dynamics(model, *state, contacts).a, want.a)


WRONG: dict[str, tuple[Any, type[Exception], str]] = {
    "no such frame": (lambda m: [dtau.PointContact("nose")], ValueError, "nose"),
    "names twice": (
        lambda m: [dtau.PointContact(FEET[0]), dtau.FrameContact(FEET[0])],
        ValueError,
        "expected distinct names, got 'LF_FOOT' twice",
    ),
    "no contacts": (lambda m: ["LF_FOOT"], TypeError, "objects of class PointContact"),
    "a contact alone": (
        lambda m: dtau.PointContact(FEET[0]),
        TypeError,
        "PointContact, FrameContact or Loop, got a single PointContact; put it in a list",
    ),
    "a body with itself": (
        lambda m: [dtau.Loop(FEET[0], m.bodies[m.frame(FEET[0]).body])],
        ValueError,
        "expected frames that move against each other",
    ),
    "a gain without a position": (
        lambda m: [dtau.PointContact(FEET[0], kp=1.0)],
        ValueError,
        "kp needs a position to hold",
    ),
    "a gain without a placement": (
        lambda m: [dtau.FrameContact(FEET[0], kp=1.0)],
        ValueError,
        "kp needs a placement to hold",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_contacts(what: str) -> None:
    contacts, error, message = WRONG[what]
    model = robot("quadruped")
    with pytest.raises(error, match=re.escape(message)):
        dtau.Contacts(model, contacts(model))


def test_contacts_and_poses_are_hashable() -> None:
    """Equal ones have equal hashes, -0.0 among them, so that sets and caches can hold them."""

    def pose(sign: float) -> dtau.Pose:
        return dtau.Pose(np.diag([1.0, -1.0, -1.0]), (sign * 0.0, 1.0, 2.0))

    def made(sign: float) -> list[Any]:
        return [
            pose(sign),
            dtau.PointContact("LF_FOOT", kp=1.0, position=(sign * 0.0, 1.0, 2.0)),
            dtau.FrameContact("LF_FOOT"),
            dtau.FrameContact("LF_FOOT", kp=1.0, placement=pose(sign)),
            dtau.Loop("LF_FOOT", "RF_FOOT"),
            dtau.Loop("LF_FOOT", "RF_FOOT", placement=pose(sign)),
            dtau.Frame("f", 0, pose(sign)),
            dtau.Inertia(1.0, (sign * 0.0, 0, 0), np.eye(3)),
            dtau.Link("l", "p", dtau.Free(), "j", placement=pose(sign)),
        ]

    for one, other in zip(made(1.0), made(-1.0), strict=True):
        assert one == other
        assert hash(one) == hash(other) == hash(pickle.loads(pickle.dumps(one)))
    assert len({*made(1.0), *made(-1.0)}) == len(made(1.0))
    turned = dtau.Pose(np.eye(3), (0.0, 1.0, 2.0))
    assert len({pose(1.0), turned}) == 2


def test_frames_of_the_world() -> None:
    model = robot("every joint in a chain")
    fixed = next(name for name in model.frames if model.frame(name).body < 0)
    with pytest.raises(ValueError, match="is fixed to the world, expected one that moves"):
        dtau.Contacts(model, [dtau.PointContact(fixed)])
    with pytest.raises(ValueError, match="is fixed to the world, expected one that moves"):
        dtau.Contacts(model, [dtau.Loop(fixed, model.bodies[-1])])
    dtau.Contacts(model, [dtau.Loop(model.bodies[-1], fixed)])


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: dtau.PointContact("f", axes="world"), ValueError, "axes: expected 'body' or"),
        (lambda: dtau.PointContact("f", axes="LOCAL"), ValueError, "that is 'body' here"),
        (lambda: dtau.PointContact("f", kp=-1.0), ValueError, "kp: expected a number of at least"),
        (lambda: dtau.FrameContact("f", kd=np.inf), ValueError, "kd: expected finite"),
        (lambda: dtau.PointContact("f", position=(1, 2)), ValueError, "position: expected shape"),
        (lambda: dtau.FrameContact("f", placement=3), TypeError, "placement: expected Pose"),
        (lambda: dtau.PointContact(3), TypeError, "frame: expected str"),
        (lambda: dtau.Loop("f", "f"), ValueError, "expected two frames, got 'f' twice"),
        (lambda: dtau.Loop("f", "g", 4), ValueError, "rows: expected 6, 5 or 3, got 4"),
        (lambda: dtau.Loop("f", "g", 5.0), TypeError, "rows: expected an integer, got 5.0"),  # type: ignore[arg-type]
        (lambda: dtau.Loop("f", "g", 5), ValueError, "hinge: expected 'x', 'y' or 'z', got none"),
        (lambda: dtau.Loop("f", "g", 6, "x"), ValueError, "hinge: expected 5 rows with it, got 6"),
        (lambda: dtau.Loop("f", "g", 5, "x", "mixed"), ValueError, "'body' for a hinge"),
    ],
)
def test_wrong_words_and_numbers(make: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=re.escape(message)):
        make()


WITH_CONTACTS = [
    name
    for name, row in FUNCTIONS.items()
    if "contacts" in row.options and row.options["contacts"].required
]


@pytest.mark.parametrize("name", WITH_CONTACTS)
def test_contacts_stand_right_after_the_inputs_of_the_dynamics(name: str) -> None:
    names = [x.name for x in FUNCTIONS[name].arguments]
    inputs = names[: names.index("contacts")]
    assert len(inputs) == 2 + ("v" in inputs and not name.startswith("impulse"))
    assert names[: len(inputs) + 1] == [*inputs, "contacts"]
    model = robot("quadruped")
    contacts = dtau.Contacts(model, [dtau.FrameContact(FEET[0])])
    sizes = {"lam_forces": contacts.nrows, "lam_impulses": contacts.nrows}
    required = [x.name for x in FUNCTIONS[name].arguments if x.required][len(inputs) + 1 :]
    state = [random_state(model, 3)[x] for x in inputs]
    late = [np.ones(sizes.get(x, model.nv)) for x in required]
    getattr(dtau, name)(model, *state, contacts, *late)
    if late:  # as it was: contacts last
        with pytest.raises(TypeError, match=r"contacts: expected a dtau\.Contacts, got ndarray"):
            getattr(dtau, name)(model, *state, *late, contacts)
        with pytest.raises(TypeError, match="contacts"):
            getattr(dtau, name)(model, *state, *late, contacts=contacts)


def test_errors_have_the_names_of_contacts() -> None:
    model = robot("quadruped")
    held = [
        dtau.PointContact("LF_FOOT", name="ground"),
        dtau.PointContact("LF_FOOT", kp=1.0, name="wall"),
    ]
    with pytest.raises(ValueError, match="contact 'wall': kp needs a position to hold; give it"):
        dtau.Contacts(model, held)
    loop = dtau.Loop("LF_FOOT", "LF_SHANK", name="my loop")
    with pytest.raises(ValueError, match="loop 'my loop': both frames belong to one body"):
        dtau.Contacts(model, [loop])


@pytest.mark.parametrize("tilt", [0.0, 1e-12, 1e-9, 1e-4])
@pytest.mark.parametrize("axes", ["body", "mixed"])
def test_directions_near_the_z_axis(axes: Any, tilt: float) -> None:
    """The acceleration along a direction is zero, also where it hardly differs from an axis."""
    model = robot("quadruped")
    s = random_state(model, 5)
    direction = np.array([0.0, tilt, 1.0])
    foot = dtau.PointContact("LF_FOOT", axes=axes, direction=direction)
    a = dtau.constrained_dynamics(
        model, s["q"], 0 * s["v"], s["tau"], dtau.Contacts(model, [foot])
    ).a
    moving = dtau.frame_accelerations(
        model, s["q"], 0 * s["v"], a, "LF_FOOT", axes=axes, kind="classical"
    )
    free = dtau.forward_dynamics(model, s["q"], 0 * s["v"], s["tau"])
    scale = np.abs(dtau.frame_accelerations(model, s["q"], 0 * s["v"], free, "LF_FOOT")).max()
    assert abs(direction @ moving[:3]) < 1e-12 * scale


def test_a_regularization_without_contacts() -> None:
    model = robot("quadruped")
    s = random_state(model, 5)
    for wrong in (1.0, -1.0, np.nan, np.inf, "much"):
        with pytest.raises(ValueError, match="regularization: goes with contacts="):
            dtau.linearize(model, s["q"], s["v"], s["tau"], regularization=wrong)  # type: ignore[arg-type]


def test_subclasses_of_contacts() -> None:
    """The class says what a contact is, whatever attributes a subclass adds."""

    class Foot(dtau.FrameContact):
        position = None

    class Hook(dtau.PointContact):
        frame_a = "x"

    model = robot("quadruped")
    contacts = dtau.Contacts(model, [Foot("LF_FOOT"), Hook("RF_FOOT")])
    assert contacts.nrows == 9
    broken = dtau.PointContact("LF_FOOT")
    object.__setattr__(broken, "kp", None)
    with pytest.raises(TypeError, match="contacts: expected attributes as constructors leave"):
        dtau.Contacts(model, [broken])


def test_wrong_calls() -> None:
    model = robot("quadruped")
    with pytest.raises(ValueError, match=re.escape("at: expected shape (19,), got (3,)")):
        dtau.Contacts(model, [dtau.Loop(*FEET[:2], 3)], at=(1, 2, 3))
    s = random_state(model, 3)
    state = s["q"], s["v"], s["tau"]
    contacts = dtau.Contacts(model, [dtau.PointContact(foot) for foot in FEET])
    call: Any = dtau.constrained_dynamics
    with pytest.raises(ValueError, match=re.escape("active has shape (3,), expected (..., 4)")):
        call(model, *state, contacts, active=[1, 1, 1])
    with pytest.raises(TypeError, match=r"contacts: expected a dtau\.Contacts, got list"):
        call(model, *state, list(contacts))
    for wrong in (-1, np.inf, np.nan):
        said = f"regularization: expected a finite number of at least 0, got {wrong}"
        with pytest.raises(ValueError, match=said):
            call(model, *state, contacts, regularization=wrong)
    with pytest.raises(TypeError, match="regularization: expected a number, got 'much'"):
        call(model, *state, contacts, regularization="much")


def test_no_contacts() -> None:
    """None at all: the robot is free."""
    model = robot("quadruped")
    s = random_state(model, 4)
    state = s["q"], s["v"], s["tau"]
    result = dtau.constrained_dynamics(model, *state, dtau.Contacts(model, []), s["f_ext"])
    assert result.forces.shape == (0,)
    free = dtau.forward_dynamics(model, *state, s["f_ext"])
    assert np.allclose(result.a, free, rtol=1e-10, atol=1e-10 * abs(free).max())
