"""Make CasADi functions of compiled time steps: `compiled_step`."""

from __future__ import annotations

from typing import Any

import numpy as np

from dtau.casadi.patterns import (
    ConstrainedStructure,
    Pattern,
    Structure,
    product,
    roles,
    tangent_pattern,
)
from dtau.casadi.slots import SLOT, in_a_slot, prepared
from dtau.model.contacts import Contacts
from dtau.model.joints import Free, Planar, Spherical
from dtau.model.model import Model
from dtau.options import Axes, Integrator

_NAMES = {"q": "q", "v": "v", "x": "tau", "h": "dt", "f": "f_ext", "m": "active"}
_CALLS = {
    "value": "step",
    "first": "linearize_discrete",
    "product": "step_vjp",
    "second": "step_hessian",
}
_PENALTY = 4.0  # gradients: for more at once, CasADi multiplies a Jacobian


def compiled_step(
    model: Model,
    integrator: Integrator,
    *,
    f_ext_axes: Axes | None,
    contacts: Contacts | None,
    active: bool,
    regularization: float,
) -> Any:
    """Make a CasADi function of a time step in a slot, which is freed with the function.

    Its inputs are q, v, tau, dt, f_ext if the wrenches have axes, and the mask of active contacts
    on request. Its result is one vector: the numbers of q and v after the step.

    Raises
    ------
    RuntimeError
        See `dtau.casadi.slots.compiled_function`.
    """
    options: dict[str, Any] = {"integrator": integrator, "f_ext_axes": f_ext_axes or "body"}
    options |= {"contacts": contacts, "regularization": regularization}
    calls = {role: prepared(model, name, **options) for role, name in _CALLS.items()}
    for role in ("first", "second", "product"):
        calls[f"{role}_by_dt"] = prepared(model, _CALLS[role], **options, by="dt")
        if f_ext_axes is not None and role != "product":
            both = prepared(model, _CALLS[role], **options, by=("dt", "f_ext"))
            calls[f"{role}_by_all"] = both
    kinds = "qvxh" + "f" * (f_ext_axes is not None) + "m" * active
    patterns = _patterns(model, kinds, integrator, contacts, f_ext_axes == "world")
    size = sum(int(rows * columns) for rows, columns, *_ in patterns[0][0])
    nrows, ncontacts = (0, 0) if contacts is None else (contacts.nrows, len(contacts))
    return in_a_slot(
        SLOT,
        calls,
        (model.nq, model.nv, model.nbodies, nrows, ncontacts),
        kinds,
        [_NAMES[kind] for kind in kinds],
        ["result"],
        False,
        False,
        patterns,
        jac_penalty=_PENALTY / size,
    )


def _patterns(
    model: Model,
    kinds: str,
    integrator: Integrator,
    contacts: Contacts | None,
    felt_position: bool,
) -> Any:
    """Return patterns of the numbers of q and v after a step."""
    if contacts is None:
        s = Structure(model, solves=True, felt_position=felt_position)
    else:
        s = ConstrainedStructure(model, contacts, felt_position=felt_position)
    nv, wrenches = model.nv, 6 * model.nbodies
    acted = np.tile(product(s.paths, s.coupled), (6, 1))  # (6 nbodies, nv), column by column
    lengths = {"q": model.nq, "v": nv, "x": nv, "h": 1, "f": wrenches}
    shapes = {kind: (length, 1) for kind, length in lengths.items()}
    shapes |= {"f": (model.nbodies, 6), "m": (0 if contacts is None else len(contacts), 1)}
    lengths["m"] = shapes["m"][0]

    by_q, by_v, turning = _displaced(model)
    once = {"q": s.by_q(s.coupled), "v": s.coupled, "x": s.coupled, "f": acted.T}
    first = {}
    for kind, after in once.items():
        # Without accelerations, only the velocities before the step displace q.
        follows = product(s.numbers.T, after) & (integrator != "euler")
        first[kind] = np.concatenate([follows, after])
    first["q"][: model.nq] |= by_q
    first["v"][: model.nq] |= by_v
    first["h"] = np.ones((model.nq + nv, 1), dtype=bool)
    # Pairs of velocities, torques and wrenches act through the velocities of a turning joint after
    # a step of one stage, and through the velocities of all later stages.
    bent = np.zeros(nv, dtype=bool)
    if integrator != "euler":
        bent = turning if integrator == "semi_implicit" else np.ones(nv, dtype=bool)
    through = s.coupled[bent]
    second = {
        "qq": s.by_q(s.by_q(s.coupled).T),
        "vq": s.by_q(s.coupled),
        "vv": s.coupled,
        "xq": s.by_q(s.coupled),
        "xv": product(through.T, through),
        "fq": s.by_q(acted),
        "fv": product(acted[:, bent], through),
        "ff": product(acted[:, bent], acted[:, bent].T),
        "hq": s.by_q(np.ones((1, nv), dtype=bool)),
    }
    second |= {"xx": second["xv"], "fx": second["fv"]}
    second |= {"h" + kind: np.ones((1, lengths[kind]), dtype=bool) for kind in "vxhf"}
    second["hh"] &= integrator != "euler" or bool(turning.any())  # else linear in the length

    def of_result(kind: str) -> Pattern:
        return first.get(kind, np.zeros((model.nq + nv, lengths[kind]), dtype=bool))

    def curvature(a: str, b: str) -> Pattern:
        if b + a in second and a != b:
            return second[b + a].T
        return second.get(a + b, np.zeros((lengths[a], lengths[b]), dtype=bool))

    return roles(
        [np.ones(shapes[kind], dtype=bool) for kind in kinds],
        np.ones((model.nq + nv, 1), dtype=bool),
        [of_result(kind) for kind in kinds],
        [[curvature(a, b) for b in kinds] for a in kinds],
    )


def _displaced(model: Model) -> tuple[Pattern, Pattern, Pattern]:
    """Return patterns of q (+) dq by the numbers of q and by dq, and the entries of dq that turn q.

    Displacements along these entries do not add.
    """
    by_q, by_v = np.eye(model.nq, dtype=bool), tangent_pattern(model).T
    turning = np.zeros(model.nv, dtype=bool)
    for joint in model.joints:
        if isinstance(joint.type, Free | Planar | Spherical):
            positions = {Free: 3, Planar: 2, Spherical: 0}[type(joint.type)]
            by_q[joint.q, joint.q.start + positions : joint.q.stop] = True
            by_v[joint.q.start : joint.q.start + positions, joint.v] = True
            turning[joint.v] = True
    return by_q, by_v, turning
