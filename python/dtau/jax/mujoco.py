"""MuJoCo's step and rollouts as operations of JAX: `mujoco_step`, `mujoco_rollout`.

MuJoCo computes the values, and `dtau.mujoco.StepFunction` the products with exact derivatives, in
calls of Python from XLA's programs. Derivatives have the first order. This module does not import
MuJoCo.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from dtau.jax.arguments import real_array
from dtau.jax.limits import bounded, require_cpu, widest_float

if TYPE_CHECKING:
    from dtau.mujoco import StepFunction
    from dtau.mujoco.parametrized_step import ParametrizedStep

    Step = StepFunction | ParametrizedStep


def mujoco_step(
    step: StepFunction, state: Any, ctrl: Any, *, parameters: Mapping[str, Any] | None = None
) -> jax.Array:
    """Return the states after MuJoCo's time step, differentiable by state and control.

    Parameters
    ----------
    step : dtau.mujoco.StepFunction
        Programs keep it.
    state : array_like (..., nstate)
        States ``[time, qpos, qvel, act]``. Gradients are by these numbers; MuJoCo normalizes
        quaternions.
    ctrl : array_like (..., nu)
    parameters : dict of str to array_like (..., shape), optional
        Parameters of the model in place of its own, by the names and in the shapes of
        `dtau.mujoco.parameter_values`; the step is differentiable by them too. States with other
        parameters than the rest of a batch are computed by a model of their own.

    Returns
    -------
    jax.Array (..., nstate)
        In the type that JAX promotes the arguments to. MuJoCo computes in float64.

    Raises
    ------
    TypeError
        If an argument is no array of real numbers, or `step` is no StepFunction.
    ValueError
        If a shape does not fit, or a number is not finite. As in `dtau.mujoco.set_parameters`.
    NotImplementedError
        If a second derivative is requested, an array is not on the CPU, or as in
        `dtau.mujoco.transition_derivatives`. While a program runs, JAX raises errors of MuJoCo's
        part as its own, with the text of these.

    Examples
    --------
    >>> import dtau.jax, dtau.mujoco, jax, mujoco
    >>> import jax.numpy as jnp
    >>> mj_model = mujoco.MjModel.from_xml_string(
    ...     '<mujoco><worldbody><body><joint name="pivot" axis="0 1 0"/>'
    ...     '<geom type="sphere" size="0.1" pos="0 0 -1" mass="1"/></body></worldbody>'
    ...     '<actuator><motor joint="pivot"/></actuator></mujoco>'
    ... )
    >>> step = dtau.mujoco.StepFunction(mj_model, mujoco.MjData(mj_model))
    >>> velocity = lambda ctrl: dtau.jax.mujoco_step(step, jnp.zeros(3), ctrl)[2]
    >>> print(jax.grad(velocity)(jnp.ones(1)).round(4))
    [0.002]
    """
    return _result(step, state, ctrl, parameters, 0)


def mujoco_rollout(
    step: StepFunction, state: Any, ctrl: Any, *, parameters: Mapping[str, Any] | None = None
) -> jax.Array:
    """Return the states after each of several time steps of MuJoCo, as `mujoco_step`.

    Parameters
    ----------
    step : dtau.mujoco.StepFunction
    state : array_like (..., nstate)
    ctrl : array_like (..., steps, nu)
    parameters : dict of str to array_like (..., shape), optional
        Of all steps.

    Returns
    -------
    jax.Array (..., steps, nstate)

    Raises
    ------
    TypeError, ValueError, NotImplementedError
        As in `mujoco_step`.

    Examples
    --------
    >>> import dtau.jax, dtau.mujoco, jax, mujoco
    >>> import jax.numpy as jnp
    >>> mj_model = mujoco.MjModel.from_xml_string(
    ...     '<mujoco><worldbody><body><joint name="pivot" axis="0 1 0"/>'
    ...     '<geom type="sphere" size="0.1" pos="0 0 -1" mass="1"/></body></worldbody>'
    ...     '<actuator><motor joint="pivot"/></actuator></mujoco>'
    ... )
    >>> step = dtau.mujoco.StepFunction(mj_model, mujoco.MjData(mj_model))
    >>> velocity = lambda ctrl: dtau.jax.mujoco_rollout(step, jnp.zeros(3), ctrl)[-1, 2]
    >>> jax.grad(velocity)(jnp.ones((5, 1))).shape
    (5, 1)
    """
    return _result(step, state, ctrl, parameters, 1)


def _result(
    step: StepFunction, state: Any, ctrl: Any, parameters: Mapping[str, Any] | None, axes: int
) -> jax.Array:
    from dtau.mujoco import StepFunction
    from dtau.mujoco.parametrized_step import parametrized

    if not isinstance(step, StepFunction):
        raise TypeError(f"step: expected a dtau.mujoco.StepFunction, got {type(step).__name__}")
    given = {"state": state, "ctrl": ctrl}
    shapes: dict[str, tuple[int, ...]] = {"state": (step.nstate,), "ctrl": (step.nu,)}
    function: Step = step
    further: dict[str, tuple[int, ...]] = {}
    if not (parameters is None or isinstance(parameters, Mapping)):
        got = type(parameters).__name__
        raise TypeError(f"parameters: expected a dict of names and arrays, got {got}")
    if parameters is not None:
        function = parametrized(step, tuple(parameters))
        further = function.shapes
        given.update(parameters)
        shapes.update(further)
    arrays = {name: real_array(name, given[name]) for name in shapes}
    require_cpu(arrays.values())
    # Lists and plain numbers have no type, so they do not widen the result.
    result = jnp.result_type(float, *(x for x in given.values() if hasattr(x, "dtype")))
    leading = {}
    for name, shape in shapes.items():
        x, more = arrays[name], axes if name == "ctrl" else 0
        rank = len(shape) + more
        if x.ndim < rank or x.shape[x.ndim - len(shape) :] != shape:
            expected = ", ".join(["..., steps" if more else "...", *map(str, shape)])
            raise ValueError(f"{name}: expected shape ({expected}), got {x.shape}")
        leading[name] = x.shape[: x.ndim - rank]
    batch = jnp.broadcast_shapes(*leading.values())
    x, u = (arrays[name].astype(widest_float()) for name in ("state", "ctrl"))
    x = jnp.broadcast_to(x, (*batch, step.nstate))
    u = jnp.broadcast_to(u, (*batch, *u.shape[u.ndim - 1 - axes :]))
    columns = [u]
    for name, shape in further.items():
        size = math.prod(shape)
        numbers = arrays[name].astype(widest_float())
        numbers = numbers.reshape(*leading[name], *axes * [1], size)
        columns.append(jnp.broadcast_to(numbers, (*u.shape[:-1], size)))
    u = jnp.concatenate(columns, axis=-1)
    (found,) = _values.bind(x, u, step=function, keep=False)
    return bounded(found).astype(result)


class _Product(NamedTuple):
    """A product with the derivatives of a step or rollout: hashable.

    Its arguments are the states, controls and states after the steps, and then vectors, of which
    further leading axes are several for the same states.
    """

    step: Step
    transposed: bool

    def shapes(self, arrays: Sequence[Any]) -> list[tuple[int, ...]]:
        """Return the shapes of the products."""
        state, ctrl, after, vector, *_ = arrays
        like = after if self.transposed else state
        more = vector.shape[: vector.ndim - like.ndim]
        return [(*more, *x.shape) for x in ((state, ctrl) if self.transposed else (after,))]


_values = Primitive("mujoco_step")
_product = Primitive("mujoco_product")
_values.multiple_results = _product.multiple_results = True


def _called(of: Callable[..., Any], shapes: Sequence[tuple[int, ...]], arrays: Any) -> list[Any]:
    """Call a function of NumPy's arrays from a program."""
    kind = arrays[0].dtype

    def call(*given: Any) -> list[Any]:
        found = of(*(np.asarray(x, dtype=np.float64) for x in given))
        return [np.asarray(x, dtype=kind) for x in found]

    struct: Any = jax.ShapeDtypeStruct
    types = [struct(shape, kind) for shape in shapes]
    return list(jax.pure_callback(call, types, *arrays))


