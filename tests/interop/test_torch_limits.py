"""`dtau.torch`: the operators, and what is refused."""

from __future__ import annotations

import gc
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from adapter_cases import near, robot  # noqa: E402
from files import ROOT, run_code_of  # noqa: E402
from processes import python  # noqa: E402
from torch_cases import one_thread, tensors  # noqa: E402, F401

import dtau  # noqa: E402
import dtau.torch  # noqa: E402
from dtau.autodiff.rows import FUNCTIONS  # noqa: E402
from dtau.torch.kernels import written  # noqa: E402
from dtau.torch.models import text_of  # noqa: E402

pytestmark = pytest.mark.jit


def test_python_ends_well_after_a_third_derivative() -> None:
    program = """
import dtau.torch, torch
model = dtau.robots.chain(2)
q, v = torch.tensor(dtau.neutral(model)), torch.zeros(model.nv, dtype=torch.float64)
torque = lambda q: dtau.torch.inverse_dynamics(model, q, v, v)
try:
    torch.func.jacrev(torch.func.jacrev(torch.func.jacrev(torque)))(q)
except NotImplementedError:
    print("refused")
"""
    done = python(program)
    assert (done.returncode, done.stdout) == (0, "refused\n"), done.stderr


# ------------------------------------------------------------------ operators


@pytest.mark.parametrize("name", ["inverse_dynamics", "frame_placements"])
def test_operators_keep_pytorchs_rules(name: str) -> None:
    model = robot("few joints")
    words: dict[str, Any] = {"frames": list(model.bodies)} if name == "frame_placements" else {}
    x, site = [*tensors(name, model, 0, (2,))], (text_of(model), name, written(words))
    x += [None] * (len(FUNCTIONS[name].inputs) - len(x))  # parameters of many models
    torch.library.opcheck(torch.ops.dtau.call.default, (*site, x))
    lam = [torch.ones_like(y) for y in torch.ops.dtau.call(*site, x)]
    torch.library.opcheck(torch.ops.dtau.pullback.default, (*site, x, lam, [True] * len(x)))


def test_a_graph_without_its_model_says_so() -> None:
    model = dtau.robots.chain(2).replace(damping=0.731)  # which no other test keeps alive
    x, named = [torch.zeros(2, dtype=torch.float64), None], text_of(model)
    torch.ops.dtau.call(named, "mass_matrix", "{}", x)
    del model
    gc.collect()
    with pytest.raises(RuntimeError, match=r"chain of 2' .* no longer lives in this process"):
        torch.ops.dtau.call(named, "mass_matrix", "{}", x)


def test_what_waits_for_its_gradient_keeps_the_model() -> None:
    model = dtau.robots.chain(2)
    q = torch.tensor([0.3, -0.2], dtype=torch.float64, requires_grad=True)
    tau = dtau.torch.gravity_torque(model, q)
    still = np.zeros(2)
    want = dtau.inverse_dynamics_derivatives(model, q.detach().numpy(), still, still).dtau_dq
    del model
    gc.collect()
    tau.sum().backward()
    near(q.grad, want.sum(axis=0), 1e-14)


# ------------------------------------------------------------------ the page and the example


def test_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names = run_code_of("docs/array_libraries_torch.md")
    assert names["step"](names["state"], names["tau"][:2]).v.shape == (2, 18)
    assert names["q"].grad.shape == (19,)


def test_what_a_model_lacks_is_learnt(monkeypatch: pytest.MonkeyPatch) -> None:
    """In short: less is off than before; the Lagrangian keeps the energy that it believes in."""
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    learning = runpy.run_path(str(ROOT / "examples/lagrangian_residual.py"))
    torch.manual_seed(0)
    residual = learning["LagrangianResidual"]()
    losses = learning["train"](residual, 40, 12)
    assert min(losses[-3:]) < 0.7 * losses[0]
    found = {"the model alone": learning["believed_acceleration"], "learnt": residual}
    off = learning["errors"](found, 4)
    learning["report"](off)
    assert np.median(off["learnt"][-1]) < np.median(off["the model alone"][-1])
    assert set(learning["energies"](found, 2)) == {"truth", *found}


# ------------------------------------------------------------------ what is refused


def refused(error: type[Exception], message: str, **changed: Any) -> None:
    model = robot("quadruped")
    q, v, a = (torch.from_numpy(x) for x in dtau.random_state(model, np.random.default_rng(0)))
    with pytest.raises(error, match=message):
        dtau.torch.inverse_dynamics(**{"model": model, "q": q, "v": v, "a": a, **changed})


def test_odd_arguments_are_refused_in_sentences() -> None:
    ones = torch.ones(18, dtype=torch.float64)
    refused(TypeError, "model: expected a dtau.Model, got str", model="quadruped")
    refused(TypeError, "v: expected a torch.Tensor, got ndarray; torch.as_tensor", v=np.ones(18))
    refused(TypeError, "v: expected a torch.Tensor, got None", v=None)
    refused(TypeError, "v: expected torch.float64 or torch.float32, got torch.int64", v=ones.long())
    refused(
        TypeError, "a: expected torch.float64 or torch.float32, got torch.bf", a=ones.bfloat16()
    )
    refused(TypeError, "a: expected a dense tensor, got torch.sparse_coo", a=ones.to_sparse())
    refused(ValueError, r"v: expected shape \(..., 18\), got \(17,\)", v=ones[:17])
    refused(ValueError, r"v: expected shape \(..., 18\), got \(\)", v=ones[0])
    refused(
        ValueError,
        "a: expected a tensor on the CPU, where dtau computes, got one on meta",
        a=ones.to("meta"),
    )
    refused(ValueError, "f_ext_axes: expected 'body', 'world' or 'mixed'", f_ext_axes="local")
    with pytest.raises(ValueError, match="frame"):
        dtau.torch.frame_placements(
            robot("quadruped"), torch.from_numpy(dtau.neutral(robot("quadruped"))), "no such frame"
        )


def test_batches_that_do_not_broadcast_are_refused() -> None:
    model = robot("quadruped")
    q, v, a = (
        torch.from_numpy(x) for x in dtau.random_state(model, np.random.default_rng(0), (3,))
    )
    with pytest.raises(ValueError, match="broadcast"):
        dtau.torch.inverse_dynamics(model, q, v[:2], a)
