"""Contacts and loops of random robots: masks, gains, regularization, dependent rows.

A case draws a robot, contacts, states and options, and calls a function alone and in a batch: both
give the same bits, or the lone call a ValueError and the batch NaN. Where singular values say
clearly whether rows depend on each other, the acceleration is as of dense matrices
(`contact_oracle`), or the call is refused. Derivatives are compared with differences where these
agree among themselves. One case of eight has numbers that no contact can have.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import contact_oracle
import numpy as np
from cases import NEAR, random_q, robot
from compare import assert_same_bits
from fuzz_values import EXTREMES, choose
from trees import MOVING, Array, random_quaternion, random_tensor, random_tree, rotation_of

import dtau
from dtau.registry import arrays_of

Rng = np.random.Generator
State = dict[str, Array]

INDEPENDENT, DEPENDENT = 1e-3, 1e-12  # of the least singular value; nothing is clear in between
ACCURATE = 1e-5  # of accelerations, of rows that are clearly independent
SMOOTH, DIFFERENT = 1e-4, 1e-2  # of differences among themselves, and of derivatives
LIMIT = 1e-8  # of forces with a regularization and with a tenth of it
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


def random_states(rng: Rng, contacts: dtau.Contacts, count: int) -> State:
    model, shape = contacts.model, (count,)
    mask = rng.random((count, len(contacts))) < 0.8
    return {
        "q": random_q(model, rng, shape),
        "v": rng.uniform(-1.5, 1.5, (count, model.nv)) * (rng.random() < 0.8),
        "x": rng.uniform(-1.5, 1.5, (count, model.nv)),
        "f_ext": rng.uniform(-5.0, 5.0, (count, model.nbodies, 6)),
        "active": choose(rng, [mask, mask.astype(float), 0.5 * mask, rng.random(mask.shape) + 0.2]),
    }


# Functions


@dataclass(frozen=True)
class Call:
    """A function with contacts, of one state or a batch."""

    make: Callable[..., Any]
    damps: bool = True  # takes regularization=

    def __call__(self, contacts: dtau.Contacts, s: State, **options: Any) -> tuple[Array, ...]:
        out = self.make(contacts.model, s, {"contacts": contacts, "active": s["active"], **options})
        return arrays_of(out)


CALLS: dict[str, Call] = {
    "constrained_dynamics": Call(
        lambda m, s, o: dtau.constrained_dynamics(m, s["q"], s["v"], s["x"], f_ext=s["f_ext"], **o)
    ),
    "constrained_dynamics_derivatives": Call(
        lambda m, s, o: dtau.constrained_dynamics_derivatives(m, s["q"], s["v"], s["x"], **o)
    ),
    "constrained_dynamics_jvp": Call(
        lambda m, s, o: dtau.constrained_dynamics_jvp(
            m, s["q"], s["v"], s["x"], dq=s["v"], dv=s["x"], dtau=s["x"], **o
        )
    ),
    "constrained_dynamics_vjp": Call(
        lambda m, s, o: dtau.constrained_dynamics_vjp(
            *(m, s["q"], s["v"], s["x"]),
            lam=s["x"],
            lam_forces=np.ones((*s["q"].shape[:-1], rows(o))),
            **o,
        )
    ),
    "constrained_inverse_dynamics": Call(
        lambda m, s, o: dtau.constrained_inverse_dynamics(m, s["q"], s["v"], s["x"], **o), False
    ),
    "impulse_dynamics": Call(
        lambda m, s, o: dtau.impulse_dynamics(m, s["q"], s["x"], restitution=0.5, **o)
    ),
    "impulse_dynamics_derivatives": Call(
        lambda m, s, o: dtau.impulse_dynamics_derivatives(m, s["q"], s["x"], restitution=0.5, **o)
    ),
    "impulse_dynamics_jvp": Call(
        lambda m, s, o: dtau.impulse_dynamics_jvp(
            m, s["q"], s["x"], dq=s["v"], dv=s["x"], restitution=0.5, drestitution=0.1, **o
        )
    ),
    "impulse_dynamics_vjp": Call(
        lambda m, s, o: dtau.impulse_dynamics_vjp(
            *(m, s["q"], s["x"]),
            lam=s["x"],
            lam_impulses=np.ones((*s["q"].shape[:-1], rows(o))),
            restitution=0.5,
            **o,
        )
    ),
    "linearize": Call(lambda m, s, o: dtau.linearize(m, s["q"], s["v"], s["x"], **o)),
    **{
        f"{name} {integrator}": Call(
            lambda m, s, o, f=name, i=integrator, w=weighted: getattr(dtau, f)(
                m, s["q"], s["v"], s["x"], 0.01, *([s["x"], s["v"]] if w else []), integrator=i, **o
            )
        )
        for integrator in ("euler", "semi_implicit", "rk4")
        for name, weighted in (("step", False), ("linearize_discrete", False), ("step_vjp", True))
    },
}


def rows(options: dict[str, Any]) -> int:
    contacts: dtau.Contacts = options["contacts"]
    return contacts.nrows


def state(s: State, i: int) -> State:
    return {name: x[i] for name, x in s.items()}


# Cases


def check(rng: Rng) -> str:
    """Return "result", "refused" or "singular" (NaN in a batch), or raise AssertionError."""
    if rng.random() < 0.125:
        return check_wrong_numbers(rng)
    contacts = random_contacts(rng, random_robot(rng))
    name = choose(rng, list(CALLS))
    options = {"regularization": choose(rng, DAMPINGS)} if CALLS[name].damps else {}
    s = random_states(rng, contacts, int(choose(rng, [1, 2, 5, 9])))
    what = f"{name}, {options}, {contacts.contacts}, {s!r:.2000}"
    with np.errstate(all="ignore"):
        whole = CALLS[name](contacts, s, **options)
        ends = [check_alone(name, contacts, s, i, options, whole, what) for i in range(len(s["q"]))]
        check_values(contacts, state(s, 0), options.get("regularization", 0.0), what)
        check_derivatives(rng, contacts, state(s, 0), options.get("regularization", 0.0), what)
    return "singular" if "singular" in ends else "result"


def check_alone(
    name: str,
    contacts: dtau.Contacts,
    s: State,
    i: int,
    options: dict[str, Any],
    whole: tuple[Array, ...],
    what: str,
) -> str:
    """One state alone has the bits of the batch; what is refused alone is NaN in a batch."""
    try:
        alone = CALLS[name](contacts, state(s, i), **options)
    except ValueError as refused:
        error = str(refused)
    else:
        error = ""
    if error:
        assert re.search(r"contact|row", error), f"{error}: {what}"
        assert any(np.isnan(x[i]).any() for x in whole), f"{error}, but not in a batch: {what}"
        return "singular"
    for k, x in enumerate(alone):
        assert_same_bits(whole[k][i], x, f"result {k} of state {i}, {what}")
        assert np.isfinite(x).all(), f"result {k} of state {i}: {what}"
    return "result"


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


def check_values(contacts: dtau.Contacts, s: State, regularization: float, what: str) -> None:
    """Where it is clear whether rows depend on each other: right, or refused."""
    model = contacts.model
    least = least_singular_value(contacts, s)
    if DEPENDENT < least < INDEPENDENT or model.massless_joints:
        return
    M = dtau.mass_matrix(model, s["q"])
    if np.linalg.cond(M) > 1e6 or regularization > 1e-6:
        return
    try:
        found = CALLS["constrained_dynamics"](contacts, s, regularization=regularization)
    except ValueError:
        found = ()
    if not found:
        assert least <= DEPENDENT, f"independent rows ({least:.1e}) refused: {what}"
        return
    assert regularization or least >= INDEPENDENT, f"dependent rows ({least:.1e}) accepted: {what}"
    if least < INDEPENDENT:
        return
    want, _ = contact_oracle.constrained_dynamics(
        contacts, s["q"], s["v"], s["x"], s["f_ext"], s["active"] >= 0.5
    )
    error = np.abs(found[0] - want).max() / max(1.0, np.abs(want).max())
    assert error < ACCURATE, f"a differs by {error:.1e}, rows {least:.1e}: {what}"


def check_derivatives(
    rng: Rng, contacts: dtau.Contacts, s: State, regularization: float, what: str
) -> None:
    """Derivatives along one direction against differences, where these are derivatives.

    The derivatives are of the limit of vanishing regularization: of one that is so large that
    a smaller one changes the forces, differences are others.
    """
    model = contacts.model
    direction = rng.uniform(-1.0, 1.0, (3, model.nv))
    options: dict[str, Any] = {"active": s["active"], "regularization": regularization}

    def along(h: float, regularization: float = regularization) -> Array:
        q = dtau.integrate(model, s["q"], h * direction[0])
        v, tau = s["v"] + h * direction[1], s["x"] + h * direction[2]
        found = dtau.constrained_dynamics(
            model,
            q,
            v,
            tau,
            contacts,
            s["f_ext"],
            active=s["active"],
            regularization=regularization,
        )
        return np.concatenate([found.a, found.forces])

    try:
        slopes = [(along(h) - along(-h)) / (2 * h) for h in (2e-5, 1e-5)]
        limit = [along(0.0), along(0.0, regularization / 10)]
    except ValueError:
        return  # rows that depend on each other nearby
    if np.abs(limit[0] - limit[1]).max() > LIMIT * max(1.0, np.abs(limit[0]).max()):
        return
    got = np.concatenate(
        dtau.constrained_dynamics_jvp(
            model, s["q"], s["v"], s["x"], contacts, *direction, s["f_ext"], **options
        )
    )
    for part in (slice(0, model.nv), slice(model.nv, None)):
        scale = max(1.0, np.abs(slopes[1][part]).max(initial=0.0))
        if np.abs(slopes[0] - slopes[1])[part].max(initial=0.0) < SMOOTH * scale:
            error = np.abs(got - slopes[1])[part].max(initial=0.0) / scale
            which = "forces" if part.start else "a"
            assert error < DIFFERENT, f"derivative of {which} differs by {error:.1e}: {what}"


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
    s = {name: x[0] for name, x in random_states(rng, dtau.Contacts(model, []), 1).items()}
    options: dict[str, Any] = {"regularization": number} if part == "regularization" else {}
    if part == "active":
        options["active"] = choose(rng, [[number], [[number]], [], [1, 0], "x", None])
    error = ""
    try:
        with np.errstate(all="ignore"):
            contacts = dtau.Contacts(model, [made[part]()])
            dtau.constrained_dynamics(model, s["q"], s["v"], s["x"], contacts, **options)
    except (ValueError, TypeError) as refused:
        error = f"{type(refused).__name__}: {refused}"
    if not error:
        return "result"
    # gains and places may be so large that sums overflow
    overflow = abs(number) > 1e100 and re.search(r"contact|row|finite", error)
    assert re.search(words.get(part, part), error) or overflow, f"{part}={number}: {error}"
    return "refused"
