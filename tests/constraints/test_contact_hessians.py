"""Forces of contacts, and their derivatives, beside other results of the same call."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cases import random_state, robot
from compare import assert_close, assert_same_results
from function import INTEGRATORS

import dtau
from dtau.registry import arrays_of


@pytest.mark.parametrize("axes", ["body", "mixed"])
@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("regularization", [0.0, 1e-3])
def test_forces_of_the_same_call(integrator: Any, axes: Any, regularization: float) -> None:
    """Against the functions that give them alone; the other results keep their bits."""
    model = robot("quadruped")
    rng = np.random.default_rng(3)
    q, v, tau = dtau.random_state(model, rng, shape=(11,))
    kept: list[Any] = [
        dtau.FrameContact("LF_FOOT", axes, kd=2.0),
        dtau.PointContact("RH_FOOT", axes, kp=3.0, position=(0, 0, 0)),
    ]
    loop = dtau.Loop("RF_FOOT", "LH_FOOT", 3, axes=axes)
    again = [dtau.PointContact("LF_FOOT", axes, name="again")] if regularization else []
    contacts = dtau.Contacts(model, [*kept, loop, *again])
    active = rng.integers(0, 4, (11, len(contacts))) > 0
    held: dict[str, Any] = {"active": active, "regularization": regularization}
    d = dtau.constrained_dynamics_derivatives(model, q, v, tau, contacts, **held)
    both = dtau.constrained_dynamics_derivatives(model, q, v, tau, contacts, forces=True, **held)
    assert_same_results(both, d)
    value = dtau.constrained_dynamics(model, q, v, tau, contacts, **held)
    assert_close(both.a, value.a, 1e-12, "a", floor=1.0)
    assert_close(both.forces, value.forces, 1e-11, "forces", floor=1.0)
    inputs = rng.standard_normal((model.nv, 2))
    for driven in (None, inputs):
        arguments = (model, q, v, tau, 0.02, integrator, None, driven)
        lin = dtau.linearize_discrete(*arguments, contacts=contacts, **held)
        more = dtau.linearize_discrete(*arguments, contacts=contacts, forces=True, **held)
        assert_same_results(arrays_of(more)[:5], arrays_of(lin))
        assert_close(more.forces, value.forces, 1e-11, "forces", floor=1.0)
        by_z = np.concatenate([d.dforces_dq, d.dforces_dv], axis=-1)
        assert_close(more.dforces_dz, by_z, 1e-9, "by z", floor=1.0)
        by_u = d.dforces_dtau[..., 6:] if driven is None else d.dforces_dtau @ driven
        assert_close(more.dforces_du, by_u, 1e-9, "by u", floor=1.0)
        out = [np.full_like(x, np.nan) for x in arrays_of(more)]
        dtau.linearize_discrete(*arguments, contacts=contacts, forces=True, out=out, **held)
        assert_same_results(out, arrays_of(more))
        alone = dtau.linearize_discrete(
            *(x[4] if i in (1, 2, 3) else x for i, x in enumerate(arguments)),
            contacts=contacts,
            forces=True,
            active=active[4],
            regularization=regularization,
        )
        assert_same_results(arrays_of(alone), [x[4] for x in arrays_of(more)])


def test_forces_go_with_contacts() -> None:
    model = robot("quadruped")
    s = random_state(model, 1)
    with pytest.raises(ValueError, match="forces: goes with contacts="):
        dtau.linearize_discrete(model, s["q"], s["v"], s["tau"], 0.01, forces=True)
