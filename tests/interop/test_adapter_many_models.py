"""Inertial parameters as arrays of JAX and PyTorch: shapes, derivatives that do not exist."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from importlib import import_module
from typing import Any

import cases
import numpy as np
import pytest
from cases import lone, random_state, robot

import dtau

PROBLEMS = ("inverse_dynamics", "forward_dynamics")
each_library = pytest.mark.parametrize("library", ["jax", "torch"])


def adapter(library: str) -> tuple[Any, Callable[[Any], Any]]:
    """The functions of a library, and how its arrays are made."""
    found = pytest.importorskip(library)
    if library == "jax":
        import_module("jax_cases")  # float64
    return import_module(f"dtau.{library}"), getattr(found, "from_numpy", np.asarray)


@pytest.mark.parametrize("problem", PROBLEMS)
@each_library
def test_errors(problem: str, library: str) -> None:
    model, (module, convert) = robot("quadruped"), adapter(library)
    given = [convert(x) for x in dtau.random_state(model, np.random.default_rng(1))]
    expected = r"parameters: expected shape \(..., 130\), .* \(..., 202\), got \(10, 13\)"
    with pytest.raises(ValueError, match=expected):
        getattr(module, problem)(model, *given, parameters=convert(np.zeros((10, 13))))


@each_library
def test_parameters_give_inertia_to_joints_without(library: str) -> None:
    module, convert = adapter(library)
    with pytest.warns(dtau.ModelWarning):
        model = lone(dtau.Revolute((0, 0, 1)), inertia=None)
    disk = dtau.Inertia(1.0, (0, 0, 0), np.diag([0.25, 0.25, 0.5])).parameters
    given = [convert(np.array([x])) for x in (0.0, 0.0, 3.0)]
    with pytest.raises(ValueError, match="every joint has inertia to accelerate"):
        module.forward_dynamics(model, *given)
    got = module.forward_dynamics(model, *given, parameters=convert(disk.copy()))
    assert np.asarray(got).tolist() == [6.0]


@pytest.mark.parametrize("problem", PROBLEMS)
@each_library
def test_rows_of_bodies(problem: str, library: str) -> None:
    """Inertias in rows are the flat array's, and so are gradients by them."""
    model, (module, convert) = robot("quadruped"), adapter(library)
    rng = np.random.default_rng(2)
    given = [convert(x) for x in dtau.random_state(model, rng, shape=(2,))]
    bodies = model.parameters * rng.uniform(0.8, 1.2, (2, 13, 1))
    gradients = []
    for shape in ((2, 13, 10), (2, 130)):
        x, function = bodies.reshape(shape), getattr(module, problem)
        if library == "jax":
            jax = import_module("jax")
            by = jax.grad(lambda y, f=function: (f(model, *given, parameters=y) ** 2).sum())(x)
        else:
            x = convert(x).requires_grad_()
            (function(model, *given, parameters=x) ** 2).sum().backward()
            by = x.grad
        assert by.shape == shape
        gradients.append(np.asarray(by).reshape(2, 130))
    assert np.array_equal(*gradients)
    assert np.abs(gradients[0]).min(axis=0).max() > 0.1


@each_library
def test_one_body(library: str) -> None:
    model, (module, convert) = robot("one revolute"), adapter(library)
    still = convert(np.zeros(1))
    with pytest.raises(ValueError, match=r"got \(1, 10\): .* give parameters\[\.\.\., 0, :\]"):
        module.inverse_dynamics(model, *[still] * 3, parameters=convert(np.ones((1, 10))))


TAKING = (
    *("inverse_dynamics", "bias_torque", "gravity_torque", "mass_matrix"),
    *("forward_dynamics", "mass_matrix_inverse", "step", "constrained_dynamics"),
    "impulse_dynamics",
)


