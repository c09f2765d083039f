"""Check inertias: impossible ones, massless joints, and moments that do not fit the mass.

The density of a homogeneous ball with a body's mass and mean moment separates placeholders and
wrong units from real parts. In the robots of example-robot-data, moving bodies that were modeled or
measured have 0.3 to 11000 kg/m³, placeholders below 0.09 or above 1e25.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dtau.cli.checks.findings import Finding
from dtau.model.model import Model
from dtau.model.moments import breaks_triangle_inequality
from dtau.model.spatial import Inertia

LIGHTEST = 0.1  # kg/m³; for an aluminum rod, 1 m long and 1 cm thick, the ball has 1
HEAVIEST = 25_000.0  # osmium has 22600
_LEEWAY = 10.0  # for rounding in rotated moments, as in `dtau.loaders.inertias`
_UNITS = {  # factors of moments in other units than kg m²
    "kg mm²": 1e6,
    "g mm²": 1e9,
    "kg cm²": 1e4,
    "g cm²": 1e7,
}
_USUAL = (30.0, 8000.0)  # kg/m³


def check_inertias(model: Model) -> Iterator[Finding]:
    """Check the inertias of links as in the file, and of whole bodies."""
    yield from _triangles(model)
    yield from _without_mass(model)
    yield from _massless(model)
    yield from _densities(model)


def density(inertia: Inertia) -> float:
    """Return the density of the homogeneous ball with this mass and mean moment."""
    _, radius = _mean(inertia)
    return float(inertia.mass / (4 / 3 * np.pi * radius**3))


def _mean(inertia: Inertia) -> tuple[float, np.float64]:
    """Return the mean moment, and the radius of the homogeneous ball that has it."""
    moment = float(np.trace(inertia.tensor) / 3)
    return moment, np.sqrt(2.5 * max(moment, 0.0) / np.float64(inertia.mass))  # I = 2/5 m r²


def _triangles(model: Model) -> Iterator[Finding]:
    where = {}
    for link in model.links:
        moments = np.linalg.eigvalsh(link.inertia.tensor).tolist()
        if breaks_triangle_inequality(link.inertia.mass, moments, _LEEWAY):
            small, middle, large = moments
            where[link.name] = f"{large:.4g} > {small:.4g} + {middle:.4g}"
    if where:
        yield Finding(
            "warning",
            "triangle-inequality",
            "The largest principal moment is more than the sum of the other two: no rigid "
            "body has such an inertia.",
            where,
            "--inertia repair takes the nearest valid inertia. In a CAD export, check that "
            "products of inertia have the right signs and moments are about the center of mass.",
        )


def _without_mass(model: Model) -> Iterator[Finding]:
    where = {
        link.name: f"{np.trace(link.inertia.tensor) / 3:.3g} kg m²"
        for link in model.links
        if link.inertia.mass == 0 and link.inertia.tensor.any()
    }
    if where:
        yield Finding(
            "warning",
            "moments-without-mass",
            "Links have moments of inertia, but no mass.",
            where,
            "Add their mass, or leave out <inertial>.",
        )


def _massless(model: Model) -> Iterator[Finding]:
    if model.massless_joints:
        yield Finding(
            "error",
            "massless-joint",
            "Joints move no inertia: their acceleration is not defined, so forward "
            "dynamics refuses this robot (inverse dynamics works).",
            dict.fromkeys(model.massless_joints, ""),
            "Add <inertial> to the links that they carry, make the joints fixed, or give all "
            "joints a rotor: --armature 1e-3.",
        )


def _densities(model: Model) -> Iterator[Finding]:
    densities = {
        body: (density(inertia), inertia)
        for body, inertia in zip(model.bodies, model.inertias, strict=True)
        if inertia.mass > 0
    }
    vast = {body: of for body, (of, _) in densities.items() if of < LIGHTEST}
    tiny = {body: of for body, (of, _) in densities.items() if of > HEAVIEST}
    if vast:
        yield Finding(
            "warning",
            "inertia-large",
            "Moments of inertia are too large for the mass: a ball with both would be lighter than "
            "air.",
            {body: _ball(densities[body][1]) for body in vast},
            _unit(list(vast.values()), len(densities))
            or "Often a placeholder such as 0.01 or 1; for a part of mass m and length l, "
            "m l² / 12 is a good estimate.",
        )
    if tiny:
        yield Finding(
            "warning",
            "inertia-small",
            "Moments of inertia are too small for the mass: a ball with both would be denser than "
            "any metal.",
            {body: _ball(densities[body][1]) for body in tiny},
            "Often left out, or a mass in grams; for a part of mass m and length l, m l² / 12 is "
            "about right.",
        )


def _ball(inertia: Inertia) -> str:
    moment, radius = _mean(inertia)
    return f"{inertia.mass:.3g} kg, {moment:.2g} kg m², a ball of radius {radius:.2g} m"


def _unit(vast: list[float], bodies: int) -> str:
    """Suggest the unit that most moments seem to have."""
    if 2 * len(vast) <= bodies:
        return ""
    for unit, factor in _UNITS.items():
        if _USUAL[0] < float(np.median(vast)) * factor**1.5 < _USUAL[1]:
            return f"They look like {unit}: divide them by {factor:.0e}, which gives kg m²."
    return ""
