"""`dtau docs`: show a page of the documentation."""

from __future__ import annotations

import tarfile
from difflib import get_close_matches
from pathlib import Path

import click
from rich.text import Text

import dtau
from dtau.cli.output import FAINT, hanging

_EPILOG = """\b
Examples:
  dtau docs                the pages, with their titles
  dtau docs conventions    orders, axes and signs (docs/conventions.md)
  dtau docs functions | less
"""
_PACKAGE = Path(dtau.__file__).parent


@click.command(epilog=_EPILOG, short_help="Show a page of the documentation.")
@click.argument("page", required=False)
def docs(page: str | None) -> None:
    """Show PAGE of the documentation, or the list of pages.

    An installation has the pages that help texts and messages name as docs/PAGE.md; a copy of the
    repository has all.
    """
    pages = _pages()
    width = max(map(len, pages)) + 2
    if page is None:
        for name, text in pages.items():
            titles = [line for line in text.splitlines() if line.startswith("# ")]
            hanging(Text(name), [Text(titles[0].removeprefix("# "), FAINT)], width)
        return
    name = page.removeprefix("docs/").removesuffix(".md")
    if name not in pages:
        close = get_close_matches(name, pages, 1)
        meant = f" Did you mean {close[0]}?" if close else ""
        raise click.UsageError(f"no page {page!r} is installed.{meant} dtau docs lists the pages.")
    click.echo(pages[name].rstrip())


def _pages() -> dict[str, str]:
    """Return the texts of the pages by name."""
    archive = _PACKAGE / "pages.tar.bz2"  # src/python/pages.py writes it
    if not archive.exists():
        found = sorted((_PACKAGE.parents[1] / "docs").glob("*.md"))
        return {x.stem: x.read_text(encoding="utf-8") for x in found if x.stem != "index"}
    pages = {}
    with tarfile.open(archive) as packed:
        for member in packed:
            file = packed.extractfile(member)
            assert file is not None
            pages[Path(member.name).stem] = file.read().decode()
    return pages
