"""The page in a real browser: Chromium without a screen, driven by playwright."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator
from io import BytesIO
from typing import Any

import numpy as np
import pytest

import dtau

pytest.importorskip("viser")
playwright = pytest.importorskip("playwright.sync_api")

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium"),
]
SOFTWARE = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
SLOW = 60_000  # ms that a page may take on a busy machine without a GPU


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as p:
        browser = p.chromium.launch(executable_path=CHROMIUM, args=SOFTWARE)
        yield browser
        browser.close()


@pytest.fixture
def opened(browser: Any) -> Iterator[Callable[[str], tuple[Any, list[str]]]]:
    """Open a page; it comes with the errors of its console."""
    pages = []

    def open_page(url: str) -> tuple[Any, list[str]]:
        page = browser.new_page(viewport={"width": 860, "height": 420})
        errors: list[str] = []
        page.on("console", lambda m: errors.append(m.text) if m.type == "error" else None)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.set_default_timeout(SLOW)
        page.goto(url)
        page.wait_for_selector("canvas")
        pages.append(page)
        return page, errors

    yield open_page
    for page in pages:
        page.close()


def picture(page: Any) -> np.ndarray:
    """What the left of the page shows, beside its panel."""
    images = pytest.importorskip("PIL.Image")
    data = page.screenshot(clip={"x": 0, "y": 130, "width": 530, "height": 290})
    return np.asarray(images.open(BytesIO(data)).convert("RGB")).astype(int)


def shown(page: Any, drawn: Callable[[np.ndarray], bool], still: int = 0) -> np.ndarray:
    """Wait for a picture that is as it should be, and as those before it."""
    last, same = None, 0
    for _ in range(300):
        image = picture(page)
        same = same + 1 if last is not None and np.array_equal(blue(image), blue(last)) else 0
        if same >= still and drawn(image):
            return image
        last = image
        page.wait_for_timeout(200)
    raise AssertionError("the page does not show it")


def settled(page: Any, drawn: Callable[[np.ndarray], bool]) -> np.ndarray:
    """Wait until all is drawn: bodies load one by one."""
    return shown(page, drawn, still=3)


def wait(page: Any, reached: Callable[[], bool]) -> None:
    """Until something happened here, because of what was done there."""
    for _ in range(200):
        if reached():
            return
        page.wait_for_timeout(100)
    raise AssertionError("it does not happen")


def blue(image: np.ndarray) -> np.ndarray:
    """Where the ellipsoids are."""
    return image[..., 2] - image[..., 0] > 40


def test_a_quadruped(opened: Callable[[str], tuple[Any, list[str]]]) -> None:
    model = dtau.robots.quadruped()
    model = model.replace(limits={"RH_HFE": dtau.Limits(lower=-0.7, upper=0.7)})
    with dtau.view(model, port=0) as viewer:
        page, errors = opened(viewer.url)
        for joint in model.joints[1:]:
            page.get_by_text(joint.name, exact=True).first.wait_for()
        before = settled(page, lambda image: blue(image).mean() > 0.05)

        page.get_by_role("slider").nth(10).press("End")  # of RH_HFE
        wait(page, lambda: viewer.robots[0].q[model.joint("RH_HFE").q] > 0.69)
        settled(page, lambda image: (blue(image) != blue(before)).mean() > 0.003)

        page.get_by_role("button", name="Reset").click()
        settled(page, lambda image: (blue(image) != blue(before)).mean() < 0.002)
        assert (viewer.robots[0].q == dtau.neutral(model)).all()

        page.get_by_role("checkbox").nth(1).click(force=True)  # move by hand
        wait(page, lambda: viewer.robots[0]._gizmos[0].visible)
        assert not errors


def test_an_arm_plays(opened: Callable[[str], tuple[Any, list[str]]]) -> None:
    text = """<robot name="arm"><link name="base"><visual><geometry>
      <cylinder radius="0.12" length="0.2"/></geometry></visual></link>"""
    parent = "base"
    for i in range(3):
        text += f"""<link name="l{i}"><inertial><mass value="1"/><origin xyz="0 0 0.2"/>
          <inertia ixx="0.02" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial>
          <visual><origin xyz="0 0 0.2"/><geometry><box size="0.1 0.1 0.4"/></geometry>
          <material name="m"><color rgba="0.1 0.2 0.9 1"/></material></visual></link>
          <joint name="j{i}" type="revolute"><parent link="{parent}"/><child link="l{i}"/>
          <axis xyz="0 1 0"/><origin xyz="0 0 {0.4 if i else 0.1}"/>
          <limit lower="-1.5" upper="1.5" velocity="1" effort="1"/></joint>"""
        parent = f"l{i}"
    text += "</robot>"
    model = dtau.load(text)
    q = 0.7 * np.sin(np.linspace(0, 6, 300))[:, None] * np.ones(3)
    threads = threading.active_count()
    with dtau.view(model, q, v=np.ones(3), geometry=text, port=0) as viewer:
        page, errors = opened(viewer.url)
        before = settled(page, lambda image: blue(image).mean() > 0.01)
        page.get_by_role("button", name="Play").click()
        page.get_by_role("button", name="Pause").wait_for()
        shown(page, lambda image: (blue(image) != blue(before)).mean() > 0.01)
        page.get_by_role("button", name="Pause").click()
        page.get_by_role("button", name="Play").wait_for()
        assert (viewer.robots[0].q != q[0]).any()
        page.get_by_text("angular momentum").wait_for()
        assert not errors
        page.close()
    assert threading.active_count() <= threads
