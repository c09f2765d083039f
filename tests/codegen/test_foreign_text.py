"""Names of strangers in generated C: nothing of them leaves a comment, a string or an include."""

from __future__ import annotations

import ast
import random
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compiled import CC, CXX, needs_compiler, run
from files import ROOT

import dtau
from dtau.codegen.text import comment, include, string

INTRUDER = "#ifndef P\n#define P\nint intruder = 1;\n#endif\n"
LEAVES = (
    *("*/", "*\\\n/", "*??/\n/", "*ÿÿ/\n/", "*\\ \n/", "*\\\r\n/", "*\\\r/", "*/*", "**/"),
    *("\\", "??/", "é?/", '"', "'", "\n", ""),
)  # of a comment, a line, a string
RETURNS = ("/*", "/\\\n*", "/??/\n*", "")
HOSTILE = [
    *(f"{leave}\n{INTRUDER}{back}" for leave in LEAVES for back in RETURNS),
    *(f"*/{end}int intruder = 1;{end}/*" for end in "\n\r\v\f\x1c\x85\u2028\u2029"),
    "a\0*/\0int intruder;",
    "\x1b[31m\x07",
    "%s%n{0}\\u002a/ int intruder; ",
    "é中\U0001f916\u202e*/",
    "*" * 3000 + "/",
    "x" * 10_000 + "*/int intruder;/*",
    "*/ int intruder; /*" * 500,
]
ALPHABET = "*/\\?\"'\n\r\v\f\t #%:<>{};=()&|a_1\x00\x1b\x7f\x85\u2028é\U0001f916"
PARTS = (*LEAVES, *RETURNS, "int intruder = 1;", "\nint intruder;\n", "\n#define r_torque x\n")
STANDARDS = (
    ("-std=gnu11", "-O0"),
    ("-std=c99", "-O0"),
    ("-std=gnu11", "-trigraphs", "-O0"),
    CXX,
    ("-xc++", "-std=gnu++11", "-trigraphs", "-O0"),
)


def drawn_names(count: int) -> list[str]:
    """Hostile names as chance has them, the same ones every time."""
    draw = random.Random(7)
    return [
        "x".join(
            draw.choice(PARTS) if draw.random() < 0.3 else draw.choice(ALPHABET)
            for _ in range(draw.randrange(1, 30))
        )
        or "x"
        for _ in range(count)
    ]


def generate(name: str, path: Path, **options: Any) -> dtau.GeneratedCode:
    """Functions of a robot with this name for all that has one."""
    builder = dtau.ModelBuilder(name)
    inertia = dtau.Inertia(1.0, (0.1, 0, 0), np.eye(3))
    place = dtau.Pose(np.eye(3), (1, 0, 0))
    last = builder.add(dtau.Revolute((0, 0, 1)), name=name, inertia=inertia)
    builder.add(
        dtau.Revolute((0, 1, 0)),
        name=f"{name}2",
        parent=last,
        placement=place,
        inertia=inertia,
        mimic=dtau.Mimic(name, 2.0),
    )
    model = builder.build()
    contacts = dtau.Contacts(model, [dtau.PointContact(name)])
    functions: dict[str, Any] = {
        "torque": "inverse_dynamics",
        "tip": ("frame_jacobians", {"frames": [name, f"{name}2"]}),
        "hit": ("constrained_dynamics", {"contacts": contacts, "regularization": 1e-6}),
    }
    given = [f"payload={name}"]
    return dtau.generate(model, functions, path, prefix="r_", parameters=given, **options)


def texts(code: dtau.GeneratedCode) -> list[str]:
    return [x.read_bytes().decode("ascii") for x in (code.source, code.header)]


def without_comments(code: str) -> str:
    return re.sub(r"/\*.*?\*/", "", code, flags=re.DOTALL)


@pytest.mark.compilers
@pytest.mark.parametrize("names", [HOSTILE, drawn_names(60)], ids=["made", "drawn"])
def test_names_of_a_robot_change_only_comments(names: list[str], tmp_path: Path) -> None:
    """Without backslashes and trigraphs a compiler reads the text as it stands here."""
    path = tmp_path / "robot.c"
    want = [without_comments(x) for x in texts(generate("plain", path, casadi=0))]
    for name in names:
        for got, plain in zip(texts(generate(name, path, casadi=0)), want, strict=True):
            assert re.fullmatch(r"[ -~\n]*", got)
            assert "\\" not in got
            assert "??" not in got
            assert without_comments(got) == plain
            assert max(map(len, got.splitlines())) < 4095


