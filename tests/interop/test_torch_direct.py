"""`dtau.torch` around PyTorch's dispatcher: which tensors take that way, and the same results."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from adapter_cases import near, robot  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402
from torch_cases import each, function, leaves, tensors  # noqa: E402

import dtau  # noqa: E402
import dtau.torch  # noqa: E402
from dtau import _core  # noqa: E402
from dtau.torch import direct  # noqa: E402


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether calls went around the dispatcher, one after the other."""
    found, original = [], direct.direct

    def watched(*arguments: Any) -> Any:
        results = original(*arguments)
        found.append(results is not None)
        return results

    monkeypatch.setattr("dtau.torch.arguments.direct", watched)
    return found


def gradients(f: Callable[..., Any], x: list[Any]) -> tuple[Any, ...]:
    results = each(f(*x))
    weights = [torch.cos(torch.arange(y.numel()).double()).reshape(y.shape) for y in results]
    return torch.autograd.grad(results, x, weights)


@pytest.mark.parametrize(
    "name", ["inverse_dynamics", "gravity_torque", "mass_matrix", "integrate", "frame_placements"]
)
@pytest.mark.parametrize("shape", [(), (3,), (2, 3)])
def test_results_are_those_of_the_operators(
    name: str, shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = robot("every joint")
    f, x = function(name, model), leaves(tensors(name, model, 2, shape))
    got, by = each(f(*x)), gradients(f, x)
    monkeypatch.setattr("dtau.torch.arguments.direct", lambda *arguments: None)
    for one, other in zip((*got, *by), (*each(f(*x)), *gradients(f, x)), strict=True):
        assert torch.equal(one, other)


def test_tensors_of_any_layout(taken: list[bool]) -> None:
    """Transposed and expanded batches; negated views, which only the dispatcher reads."""
    model = robot("quadruped")
    f = function("inverse_dynamics", model)
    q, v, a, f_ext = tensors("inverse_dynamics", model, 1, (4,))
    want = f(q, v, a, f_ext)
    odd = (q.T.contiguous().T, v.repeat_interleave(2, 0)[::2], a, f_ext)
    assert not odd[0].is_contiguous()
    assert torch.equal(f(*odd), want)
    assert f(q[:1].expand(4, -1), v, a, f_ext).shape == want.shape
    assert taken == [True] * 3
    negated = torch.complex(v, -v).conj().imag
    assert negated.is_neg()
    assert torch.equal(f(q, negated, a, f_ext), want)
    assert taken[-1] is False


def test_a_sum_backwards(taken: list[bool]) -> None:
    """Its weights are one number for all rows."""
    model = robot("quadruped")
    x = leaves(tensors("inverse_dynamics", model, 1))
    dtau.torch.inverse_dynamics(model, *x[:3]).sum().backward()
    q, v, a = (y.detach().numpy() for y in x[:3])
    by_q, by_v, by_a, *_ = dtau.inverse_dynamics_vjp(model, q, v, a, np.ones(model.nv))
    near(x[0].grad, by_q @ dtau.tangent_map(model, q).to_tangent, 1e-13)
    assert np.array_equal(x[1].grad, by_v)
    assert np.array_equal(x[2].grad, by_a)
    assert taken == [True]


def test_what_traces_or_maps_sees_the_operators(taken: list[bool]) -> None:
    model = robot("few joints")
    f, x = function("gravity_torque", model), tensors("gravity_torque", model)
    seen = []

    class Watched(TorchDispatchMode):
        def __torch_dispatch__(
            self, op: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            seen.append(str(op))
            return op(*args, **(kwargs or {}))

    with Watched():
        f(*x)
    assert seen == ["dtau.call.default"]
    torch.func.jacrev(f)(*x)
    with torch.autograd.forward_ad.dual_level():
        f(*x)
    with torch.no_grad():
        f(*(y.float() for y in x))
    left: list[Any] = []
    torch.func.grad(lambda q: left.append(q) or q.sum())(*x)
    assert torch.equal(f(*left), f(*x))  # what a transform left behind
    assert taken == [False] * 5 + [True]


def test_changes_between_forward_and_backward_are_refused() -> None:
    model = robot("quadruped")
    x = tensors("inverse_dynamics", model)[:3]
    x[1].requires_grad_()
    tau = dtau.torch.inverse_dynamics(model, *x)
    x[0][0] += 1.0
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        tau.sum().backward()
    tau = dtau.torch.inverse_dynamics(model, *x)
    tau.sum().backward()
    with pytest.raises(RuntimeError, match="second time"):
        tau.sum().backward()


def test_tensors_are_not_kept_alive() -> None:
    model = dtau.robots.chain(3)
    q = torch.zeros(3, dtype=torch.float64, requires_grad=True)
    inner = 2.0 * q
    tau = dtau.torch.gravity_torque(model, inner)
    tau.sum().backward()
    found = weakref.ref(inner)
    del inner
    assert found() is None


def test_other_interfaces_are_refused() -> None:
    with pytest.raises(ValueError, match="incorrect name"):
        _core.TensorReader(_core.xla_handler(), (torch.Tensor,))
