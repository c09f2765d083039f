"""Messages use names that users have, and say what was meant."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
import sys
from collections.abc import Callable
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from files import ROOT
from messages import has_words, message

import dtau
from dtau.support.hints import HERE, RENAMED

MODEL = dtau.robots.quadruped()
Q, V = dtau.neutral(MODEL), np.zeros(MODEL.nv)
HELD = dtau.Contacts(MODEL, [dtau.PointContact("LF_FOOT")])


@pytest.mark.parametrize(("there", "here"), HERE.items())
def test_names_of_pinocchio_say_what_they_are_here(there: str, here: str) -> None:
    assert not hasattr(dtau, there)
    if here.startswith("distances."):
        pytest.importorskip("coal")
        importlib.import_module("dtau.distances")  # users import it themselves
    assert reduce(getattr, here.split("."), dtau) is not None
    with pytest.raises(AttributeError) as caught:
        getattr(dtau, there)
    assert str(caught.value) == (
        f"module 'dtau' has no attribute {there!r}; Pinocchio's {there} is dtau.{here} here"
    )


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Linearization", "; it is dtau.results.Linearization"),
        ("StepProductsWithWrenches", "; it is called dtau.results.StepVJP now"),
        ("ConstrainedDynamicsVariation", "; it is called dtau.results.ConstrainedDynamicsJVP now"),
        ("keep_memory", "; it is called dtau.set_result_cache_limit now"),
        ("nonsense", ""),
    ],
)
def test_former_names_say_what_they_are_now(name: str, said: str) -> None:
    assert not hasattr(dtau, name)
    with pytest.raises(AttributeError, match=f"^module 'dtau' has no attribute {name!r}{said}$"):
        getattr(dtau, name)


def test_modules_that_are_not_imported_say_so() -> None:
    code = """import importlib.util, dtau
from dtau.support.hints import MODULES
for name in MODULES:
    try:
        getattr(dtau, name)
    except AttributeError as error:
        wanted = f"module 'dtau' has no attribute {name!r}; import dtau.{name} imports that module"
        assert str(error) == wanted, error
    else:
        raise AssertionError(name)
    assert importlib.util.find_spec(f"dtau.{name}")"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_renamed_names_exist_under_their_new_ones() -> None:
    for here in RENAMED.values():
        assert reduce(getattr, here.split("."), dtau) is not None


def test_names_of_pinocchio_are_pinocchios() -> None:
    pin = pytest.importorskip("pinocchio")
    assert [name for name in HERE if not hasattr(pin, name)] == []


def test_other_names_are_missing_as_ever() -> None:
    with pytest.raises(AttributeError, match=r"^module 'dtau' has no attribute 'nothing'$"):
        _ = dtau.nothing  # type: ignore[attr-defined]
    code = "import dtau; dtau.inverse_dynamic"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "has no attribute 'inverse_dynamic'. Did you mean: 'inverse_dynamics'?" in done.stderr
    code = "import dtau, sys; assert 'dtau.support.hints' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("inverse_dynamics_derivative", "inverse_dynamics_derivatives"),
        ("forward_dynamics_hesian", "forward_dynamics_hessian"),
        ("inverse_dynamics_parameter_derivatives", "inverse_dynamics.parameter_derivatives"),
        ("step_derivatives", "step.derivatives"),
    ],
)
def test_names_that_dir_leaves_out_are_suggested(name: str, meant: str) -> None:
    with pytest.raises(AttributeError, match=rf"{name}'; did you mean dtau\.{meant}\?$"):
        getattr(dtau, name)
    assert meant not in dir(dtau)


def test_attributes_of_functions_are_suggested() -> None:
    code = "import dtau; dtau.inverse_dynamics.hesian"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "has no attribute 'hesian'. Did you mean: 'hessian'?" in done.stderr


def test_a_type_checker_misses_names_too() -> None:
    """It takes every name for an attribute where it sees a `__getattr__` of the module."""
    module = ast.parse(Path(dtau.__file__).read_text(encoding="utf-8"))
    assert "__getattr__" not in [x.name for x in module.body if isinstance(x, ast.FunctionDef)]
    (hidden,) = (x for x in module.body if isinstance(x, ast.If))
    assert ast.unparse(hidden.test) == "not TYPE_CHECKING"


