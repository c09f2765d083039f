"""Contacts and loops of random robots: masks, gains, regularization, dependent rows.

A case draws a robot, contacts, a state and a regularization. Where singular values say clearly
whether rows depend on each other, the acceleration is as of dense matrices (`contact_oracle`), or
the call is refused by the names of contacts. One case of eight has numbers that no contact can
have. Batches and derivatives: `test_batch_laws`, `test_laws`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import contact_oracle
import numpy as np
from cases import NEAR, random_q, robot
from odd_arrays import EXTREMES
from odd_values import choose
from trees import MOVING, Array, random_quaternion, random_tensor, random_tree, rotation_of

import dtau

Rng = np.random.Generator
State = dict[str, Array]

INDEPENDENT, DEPENDENT = 1e-3, 1e-12  # of the least singular value; nothing is clear in between
ACCURATE = 1e-5  # of accelerations, of rows that are clearly independent
DAMPINGS = (0.0, 0.0, 0.0, 1e-9, 1e-6, 1e-3, 1.0, 1e3)


# Robots, contacts and states


def planar_arm(rng: Rng) -> dtau.Model:
    """Hinges that are parallel, in link frames that stand anyhow: rows across the plane vanish."""
    builder, parent, before = dtau.ModelBuilder("arm"), None, np.eye(3)
    for i in range(int(rng.integers(2, 7))):
        turn = rotation_of(random_quaternion(rng))
        at = before.T @ np.array([rng.uniform(0.2, 0.6), 0, 0]) * (i > 0)
        parent = builder.add(
            dtau.Revolute(turn.T @ [0, 0, 1]),
            name=f"link{i}",
            parent=parent,
            placement=dtau.Pose(before.T @ turn, at),
            inertia=dtau.Inertia(1.0, rng.uniform(-0.2, 0.2, 3), random_tensor(rng, 1.0)),
        )
        before = turn
    tip = dtau.Pose(before.T, before.T @ np.array([0.4, 0, 0]))
    builder.add(dtau.Fixed(), name="tip", parent=parent, placement=tip)
    return builder.build()


def random_robot(rng: Rng) -> dtau.Model:
    kind = rng.random()
    if kind < 0.2:
        return planar_arm(rng)
    if kind < 0.3:
        return robot(choose(rng, [NEAR, "forest", "quadruped", "joints that mimic others"]))
    kinds = choose(rng, [("fixed", *MOVING), ("revolute", "fixed"), ("free", "revolute")])
    return random_tree(int(rng.integers(2**32)), int(rng.integers(1, 9)), kinds).model()


def random_contacts(rng: Rng, model: dtau.Model) -> dtau.Contacts:
    """Up to five, of any kind; some stand twice, which makes their rows depend on each other."""
    made: list[Any] = []
    for k in range(int(rng.integers(1, 6))):
        contact = contact_oracle.random_contact(model, rng, f"contact {k}")
        if made and rng.random() < 0.1:
            contact = dtau.FrameContact(choose(rng, carried(model)), name=f"contact {k}")
        made.append(contact)
    return dtau.Contacts(model, made)


def carried(model: dtau.Model) -> list[str]:
    return [name for name in model.frames if model.frame(name).body >= 0]


def random_state(rng: Rng, contacts: dtau.Contacts) -> State:
    model = contacts.model
    mask = rng.random(len(contacts)) < 0.8
    return {
        "q": random_q(model, rng),
        "v": rng.uniform(-1.5, 1.5, model.nv) * (rng.random() < 0.8),
        "tau": rng.uniform(-1.5, 1.5, model.nv),
        "f_ext": rng.uniform(-5.0, 5.0, (model.nbodies, 6)),
        "active": choose(rng, [mask, mask.astype(float), 0.5 * mask, rng.random(mask.shape) + 0.2]),
    }


# Cases


def check(rng: Rng) -> str:
    """Return "result", "refused" or "singular", or raise AssertionError."""
    if rng.random() < 0.125:
        return check_wrong_numbers(rng)
    contacts = random_contacts(rng, random_robot(rng))
    s, regularization = random_state(rng, contacts), float(choose(rng, DAMPINGS))
    what = f"{regularization}, {contacts.contacts}, {s!r:.2000}"
    with np.errstate(all="ignore"):
        return check_values(contacts, s, regularization, what)


def least_singular_value(contacts: dtau.Contacts, s: State) -> float:
    """Of the active rows, scaled by the largest of their contact; linear and angular rows apart."""
    model = contacts.model
    J, _ = contact_oracle.all_rows(contacts, s["q"], s["v"], np.zeros(model.nv))
    size = np.linalg.norm(J, axis=1)
    for contact in contacts:
        at = contacts.rows(contact.name)
        for part in (slice(at.start, at.start + 3), slice(at.start + 3, at.stop)):
            if size[part].size:
                size[part] = max(size[part].max(), 1e-3)
    J = (J / size[:, None])[contact_oracle.holds(contacts, s["active"] >= 0.5)]
    if not len(J):
        return 1.0
    return float(np.linalg.svd(J)[1].min()) if len(J) <= model.nv else 0.0


def check_values(contacts: dtau.Contacts, s: State, regularization: float, what: str) -> str:
    """Where it is clear whether rows depend on each other: right, or refused."""
    model, least = contacts.model, least_singular_value(contacts, s)
    error = ""
    try:
        found = dtau.constrained_dynamics(
            model, **s, contacts=contacts, regularization=regularization
        )
    except ValueError as refused:
        error = str(refused)
    if error:
        assert re.search(r"contact|row", error), f"{error}: {what}"
        unclear = least < INDEPENDENT or is_extreme(model, s, regularization)
        assert unclear, f"independent rows ({least:.1e}) refused: {what}"
        return "singular"
    assert np.isfinite(np.concatenate([found.a, found.forces])).all(), what
    if DEPENDENT < least < INDEPENDENT or is_extreme(model, s, regularization):
        return "result"
    assert regularization or least >= INDEPENDENT, f"dependent rows ({least:.1e}) accepted: {what}"
    if least >= INDEPENDENT:
        want, _ = contact_oracle.constrained_dynamics(
            contacts, s["q"], s["v"], s["tau"], s["f_ext"], s["active"] >= 0.5
        )
        off = np.abs(found.a - want).max() / max(1.0, np.abs(want).max())
        assert off < ACCURATE, f"a differs by {off:.1e}, rows {least:.1e}: {what}"
    return "result"


def is_extreme(model: dtau.Model, s: State, regularization: float) -> bool:
    """Whether roundings decide, or the regularization is felt."""
    if model.massless_joints or regularization > 1e-6:
        return True
    return bool(np.linalg.cond(dtau.mass_matrix(model, s["q"])) > 1e6)


# Numbers and names that no contact can have


def check_wrong_numbers(rng: Rng) -> str:
    model = robot(NEAR)
    frame, other = carried(model)[-1], carried(model)[0]
    number = float(choose(rng, EXTREMES))
    made: dict[str, Callable[[], Any]] = {
        "kp": lambda: dtau.PointContact(frame, kp=number, position=(0, 0, 0)),
        "kd": lambda: dtau.FrameContact(frame, kd=number),
        "position": lambda: dtau.PointContact(frame, position=(0, number, 1)),
        "rows": lambda: dtau.Loop(frame, other, choose(rng, [3, 5, 6, 4, 2**40, -1]), kd=number),
        "frame": lambda: dtau.PointContact(choose(rng, ["", "no such frame", "\0", frame])),
        "name": lambda: dtau.PointContact(frame, name=choose(rng, ["x", "\ud800", "", "*/"])),
        "regularization": lambda: dtau.PointContact(frame),
        "active": lambda: dtau.PointContact(frame),
    }
    words = {"rows": "row|hinge|kd", "frame": "frame", "name": "name|encode"}
    part = choose(rng, list(made))
    s = random_state(rng, dtau.Contacts(model, []))
    options: dict[str, Any] = {"regularization": number} if part == "regularization" else {}
    if part == "active":
        options["active"] = choose(rng, [[number], [[number]], [], [1, 0], "x", None])
    error = ""
    try:
        with np.errstate(all="ignore"):
            contacts = dtau.Contacts(model, [made[part]()])
            dtau.constrained_dynamics(model, s["q"], s["v"], s["tau"], contacts, **options)
    except (ValueError, TypeError) as refused:
        error = f"{type(refused).__name__}: {refused}"
    if not error:
        return "result"
    # gains and places may be so large that sums overflow
    overflow = abs(number) > 1e100 and re.search(r"contact|row|finite", error)
    assert re.search(words.get(part, part), error) or overflow, f"{part}={number}: {error}"
    return "refused"