def symbols(code: dtau.GeneratedCode, flags: tuple[str, ...]) -> list[str]:
    """All that the file defines or needs when it is compiled; types and names."""
    made = code.source.with_suffix(".o")
    run(*flags, "-Wall", "-Wextra", "-Werror", "-c", code.source, "-o", made)
    listed = subprocess.run(["nm", made], capture_output=True, text=True, check=True).stdout
    return sorted(" ".join(line.split()[-2:]) for line in listed.splitlines())


@pytest.mark.compilers
@needs_compiler
@pytest.mark.skipif(shutil.which("nm") is None, reason="there is no nm")
@pytest.mark.parametrize("flags", STANDARDS, ids=" ".join)
def test_generated_files_define_only_the_functions(flags: tuple[str, ...], tmp_path: Path) -> None:
    path = tmp_path / "robot.c"
    want = symbols(generate("plain", path), flags)
    outside = {x for x in want if x[0].isupper() and x[0] != "U"}
    assert outside == {"T r_torque", "T r_tip", "T r_hit", "T r_check"}
    for name in (*HOSTILE[::13], drawn_names(1)[0]):
        assert symbols(generate(name, path), flags) == want


@needs_compiler
def test_names_of_a_urdf_run_nothing(tmp_path: Path) -> None:
    """The file of a robot whose name closes the comment by joining lines."""
    runs = "static __attribute__((constructor)) void p(void){puts(&quot;runs&quot;);}"
    lines = ("*\\", "/", "#ifndef P", "#define P", "#include &lt;stdio.h&gt;", runs, "#endif")
    name = "&#10;".join((*lines, "/\\", "*"))
    (tmp_path / "arm.urdf").write_text(
        f'<robot name="{name}"><link name="a"/><link name="b"><inertial><mass value="1"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        '<joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint></robot>'
    )
    model = dtau.load(tmp_path / "arm.urdf")
    code = dtau.generate(model, "inverse_dynamics", tmp_path / "arm.c")
    (tmp_path / "main.c").write_text('#include "arm.h"\nint main(void) { return arm_check(); }\n')
    run("-O0", code.source, tmp_path / "main.c", "-o", tmp_path / "main", "-lm")
    done = subprocess.run([tmp_path / "main"], capture_output=True, check=False, timeout=300)
    assert (done.returncode, done.stdout) == (0, b"")


def test_comments_are_written_in_one_place() -> None:
    """No other module has a comment that is not all its own."""
    for file in (ROOT / "python/dtau/codegen").glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.JoinedStr) and file.name != "text.py":
                assert "/*" not in ast.unparse(node), f"{file.name}:{node.lineno}"
                assert "#include" not in ast.unparse(node), f"{file.name}:{node.lineno}"


@pytest.mark.parametrize("name", HOSTILE[:12])
def test_comments_and_strings(name: str) -> None:
    made = comment(name, name)
    assert made.count("*/") == made.count("/*") == 1
    assert "\\" not in made
    inside = string(name)[1:-1]
    assert re.fullmatch(r"[ -~]*", inside)
    assert inside.encode().decode("unicode_escape").encode("latin-1").decode() == name
    assert not re.search(r'(?<!\\)"|\?', inside)


@needs_compiler
@pytest.mark.parametrize("stem", ["a b", "1x", "-o", "a+b=(c)[d]{e}~#%@,", "x.y"])
def test_names_of_files(stem: str, tmp_path: Path) -> None:
    code = dtau.generate(dtau.robots.chain(1), "mass_matrix", tmp_path / f"{stem}.c")
    assert code.header.is_file()
    assert CC is not None
    run("-std=c99", "-c", code.source, "-o", tmp_path / "robot.o")


@pytest.mark.parametrize("stem", ['a"b', "a\nb", "é", "a\\b", "a??b", "a<b>", "a'b", "$(x)", "a;b"])
def test_file_names_that_c_cannot_include_are_refused(stem: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"^path: expected a file's name of ASCII letters") as told:
        dtau.generate(dtau.robots.chain(1), "mass_matrix", tmp_path / f"{stem}.c", prefix="a_")
    assert repr(f"{stem}.h") in str(told.value)
    assert not list(tmp_path.iterdir())
    with pytest.raises(ValueError, match=r"^path"):
        include(stem)
