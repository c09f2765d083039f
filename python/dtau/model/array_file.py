"""Write and read named arrays in one file with a version and a checksum: `pack`, `unpack`.

All numbers are little-endian. The header has 24 bytes: the eight bytes of `MAGIC`, the version of
the format (uint32), the CRC-32 of the rest (uint32), and the rest's size in bytes (uint64). The
arrays follow, one after another: the name (uint32 length, UTF-8), the type (uint32: 0 for int32, 1
for float64, 2 for texts), the number of axes (uint32), the shape (uint64 each), and the elements by
rows. A text is its length (uint32) and its UTF-8.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

MAGIC = b"\x89dtau\r\n\x1a"  # damaged by every transfer that takes it for text
VERSION = 2
_HEADER = struct.Struct("<8sIIQ")
_TYPES = (np.dtype("<i4"), np.dtype("<f8"))
_TEXT = 2

Arrays = Mapping[str, NDArray[Any] | Sequence[str]]


def pack(arrays: Arrays) -> bytes:
    """Return the content of a file that holds these arrays and sequences of texts."""
    pieces: list[bytes] = []
    for name, values in arrays.items():
        pieces.append(_text(name))
        if isinstance(values, np.ndarray):
            code = 0 if values.dtype.kind == "i" else 1
            pieces.append(struct.pack(f"<II{values.ndim}Q", code, values.ndim, *values.shape))
            pieces.append(values.astype(_TYPES[code]).tobytes())
        else:
            pieces.append(struct.pack("<IIQ", _TEXT, 1, len(values)))
            pieces += map(_text, values)
    rest = b"".join(pieces)
    return _HEADER.pack(MAGIC, VERSION, zlib.crc32(rest), len(rest)) + rest


def unpack(content: bytes) -> dict[str, Any]:
    """Return the arrays of a file; texts as a list.

    Raises
    ------
    ValueError
        If the content is truncated, damaged, or of another version.
    """
    if len(content) < _HEADER.size or not content.startswith(MAGIC):
        raise ValueError(f"expected a header of {_HEADER.size} bytes, got {len(content)} bytes")
    _, version, checksum, size = _HEADER.unpack_from(content)
    if version != VERSION:
        raise ValueError(
            f"expected version {VERSION} of the format, got {version}; write the file again with "
            "this version of dtau, or read it with the one that wrote it"
        )
    rest = content[_HEADER.size :]
    if len(rest) != size:
        raise ValueError(f"expected {size} bytes after the header, got {len(rest)}")
    if zlib.crc32(rest) != checksum:
        raise ValueError("the checksum does not match: the file is damaged")
    reader = _Reader(rest)
    arrays: dict[str, Any] = {}
    while reader.place < len(rest):
        name = reader.text()
        arrays[name] = reader.array()
    return arrays


def _text(text: str) -> bytes:
    encoded = text.encode()
    return struct.pack("<I", len(encoded)) + encoded


class _Reader:
    def __init__(self, content: bytes) -> None:
        self.content = content
        self.place = 0

    def take(self, size: int) -> bytes:
        piece = self.content[self.place : self.place + size]
        if len(piece) != size:
            raise ValueError(f"expected {size} more bytes, got {len(piece)}")
        self.place += size
        return piece

    def integer(self, size: int = 4) -> int:
        return int.from_bytes(self.take(size), "little")

    def text(self) -> str:
        return self.take(self.integer()).decode()

    def array(self) -> NDArray[Any] | list[str]:
        code, ndim = self.integer(), self.integer()
        shape = [self.integer(8) for _ in range(ndim)]
        if code == _TEXT and ndim == 1:
            return [self.text() for _ in range(shape[0])]
        if code >= len(_TYPES):
            raise ValueError(f"expected an array of type 0, 1 or 2, got {code} of {ndim} axes")
        data = self.take(math.prod(shape) * _TYPES[code].itemsize)
        return np.frombuffer(data, _TYPES[code]).reshape(shape)
