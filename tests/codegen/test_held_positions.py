"""Generated code with `positions` as a parameter: rows that no state reads have no effect."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compiled import Code, needs_compiler

import dtau

pytestmark = needs_compiler
PLACED = dtau.Pose(translation=(0.2, 0.1, 0.4))
GAINS: dict[str, Any] = {"kp": 6.0, "kd": 2.0}


def chain_and_post() -> dtau.Contacts:
    """A loop that is closed to the world, between contacts that are held there."""
    post = dtau.Link("post", None, dtau.Fixed(), "stand", PLACED)
    model = dtau.Model("chain", [*dtau.robots.chain(2).links, post])
    *_, before, tip = model.bodies
    held = [
        dtau.PointContact(before, **GAINS, position=(0.3, 0.1, 0.2)),
        dtau.Loop(tip, "post", 3, **GAINS),
        dtau.PointContact(tip, "mixed", **GAINS, position=(0, 0, 0), direction=(1, 2, 2)),
        dtau.PointContact(before, kd=2.0, name="slow", direction=(0, 0, 1)),
    ]
    return dtau.Contacts(model, held)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("constrained_dynamics", ["positions"]),
        ("constrained_dynamics_derivatives", ["active", "positions"]),
    ],
)
def test_rows_that_nothing_reads_may_be_nan(
    name: str, parameters: list[str], tmp_path: Path
) -> None:
    contacts = chain_and_post()
    model, rng = contacts.model, np.random.default_rng(1)
    q, v, tau = dtau.random_state(model, rng)
    arguments = {"q": q, "v": v, "tau": tau}
    options = {"contacts": contacts, "regularization": 1e-3}
    code = Code(model, {"f": (name, options)}, tmp_path / "f.c", parameters=parameters)
    for active in ([1, 1, 1, 1], [0, 1, 1, 1], [1, 1, 0, 1], [0, 0, 0, 0]):
        on = np.array(active) if "active" in parameters else np.ones(4)
        places = rng.uniform(-1.0, 1.0, (4, 3))
        given = {**arguments, "active": on, "positions": places}
        want = getattr(dtau, name)(model, **arguments, active=on, positions=places, **options)
        spoiled = places.copy()
        spoiled[[1, 3]] = np.nan
        spoiled[on == 0] = np.inf
        clean, found = code("f", **given), code("f", **given | {"positions": spoiled})
        for x, y, z in zip(found, clean, want, strict=False):
            np.testing.assert_array_equal(x, y)
            np.testing.assert_allclose(x, z, rtol=1e-9, atol=1e-9)
