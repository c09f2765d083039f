"""Programs of `torch.export` that call `dtau.torch`: saved, and run where no model was loaded."""

from __future__ import annotations

import gc
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cases import random_state

torch = pytest.importorskip("torch")

from adapter_cases import near, robot  # noqa: E402
from torch.autograd import forward_ad  # noqa: E402
from torch.func import grad, hessian, jacfwd, jacrev, jvp, vmap  # noqa: E402
from torch.utils import _pytree as trees  # noqa: E402
from torch_cases import tensors  # noqa: E402

import dtau  # noqa: E402
import dtau.torch  # noqa: E402
from dtau.results import NextState  # noqa: E402
from dtau.torch import models  # noqa: E402

Function = Callable[..., Any]


class Program(torch.nn.Module):
    """A function of a state and of torques, which a network scales."""

    def __init__(self, function: Function, nv: int) -> None:
        super().__init__()
        self.function = function
        self.gains = torch.nn.Parameter(torch.linspace(0.5, 1.5, nv, dtype=torch.float64))

    def forward(self, state: NextState[Any], tau: Any, active: Any) -> Any:
        return self.function(state.q, state.v, tau * self.gains, active)


def exported(name: str, strict: bool) -> Any:
    """A program for batches of any size, and its arguments."""
    program, arguments = PROGRAMS[name]()
    rows = {0: torch.export.Dim("states")}
    by_name = {"state": NextState(rows, rows), "tau": rows, "active": rows}
    made = torch.export.export(program, arguments, dynamic_shapes=by_name, strict=strict)
    return made, program, arguments


def arguments(model: dtau.Model, contacts: int = 0) -> tuple[Any, ...]:
    states = [random_state(model, seed) for seed in range(3)]
    q, v, tau = (torch.from_numpy(np.stack([s[k] for s in states])) for k in ("q", "v", "tau"))
    active = torch.ones(3, contacts, dtype=torch.bool)
    active[1, 1::2] = False
    return NextState(q, v), tau, active


def free() -> Any:
    """Every joint, in steps of both kinds, terms, frames and time derivatives."""
    model = robot("every joint")

    def of(q: Any, v: Any, tau: Any, active: Any) -> Any:
        state = dtau.torch.step(model, q, v, tau, 0.01)
        state = dtau.torch.step(model, *state, tau, 0.01, integrator="rk4")
        place = dtau.torch.frame_placements(model, state.q, list(model.frames[-2:]))
        mass = dtau.torch.mass_matrix(model, state.q)
        return {"state": state, "place": place, "terms": [mass, dtau.torch.momentum(model, q, v)]}

    return Program(of, model.nv), arguments(model)


def mimics() -> Any:
    model = robot("few joints with mimics")

    def of(q: Any, v: Any, tau: Any, active: Any) -> Any:
        a = dtau.torch.forward_dynamics(model, q, v, tau)
        return a, dtau.torch.inverse_dynamics(model, q.float(), v.float(), a.float())

    return Program(of, model.nv), arguments(model)


def four_contacts() -> tuple[dtau.Model, dtau.Contacts]:
    """Points, along a direction and with gains, a frame at a placement, and a loop with a hinge."""
    model, feet = robot("quadruped"), dtau.robots.QUADRUPED_FEET
    held = [
        dtau.PointContact(feet[0], kp=40.0, kd=8.0, name="first"),
        dtau.PointContact(feet[1], axes="mixed", kd=2.0, direction=(0.1, 0.2, 3.0)),
        dtau.FrameContact("base", "mixed", 3.0, 2.0, acceleration="spatial"),
        dtau.Loop(
            feet[2],
            feet[3],
            5,
            "y",
            kp=30.0,
            kd=9.0,
            placement=dtau.Pose(translation=(0.1, -0.2, 0.3)),
        ),
    ]
    return model, dtau.Contacts(model, held, at=random_state(model, 9)["q"])


def in_contact() -> Any:
    model, contacts = four_contacts()

    def of(q: Any, v: Any, tau: Any, active: Any) -> Any:
        found = dtau.torch.constrained_dynamics(model, q, v, tau, contacts, active=active)
        held = {"contacts": contacts, "active": active}
        return found, dtau.torch.step(model, q, v, tau, 0.01, **held)

    return Program(of, model.nv), arguments(model, len(contacts))