@pytest.mark.parametrize(
    "call",
    [
        lambda tau: dtau.forward_dynamics(MODEL, Q, V, tau),
        lambda tau: dtau.forward_dynamics_derivatives(MODEL, Q, V, tau),
        lambda tau: dtau.step(MODEL, Q, V, tau, 0.01),
        lambda tau: dtau.linearize(MODEL, Q, V, tau),
        lambda tau: dtau.constrained_dynamics(MODEL, Q, V, tau, HELD),
        lambda tau: dtau.step(MODEL, Q, V, tau, 0.01, contacts=HELD),
    ],
)
@pytest.mark.parametrize("batch", [(), (3,)])
def test_torques_without_the_free_root(call: Callable[[Any], Any], batch: tuple[int, ...]) -> None:
    text = message(ValueError, call, np.zeros((*batch, 12)))
    has_words(text, "tau", 12, 18, "the 6 numbers of the free root are missing", "zeros")
    assert "inputs= of dtau.linearize" in text
    assert "free root" not in message(ValueError, call, np.zeros((*batch, 13)))


def test_only_torques_lack_the_free_root() -> None:
    assert "free root" not in message(ValueError, dtau.forward_dynamics, MODEL, Q, np.zeros(12), V)
    arm = dtau.robots.chain(6)
    wrong = (arm, dtau.neutral(arm), np.zeros(6), np.zeros(0))
    assert "free root" not in message(ValueError, dtau.forward_dynamics, *wrong)


class Model:
    """Of another package, such as Pinocchio's."""


@pytest.mark.parametrize(
    "call",
    [
        lambda model: dtau.forward_dynamics(model, Q, V, V),
        lambda model: dtau.neutral(model),
        lambda model: dtau.Contacts(model, []),
        lambda model: dtau.linearize(model, Q, V, V, inputs=np.ones(18, dtype=bool)),
        lambda model: dtau.generate(model, ["inverse_dynamics"], "x.c"),
        lambda model: dtau.load(model),
        lambda model: dtau.view(model),
    ],
)
def test_a_model_of_another_package_is_named_with_it(call: Callable[[Any], Any]) -> None:
    text = message(TypeError, call, Model())
    assert "Model, got " in text or "XML text, got " in text
    assert text.endswith(f"got {__name__}.Model")
    assert message(TypeError, call, 3).endswith("got int")


def massless(model: dtau.Model) -> dtau.Model:
    """The model with a wheel at a foot that nothing accelerates."""
    wheel = dtau.Link("wheel", "LF_FOOT", dtau.Revolute((0, 1, 0)), "axle")
    with pytest.warns(dtau.ModelWarning):
        return dtau.Model("wheeled", [*model.links, wheel])


def test_messages_name_functions_that_there_are() -> None:
    model = massless(MODEL)
    contacts = dtau.Contacts(model, [dtau.PointContact("LF_FOOT")])
    q, v = dtau.neutral(model), np.zeros(model.nv)
    lam = {"lam_q": v, "lam_v": v}
    for name, arguments in {
        "step": {"dt": 0.01},
        "step_vjp": {"dt": 0.01, **lam},
        "linearize": {},
        "linearize_discrete": {"dt": 0.01},
    }.items():
        function = getattr(dtau, name)
        text = message(ValueError, function, model, q, v, v, **arguments, contacts=contacts)
        assert text.startswith(f"{name}: expected a model in which every joint has inertia")
    text = message(ValueError, dtau.constrained_dynamics, model, q, v, v, contacts)
    assert text.startswith("constrained_dynamics: ")


def test_a_mask_is_asked_for_where_a_map_is_refused() -> None:
    arguments = (MODEL, Q, V, V, HELD)
    for inputs in (np.zeros((18, 2)), np.zeros(18), np.ones(12, dtype=bool)):
        text = message(ValueError, dtau.constrained_inverse_dynamics, *arguments, inputs=inputs)
        has_words(text, "inputs", "mask", "(18,)")
        assert "map" not in text


