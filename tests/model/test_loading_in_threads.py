"""Loading xacro and MJCF in threads: their packages keep state for the whole process."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from processes import script

import dtau

pytestmark = pytest.mark.processes

XMLNS = 'xmlns:xacro="http://www.ros.org/wiki/xacro"'
INERTIA = '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
posix = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs POSIX")


@pytest.fixture
def short_turns() -> Iterator[None]:
    """Threads take turns after every few operations."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def robot(folder: Path, name: str, mass: str = "1", more: str = "") -> Path:
    """A robot with a part in a file beside it and one in a package `parts`."""
    (folder / name).mkdir()
    for file, text in {
        "package.xml": "<package><name>parts</name></package>",
        "part.xacro": f'<robot {XMLNS}><link name="part of {name}"/></robot>',
        "body.xacro": f'<robot {XMLNS}><link name="b"><inertial><mass value="{mass}"/>{INERTIA}'
        f'</inertial></link><link name="body of {name}"/></robot>',
        "robot.xacro": f'<robot name="{name}" {XMLNS}>{more}<link name="a"/>'
        '<xacro:include filename="part.xacro"/><xacro:include filename="$(find parts)/body.xacro"/>'
        '<joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint>'
        f'<joint name="k" type="fixed"><parent link="b"/><child link="part of {name}"/></joint>'
        f'<joint name="l" type="fixed"><parent link="b"/><child link="body of {name}"/></joint>'
        "</robot>",
    }.items():
        (folder / name / file).write_text(text)
    return folder / name / "robot.xacro"


def is_robot(model: dtau.Model, name: str) -> bool:
    frames = {"b", f"part of {name}", f"body of {name}"}
    return model.name == name and {link.name for link in model.links} == {"a", *frames}


