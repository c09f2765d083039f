"""Memory limits of containers, and functions that ask before they take much memory.

Files of control groups lie under a folder of the test's own, as Linux has them under /proc and
/sys; where groups can be made, a process in one has a real limit.
"""

from __future__ import annotations

import json
import math
import os
import re
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from core import memory_limit
from messages import has_words
from processes import PRELUDE, python, sanitized, script

import dtau
from dtau.support import checks

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux")
MB = 1 << 20
NONE = math.inf

# Lines of /proc/self/mountinfo: other file systems, and the hierarchies of both versions.
OTHERS = """22 1 0:20 / / rw,relatime - ext4 /dev/vda rw
31 22 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu
"""
FIRST = "35 31 0:32 {} /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory\n"
SECOND = "36 22 0:33 {} /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"


class Groups:
    """A machine's files, under a folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.write("proc/self/mountinfo", "")
        self.write("proc/self/cgroup", "")

    def write(self, path: str, text: str) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def process(self, mounts: str, groups: str) -> None:
        self.write("proc/self/mountinfo", OTHERS + mounts)
        self.write("proc/self/cgroup", groups)

    def first(self, group: str, limit: int, used: int, cache: int = 0) -> None:
        at = f"sys/fs/cgroup/memory{group}"
        self.write(f"{at}/memory.limit_in_bytes", f"{limit}\n")
        self.write(f"{at}/memory.usage_in_bytes", f"{used}\n")
        own = "inactive_file 7\nactive_file 7\n"  # without subgroups
        self.write(f"{at}/memory.stat", f"{own}total_inactive_file {cache}\ntotal_active_file 0\n")

    def second(self, group: str, limit: int | str, used: int, cache: int = 0) -> None:
        at = f"sys/fs/cgroup{group}"
        self.write(f"{at}/memory.max", f"{limit}\n")
        self.write(f"{at}/memory.current", f"{used}\n")
        half = cache // 2
        self.write(f"{at}/memory.stat", f"anon 5\ninactive_file {half}\nactive_file {half}\n")

    def limit(self) -> tuple[float, float]:
        return memory_limit(str(self.root))


@pytest.fixture
def groups(tmp_path: Path) -> Groups:
    return Groups(tmp_path)


@linux
class TestLimitsOfGroups:
    def test_no_control_group_means_no_limit(self, groups: Groups, tmp_path: Path) -> None:
        assert groups.limit() == (NONE, NONE)
        assert memory_limit(str(tmp_path / "nothing")) == (NONE, NONE)

    def test_second_version(self, groups: Groups) -> None:
        groups.process(SECOND.format("/"), "0::/user/shell\n")
        groups.second("/user/shell", 500 * MB, 100 * MB)
        assert groups.limit() == (500 * MB, 400 * MB)

    def test_no_limit_is_called_max(self, groups: Groups) -> None:
        groups.process(SECOND.format("/"), "0::/user\n")
        groups.second("/user", "max", 100 * MB)
        assert groups.limit() == (NONE, NONE)

    def test_first_version(self, groups: Groups) -> None:
        groups.process(FIRST.format("/"), "5:cpu:/other\n4:hugetlb,memory:/jobs/one\n0::/\n")
        groups.first("/jobs/one", 500 * MB, 100 * MB)
        assert groups.limit() == (500 * MB, 400 * MB)

    def test_limits_of_outer_groups_count(self, groups: Groups) -> None:
        """The least limit and the least that is left, which may be of different groups."""
        groups.process(SECOND.format("/"), "0::/a/b/c\n")
        groups.second("/a/b/c", "max", 10 * MB)
        groups.second("/a/b", 300 * MB, 20 * MB)
        groups.second("/a", 400 * MB, 350 * MB)
        groups.second("", 9000 * MB, 8000 * MB)
        assert groups.limit() == (300 * MB, 50 * MB)

    def test_both_versions(self, groups: Groups) -> None:
        groups.process(
            FIRST.format("/") + SECOND.format("/").replace("cgroup rw", "cgroup/unified rw"),
            "4:memory:/a\n0::/b\n",
        )
        groups.first("/a", 300 * MB, 0)
        groups.second("/unified/b", 200 * MB, 0)
        assert groups.limit() == (200 * MB, 200 * MB)

    def test_a_container_sees_its_own_group_as_the_top(self, groups: Groups) -> None:
        groups.process(SECOND.format("/"), "0::/\n")
        groups.second("", 300 * MB, 100 * MB)
        assert groups.limit() == (300 * MB, 200 * MB)

    def test_a_container_whose_group_is_mounted(self, groups: Groups) -> None:
        """The group's name is the machine's, of which only what is below is mounted."""
        groups.process(FIRST.format("/docker/5a"), "4:memory:/docker/5a/inner\n")
        groups.first("", 300 * MB, 100 * MB)
        groups.first("/inner", 250 * MB, 90 * MB)
        assert groups.limit() == (250 * MB, 160 * MB)

    @pytest.mark.parametrize("group", ["/docker/5ab", "/elsewhere", "/../host", "relative", ""])
    def test_a_group_that_cannot_be_seen(self, groups: Groups, group: str) -> None:
        groups.process(SECOND.format("/docker/5a"), f"0::{group}\n")
        groups.second("", 300 * MB, 100 * MB)
        assert groups.limit() == (300 * MB, 200 * MB)

    def test_caches_of_files_are_given_back(self, groups: Groups) -> None:
        groups.process(SECOND.format("/"), "0::/a\n")
        groups.second("/a", 300 * MB, 290 * MB, cache=80 * MB)
        assert groups.limit() == (300 * MB, 90 * MB)
        groups.process(FIRST.format("/"), "4:memory:/a\n")
        groups.first("/a", 300 * MB, 290 * MB, cache=80 * MB)
        assert groups.limit() == (300 * MB, 90 * MB)

    def test_more_in_use_than_the_limit(self, groups: Groups) -> None:
        groups.process(SECOND.format("/"), "0::/a\n")
        groups.second("/a", 300 * MB, 400 * MB)
        assert groups.limit() == (300 * MB, 0)

    @pytest.mark.parametrize("text", ["", "\n", "much\n", "-\n"])
    def test_odd_files(self, groups: Groups, text: str) -> None:
        groups.process(SECOND.format("/"), "0::/a\nnonsense\n:\n::\n")
        groups.second("/a", text, 10)
        assert groups.limit() == (NONE, NONE)
        groups.write("proc/self/mountinfo", "short line\n1 2 - cgroup2\n - \n\n")
        assert groups.limit() == (NONE, NONE)


# A real one


HIERARCHIES = {  # the folder of groups, and the file of a limit
    "first": (Path("/sys/fs/cgroup/memory"), "memory.limit_in_bytes"),
    "second": (Path("/sys/fs/cgroup"), "memory.max"),
}


@pytest.fixture(scope="module")
def container() -> Iterator[Path]:
    """A group of 1 GB that processes can be put into."""
    for top, limit in HIERARCHIES.values():
        group = top / f"dtau-test-{os.getpid()}"
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            (group / limit).write_text(str(1 << 30))
        except OSError:
            group.rmdir()
            continue
        yield group
        group.rmdir()
        return
    pytest.skip("no control group with a memory limit can be made here")


CONTAINED = """
from dtau import Contacts, PointContact
model = dtau.robots.quadruped()
rng = np.random.default_rng(0)
q, v, a = dtau.random_state(model, rng)
many, states = np.broadcast_to(q, (330_000, model.nq)), 9_000_000
still = np.broadcast_to(np.zeros(model.nv), (states, model.nv))
at = np.broadcast_to(q, (states, model.nq))
feet = Contacts(model, [PointContact(foot) for foot in dtau.robots.QUADRUPED_FEET], at=q)
spatial = dtau.conventions.spatial_twist(model)
force = np.zeros(6)
calls = {
    "inverse_dynamics_derivatives":
        lambda: dtau.inverse_dynamics_derivatives(model, many, v, a, threads=1),
    "equilibrium": lambda: dtau.equilibrium(model, np.tile(q, (200_000, 1)), contacts=feet),
    "random_state": lambda: dtau.random_state(model, rng, shape=(3_000_000,)),
    "a batch of 9000000 states": lambda: spatial.from_dtau(at, still),
    "wrench_at_frame_derivatives":
        lambda: dtau.wrench_at_frame_derivatives(
            model, np.tile(q, (200_000, 1)), "LF_FOOT", force, "mixed"),
}
said = {}
for name, call in calls.items():
    try:
        call()
        said[name] = "computed"
    except MemoryError as error:
        said[name] = str(error)