NAME = np.str_("body5")


@pytest.mark.parametrize(
    "call",
    [
        lambda: MODEL.frame(NAME),
        lambda: MODEL.joint(NAME),
        lambda: MODEL.link(NAME),
        lambda: MODEL.lock({NAME: 0.0}),
        lambda: MODEL.replace(armature={NAME: 0.0}),
        lambda: MODEL.add_frame("new", NAME),
        lambda: dtau.frame_jacobians(MODEL, Q, NAME),
        lambda: dtau.frame_placements(MODEL, Q, np.array(["LF_FOOT", NAME])),
        lambda: dtau.wrench_at_frame(MODEL, Q, NAME, np.zeros(6)),
        lambda: dtau.inverse_dynamics(MODEL, Q, V, V, f_ext_axes=NAME),
        lambda: dtau.step(MODEL, Q, V, V, 0.01, NAME),
        lambda: dtau.configuration(MODEL, {NAME: 0.0}),
        lambda: dtau.hybrid_dynamics(MODEL, Q, V, V, V, prescribed=[NAME]),
        lambda: dtau.Contacts(MODEL, [dtau.PointContact(NAME)]),
        lambda: HELD.rows(NAME),
        lambda: dtau.Loop(NAME, NAME),
        lambda: dtau.load(NAME),
        lambda: dtau.load(dtau.robots.__file__, root=NAME),
        lambda: dtau.generate(MODEL, [NAME], "x.c"),
        lambda: MODEL.replace(armature={NAME: "a"}),
        lambda: MODEL.replace(armature=NAME),
        lambda: dtau.equilibrium(MODEL, Q, inputs=[NAME]),
        lambda: dtau.random_state(MODEL, np.random.default_rng(0), shape=(NAME,)),
        lambda: dtau.robots.chain(2, joints=[NAME]),
        lambda: dtau.robots.chain(NAME),
    ],
)
def test_text_of_numpy_is_shown_as_text(call: Callable[[], Any]) -> None:
    with pytest.raises((ValueError, TypeError, OSError)) as caught:
        call()
    assert "'body5'" in str(caught.value)
    assert "np.str_" not in str(caught.value)


def test_text_of_numpy_is_kept_as_text() -> None:
    builder = dtau.ModelBuilder(np.str_("robot"))
    builder.add(dtau.Free(), name=np.str_("hull"), inertia=dtau.Inertia(1.0, tensor=np.eye(3)))
    builder.add(
        dtau.Revolute((0, 0, 1)),
        parent=np.str_("hull"),
        name=np.str_("arm"),
        inertia=dtau.Inertia(1.0, tensor=np.eye(3)),
    )
    model = builder.build()
    foot = dtau.FrameContact(np.str_("arm"))
    loop = dtau.Loop(np.str_("arm"), np.str_("hull"))
    link = model.links[1]
    mimic = dtau.Mimic(np.str_("arm"))
    for kept in (
        model.name, *model.frames, link.name, link.parent, link.joint_name, foot.frame, foot.name,
        loop.frame_a, loop.frame_b, loop.name, mimic.joint, *dtau.Contacts(model, [foot]).names,
    ):  # fmt: skip
        assert type(kept) is str
    assert "np.str_" not in repr((model.links, foot, loop, mimic))


def commands(source: Path) -> list[str]:
    """The texts of a source that tell how to install packages."""
    tree = ast.parse(source.read_text("utf-8"))
    found = [x.value for x in ast.walk(tree) if isinstance(x, ast.Constant)]
    return [text for text in found if isinstance(text, str) and "pip install" in text]


def test_commands_that_install_packages_name_those_of_the_extras() -> None:
    """They work before dtau is on an index, and with the versions that it needs."""
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    known = {*re.findall(r'"([a-z][\w-]*[>=]=[\d.]+)"', project), "viser==1.1.1"}
    found = [text for file in (ROOT / "python/dtau").rglob("*.py") for text in commands(file)]
    assert len(found) > 8
    for text in found:
        assert "dtau[" not in text
        assert set(re.findall(r"[a-z][\w-]*[>=]=[\d.]+", text)) <= known, text
