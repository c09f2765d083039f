"""The C interface of the library, through ctypes: `CModel`, `CFunction`."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dtau import _core

Array = NDArray[np.float64]
PACKAGE = Path(str(_core.__file__)).parent
LIBRARY = (
    PACKAGE
    / "lib"
    / ("libdtau.dylib" if (PACKAGE / "lib/libdtau.dylib").exists() else "libdtau.so")
)


LIMITS = ("lower_limits", "upper_limits", "velocity_limits", "effort_limits")
NUMBERS = (*LIMITS, "masses", "gravity")


class DtauError(Exception):
    """A call returned a code; the message is the library's."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


def load_library() -> ctypes.CDLL:
    """Load the library; functions return int where nothing else is said."""
    library = ctypes.CDLL(str(LIBRARY))
    names = "model_joint", "model_body", "model_frame", "function_input", "function_result"
    for name in ("version", "error", *names):
        getattr(library, f"dtau_{name}").restype = ctypes.c_char_p
    for name in NUMBERS:
        getattr(library, f"dtau_model_{name}").restype = ctypes.POINTER(ctypes.c_double)
    library.dtau_function_entries.restype = ctypes.c_ssize_t
    return library


def require(library: ctypes.CDLL, code: int) -> None:
    """Raise `DtauError` for a code that is not DTAU_OK."""
    if code != 0:
        raise DtauError(code, library.dtau_error().decode())


class CModel:
    """A model that the library has read from a file."""

    def __init__(self, path: Path) -> None:
        self.library = load_library()
        self.pointer = ctypes.c_void_p()
        code = self.library.dtau_model_load(bytes(path), ctypes.byref(self.pointer))
        require(self.library, code)

    def __del__(self) -> None:
        self.library.dtau_model_free(self.pointer)

    @property
    def sizes(self) -> tuple[int, ...]:
        names = ("nq", "nv", "nbodies", "nframes")
        return tuple(getattr(self.library, f"dtau_model_{x}")(self.pointer) for x in names)

    def names(self, kind: str) -> list[str]:
        """The names of joints, bodies or frames."""
        name = getattr(self.library, f"dtau_model_{kind}")
        count = self.sizes[3 if kind == "frame" else 2]
        assert name(self.pointer, -1) is name(self.pointer, count) is None
        return [name(self.pointer, k).decode() for k in range(count)]

    def find(self, kind: str, name: str) -> int:
        """The index of a name."""
        index = getattr(self.library, f"dtau_model_find_{kind}")(self.pointer, name.encode())
        require(self.library, 0 if index >= 0 else 1)
        return int(index)

    def entries(self, joint: int) -> tuple[slice, slice]:
        """The entries of a joint in a configuration and in a velocity."""
        numbers = [ctypes.c_int() for _ in range(4)]
        given = map(ctypes.byref, numbers)
        code = self.library.dtau_model_joint_entries(self.pointer, joint, *given)
        require(self.library, code)
        q, nq, v, nv = (x.value for x in numbers)
        return slice(q, q + nq), slice(v, v + nv)

    def numbers(self, name: str, count: int) -> Array:
        """The numbers of an attribute."""
        pointer = getattr(self.library, f"dtau_model_{name}")(self.pointer)
        return np.array(pointer[:count])


class CFunction:
    """A function of the library for one model, or of poses without one."""

    def __init__(
        self, model: CModel | None, name: str, arguments: Sequence[str] = (), most_states: int = 1
    ) -> None:
        self.model, self.library = model, load_library()
        self.pointer = ctypes.c_void_p()
        texts = (ctypes.c_char_p * len(arguments))(*(x.encode() for x in arguments))
        require(
            self.library,
            self.library.dtau_function_make(
                model.pointer if model else None,
                name.encode(),
                texts,
                len(arguments),
                ctypes.c_ssize_t(most_states),
                ctypes.byref(self.pointer),
            ),
        )

    def __del__(self) -> None:
        self.library.dtau_function_free(self.pointer)

    def _arrays(self, what: str) -> dict[str, tuple[int, ...]]:
        shape, ndim = (ctypes.c_ssize_t * 5)(), ctypes.c_int()
        describe = getattr(self.library, f"dtau_function_{what}")
        found = {}
        for k in range(getattr(self.library, f"dtau_function_n{what}s")(self.pointer)):
            name = describe(self.pointer, k, shape, ctypes.byref(ndim)).decode()
            found[name] = tuple(shape[: ndim.value])
        return found

    @property
    def inputs(self) -> dict[str, tuple[int, ...]]:
        return self._arrays("input")

    @property
    def results(self) -> dict[str, tuple[int, ...]]:
        return self._arrays("result")

    def entries(self, index: int) -> list[int]:
        """The places of a result's numbers in the dense array."""
        places = ctypes.POINTER(ctypes.c_ssize_t)()
        count = self.library.dtau_function_entries(self.pointer, index, ctypes.byref(places))
        return places[:count]

    def __call__(self, states: int, given: Mapping[str, Any]) -> list[Array]:
        """Compute the results of states; inputs that are not given are null."""
        kept = {}
        for name, shape in self.inputs.items():
            if name in given:
                kept[name] = np.ascontiguousarray(given[name], np.float64)
                assert kept[name].shape == (states, *shape), (name, kept[name].shape, shape)
        results = [np.full((states, *shape), 7.0) for shape in self.results.values()]
        pointers = [kept[name].ctypes.data if name in kept else None for name in self.inputs]
        require(
            self.library,
            self.library.dtau_function_run(
                self.pointer,
                (ctypes.c_void_p * len(pointers))(*pointers),
                (ctypes.c_void_p * len(results))(*(x.ctypes.data for x in results)),
                ctypes.c_ssize_t(states),
            ),
        )
        return results
