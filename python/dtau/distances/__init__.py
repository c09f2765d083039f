"""Distances between shapes of a robot, and their gradients: `shape_distances`.

coal computes distances and nearest points, and dtau differentiates them. docs/distances.md has the
conventions.
"""

try:
    import coal as _coal  # noqa: F401
except ModuleNotFoundError as error:
    raise ImportError(
        "dtau.distances needs coal, which is not installed: pip install coal"
    ) from error

from dtau.distances.compute import ShapeDistances, shape_distances
from dtau.distances.shapes import Shape, read_shapes

__all__ = ["Shape", "ShapeDistances", "read_shapes", "shape_distances"]


def __dir__() -> list[str]:
    return sorted(__all__)
