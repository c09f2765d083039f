"""`tangent_map` of dtau.jax, dtau.torch and dtau.casadi: one definition, and its derivatives."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import cases
import numpy as np
import pytest
from compare import TOLERANCE, assert_close
from trees import grow

jax = pytest.importorskip("jax")
torch = pytest.importorskip("torch")
ca = pytest.importorskip("casadi")

import dtau  # noqa: E402
import dtau.casadi  # noqa: E402
import dtau.jax  # noqa: E402
import dtau.torch  # noqa: E402

jax.config.update("jax_enable_x64", True)

Array = Any
NORMS = (1.0, 1.0 + 9e-7, 1.7)  # to rounding; within the core's limit; beyond it


@cache
def robot(name: str) -> dtau.Model:
    if name == "every kind":
        return cases.serial("free", "spherical", "planar", "helical", seed=2).model()
    tree = grow(["spherical", "revolute", "prismatic"], range(-1, 2), 5)
    names = [body.name for body in tree.bodies]
    return tree.model({names[2]: dtau.Mimic(names[1], -1.5, 0.2)})


every_robot = pytest.mark.parametrize("name", ["every kind", "mimics"])


def quaternions(model: dtau.Model) -> list[slice]:
    return [
        slice(joint.q.stop - 4, joint.q.stop)
        for joint in model.joints
        if isinstance(joint.type, dtau.Free | dtau.Spherical)
    ]


def states(model: dtau.Model) -> tuple[Array, Array]:
    """Configurations (norms, nq) whose quaternions have each of the norms, and unit norm."""
    unit = dtau.normalize(model, dtau.random_state(model, np.random.default_rng(4)).q)
    q = np.tile(unit, (len(NORMS), 1))
    for x in quaternions(model):
        q[:, x] *= np.array(NORMS)[:, None]
    return q, unit


# Each gives from_tangent and to_tangent or their derivatives, of configurations (n, nq).


def by_jax(model: dtau.Model, order: int, q: Array) -> list[Array]:
    def value(q: Array) -> tuple[Array, ...]:
        return tuple(dtau.jax.tangent_map(model, q))

    f = (value, jax.jacfwd(value), jax.jacfwd(jax.jacrev(value)))[order]
    return [np.asarray(x) for x in jax.jit(jax.vmap(f))(q)]


def by_torch(model: dtau.Model, order: int, q: Array) -> list[Array]:
    def value(q: Array) -> tuple[Array, ...]:
        return tuple(dtau.torch.tangent_map(model, q))

    f = (value, torch.func.jacfwd(value), torch.func.jacfwd(torch.func.jacrev(value)))[order]
    return [x.numpy() for x in torch.func.vmap(f)(torch.from_numpy(q))]


def by_casadi(model: dtau.Model, order: int, q: Array) -> list[Array]:
    """CasADi stacks columns, those of second derivatives as well."""
    x = ca.SX.sym("q", model.nq)
    results = []
    for matrix in dtau.casadi.tangent_map(model, x):
        f, (rows, columns), nq = ca.vec(matrix), matrix.shape, model.nq
        for _ in range(order):
            f = ca.vec(ca.jacobian(f, x))
        of = ca.Function("of", [x], [ca.densify(f)])
        numbers = np.stack([np.array(of(state)).ravel() for state in q])
        shape = (len(q), *(nq,) * order, columns, rows)
        results.append(numbers.reshape(shape).T.reshape(rows, columns, *(nq,) * order, len(q)))
    return [np.moveaxis(x, -1, 0) for x in results]


ADAPTERS: dict[str, Callable[[dtau.Model, int, Array], list[Array]]] = {
    "jax": by_jax,
    "torch": by_torch,
    "casadi": by_casadi,
}
every_adapter = pytest.mark.parametrize("adapter", ADAPTERS)


@every_adapter
@every_robot
def test_the_map_is_that_of_unit_quaternions(adapter: str, name: str) -> None:
    model = robot(name)
    q, unit = states(model)
    for got, want in zip(
        ADAPTERS[adapter](model, 0, q), dtau.tangent_map(model, unit), strict=True
    ):
        for each in got:
            assert_close(each, want, TOLERANCE["rounding"])


@every_adapter
@every_robot
def test_derivative_of_the_tangent_map_agrees_with_differences(adapter: str, name: str) -> None:
    """Against differences of sixth order; along a quaternion itself nothing changes."""
    model = robot(name)
    q, _ = states(model)
    step = 2e-3
    moves = np.array([-3.0, -2.0, -1.0, 1.0, 2.0, 3.0])[:, None, None] * step * np.eye(model.nq)
    weights = np.array([-1.0, 9.0, -45.0, 45.0, -9.0, 1.0]) / (60.0 * step)
    moved = (q[:, None, None] + moves).reshape(-1, model.nq)
    values = ADAPTERS[adapter](model, 0, moved)
    for got, value in zip(ADAPTERS[adapter](model, 1, q), values, strict=True):
        ends = value.reshape(len(q), 6, model.nq, *value.shape[1:])
        want = np.moveaxis(np.einsum("k,nkjab->njab", weights, ends), 1, -1)
        assert_close(got, want, 1e-11, floor=1.0)  # the step to the sixth power
        for x in quaternions(model):
            along = np.einsum("nabj,nj->nab", got[..., x], q[:, x])
            assert_close(along, np.zeros_like(along), TOLERANCE["short sums"], floor=1.0)


@pytest.mark.jit
@pytest.mark.parametrize("adapter", ["jax", "torch"])
@every_robot
def test_first_and_second_derivatives_are_casadis(adapter: str, name: str) -> None:
    model = robot(name)
    q, _ = states(model)
    for order in (1, 2):
        both = (ADAPTERS[by](model, order, q) for by in (adapter, "casadi"))
        for got, want in zip(*both, strict=True):
            assert_close(got, want, TOLERANCE["long sums"], f"order {order}", floor=1.0)
