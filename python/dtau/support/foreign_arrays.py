"""Take arrays of other libraries: `readable` for arguments, `writable` for `out`.

The core and `dtau.support.checks` call them for every argument that is not NumPy's own. A
library's array is read through NumPy's protocols or, if it has none of them, through DLPack,
without a copy.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_PROTOCOLS = ("__array__", "__array_interface__", "__array_struct__")


def readable(argument: str, value: Any) -> Any:
    """Return `value`, or an array of its numbers, as an object that NumPy reads whole.

    Raises
    ------
    TypeError
        If it is a masked array, or a tensor that requires grad: NumPy would drop the mask and the
        gradient.
    ValueError
        If a library that offers DLPack alone does not share its numbers with the CPU.
    """
    refuse_masks(argument, value)
    refuse_gradients(argument, value)
    kind = type(value)
    if not hasattr(kind, "__dlpack__") or any(hasattr(kind, name) for name in _PROTOCOLS):
        return value
    return _from_dlpack(argument, value, None, "numbers", "copy it to the CPU as float64")


def writable(argument: str, value: Any) -> Any:
    """Return `value` if it is NumPy's, or an array that shares its memory through DLPack.

    Raises
    ------
    TypeError
        If it is neither, or a masked array, or a tensor that requires grad.
    ValueError
        If its memory cannot be shared, or has the numbers with the other sign.
    """
    refuse_masks(argument, value)
    refuse_gradients(argument, value)
    kind = type(value)
    if isinstance(value, np.ndarray) or not hasattr(kind, "__dlpack__"):
        return value  # the core checks it
    if np.lib.NumpyVersion(np.__version__) < "2.1.0":
        raise TypeError(
            f"{argument}: expected a NumPy array, got {kind.__name__}; NumPy 2.1 or newer lets "
            "DLPack's objects share their memory"
        )
    if hasattr(kind, "is_neg") and value.is_neg():  # PyTorch's; DLPack does not tell
        raise ValueError(
            f"{argument}: expected memory that holds the numbers themselves, got a tensor whose "
            "negative bit is set; use tensor.resolve_neg()"
        )
    return _from_dlpack(argument, value, False, "memory", "use a float64 array on the CPU")


def refuse_gradients(argument: str, value: Any) -> None:
    """Raise TypeError if a tensor, or one inside lists and tuples, requires grad."""
    if isinstance(value, list | tuple):
        for item in value:
            refuse_gradients(argument, item)
    elif getattr(value, "requires_grad", False) is True:
        raise TypeError(
            f"{argument}: expected an array of numbers, got a {type(value).__name__} that requires "
            "grad, which NumPy's arrays lose; the functions of dtau.torch keep it, and "
            "tensor.detach() leaves it out"
        )


def refuse_masks(argument: str, value: Any) -> None:
    """Raise TypeError if an array, or one inside lists and tuples, is masked."""
    if isinstance(value, list | tuple):
        for item in value:
            refuse_masks(argument, item)
    elif isinstance(value, np.ndarray) and isinstance(value, np.ma.MaskedArray):
        raise TypeError(
            f"{argument}: expected an array without a mask, got a {type(value).__name__}, whose "
            "mask would be lost; give its .filled(value), or its .data if all numbers count"
        )


def _from_dlpack(argument: str, value: Any, copy: bool | None, what: str, way_out: str) -> Any:
    try:
        return np.from_dlpack(value) if copy is None else np.from_dlpack(value, copy=copy)
    except (TypeError, ValueError, RuntimeError, BufferError) as error:
        raise ValueError(
            f"{argument}: expected {what} on the CPU that DLPack can share with NumPy, got "
            f"{type(value).__name__} ({error!s:.160}); {way_out}"
        ) from error
