"""The work of `dtau.load`: each link is made and checked once, whatever the options are."""

from typing import Any

import pytest

import dtau
from dtau.model.links import Link


@pytest.mark.parametrize("changed", ["nothing", "one joint", "all joints"])
def test_load_checks_each_link_once(monkeypatch: pytest.MonkeyPatch, changed: str) -> None:
    text = dtau.robots.quadruped().to_urdf()
    made: list[str] = []
    check = Link.__post_init__

    def counted(link: Link) -> None:
        made.append(link.name)
        check(link)

    monkeypatch.setattr(Link, "__post_init__", counted)
    options: dict[str, Any] = {
        "nothing": {},
        "one joint": {"damping": {"LF_KFE": 0.5}},
        "all joints": {"damping": 0.5},
    }[changed]
    model = dtau.load(text, root="free", **options)
    moving = sum(link.joint.nv > 0 and link.parent is not None for link in model.links)
    again = {"nothing": 0, "one joint": 1, "all joints": moving}[changed]
    assert len(made) == len(model.links) + again
    assert set(made) == set(model.frames)
