"""Inertial parameters as arrays of JAX and PyTorch: values to the last bit, gradients by them."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from cases import random_state, robot
from compare import TOLERANCE, assert_close, assert_same_bits, solved
from trees import Array, random_tensor

import dtau

PROBLEMS = {"inverse_dynamics": "a", "forward_dynamics": "tau"}
every_problem = pytest.mark.parametrize("problem", PROBLEMS)
each_library = pytest.mark.parametrize("library", ["jax", "torch"])
on_robots = pytest.mark.parametrize("name", ["quadruped", "joints that mimic others"])


class Case:
    """States of a robot, and a model for each of them."""

    def __init__(self, problem: str, name: str, shape: tuple[int, ...] = (3,)) -> None:
        self.model, self.problem = robot(name), problem
        s = random_state(self.model, 1, shape)
        self.inputs = [s[x] for x in ("q", "v", PROBLEMS[problem], "f_ext")]
        self.weights, rng = s["lam"], np.random.default_rng(2)
        self.parameters = np.empty((*shape, self.model.nbodies, 10))
        for at in np.ndindex(self.parameters.shape[:-1]):
            mass = rng.uniform(0.5, 2.0)
            inertia = dtau.Inertia(mass, rng.uniform(-0.1, 0.1, 3), random_tensor(rng, mass))
            self.parameters[at] = inertia.parameters
        self.parameters = self.parameters.reshape(*shape, 10 * self.model.nbodies)
        self.tolerance = max(
            solved(TOLERANCE["complex_step"], M)
            for M in dtau.mass_matrix(
                self.model, self.inputs[0], parameters=self.parameters
            ).reshape(-1, self.model.nv, self.model.nv)
        )

    def value(self) -> Array:
        function = getattr(dtau, self.problem)
        result: Array = function(self.model, *self.inputs, parameters=self.parameters)
        return result

    def gradients(self) -> dict[str, Array]:
        """Of the weighted result, by products of the core; by q in the tangent space."""
        q, v, x, f_ext = self.inputs
        point = self.model, q, v, x, self.weights
        vjp = getattr(dtau, f"{self.problem}_vjp")(*point, f_ext, parameters=self.parameters)
        found = {name: y for name, y in zip(("q", "v", "x", "f_ext"), vjp, strict=True)}
        if self.problem == "inverse_dynamics":
            found["parameters"] = dtau.inverse_dynamics_parameter_vjp(*point)
        else:
            found["parameters"] = dtau.forward_dynamics_parameter_vjp(
                *point, f_ext, parameters=self.parameters
            )
        return found

    def check(self, found: dict[str, Any]) -> None:
        want = self.gradients()
        for name in ("v", "x", "f_ext", "parameters"):
            assert_close(np.asarray(found[name]), want[name], self.tolerance, f"by {name}")
        tangent = np.stack(
            [
                dtau.tangent_map(self.model, q).to_tangent.T @ y
                for q, y in zip(self.inputs[0], want["q"], strict=True)
            ]
        )
        assert_close(np.asarray(found["q"]), tangent, self.tolerance, "by q")


# JAX


def with_float64() -> tuple[Any, Any]:
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    return jax, import_module("dtau.jax")


def of_jax(case: Case, **more: Any) -> Callable[..., Any]:
    function = getattr(with_float64()[1], case.problem)

    def cost(q: Any, v: Any, x: Any, f_ext: Any, parameters: Any) -> Any:
        result = function(case.model, q, v, x, f_ext, parameters=parameters, **more)
        return (result * case.weights).sum()

    return cost


@every_problem
@on_robots
def test_jax(problem: str, name: str) -> None:
    jax, module = with_float64()
    case = Case(problem, name)
    function = getattr(module, problem)
    got = jax.jit(lambda *x: function(case.model, *x[:-1], parameters=x[-1]))(
        *case.inputs, case.parameters
    )
    assert_same_bits(np.asarray(got), case.value())
    names = ("q", "v", "x", "f_ext", "parameters")
    for more in ({}, {"products": True}):
        gradient = jax.jit(jax.grad(of_jax(case, **more), argnums=range(5)))
        found = gradient(*case.inputs, case.parameters)
        case.check(dict(zip(names, found, strict=True)))
    mapped = jax.vmap(lambda *x: function(case.model, *x[:-1], parameters=x[-1]))
    assert_same_bits(np.asarray(mapped(*case.inputs, case.parameters)), case.value())


@every_problem
def test_second_derivatives_of_jax(problem: str) -> None:
    """By q, v and the rest, with the inertias of the call; by parameters there are none."""
    jax, module = with_float64()
    case = Case(problem, "long chain", ())
    function = getattr(module, problem)
    q, v, x, f_ext = case.inputs

    def torque(q: Any, v: Any, parameters: Any) -> Any:
        return function(case.model, q, v, x, f_ext, parameters=parameters) @ case.weights

    got = jax.hessian(torque, argnums=(0, 1))(q, v, case.parameters)
    second = getattr(dtau, f"{problem}_hessian")(
        *(case.model, q, v, x, case.weights, f_ext), parameters=case.parameters
    )
    assert_close(np.asarray(got[0][0]), second.dqdq, case.tolerance, "dqdq")
    assert_close(np.asarray(got[0][1]), second.dqdv, case.tolerance, "dqdv")
    assert_close(np.asarray(got[1][1]), second.dvdv, case.tolerance, "dvdv")
    with pytest.raises(NotImplementedError, match=r"first order|no derivative of"):
        jax.jacfwd(jax.jacfwd(torque, argnums=2), argnums=1)(q, v, case.parameters)


def test_broadcasting_of_jax() -> None:
    """The gradient by one model is the sum over its states, with unit wrenches too."""
    jax, _ = with_float64()
    case = Case("forward_dynamics", "quadruped")
    cost, one = of_jax(case), case.parameters[1]
    gradient = jax.grad(cost, argnums=4)
    got = gradient(*case.inputs, one)
    case.parameters = np.tile(one, (3, 1))
    want = case.gradients()["parameters"].sum(0)
    assert_close(np.asarray(got), want, case.tolerance, "sum")
    mixed = jax.jacfwd(jax.grad(cost, argnums=3), argnums=0)(*case.inputs, one)
    turned = jax.jacfwd(jax.grad(cost, argnums=0), argnums=3)(*case.inputs, one)
    want = np.moveaxis(np.asarray(turned), (0, 1), (-2, -1))
    assert_close(np.asarray(mixed), want, case.tolerance, "by f_ext and q")


# PyTorch


@every_problem
@on_robots
def test_torch(problem: str, name: str) -> None:
    torch = pytest.importorskip("torch")
    module = import_module("dtau.torch")
    case = Case(problem, name)
    function = getattr(module, problem)
    given = [torch.from_numpy(x).requires_grad_() for x in (*case.inputs, case.parameters)]

    def value(*x: Any) -> Any:
        return function(case.model, *x[:4], parameters=x[4])

    assert_same_bits(value(*given).detach().numpy(), case.value())
    plain = [x.detach() for x in given]
    assert_same_bits(value(*plain).numpy(), case.value())
    names, weights = ("q", "v", "x", "f_ext", "parameters"), torch.from_numpy(case.weights)
    for graph in (False, True):  # by products of the core, and by matrices
        found = torch.autograd.grad((value(*given) * weights).sum(), given, create_graph=graph)
        case.check({key: x.detach() for key, x in zip(names, found, strict=True)})
    found = torch.func.grad(lambda *x: (value(*x) * weights).sum(), argnums=tuple(range(5)))(*plain)
    case.check(dict(zip(names, found, strict=True)))
    mapped = torch.func.vmap(value)(*plain)
    assert_same_bits(mapped.numpy(), case.value())


# Both


def adapter(library: str) -> tuple[Any, Callable[[Any], Any]]:
    """The functions of a library, and how its arrays are made."""
    if library == "jax":
        return with_float64()[1], np.asarray
    convert = pytest.importorskip("torch").from_numpy
    return import_module("dtau.torch"), convert


@every_problem
@each_library
def test_errors(problem: str, library: str) -> None:
    case, (module, convert) = Case(problem, "quadruped"), adapter(library)
    given = [convert(x) for x in case.inputs]
    expected = r"parameters: expected shape \(..., 130\), got .*parameters\.ravel\(\)"
    with pytest.raises(ValueError, match=expected):
        getattr(module, problem)(case.model, *given, parameters=convert(np.zeros((13, 10))))


@each_library
def test_parameters_give_inertia_to_joints_without(library: str) -> None:
    module, convert = adapter(library)
    builder = dtau.ModelBuilder("massless")
    builder.add(dtau.Revolute((0, 0, 1)), name="link")
    with pytest.warns(dtau.ModelWarning):
        model = builder.build()
    disk = dtau.Inertia(1.0, (0, 0, 0), np.diag([0.25, 0.25, 0.5])).parameters
    given = [convert(np.array([x])) for x in (0.0, 0.0, 3.0)]
    with pytest.raises(ValueError, match="every joint has inertia to accelerate"):
        module.forward_dynamics(model, *given)
    got = module.forward_dynamics(model, *given, parameters=convert(disk.copy()))
    assert np.asarray(got).tolist() == [6.0]