small = dtau.inverse_dynamics_derivatives(model, many[:1000], v, a)
assert dtau.random_state(model, rng, shape=(1000,)).q.shape == (1000, 19)
print(json.dumps(said))
"""


@pytest.mark.processes
@linux
@pytest.mark.skipif(sanitized(), reason="the sanitizer needs much memory")
def test_memory_error_in_a_container(container: Path) -> None:
    """MemoryError, where the system killed the process; what fits is computed."""
    enter = f"with open({str(container / 'cgroup.procs')!r}, 'w') as file: file.write('0')\n"
    done = python(enter + PRELUDE + CONTAINED)
    assert done.returncode == 0, (done.returncode, done.stderr)
    for name, said in json.loads(done.stdout).items():
        assert said.startswith(f"{name}: the "), f"{name}: {said}"
        has_words(said, "bytes", "available", "smaller batch")
        available = int(re.search(r"(\d+) are available", said)[1])  # type: ignore[index]
        assert available < 1 << 30


ASKED = """
_core.require_memory("a test", 1.0, "use less")
try:
    _core.require_memory("a test", 1e18, "use less")
except MemoryError as error:
    print(json.dumps(str(error)))
"""


def test_what_is_said() -> None:
    said = script(ASKED)
    has_words(said, "a test: the arrays take 1000000000000000000 bytes", "available", "use less")


def model_and_feet() -> tuple[dtau.Model, Any, dtau.Contacts]:
    model = dtau.robots.quadruped()
    q, _, _ = dtau.random_state(model, np.random.default_rng(0))
    feet = [dtau.PointContact(foot) for foot in dtau.robots.QUADRUPED_FEET]
    return model, q, dtau.Contacts(model, feet, at=q)


MODEL, Q, FEET = model_and_feet()
SPATIAL = dtau.conventions.spatial_twist(MODEL)
MIXED = dtau.conventions.mixed_twist(MODEL)
ASKING: dict[str, Callable[[Any], Any]] = {  # of a batch of q
    "equilibrium": lambda q: dtau.equilibrium(MODEL, q, contacts=FEET),
    "project": lambda q: dtau.project(MODEL, q, FEET),
    "random_state": lambda q: dtau.random_state(MODEL, np.random.default_rng(1), len(q)),
    "wrench_at_frame_derivatives": lambda q: dtau.wrench_at_frame_derivatives(
        MODEL, q, "LF_FOOT", np.ones(6), "mixed"
    ),
    "from_dtau": lambda q: SPATIAL.from_dtau(q, np.ones(18), np.ones(18)),
    "to_dtau": lambda q: SPATIAL.to_dtau(q, np.ones(18), np.ones(18)),
    "torques": lambda q: MIXED.convert(np.ones(18), of="tau", at={"q": q}),
    "wrenches to dtau": lambda q: SPATIAL.convert(
        np.ones((13, 6)), of="f_ext", at={"q": q}, to_dtau=True
    ),
    "derivatives": lambda q: MIXED.convert(
        dtau.inverse_dynamics_derivatives(MODEL, Q, np.ones(18), np.ones(18)),
        at={"q": q, "v": np.ones(18), "a": np.ones(18), "tau": np.ones(18)},
    ),
    "stacks of velocities": lambda q: SPATIAL.convert(
        np.ones((3, 18)), of="v_derivatives", at={"q": q}
    ),
}


@pytest.mark.parametrize("name", ASKING)
def test_every_function_asks_before_it_takes_memory(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before it takes memory, and for at least as much as it takes."""
    asked: list[float] = []

    def keep(what: str, number: float, advice: str) -> None:
        assert name in what or re.fullmatch(r"a batch of \d+ states", what)
        asked.append(number)

    count, call = 3000, ASKING[name]
    batch = np.tile(Q, (count, 1))
    call(batch[:2])
    monkeypatch.setattr(checks, "_core", SimpleNamespace(require_memory=keep))
    kept = dtau.set_result_cache_limit(0)  # so that all memory is NumPy's, which is traced
    tracemalloc.start()
    result = call(batch)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    dtau.set_result_cache_limit(kept)
    del result
    assert most > 100 * count
    assert max(asked) > 0.9 * most, f"asked for {max(asked):.3g}, took {most:.3g}"

    def refuse(what: str, number: float, advice: str) -> None:
        raise MemoryError(what)

    monkeypatch.setattr(checks, "_core", SimpleNamespace(require_memory=refuse))
    with pytest.raises(MemoryError):
        call(batch[:2])