PROGRAMS: dict[str, Callable[[], Any]] = {"free": free, "mimics": mimics, "in contact": in_contact}
_ELSEWHERE = """
import sys
import torch
import dtau.torch

for path in sys.argv[1:]:
    module = torch.export.load(path).module()
    arguments = torch.load(path + ".arguments", weights_only=True)
    results = module(*arguments)
    leaves = torch.utils._pytree.tree_leaves(results)
    sum(x.sin().sum() for x in leaves if x.requires_grad).backward()
    torch.save((results, module.gains.grad), path + ".results")
"""


def test_programs_run_in_another_process(tmp_path: Path) -> None:
    """As many states as the program was not exported for; bits of results and gradients."""
    paths, wanted = [], []
    for name in PROGRAMS:
        for strict in (False, True) if name == "in contact" else (name == "free",):
            made, program, given = exported(name, strict)
            more = trees.tree_map(lambda x: torch.cat([x, x[:2]]), given)
            results = program(*more)
            sum(x.sin().sum() for x in trees.tree_leaves(results) if x.requires_grad).backward()
            wanted.append((results, program.gains.grad))
            paths.append(str(tmp_path / f"{name} {strict}.pt2"))
            torch.export.save(made, paths[-1])
            torch.save(more, paths[-1] + ".arguments")
    command = [sys.executable, "-W", "error::FutureWarning", "-c", _ELSEWHERE, *paths]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "weights_only" not in done.stderr
    for path, want in zip(paths, wanted, strict=True):
        got = torch.load(path + ".results", weights_only=True)
        assert trees.tree_structure(got) == trees.tree_structure(want)
        for one, other in zip(trees.tree_leaves(got), trees.tree_leaves(want), strict=True):
            assert torch.equal(one, other), path


# ------------------------------------------------------------------ transforms of programs


def dual(f: Function, q: Any, v: Any) -> Any:
    with forward_ad.dual_level():
        return forward_ad.unpack_dual(f(forward_ad.make_dual(q, v)))[:2]


def twice_backward(f: Function, q: Any, v: Any) -> Any:
    q = q.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(f(q).sin().sum(), q, create_graph=True)
    return torch.autograd.grad(gradient.sin().sum(), q)


def batched_gradients(f: Function, q: Any, v: Any) -> Any:
    q = q.clone().requires_grad_()
    y = f(q)
    weights = torch.eye(len(y), dtype=y.dtype)
    return torch.autograd.grad(y, q, weights, is_grads_batched=True)


TRANSFORMS: dict[str, Function] = {
    "grad": lambda f, q, v: grad(lambda q: f(q).sin().sum())(q),
    "jacrev": lambda f, q, v: jacrev(f)(q),
    "jacfwd": lambda f, q, v: jacfwd(f)(q),
    "jvp": lambda f, q, v: jvp(f, (q,), (v,)),
    "vmap": lambda f, q, v: vmap(f)(torch.stack([q, v])),
    "vmap(grad)": lambda f, q, v: vmap(grad(lambda q: f(q).sin().sum()))(torch.stack([q, v])),
    "hessian": lambda f, q, v: hessian(lambda q: f(q).sin().sum())(q),
    "jacrev(jacrev)": lambda f, q, v: jacrev(jacrev(lambda q: f(q).sin().sum()))(q),
    "jacfwd(jacfwd)": lambda f, q, v: jacfwd(jacfwd(lambda q: f(q).sin().sum()))(q),
    "jacrev(jacfwd)": lambda f, q, v: jacrev(jacfwd(lambda q: f(q).sin().sum()))(q),
    "dual_level": dual,
    "twice backward": twice_backward,
    "is_grads_batched": batched_gradients,
}


class Dynamics(torch.nn.Module):
    def __init__(self, model: dtau.Model, steps: bool) -> None:
        super().__init__()
        self.model, self.steps = model, steps

    def forward(self, q: Any, v: Any, tau: Any) -> Any:
        if self.steps:
            return dtau.torch.step(self.model, q, v, tau, 0.1).v
        return dtau.torch.forward_dynamics(self.model, q, v, tau)


@cache
def both(steps: bool) -> tuple[Function, Function, Any, Any]:
    """A function and its program, of q alone."""
    model = dtau.robots.chain(3)
    s = random_state(model, 1)
    q, v, tau = (torch.from_numpy(s[name]) for name in ("q", "v", "tau"))
    module = Dynamics(model, steps)
    program = torch.export.export(module, (q, v, tau)).module()
    return lambda q: module(q, v, tau), lambda q: program(q, v, tau), q, v


