"""Read the inertias of a URDF; refuse or repair impossible ones: `read_inertias`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dtau.loaders.elements import in_element, located, number, number_each
from dtau.loaders.xml import Element
from dtau.model.moments import (
    breaks_triangle_inequality,
    is_clearly_of_a_body,
    is_indefinite,
    nearest_of_a_body,
)
from dtau.model.pose import Pose
from dtau.model.rotations import NO_ROTATION
from dtau.model.spatial import Inertia, turned
from dtau.support.checks import real_array
from dtau.support.options import Inertias

_NOTHING = Inertia()
_ENTRIES = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
_PRODUCTS = ("ixy", "ixz", "iyz")
_WAY_OUT = "inertia='repair' takes the nearest ones of rigid bodies"


@dataclass
class _Inertial:
    """The numbers of an `<inertial>`."""

    link: str
    element: Element
    mass: float
    tensor: list[list[float]]
    moments: list[float]  # principal moments, ascending, if it is doubtful


def read_inertias(
    links: Mapping[str, Element], origin: Callable[[Element], Pose], option: Inertias
) -> tuple[dict[str, Inertia], list[str]]:
    """Return the inertia of each link in the link's frame, and notes on odd ones.

    `origin` reads the pose in an element; `option` is the option `inertia` of `dtau.load`.

    Raises
    ------
    ModelError
        If something is missing or not a finite number, or no rigid body can have an inertia.
    """
    found, lacking = _inertials(links, option)
    if negative := [each for each in found if each.mass < 0]:
        listed = ", ".join(f"{x.mass} of link {x.link!r} ({_line(x)})" for x in negative)
        raise negative[0].element.error(f"mass: expected numbers of at least 0, got {listed}")
    doubtful = _doubtful(found)
    indefinite = [each for each in doubtful if is_indefinite(each.mass, each.moments)]
    if indefinite and option == "keep":
        listed = ", ".join(
            f"{each.moments[0]:.6g} of link {each.link!r} ({_line(each)})" for each in indefinite
        )
        raise indefinite[0].element.error(
            f"inertias with negative principal moments, which no body has: {listed}; {_WAY_OUT}, "
            "and says in Model.notes by how much"
        )
    odd = [each for each in doubtful if breaks_triangle_inequality(each.mass, each.moments)]
    notes = []
    if odd and option == "keep":
        notes.append(
            f"principal moments that break the triangle inequality, which no rigid body has "
            f"({_WAY_OUT}), in links {', '.join(each.link for each in odd)}"
        )
    if option == "repair":
        wrong = {each.link for each in (*indefinite, *odd)}
        notes = [*lacking, *(_repair(each) for each in doubtful if each.link in wrong)]
    return dict.fromkeys(links, _NOTHING) | _in_links(found, origin), notes


def _inertials(links: Mapping[str, Element], option: Inertias) -> tuple[list[_Inertial], list[str]]:
    """Return the inertials of links, and notes about numbers that are missing and taken as 0."""
    found, notes = [], []
    for name, link in links.items():
        inertial = link.first("inertial")
        if inertial is None:
            continue
        mass, inertia = inertial.first("mass"), inertial.first("inertia")
        lacking = ["<mass>"] if mass is None else []
        entries = [0.0] * len(_ENTRIES)
        if inertia is None:
            lacking.append("<inertia>")
        elif zero := [entry for entry in _PRODUCTS if entry not in inertia.attributes]:
            lacking += [f"{entry} of <inertia>" for entry in zero]
            given = [entry for entry in _ENTRIES if entry not in zero]
            values = dict(zip(given, number_each(inertia, given), strict=True))
            entries = [values.get(entry, 0.0) for entry in _ENTRIES]
        else:
            entries = number_each(inertia, _ENTRIES)
        if lacking and option == "keep":
            raise inertial.error(
                f"expected {', '.join(lacking)} in <inertial> of link {name!r}, got none; "
                "inertia='repair' takes 0 for it, and says so in Model.notes"
            )
        if lacking:
            notes.append(
                f"missing in the file and taken as 0: {', '.join(lacking)} of link {name!r} "
                f"(line {inertial.line})"
            )
        xx, xy, xz, yy, yz, zz = entries
        tensor = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]
        kilograms = 0.0 if mass is None else number(mass, "value")
        found.append(_Inertial(name, inertial, kilograms, tensor, []))
    return found, notes


def _doubtful(found: Sequence[_Inertial]) -> list[_Inertial]:
    """Return the inertias that no rigid body may have, with their principal moments."""
    doubtful = [each for each in found if not is_clearly_of_a_body(each.tensor)]
    if doubtful:
        principal = np.linalg.eigvalsh([each.tensor for each in doubtful])
        for each, three in zip(doubtful, principal.tolist(), strict=True):
            each.moments = three
    return doubtful


def _in_links(found: Sequence[_Inertial], origin: Callable[[Element], Pose]) -> dict[str, Inertia]:
    """Return the inertias in the frames of their links."""
    if not found:
        return {}
    poses = []
    for each in found:
        try:
            poses.append(origin(each.element))
        except ValueError as error:
            raise in_element(each.element, f"inertia of link {each.link!r}", error) from None
    tensors = np.array([each.tensor for each in found])
    rotated = [k for k, pose in enumerate(poses) if pose.rotation.tolist() != NO_ROTATION]
    if rotated:
        rotations = np.array([poses[k].rotation for k in rotated])
        tensors[rotated] = turned(tensors[rotated], rotations)
    tensors.setflags(write=False)
    for k in rotated:
        with located(found[k].element, f"inertia of link {found[k].link!r}"):
            real_array("tensor", tensors[k], (3, 3))
    return {
        each.link: Inertia._trusted(mass=each.mass, com=pose.translation, tensor=tensor)
        for each, pose, tensor in zip(found, poses, tensors, strict=True)
    }


@np.errstate(over="ignore", invalid="ignore")  # Inertia refuses numbers that are not finite
def _repair(inertial: _Inertial) -> str:
    """Replace an inertia by the nearest one of a rigid body; return a note about it."""
    before = inertial.moments
    nearest = nearest_of_a_body(np.array(inertial.tensor))
    inertial.tensor = nearest.tolist()
    with located(inertial.element, f"inertia of link {inertial.link!r}, repaired"):
        inertial.moments = np.linalg.eigvalsh(
            Inertia._unchecked(0, (0, 0, 0), nearest).tensor
        ).tolist()
    change = max(abs(a - b) for a, b in zip(before, inertial.moments, strict=True))
    return (
        f"repaired the inertia of link {inertial.link!r} ({_line(inertial)}): principal moments "
        f"{_three(before)} became {_three(inertial.moments)}, by at most {change:.3g} kg m²"
    )


def _line(inertial: _Inertial) -> str:
    return f"line {inertial.element.line}"


def _three(moments: list[float]) -> str:
    return ", ".join(f"{x:.6g}" for x in moments)
