"""xacro and MJCF, right and damaged, loaded in several threads: each gives what it gives alone.

MuJoCo and xacro keep state for the whole process. A case draws a few files, loads each alone, and
then all of them in threads that take turns after every few operations: the same models with the
same notes, or the same errors. Meanwhile another thread makes MuJoCo warn: each warning arrives at
the handler that the case has set, which is in its place at the end, and no other does.

Takes the packages mujoco and xacrodoc.
"""

from __future__ import annotations

import re
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import fuzz_files
import mujoco
import numpy as np
import xacro
from fuzz_mjcf import FORCES
from fuzz_values import choose
from mjcf_files import ROBOTS

import dtau

Rng = np.random.Generator
Load = Callable[[], Any]
XMLNS = 'xmlns:xacro="http://ros.org/xacro"'
LOADS = 3  # of each file, in its thread
PLAIN = '<mujoco><worldbody><body><joint/><geom size=".1"/></body></worldbody></mujoco>'


def check(rng: Rng) -> str:
    """Return "models" or "some refused", or raise AssertionError."""
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore")
        makers = choose(rng, [[mjcf], [xacro_file], [mjcf, xacro_file]])
        count = int(rng.integers(2, 5))
        loads = [choose(rng, makers)(rng, Path(folder), f"r{k}") for k in range(count)]
        alone = [outcome(load) for load in loads]
        with short_turns(), warned() as others, ThreadPoolExecutor(count) as pool:
            together = list(pool.map(lambda load: [outcome(load) for _ in range(LOADS)], loads))
    for k, (want, found) in enumerate(zip(alone, together, strict=True)):
        for one in found:
            assert one == want, f"file {k}: {one!r:.600}, alone {want!r:.600}"
    assert others[0] == others[1], f"{others[0]} warnings, {others[1]} arrived"
    assert xacro.filestack is None
    return "models" if not any(isinstance(x, str) for x in alone) else "some refused"


def outcome(load: Load) -> Any:
    """The model with its notes, or what the error says."""
    try:
        model = load()
    except ValueError as error:  # a ModelError, or one about a text that is none
        return re.sub(r"0x[0-9a-f]+", "0x", f"{type(error).__name__}: {error}")
    return model, model.notes


@contextmanager
def short_turns() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


@contextmanager
def warned() -> Iterator[list[int]]:
    """Make MuJoCo warn in a thread; how often it did, and how many warnings arrived."""
    heard: list[str] = []
    counts = [0, 0]
    done = threading.Event()
    model = mujoco.MjModel.from_xml_string(PLAIN)

    def warn() -> None:
        while not done.wait(1e-4):
            data = mujoco.MjData(model)
            data.qpos[0] = np.nan
            mujoco.mj_step(model, data)
            counts[0] += 1

    def handler(text: str) -> None:
        heard.append(text)

    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(handler)
    thread = threading.Thread(target=warn)
    thread.start()
    try:
        yield counts
    finally:
        done.set()
        thread.join()
        kept = mujoco.get_mju_user_warning() is handler
        mujoco.set_mju_user_warning(before)
    counts[1] = len(heard)
    assert kept, "the handler was lost"
    assert all("Nan, Inf" in text for text in heard), f"warnings of loads: {set(heard)!r:.500}"


# Files


def mjcf(rng: Rng, folder: Path, name: str) -> Load:
    """A text or a file; some make MuJoCo warn, some are damaged."""
    text = str(choose(rng, [*ROBOTS.values(), FORCES]))
    text = re.sub(r"<mujoco[^>]*>", f'<mujoco model="{name}">', text, count=1)
    if rng.random() < 0.6:
        text = text.replace("<worldbody>", '<compiler settotalmass="2"/><worldbody>', 1)
    whole = rng.random() < 0.6
    if not whole:
        text = choose(rng, fuzz_files.CHANGES)(rng, text)[:50_000]
    source: Any = text
    if rng.random() < 0.3:
        source = folder / f"{name}.xml"
        source.write_text(text, encoding="utf-8", errors="replace")
    return named(source, name if whole else None)


def xacro_file(rng: Rng, folder: Path, name: str) -> Load:
    """A file with a part beside it and one in a package, which every file's folder has."""
    home = folder / name
    home.mkdir()
    inertia = '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
    legs = int(rng.integers(1, 5))
    texts = {
        "package.xml": "<package><name>parts</name></package>",
        "leg.xacro": f'<robot {XMLNS}><xacro:macro name="leg" params="i mass">'
        f'<link name="{name}_${{i}}"><inertial><mass value="${{mass * {legs}}}"/>{inertia}'
        f'</inertial></link><joint name="j${{i}}" type="continuous"><parent link="base_{name}"/>'
        f'<child link="{name}_${{i}}"/></joint></xacro:macro></robot>',
        "base.xacro": f'<robot {XMLNS}><link name="base_{name}"/></robot>',
        "robot.xacro": f'<robot name="{name}" {XMLNS}><xacro:arg name="mass" default="2"/>'
        f'<xacro:property name="m" value="$(arg mass)"/><xacro:include filename="leg.xacro"/>'
        '<xacro:include filename="$(find parts)/base.xacro"/>'
        + "".join(f'<xacro:leg i="{i}" mass="${{m + {i}}}"/>' for i in range(legs))
        + "</robot>",
    }
    whole = rng.random() < 0.6
    if not whole:
        damaged = choose(rng, list(texts))
        texts[damaged] = choose(rng, fuzz_files.CHANGES)(rng, texts[damaged])[:20_000]
    for file, text in texts.items():
        (home / file).write_text(text, encoding="utf-8", errors="replace")
    return named(home / "robot.xacro", name if whole else None)


def named(source: str | Path, name: str | None) -> Load:
    """Load the file; an undamaged one is the robot of this name."""

    def load() -> dtau.Model:
        model = dtau.load(source)
        assert name is None or model.name == name, f"{model.name} in place of {name}"
        if str(source).endswith(".xacro") and name is not None:
            assert all(
                link.name in (f"base_{name}",) or link.name.startswith(name) for link in model.links
            ), f"parts of others: {model.links!r:.500}"
        return model

    return load