@pytest.mark.parametrize("name", ["mass_matrix", "mass_matrix_inverse"])
def test_derivatives_of_batches_of_one_body(name: str) -> None:
    """Parameters (3, 10) of one body: derivatives at each state are the lone state's."""
    torch, module = pytest.importorskip("torch"), adapter("torch")[0]
    builder = dtau.ModelBuilder("one body")
    builder.add(dtau.Free(), name="body", inertia=dtau.Inertia(2.0, (0.1, 0, 0.2), np.eye(3)))
    model = builder.build()
    q = torch.from_numpy(random_state(model, 4, (3,))["q"])
    bodies = torch.from_numpy(model.parameters * np.array([[1.0], [1.25], [1.5]]))

    def matrix(q: Any, bodies: Any) -> Any:
        return getattr(module, name)(model, q, parameters=bodies)

    def derivatives(*state: Any) -> Any:
        x = [y.clone().requires_grad_() for y in state]
        gradients = torch.autograd.grad((matrix(*x) ** 2).sum(), x)
        cost = (matrix(x[0], state[1]) ** 2).sum()
        (slope,) = torch.autograd.grad(cost, x[0], create_graph=True)
        second = torch.autograd.grad(slope.sum(), x[0])
        return *gradients, *second, torch.func.jvp(matrix, state, state)[1]

    alone = [derivatives(*state) for state in zip(q, bodies, strict=True)]
    for got, want in zip(derivatives(q, bodies), zip(*alone, strict=True), strict=True):
        assert torch.allclose(got, torch.stack(want), rtol=1e-12, atol=1e-13)
    for some in (bodies, bodies[:1]):
        mapped = torch.func.vmap(lambda x: matrix(q, x))(some)
        assert torch.equal(mapped, torch.stack([matrix(q, x) for x in some]))


@pytest.mark.parametrize("name", TAKING)
@each_library
def test_second_derivatives_by_parameters_are_refused(name: str, library: str) -> None:
    """Also beside the configuration. Torques and the mass matrix are linear: they have them."""
    module, convert = adapter(library)
    model = robot("free root, branches")
    linear = name.endswith(("torque", "inverse_dynamics", "matrix", "inverse"))
    state, contacts = random_state(model, 3), cases.contacts(model)
    known = inspect.signature(getattr(module, name)).parameters
    taken = ("q", "v", "a", "tau", "dt", "restitution", "active")
    arrays = {x: convert(np.asarray(state[x])) for x in taken if x in known and x != "q"}
    if "active" in known:
        arrays["active"] = convert(np.array([1.0, 0.0]))
    options = {"contacts": contacts} if "contacts" in known else {}
    q, bodies = (convert(x) for x in (state["q"], 1.1 * model.parameters.ravel()))

    def cost(q: Any, bodies: Any) -> Any:
        found = getattr(module, name)(model, q, **arrays, parameters=bodies, **options)
        found = tuple(found)[:2] if isinstance(found, tuple) else (found,)
        return sum((x**2).sum() for x in found)

    if library == "jax":
        jax = import_module("jax")
        first = jax.grad(cost, (0, 1))
        by_q, by_bodies = first(q, bodies)
        second = [jax.jacfwd(lambda *x, k=k: first(*x)[k], 1 - k) for k in (0, 1)]
        again = [
            *(lambda f=f: f(q, bodies) for f in second),
            lambda: jax.hessian(cost, 1)(q, bodies),
        ]
    else:
        torch = import_module("torch")
        x, y = q.requires_grad_(), bodies.requires_grad_()
        by_q, by_bodies = torch.autograd.grad(cost(x, y), (x, y), create_graph=True)
        again = [
            lambda: torch.autograd.grad(by_q.sum(), y, retain_graph=True),
            lambda: torch.autograd.grad(by_bodies.sum(), x, retain_graph=True),
            lambda: torch.autograd.grad(by_bodies.sum(), y, retain_graph=True),
        ]
    assert abs(float(by_bodies.sum())) > 1e-3
    for differentiate in again[: 2 if linear else 3]:
        with pytest.raises(NotImplementedError, match="derivative"):
            differentiate()
