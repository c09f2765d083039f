"""Generated C: robots, files and functions of any name, options right and wrong.

A case draws names that try to leave comments, strings and includes, or that C, its library or other
parts of the file have already. `dtau.generate` must refuse them with an error that names an
argument, and leave no file; or what it writes compiles in a random dialect, defines the functions
that it says and no others, includes nothing else, and its own check finds the numbers right.

Takes a compiler (CC, or cc); a case takes a tenth of a second.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import shutil
import subprocess
import tempfile
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import argument_laws
import numpy as np
from cases import robot, serial
from functions import FUNCTIONS
from odd_values import choose

import dtau

Rng = np.random.Generator
CC = shutil.which(os.environ.get("CC", "cc"))
DIALECTS = ("-std=c99", "-std=gnu99", "-std=c11", "-std=gnu11", "-std=gnu17")
LARGEST = 4000  # operations: larger functions are written, and not compiled

# fmt: off
# `intruder` must not become a symbol, an include or a directive.
BREAKS = (
    "*/ int intruder; /*", "*\\\n/ int intruder; /*", "??/\n int intruder;",
    "*??/\n/ int intruder;", "\n#include <intruder.h>\n", '"; int intruder; char *s = "',
    '\\"; int intruder;', "//\\", "\r int intruder;", "\u2028int intruder;", "é??/", "ä/", "ß*/",
    "//", "/*", "*/", "\\", "??/", "'", '"', "%s%n", "\x1b[31m", "\0", "\ud800", "a b", "", "*",
    "x" * 5000, "\t", "\x7f", "$(x)", "\n#error intruder\n", "\v#define double intruder",
    '\n_Pragma("intruder")', "<h>\n",
)
NAMES = (
    "check", "nq", "nv", "nbodies", "main", "int", "double", "float", "sin", "cos", "sqrt", "exp",
    "f", "f_1", "f_2", "f_part", "H", "_", "__x", "_X", "NULL", "INFINITY", "restrict", "inline",
    "_Bool", "bool", "class", "new", "q", "v", "tau", "out", "x", "n", "i", "casadi_f", "M_PI",
    "f_work", "f_n_in", "f_sparsity_in", "errno", "defined", "size_t", "x" * 70, "a1", "J", "M",
)
FILES = (
    "robot.c", "a.c", "my robot.c", "é.c", "x-y.c", "1.c", "_.c", "check.c", "math.c", "int.c",
    'a"b.c', "a\nb.c", "a\\b.c", "a??/.c", "-o.c", "a'b.c", "$x.c", "%s.c", ".c", "robot.h",
    "x" * 250 + ".c", "robot", "", "\0.c", "..c", "a.b.c", "*.c", "\ud800.c", "#.c", "<x>.c",
)
# fmt: on


def check(rng: Rng) -> str:
    """Return "compiled", "written" or "refused", or raise AssertionError."""
    model = renamed(rng, choose(rng, MODELS))
    functions = {drawn_name(rng): drawn_function(rng, model) for _ in range(rng.integers(1, 4))}
    options: dict[str, Any] = {}
    if rng.random() < 0.3:
        options["prefix"] = choose(rng, [drawn_name(rng), "r_", "", "_", "é"])
    if rng.random() < 0.2:
        options["scalar"] = choose(rng, ["float", "double", "float", "half"])
    if rng.random() < 0.2:
        link = choose(rng, [*model.frames, "no such link"])
        choices = (["gravity"], ["f_ext"], [f"payload={link}"], ["gravity", "gravity"], ["\0"], [])
        options["parameters"] = choose(rng, choices)
    if rng.random() < 0.15:
        options["casadi"] = choose(rng, [0, 1, 0, 1, 2, 3])
    name = choose(rng, FILES) if rng.random() < 0.4 else "robot.c"
    what = f"{model.links!r:.800}, {model.name!r}, {shown(functions)}, {name!r}, {options}"
    with tempfile.TemporaryDirectory() as folder:
        return written(rng, model, functions, Path(folder), name, options, what)


MODELS = (
    *(robot("one revolute"), robot("one universal"), serial("prismatic", "revolute").model()),
    serial("revolute", "fixed", "revolute").model(),
)


def shown(functions: dict[str, Any]) -> str:
    """The request in words; a `Contacts` that was never made cannot be printed."""
    with contextlib.suppress(AttributeError):
        return f"{functions!r:.800}"
    return str(list(functions))


def drawn_name(rng: Rng) -> str:
    kind = rng.random()
    if kind < 0.1:
        return str(choose(rng, BREAKS))
    name = choose(rng, NAMES) if kind < 0.7 else f"f{rng.integers(4)}"
    return str(name) + str(choose(rng, ["", "", "", "_1", "_out"]))


def renamed(rng: Rng, model: dtau.Model) -> dtau.Model:
    """The same robot, of which things have other names."""
    odd = [str(choose(rng, BREAKS + NAMES)) for _ in range(3 + 2 * len(model.links))]
    odd = [name.encode("utf-8", "replace").decode() for name in odd]  # names can be encoded
    if rng.random() < 0.3:
        return dtau.Model(odd[0], model.links)
    names = {link.name: f"{odd[k + 1]}{k}" for k, link in enumerate(model.links)}
    links = [
        replace(
            link,
            name=names[link.name],
            parent=None if link.parent is None else names[link.parent],
            joint_name=f"{odd[-k - 1]}{k}",
        )
        for k, link in enumerate(model.links)
    ]
    return dtau.Model(odd[0], links)


def drawn_function(rng: Rng, model: dtau.Model) -> Any:
    """A function with its options, one of which may be anything."""
    function = choose(rng, FUNCTIONS)
    options = function.options_for(model)
    if options and rng.random() < 0.15:
        name = choose(rng, list(options))
        values = argument_laws.OPTIONS[name].values if name in argument_laws.OPTIONS else (None,)
        value = choose(rng, values)
        options[name] = value(model) if callable(value) and not isinstance(value, type) else value
    if rng.random() < 0.05:
        options[choose(rng, ["intruder", "order", "out", "threads", "*/"])] = 1
    return (function.name, options) if options else function.name


def written(
    rng: Rng,
    model: dtau.Model,
    functions: dict[str, Any],
    folder: Path,
    name: str,
    options: dict[str, Any],
    what: str,
) -> str:
    """Generate, and compile what was written."""
    error = ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            code = dtau.generate(model, functions, folder / name, **options)
    except (ValueError, TypeError, OSError) as refused:
        error = str(refused)
    if error or not os.path.lexists(folder / name):
        assert error, f"no file: {what}"
        assert re.search(ARGUMENTS, error, re.I) or names_one(error, functions), f"{error}: {what}"
        assert not list(folder.iterdir()), f"{error}, but files were written: {what}"
        return "refused"
    assert set(folder.iterdir()) == {code.source, code.header}, what
    if sum(code.operations.values()) > LARGEST or CC is None:
        return "written"
    compiled(rng, code, folder, "casadi" in options, what)
    return "compiled"


ARGUMENTS = (
    r"model|function|path|file|prefix|scalar|parameters|casadi|option|joint|expected|name|"
    r"directory|null byte|frame|contact|embedded"
)


def names_one(error: str, functions: dict[str, Any]) -> bool:
    return any(name and name in error for name in functions)


def compiled(rng: Rng, code: dtau.GeneratedCode, folder: Path, casadi: bool, what: str) -> None:
    """The compiler takes it; it defines what it says, and reads its own header alone."""
    assert CC is not None
    command = [CC, choose(rng, DIALECTS), "-w", "-O0", "-shared", "-fPIC", "-MMD", "-MF", "deps"]
    command += ["-o", "code.so", f"./{code.source.name}", "-lm"]
    done = subprocess.run(command, cwd=folder, capture_output=True, timeout=120, check=False)
    assert done.returncode == 0, f"{done.stderr.decode(errors='replace')[:600]}: {what}"
    library = folder / "code.so"
    listed = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True)
    symbols = {line.split()[-1] for line in listed.stdout.splitlines()}
    functions = set(code.operations)
    others = {x for x in symbols - functions if not (casadi and "casadi_" in x)}
    assert len(others) == 1, f"{others}: {what}"
    assert functions <= symbols, f"{functions - symbols} are missing: {what}"
    assert all(x.endswith("check") for x in others), f"{others}: {what}"
    assert (folder / "deps").read_bytes().count(b"/") <= 2 + b"??/".count(b"/"), what
    found = getattr(ctypes.CDLL(str(library)), others.pop())()
    assert found == 0, f"check() says that function {found} is wrong: {what}"
