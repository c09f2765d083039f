"""Kernels on a GPU, by the driver's interface: `Device`. Prototypes and numbers are cuda.h's."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Sequence
from typing import Any

from trees import Array

_NAME = "nvcuda" if sys.platform == "win32" else "libcuda.so.1"
_MAJOR, _MINOR = 75, 76  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_...
_LOCAL_SIZE, _REGISTERS = 3, 4  # CU_FUNC_ATTRIBUTE_...
_Handle, _Address = ctypes.c_void_p, ctypes.c_uint64  # CUcontext, CUmodule, CUfunction; CUdeviceptr
_PROTOTYPES: dict[str, tuple[Any, ...]] = {
    "cuInit": (ctypes.c_uint,),
    "cuDeviceGetCount": (ctypes.POINTER(ctypes.c_int),),
    "cuDeviceGet": (ctypes.POINTER(ctypes.c_int), ctypes.c_int),
    "cuDeviceGetAttribute": (ctypes.POINTER(ctypes.c_int), ctypes.c_int, ctypes.c_int),
    "cuDevicePrimaryCtxRetain": (ctypes.POINTER(_Handle), ctypes.c_int),
    "cuDevicePrimaryCtxRelease_v2": (ctypes.c_int,),
    "cuCtxSetCurrent": (_Handle,),
    "cuCtxSynchronize": (),
    "cuModuleLoadData": (ctypes.POINTER(_Handle), ctypes.c_char_p),
    "cuModuleUnload": (_Handle,),
    "cuModuleGetFunction": (ctypes.POINTER(_Handle), _Handle, ctypes.c_char_p),
    "cuFuncGetAttribute": (ctypes.POINTER(ctypes.c_int), ctypes.c_int, _Handle),
    "cuMemAlloc_v2": (ctypes.POINTER(_Address), ctypes.c_size_t),
    "cuMemFree_v2": (_Address,),
    "cuMemcpyHtoD_v2": (_Address, ctypes.c_void_p, ctypes.c_size_t),
    "cuMemcpyDtoH_v2": (ctypes.c_void_p, _Address, ctypes.c_size_t),
    "cuLaunchKernel": (
        _Handle,
        *(ctypes.c_uint,) * 7,  # blocks, threads of a block, bytes of shared memory
        _Handle,  # the stream
        ctypes.POINTER(ctypes.c_void_p),
        ctypes.POINTER(ctypes.c_void_p),
    ),
}


def driver() -> Any:
    """The driver's library, or None where there is no driver or no device."""
    try:
        library = ctypes.CDLL(_NAME)
    except OSError:
        return None
    for name, arguments in _PROTOTYPES.items():
        getattr(library, name).argtypes = arguments
    count = ctypes.c_int()
    if library.cuInit(0) or library.cuDeviceGetCount(ctypes.byref(count)) or not count.value:
        return None
    return library


class Device:
    """The first device, with its primary context; closed by `close`."""

    def __init__(self, library: Any) -> None:
        self.library = library
        self.device, context = ctypes.c_int(), _Handle()
        self.call("cuDeviceGet", ctypes.byref(self.device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), self.device)
        self.call("cuCtxSetCurrent", context)

    def close(self) -> None:
        """Release the context."""
        self.call("cuCtxSetCurrent", None)
        self.call("cuDevicePrimaryCtxRelease_v2", self.device)

    @property
    def architecture(self) -> str:
        """The architecture for a compiler, such as sm_90."""
        numbers = []
        for attribute in (_MAJOR, _MINOR):
            value = ctypes.c_int()
            self.call("cuDeviceGetAttribute", ctypes.byref(value), attribute, self.device)
            numbers.append(value.value)
        return "sm_{}{}".format(*numbers)

    def call(self, name: str, *arguments: Any) -> None:
        """Call a function of the driver, which must succeed."""
        error = getattr(self.library, name)(*arguments)
        assert error == 0, f"{name}: CUresult {error}"

    def load(self, cubin: bytes) -> ctypes.c_void_p:
        """Load a module."""
        module = _Handle()
        self.call("cuModuleLoadData", ctypes.byref(module), cubin)
        return module

    def kernel(self, module: ctypes.c_void_p, name: str) -> ctypes.c_void_p:
        """A kernel of a module."""
        function = _Handle()
        self.call("cuModuleGetFunction", ctypes.byref(function), module, name.encode())
        return function

    def registers_and_stack(self, kernel: ctypes.c_void_p) -> tuple[int, int]:
        """A thread's registers and bytes of local memory."""
        found = []
        for attribute in (_REGISTERS, _LOCAL_SIZE):
            value = ctypes.c_int()
            self.call("cuFuncGetAttribute", ctypes.byref(value), attribute, kernel)
            found.append(value.value)
        return found[0], found[1]

    def run(
        self,
        kernel: ctypes.c_void_p,
        threads: int,
        states: int,
        given: Sequence[Array],
        results: Sequence[Array],
    ) -> None:
        """Run a kernel for states that lie on the last axis; copy what it writes into `results`."""
        arrays = [*given, *results]
        addresses = [_Address() for _ in arrays]
        try:
            for address, array in zip(addresses, arrays, strict=True):
                assert array.flags.c_contiguous
                self.call("cuMemAlloc_v2", ctypes.byref(address), max(array.nbytes, 1))
                self.call("cuMemcpyHtoD_v2", address, array.ctypes.data, array.nbytes)
            values = [ctypes.c_int(states), *addresses]
            pointers = (ctypes.c_void_p * len(values))(*map(ctypes.addressof, values))
            blocks = -(-states // threads)
            shape = (blocks, 1, 1, threads, 1, 1)
            self.call("cuLaunchKernel", kernel, *shape, 0, None, pointers, None)
            self.call("cuCtxSynchronize")
            for address, array in zip(addresses[len(given) :], results, strict=True):
                self.call("cuMemcpyDtoH_v2", array.ctypes.data, address, array.nbytes)
        finally:
            for address in addresses:
                if address.value:
                    self.call("cuMemFree_v2", address)
