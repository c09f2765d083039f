"""Refuse formats that are not supported, and suggest a way out: `refuse_other_files`."""

from __future__ import annotations

from dtau.loaders.saved import is_saved
from dtau.loaders.source import Source
from dtau.support.errors import ModelError

_WAYS_OUT = {  # root element of an XML document: way out
    "sdf": (
        "; SDF is not read: load the URDF that it was made from, or make an MJCF of it (sdf2mjcf, "
        "which the package sdformat-mjcf has)"
    )
}
_USD = (b"#usda ", b"PXR-USDC")  # first bytes of text and binary files
_USD_PACKAGE = ".usdz"  # a ZIP archive
_COMPILED_MJCF = ".mjb"


def way_out(tag: str) -> str:
    """Return the way out for an XML document with this root element, or nothing if unknown."""
    return _WAYS_OUT.get(tag, "")


def refuse_other_files(file: Source) -> None:
    """Raise ModelError for a file that is not XML, if its format is known."""
    usd = isinstance(file.content, bytes) and file.content.startswith(_USD)
    if usd or file.label.lower().endswith(_USD_PACKAGE):
        raise ModelError(
            f"{file.label}: USD is not read: load the URDF or MJCF that it was made from, or "
            "export a URDF (in Isaac Sim by the extension isaacsim.asset.exporter.urdf)"
        )
    if is_saved(file):
        raise ModelError(
            f"{file.label}: expected XML, got a file of Model.save, which only dtau.load reads"
        )
    if file.label.lower().endswith(_COMPILED_MJCF):
        raise ModelError(
            f"{file.label}: MuJoCo's compiled form is not read: load the MJCF that it was made from"
        )
