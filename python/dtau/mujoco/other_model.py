"""Keep a copy of a MuJoCo model, with other options: `OtherModel`."""

from __future__ import annotations

import copy
from typing import Any

import mujoco
import numpy as np

from dtau.support.locks import fork_safe_lock

_CCD_TOLERANCE, _CCD_ITERATIONS = 1e-12, 200
# Arrays that collision reads and that a program, or `set_parameters`, may change.
_COLLISION = tuple(
    name
    for name in dir(mujoco.MjModel)
    if name.startswith(("geom_", "body_", "pair_", "exclude_", "hfield_", "mesh_vert", "bvh_aabb"))
)
_one_at_a_time = fork_safe_lock()


class OtherModel:
    """A copy without the noslip solver, whose iterative collision goes on to a smaller error.

    Textures and meshes take long to copy. So it stays for other calls, and follows changes of the
    model: once a call, since the threads of a call share it.
    """

    def __init__(self, mj_model: Any) -> None:
        self.model = mj_model
        self._copy: Any = None
        self._opt: Any = None  # of the copy
        self._has_options = self._has_arrays = False

    def expire(self) -> None:
        """Compare with the model at the next use."""
        self._has_options = self._has_arrays = False

    def with_options(self) -> Any:
        """Return the copy without noslip, with other options of the model; arrays may be old."""
        if not self._has_options:
            with _one_at_a_time:
                self._copy_options()
        return self._copy

    def with_arrays(self) -> Any:
        """Return the copy with the model's shapes, or the model if it collides as exactly."""
        opt = self.model.opt
        if opt.ccd_tolerance <= _CCD_TOLERANCE and opt.ccd_iterations >= _CCD_ITERATIONS:
            return self.model
        if not self._has_arrays:
            with _one_at_a_time:
                self._copy_arrays()
        return self._copy

    def _copy_options(self) -> None:
        if self._has_options:
            return
        if self._copy is None:
            self._copy = copy.copy(self.model)
            self._opt = self._copy.opt
        self._copy.opt, self._copy.stat = self.model.opt, self.model.stat
        self._opt.noslip_iterations = 0
        self._has_options = True

    def _copy_arrays(self) -> None:
        if self._has_arrays:
            return
        self._copy_options()  # first: later they would undo the next ones
        opt = copy.copy(self.model.opt)  # another thread may collide, and reads no other tolerance
        opt.noslip_iterations = 0
        opt.ccd_tolerance = min(opt.ccd_tolerance, _CCD_TOLERANCE)
        opt.ccd_iterations = max(opt.ccd_iterations, _CCD_ITERATIONS)
        self._copy.opt = opt
        for name in _COLLISION:
            to, array = getattr(self._copy, name), getattr(self.model, name)
            if isinstance(to, np.ndarray) and not np.array_equal(to, array):
                to[:] = array
        self._has_arrays = True
