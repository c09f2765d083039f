"""Refuse to publish a version that is not ready, with all reasons.

python .ci/publishable.py TAG FILE...    # a tag such as v0.2.0, the wheels and the sources
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
URLS = ("Source", "Issues")
SYSTEMS = ("manylinux", "musllinux", "macosx", "win")


def problems(root: Path, tag: str, files: Sequence[str]) -> Iterator[str]:
    """Reasons not to publish these files of the sources in `root`."""
    with open(root / "pyproject.toml", "rb") as file:
        project = tomllib.load(file)["project"]
    urls = project.get("urls", {})
    for name in URLS:
        if not re.match(r"https://[^/]+\.[^/]+/", urls.get(name, "")):
            yield f"pyproject.toml: expected an address {name} in [project.urls]: RELEASING.md"
    citation = (root / "CITATION.cff").read_text(encoding="utf-8")
    if "Source" in urls and f"\nrepository-code: {urls['Source']}\n" not in citation:
        yield f"CITATION.cff: expected repository-code: {urls['Source']}"
    source = (root / "python/dtau/_version.py").read_text(encoding="utf-8")
    (version,) = re.findall(r'^__version__ = "(.*)"$', source, flags=re.M)
    if tag != f"v{version}":
        yield f"the tag: expected v{version}, of python/dtau/_version.py, got {tag}"
    if f"\nversion: {version}\n" not in citation:
        yield f"CITATION.cff: expected version {version}"
    log = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    (newest, *_) = re.findall(r"^## (.*)$", log, flags=re.M)
    if not re.fullmatch(rf"{re.escape(version)} - \d{{4}}-\d\d-\d\d", newest):
        yield f"CHANGELOG.md: expected {version} and its date as the first heading, got {newest}"
    names = [Path(file).name for file in files]
    if f"dtau-{version}.tar.gz" not in names:
        yield f"the files: expected dtau-{version}.tar.gz"
    wheels = [name for name in names if name.endswith(".whl")]
    for system in SYSTEMS:
        if not any(f"cp312-abi3-{system}" in name for name in wheels):
            yield f"the files: expected a wheel cp312-abi3 for {system}"
    for name in names:
        if not name.startswith((f"dtau-{version}-", f"dtau-{version}.tar")):
            yield f"the files: expected those of {version} alone, got {name}"


if __name__ == "__main__":
    found = list(problems(ROOT, sys.argv[1], sys.argv[2:]))
    for problem in found:
        print(problem, file=sys.stderr)
    sys.exit(bool(found))