def _evaluated(state: Any, ctrl: Any, *, step: Step, keep: bool) -> list[Any]:
    rollout = ctrl.ndim > state.ndim

    def of(x: Any, u: Any) -> list[Any]:
        return [step.rollout(x, u) if rollout else step(x, u, keep=keep)]

    return _called(of, [_shape(state, ctrl)], (state, ctrl))


def _shape(state: Any, ctrl: Any) -> tuple[int, ...]:
    return (*ctrl.shape[:-1], state.shape[-1])


def _multiplied(*arrays: Any, product: _Product) -> list[Any]:
    step, rollout = product.step, arrays[1].ndim > arrays[0].ndim
    vjp, jvp = (step.rollout_vjp, step.rollout_jvp) if rollout else (step.vjp, step.jvp)

    def of(state: Any, ctrl: Any, after: Any, *vectors: Any) -> Sequence[Any]:
        if product.transposed:
            return vjp(state, ctrl, *vectors, after=after)
        return [jvp(state, ctrl, *vectors, after=after)]

    return _called(of, product.shapes(arrays), arrays)


def _type(aval: Any, shape: tuple[int, ...]) -> Any:
    return jax.core.ShapedArray(shape, aval.dtype)


def _differentiated(
    primals: Sequence[Any], tangents: Sequence[Any], *, step: Step, keep: bool
) -> tuple[list[Any], list[Any]]:
    (after,) = _values.bind(*primals, step=step, keep=True)
    dense = map(ad.instantiate_zeros, tangents)
    product = _Product(step, transposed=False)
    return [after], _product.bind(*primals, after, *dense, product=product)


