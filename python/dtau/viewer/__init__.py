"""Show robots: a page in the browser, and pictures without a browser.

    import dtau.viewer

`dtau.view` opens the page with viser (the extra ``dtau[view]``). `picture` needs only NumPy, and
trimesh (the same extra) for meshes. docs/viewer.md shows both.
"""

from __future__ import annotations

from dtau.viewer.picture import picture
from dtau.viewer.robot import Robot
from dtau.viewer.viewer import Viewer

__all__ = ["Robot", "Viewer", "picture"]


def __dir__() -> list[str]:
    return sorted(__all__)
