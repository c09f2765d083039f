"""Check units: lengths that look like millimeters, masses that look like grams."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dtau.cli.checks.findings import Finding
from dtau.model.model import Model

_FAR = 10.0  # m; no joint or center of mass of example-robot-data is 1.3 m from its link's origin
_HEAVY = 1000.0  # kg


def check_units(model: Model) -> Iterator[Finding]:
    """Compare the model's distances and masses with real robots'."""
    far = {
        f"joint {link.joint_name}": f"{np.linalg.norm(link.placement.translation):.4g} m"
        for link in model.links
        if np.linalg.norm(link.placement.translation) > _FAR
    }
    far |= {
        f"center of mass of {link.name}": f"{np.linalg.norm(link.inertia.com):.4g} m"
        for link in model.links
        if np.linalg.norm(link.inertia.com) > _FAR
    }
    if far:
        yield Finding(
            "warning",
            "millimeters",
            f"Places are more than {_FAR:g} m from the origin of their link, which looks like "
            "millimeters.",
            far,
            "Divide xyz of <origin> by 1000, and moments of inertia in kg mm² by 1e6.",
        )
    heavy = {
        link.name: f"{link.inertia.mass:.4g} kg"
        for link in model.links
        if link.inertia.mass > _HEAVY
    }
    if heavy:
        yield Finding(
            "warning",
            "grams",
            f"Links have more than {_HEAVY:g} kg: the masses look like grams.",
            heavy,
            "Divide masses and moments of inertia by 1000.",
        )