def _transposed(weights: Sequence[Any], *arrays: Any, product: _Product) -> list[Any]:
    dense = map(ad.instantiate_zeros, weights)
    other = product._replace(transposed=not product.transposed)
    found = _product.bind(*arrays[:3], *dense, product=other)
    pairs = zip(found, arrays[3:], strict=True)  # known vectors are zeros
    return [None] * 3 + [g if ad.is_undefined_primal(x) else None for g, x in pairs]


def _varied(
    primals: Sequence[Any], tangents: Sequence[Any], *, product: _Product
) -> tuple[list[Any], list[Any]]:
    if not all(isinstance(x, ad.Zero) for x in tangents[:3]):
        raise NotImplementedError(
            "dtau.jax: MuJoCo's step has first derivatives alone, and this asks for the second"
        )
    dense = map(ad.instantiate_zeros, tangents[3:])
    found = _product.bind(*primals, product=product)
    return found, _product.bind(*primals[:3], *dense, product=product)


def _spread(arrays: Sequence[Any], axes: Sequence[int | None], size: int) -> list[Any]:
    """Move a mapped axis to the front; repeat what has none."""
    return [
        jnp.broadcast_to(x, (size, *x.shape)) if k is None else jnp.moveaxis(x, k, 0)
        for x, k in zip(arrays, axes, strict=True)
    ]


def _size(arrays: Sequence[Any], axes: Sequence[int | None]) -> int:
    return next(int(x.shape[k]) for x, k in zip(arrays, axes, strict=True) if k is not None)


def _values_mapped(
    arrays: Sequence[Any], axes: Sequence[int | None], *, step: Step, keep: bool
) -> tuple[list[Any], list[int]]:
    return _values.bind(*_spread(arrays, axes, _size(arrays, axes)), step=step, keep=keep), [0]


def _product_mapped(
    arrays: Sequence[Any], axes: Sequence[int | None], *, product: _Product
) -> tuple[list[Any], list[int]]:
    """Map a product: a mapped axis of vectors alone makes more vectors for the same states."""
    size, place = _size(arrays, axes), 0
    states, vectors = arrays[:3], _spread(arrays[3:], axes[3:], size)
    if any(k is not None for k in axes[:3]):
        states = _spread(states, axes[:3], size)
        like = states[2] if product.transposed else states[0]
        place = vectors[0].ndim - like.ndim
        vectors = [jnp.moveaxis(x, 0, place) for x in vectors]
    found = _product.bind(*states, *vectors, product=product)
    return found, [place] * len(found)


_values.def_impl(_evaluated)
_values.def_abstract_eval(lambda state, ctrl, **_: [_type(state, _shape(state, ctrl))])
ad.primitive_jvps[_values] = _differentiated
batching.primitive_batchers[_values] = _values_mapped
mlir.register_lowering(_values, mlir.lower_fun(_evaluated, multiple_results=True))

_product.def_impl(_multiplied)
_product.def_abstract_eval(
    lambda *avals, product: [_type(avals[0], shape) for shape in product.shapes(avals)]
)
ad.primitive_jvps[_product] = _varied
ad.primitive_transposes[_product] = _transposed
batching.primitive_batchers[_product] = _product_mapped
mlir.register_lowering(_product, mlir.lower_fun(_multiplied, multiple_results=True))