class TestXacro:
    @pytest.fixture(autouse=True)
    def _with_xacrodoc(self) -> None:
        pytest.importorskip("xacrodoc")

    @pytest.mark.usefixtures("short_turns")
    def test_each_thread_gets_its_own_robot(self, tmp_path: Path) -> None:
        """Or its own error."""
        robots = {f"r{i}": robot(tmp_path, f"r{i}") for i in range(4)}
        for i in range(2):
            robots[f"w{i}"] = robot(tmp_path, f"w{i}", mass=f"${{unknown{i}}}")

        def outcome(name: str) -> object:
            try:
                return is_robot(dtau.load(robots[name]), name)
            except dtau.ModelError as error:
                return str(error)

        alone = [outcome(name) for name in robots]
        assert alone[:4] == [True] * 4
        assert [f"unknown{i}" in str(alone[4 + i]) for i in range(2)] == [True] * 2
        with ThreadPoolExecutor(len(robots)) as pool:
            together = pool.map(lambda name: [outcome(name) for _ in range(15)], robots)
            assert list(together) == [[one] * 15 for one in alone]

    def test_packages_are_found_as_in_a_new_process(self, tmp_path: Path) -> None:
        """Files loaded before had a package of the same name."""
        for name in ("one", "two", "three"):
            assert is_robot(dtau.load(robot(tmp_path, name)), name)
        (tmp_path / "three/package.xml").unlink()
        with pytest.raises(dtau.ModelError, match="found no package 'parts'"):
            dtau.load(tmp_path / "three/robot.xacro")

    def test_packages_that_the_program_named(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        import xacrodoc

        monkeypatch.setattr(xacrodoc.packages, "_finder", xacrodoc.packages.PackageFinder())
        path = robot(tmp_path, "r")
        (tmp_path / "elsewhere").mkdir()
        for name in ("package.xml", "body.xacro"):
            (tmp_path / "r" / name).rename(tmp_path / "elsewhere" / name)
        xacrodoc.packages.look_in([str(tmp_path / "elsewhere")])
        assert is_robot(dtau.load(path), "r")

    def test_expressions_change_nothing_for_files_after(self, tmp_path: Path) -> None:
        more = '<xacro:property name="x" value="${math.update(pi=3) or [sin := 3 for _ in [1]]}"/>'
        used = '<xacro:property name="y" value="${x}"/><material name="${y}"/>'
        dtau.load(robot(tmp_path, "one", more=more + used))
        after = robot(tmp_path, "two", mass="${math.pi + sin(pi)}")
        assert dtau.load(after).mass == pytest.approx(3.14159, abs=1e-5)

    @pytest.mark.parametrize("case", ["right", "wrong", "interrupted"])
    def test_the_state_of_the_program_is_put_back(
        self, case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        import xacro
        import xacrodoc

        path = robot(tmp_path, "r", mass="1" if case != "wrong" else "${1 / 0}")
        monkeypatch.setattr(xacro, "filestack", ["program.xacro"])
        monkeypatch.setattr(xacro, "root_dir", "program")
        monkeypatch.setattr(xacro, "substitution_args_context", {"arg": {"program": "1"}})

        def state() -> tuple[Any, ...]:
            finder = xacrodoc.packages._finder
            names = ("filestack", "macrostack", "all_includes", "root_dir")
            values = [getattr(xacro, name) for name in (*names, "substitution_args_context")]
            whole = [*map(repr, values), id(xacro._global_symbols)]
            found = (*finder.finder_funcs, *finder.package_cache.items())
            return (*map(id, values), *whole, id(finder), *found)

        before = state()
        if case == "right":
            assert is_robot(dtau.load(path), "r")
        elif case == "wrong":
            with pytest.raises(dtau.ModelError, match="division by zero"):
                dtau.load(path)
        else:
            with monkeypatch.context() as patch:
                patch.setattr(xacro, "process_include", interrupted)
                with pytest.raises(KeyboardInterrupt):
                    dtau.load(path)
        assert state() == before
        with ThreadPoolExecutor(1) as pool:  # the lock is open
            assert pool.submit(dtau.load, robot(tmp_path, "other")).result(10).name == "other"

    def test_one_that_loads_while_it_is_expanded(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A signal handler may load a file at any moment."""
        import xacro

        inner, original, seen = robot(tmp_path, "inner"), xacro.process_include, []

        def loading(*arguments: Any) -> Any:
            monkeypatch.setattr(xacro, "process_include", original)
            seen.append(is_robot(dtau.load(inner), "inner"))
            return original(*arguments)

        monkeypatch.setattr(xacro, "process_include", loading)
        assert is_robot(dtau.load(robot(tmp_path, "outer")), "outer")
        assert seen == [True]

    @posix
    def test_a_child_that_is_forked_during_a_load_can_load(self, tmp_path: Path) -> None:
        paths = [str(robot(tmp_path, name)) for name in ("one", "two")]
        assert script(FORK, *paths) == [0] * 8


def interrupted(*_: object) -> None:
    raise KeyboardInterrupt


FORK = """
import os, signal, threading, time
import xacro
stop = False
def load():
    while not stop:
        dtau.load(sys.argv[1])
dtau.load(sys.argv[1])  # imports amid a fork are another matter
thread = threading.Thread(target=load)
thread.start()
ends = []
for k in range(8):
    time.sleep(0.003 * k)
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        right = xacro.filestack is None and dtau.load(sys.argv[2]).name == "two"
        os._exit(0 if right else 1)
    ends.append(os.waitpid(child, 0)[1])
stop = True
thread.join()
print(json.dumps(ends))
"""


# MJCF: each case in a process of its own, for a mistake ends the process

WARNS = """
import warnings
import mujoco
warnings.simplefilter("ignore")
def text(name, bodies=1):
    body = '<body><freejoint/><geom size=".1"/></body>' * bodies
    return (f'<mujoco model="{name}"><compiler settotalmass="2"/>'
            f'<worldbody>{body}</worldbody></mujoco>')
def notes(model):
    return sum(note.startswith("MuJoCo: ") for note in model.notes)
want = notes(dtau.load(text("m")))  # 1; a MuJoCo that does not warn of this has none
seen = []
def mine(text):
    seen.append(text)
plain = mujoco.MjModel.from_xml_string(
    '<mujoco><worldbody><body><joint/><geom size=".1"/></body></worldbody></mujoco>')
def warn():
    data = mujoco.MjData(plain)
    data.qpos[0] = float("nan")
    mujoco.mj_step(plain, data)
"""
EACH_ITS_OWN = """
sys.setswitchinterval(1e-5)
mujoco.set_mju_user_warning(mine)
made = []
def load(i):
    for _ in range(40):
        model = dtau.load(text(f"m{i}"))
        made.append((model.name, notes(model)) == (f"m{i}", want))
        try:
            dtau.load(text(f"m{i}").replace("geom", f"geom{i}"))
        except dtau.ModelError as error:
            made[-1] &= f"geom{i}" in str(error)
threads = [threading.Thread(target=load, args=(i,)) for i in range(4)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
kept = mujoco.get_mju_user_warning() is mine
print(json.dumps([made.count(True), kept, len(seen), os.listdir()]))
"""
MEANWHILE = """
given, new, stop, made = sys.argv[1] == "given", sys.argv[2] == "new", False, 0
if given:
    mujoco.set_mju_user_warning(mine)
def busy():
    global made
    while not stop:
        if new:  # a thread that begins amid a load
            one = threading.Thread(target=warn)
            one.start()
            one.join()
        else:
            warn()
        made += 1
thread = threading.Thread(target=busy)
thread.start()
right = [notes(dtau.load(text("m", bodies=20))) == want for _ in range(60)]
stop = True
thread.join()
files = os.listdir()
logged = open(files[0]).read() if files else ""
kept = mujoco.get_mju_user_warning() is (mine if given else None)
arrived = len(seen) if given else logged.count("Nan, Inf")
print(json.dumps([all(right), made > 0, arrived - made, "settotalmass" in logged, kept]))
"""
CTRL_C = """
mujoco.set_mju_user_warning(mine)
signal.signal(signal.SIGALRM, signal.default_int_handler)
ends = []
for bodies in (1, 30, 400):
    for k in range(1, 8):
        try:
            signal.setitimer(signal.ITIMER_REAL, 1e-4 * k)
            for _ in range(1000):
                dtau.load(text("m", bodies))
        except KeyboardInterrupt:
            pass
        signal.setitimer(signal.ITIMER_REAL, 0)
        ends.append(mujoco.get_mju_user_warning() is mine)
other = []
thread = threading.Thread(target=lambda: other.append(notes(dtau.load(text("m")))))
thread.start()
thread.join(20)
print(json.dumps([ends.count(True), other == [want], len(seen)]))
"""
OF_THE_PROGRAM = """
import ctypes
def refused():
    try:
        dtau.load('<mujoco><compiler settotalmass="2"/><worldbody><x/></worldbody></mujoco>')
    except dtau.ModelError:
        return True
native = []
function = ctypes.CFUNCTYPE(None, ctypes.c_char_p)(native.append)
kept = []
for handler in (None, mine, function):
    mujoco.set_mju_user_warning(handler)
    dtau.load(text("m"))
    kept += [mujoco.get_mju_user_warning() is handler, refused()]
    kept += [mujoco.get_mju_user_warning() is handler]
warn()
started = time.monotonic()
thread = threading.Thread(target=lambda: dtau.load(text("m", 800)))
thread.start()
while mujoco.get_mju_user_warning() is function and thread.is_alive():
    time.sleep(1e-4)
amid = mujoco.get_mju_user_warning() is not function
warn()  # reaches the C function of the program through the handler of the load
mujoco.set_mju_user_warning(mine)  # by the program, amid a load
thread.join()
kept.append(mujoco.get_mju_user_warning() is mine)
print(json.dumps([all(kept), amid, len(native)]))
"""
FORKED = """
mujoco.set_mju_user_warning(mine)
thread = threading.Thread(target=lambda: dtau.load(text("m", 800)))
thread.start()
while mujoco.get_mju_user_warning() is mine and thread.is_alive():
    time.sleep(1e-4)
amid = mujoco.get_mju_user_warning() is not mine
child = os.fork()
if child == 0:
    signal.alarm(20)
    warn()
    right = len(seen) == 1 and notes(dtau.load(text("m"))) == want
    os._exit(0 if right and mujoco.get_mju_user_warning() is mine else 1)
end = os.waitpid(child, 0)[1]
thread.join()
print(json.dumps([amid, end, mujoco.get_mju_user_warning() is mine]))
"""


class TestMjcf:
    @pytest.fixture(autouse=True)
    def _with_mujoco(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        pytest.importorskip("mujoco")
        monkeypatch.chdir(tmp_path)

    def test_each_load_has_its_own_warnings(self) -> None:
        assert script(WARNS + EACH_ITS_OWN) == [160, True, 0, []]

    @pytest.mark.parametrize("threads", ["old", "new"])
    @pytest.mark.parametrize("handler", ["given", "default"])
    def test_warnings_of_other_threads_arrive(self, handler: str, threads: str) -> None:
        """At the program's handler; without one they are written as MuJoCo writes them."""
        assert script(WARNS + MEANWHILE, handler, threads) == [True, True, 0, False, True]

    @posix
    def test_ctrl_c_raises_after_the_compiler_ends(self) -> None:
        assert script(WARNS + CTRL_C) == [21, True, 0]

    def test_the_handler_of_the_program_stays(self) -> None:
        """After a load, after an error, and if the program sets another one meanwhile."""
        assert script(WARNS + OF_THE_PROGRAM) == [True, True, 2]

    @posix
    def test_a_child_that_is_forked_during_a_load_can_load(self) -> None:
        assert script(WARNS + FORKED) == [True, 0, True]
