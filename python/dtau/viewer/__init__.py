"""Robots on the screen: a page in the browser, and pictures without one.

    import dtau.viewer

`dtau.view` opens the page, by viser (the extra ``dtau[view]``). `picture` draws by itself and needs
NumPy only, but for meshes, which trimesh reads (the same extra). docs/viewer.md shows both.
"""

from __future__ import annotations

from dtau.viewer.picture import picture
from dtau.viewer.robot import Robot
from dtau.viewer.viewer import Viewer

__all__ = ["Robot", "Viewer", "picture"]


def __dir__() -> list[str]:
    return sorted(__all__)
