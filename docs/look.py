"""Pictures of the site's pages, wide and as on a phone, light and dark; and what is too wide.

    python docs/look.py                    # all pages; needs playwright, and Chromium beside it
    python docs/look.py api/frames.html    # some

The pictures come into out/look. It fails if a page scrolls sideways.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parent.parent / "out"
SCREENS = ((1280, "light"), (390, "dark"), (1280, "dark"), (390, "light"))
WIDE = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
TALL = "document.documentElement.scrollHeight"


def main(pages: list[str]) -> int:
    """How many pages scroll sideways."""
    site, pictures = ROOT / "site", ROOT / "look"
    every = [path.relative_to(site).as_posix() for path in site.rglob("*.html")]
    pages = pages or sorted(page for page in every if not page.startswith("_"))
    pictures.mkdir(exist_ok=True)
    bad = 0
    with sync_playwright() as tools:
        browser = tools.chromium.launch(executable_path=shutil.which("chromium"))
        for width, scheme in SCREENS:
            look = browser.new_page(color_scheme=scheme)
            for page in pages:
                look.set_viewport_size({"width": width, "height": 900})
                look.goto((site / page).as_uri())
                if look.evaluate(WIDE):
                    bad += 1
                    print(f"{page} is wider than {width}")
                height = min(look.evaluate(TALL), 6000)
                look.set_viewport_size({"width": width, "height": height})
                name = page.removesuffix(".html").replace("/", "_")
                look.screenshot(path=pictures / f"{name}_{width}_{scheme}.png")
        browser.close()
    return bad


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]) > 0)
