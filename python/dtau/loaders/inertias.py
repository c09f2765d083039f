"""Read the inertias of a URDF; refuse or repair impossible ones: `read_inertias`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from dtau.loaders.elements import located, number, required
from dtau.loaders.xml import Element
from dtau.model.moments import breaks_triangle_inequality, is_indefinite, nearest_of_a_body
from dtau.model.pose import Pose
from dtau.model.spatial import Inertia, turned
from dtau.options import Inertias

_NOTHING = Inertia()
_WAY_OUT = "inertia='repair' takes the nearest ones of rigid bodies"


@dataclass
class _Inertial:
    """The numbers of an `<inertial>`."""

    link: str
    element: Element
    mass: float
    tensor: list[list[float]]
    moments: list[float]  # principal moments, ascending


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
    found = _inertials(links)
    if negative := [each for each in found if each.mass < 0]:
        listed = ", ".join(f"{x.mass} of link {x.link!r} ({_line(x)})" for x in negative)
        raise negative[0].element.error(f"mass: expected numbers of at least 0, got {listed}")
    indefinite = [each for each in found if is_indefinite(each.mass, each.moments)]
    if indefinite and option == "keep":
        listed = ", ".join(
            f"{each.moments[0]:.6g} of link {each.link!r} ({_line(each)})" for each in indefinite
        )
        raise indefinite[0].element.error(
            f"inertias with negative principal moments, which no body has: {listed}; {_WAY_OUT}, "
            "and says in Model.notes by how much"
        )
    odd = [each for each in found if breaks_triangle_inequality(each.mass, each.moments)]
    notes = []
    if odd and option == "keep":
        notes.append(
            f"principal moments that break the triangle inequality, which no rigid body has "
            f"({_WAY_OUT}), in links {', '.join(each.link for each in odd)}"
        )
    if option == "repair":
        wrong = {each.link for each in (*indefinite, *odd)}
        notes = [_repair(each) for each in found if each.link in wrong]
    inertias = dict.fromkeys(links, _NOTHING)
    for each in found:
        with located(each.element, f"inertia of link {each.link!r}"):
            pose = origin(each.element)
            tensor = turned(np.array(each.tensor), pose.rotation)
            inertias[each.link] = Inertia._unchecked(each.mass, pose.translation, tensor)
    return inertias, notes


def _inertials(links: Mapping[str, Element]) -> list[_Inertial]:
    found = []
    for name, link in links.items():
        inertial = link.one("inertial")
        if inertial is None:
            continue
        mass = number(required(inertial, "mass"), "value")
        moments = required(inertial, "inertia")
        xx, xy, xz, yy, yz, zz = (
            number(moments, i) for i in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
        )
        tensor = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]
        found.append(_Inertial(name, inertial, mass, tensor, []))
    if found:
        principal = np.linalg.eigvalsh([each.tensor for each in found])
        for each, three in zip(found, principal.tolist(), strict=True):
            each.moments = three
    return found


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