@pytest.mark.parametrize("steps", [False, True])
@pytest.mark.parametrize("transform", TRANSFORMS)
def test_transforms_of_programs(transform: str, steps: bool) -> None:
    function, program, q, v = both(steps)
    of = TRANSFORMS[transform]
    want = trees.tree_leaves(of(function, q, v))
    got = trees.tree_leaves(of(program, q, v))
    assert any(y.abs().max() > 0.1 for y in want)
    for one, other in zip(got, want, strict=True):
        near(one, other, 1e-14)


@pytest.mark.parametrize("transform", ["jacfwd", "jvp", "hessian"])
def test_forward_mode_of_compositions_in_programs(transform: str) -> None:
    model = dtau.robots.chain(3)
    q, v = (torch.from_numpy(random_state(model, 1)[name]) for name in ("q", "v"))

    class Center(torch.nn.Module):
        def forward(self, q: Any) -> Any:
            return dtau.torch.center_of_mass(model, q)

    program = torch.export.export(Center(), (q,)).module()
    with pytest.raises(NotImplementedError, match="no derivatives of center_of_mass in an exp"):
        TRANSFORMS[transform](program, q, v)


def test_a_gradient_inside_of_a_program_is_the_last() -> None:
    model = dtau.robots.chain(2)
    x = tensors("forward_dynamics", model)

    class Gradient(torch.nn.Module):
        def forward(self, q: Any) -> Any:
            with torch.enable_grad():
                q = q.detach().requires_grad_()
                a = dtau.torch.forward_dynamics(model, q, *x[1:3])
                return torch.autograd.grad(a.sum(), q)[0] + q

    program = torch.export.export(Gradient(), (x[0],)).module()
    assert torch.equal(program(x[0]), Gradient()(x[0]))
    site = models.text_of(model), "forward_dynamics", "{}"
    inputs, wanted = [*x[:3], None, None], [True, *[False] * 4]
    with pytest.raises(NotImplementedError, match="gradients of forward_dynamics inside"):
        grad(lambda g: torch.ops.dtau.pullback(*site, inputs, [g], wanted)[0].sum())(x[0])


# ------------------------------------------------------------------ models in programs


def with_content(model: dtau.Model | dtau.Contacts) -> str:
    return "".join(models._known.get(id(model)) or models._register(model))


@pytest.mark.parametrize("name", ["every joint", "few joints with mimics", "quadruped"])
def test_a_program_has_the_whole_model(name: str) -> None:
    """And an equal model has the same text, without its content where nothing is exported."""
    model = robot(name)
    text = with_content(model)
    made = models._decoded_model.__wrapped__(text)
    assert made == model
    assert made is not model
    assert with_content(made) == text
    assert models.text_of(model) == text[: text.index("\n") + 1]


def test_contacts_in_a_program_are_those_of_its_model() -> None:
    _, contacts = four_contacts()
    text = with_content(contacts)
    made = models._decoded_contacts.__wrapped__(text, contacts.model)
    assert made == contacts
    assert made is not contacts
    with pytest.raises(RuntimeError, match="digest does not match"):
        models._decoded_contacts.__wrapped__(text, contacts.model.replace(damping=1.0))


def test_equal_models_stand_for_each_other() -> None:
    model = dtau.robots.chain(2)
    text = models.text_of(model)
    other = dtau.robots.chain(2)
    assert models.text_of(other) == text
    del model
    gc.collect()
    assert models.model_of(text) == other


def test_what_is_no_model_is_refused() -> None:
    x = [torch.zeros(2, dtype=torch.float64)]
    text = with_content(dtau.robots.chain(2).replace(gravity=(0, 0, -1.25)))
    gc.collect()
    end = text.index("\n") + 1
    for damaged, said in [
        (text[:end], "keep the model as long as the program"),
        (text[:-8], "in a form that this version of dtau cannot read; export the program again"),
        ("f" * 32 + text[32:], "the digest does not match"),
    ]:
        with pytest.raises(RuntimeError, match=f"model 'chain of 2' .*{said}"):
            torch.ops.dtau.call(damaged, "mass_matrix", "{}", x)


# ------------------------------------------------------------------ results as trees


@pytest.mark.parametrize("name", dtau.results.__all__)
def test_trees_of_results_have_names(name: str) -> None:
    kind = getattr(dtau.results, name)
    result = kind(*(torch.tensor(float(k)) for k in range(len(kind._fields))))
    leaves, structure = trees.tree_flatten_with_path(result)
    assert [trees.keystr(path) for path, _ in leaves] == [f".{field}" for field in kind._fields]
    saved = trees.treespec_dumps(structure)
    assert f"dtau.results.{name}" in saved
    assert trees.treespec_loads(saved) == structure
    assert type(trees.tree_map(lambda x: x + 1, result)) is kind
