"""Calls of JAX, PyTorch and CasADi that stand beside calls through NumPy: checked, then yielded.

Their functions and arguments are those of the registry. Each library is imported here by its own
function, in the process that `array_libraries` makes for it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import dtau
from benchmarks.checks import Array, WrongResultError, require_close
from benchmarks.optional import optional
from benchmarks.robots import Robot
from dtau.cli.timing import DT, Call, Contender, loop, random_inputs
from dtau.registry import arrays_of

NUMPY, OURS, OWN = "NumPy", "library", "own"  # contenders
FUNCTIONS = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "step")
DYNAMICS = ("inverse_dynamics", "forward_dynamics")
STEPS, BATCH, GRADIENTS = 2000, 256, 4096
GRADIENT = 1e-12  # of the largest element

# CasADi's: what its solvers ask for, and what it makes of a function by the package's word for that
VALUES = (
    *("inverse_dynamics", "forward_dynamics", "mass_matrix", "mass_matrix_inverse"),
    *("bias_torque", "gravity_torque", "frame_placements", "frame_velocities"),
    *("center_of_mass", "centroidal_momentum", "integrate", "difference", "step"),
)
DERIVED: dict[str, Callable[[Any], Any]] = {
    "derivatives": lambda f: f.jacobian(),
    "vjp": lambda f: f.reverse(1),
    "hessian": lambda f: f.reverse(1).jacobian(),
}


@dataclass(frozen=True)
class Ways:
    """A function called in one way: contenders by `NUMPY`, `OURS` and `OWN`, as far as there."""

    function: str
    way: str
    contenders: dict[str, Contender]


def called(f: Callable[[], Any]) -> Contender:
    """One call without arguments."""
    return Contender(loop("f()", f=f), 1)


def through_numpy(call: Call) -> Contender:
    """One call through NumPy, in one thread."""
    return Contender(loop(f"f({call.words}, threads=1)", **call.arrays, **call.names), 1)


def require_bits(got: Any, want: Sequence[Array], what: str) -> None:
    """Raise `WrongResultError` unless results are those through NumPy, to the last bit."""
    if not all(np.array_equal(x, y) for x, y in zip(arrays_of(got), want, strict=True)):
        raise WrongResultError(f"{what}: differs from the result through NumPy")


def calls(model: dtau.Model, count: int | None) -> Iterator[Call]:
    """The functions of JAX and PyTorch at random states, or at one."""
    at = random_inputs(model, FUNCTIONS, count or 1)
    for name in FUNCTIONS:
        call = Call(name, model, at)
        yield call if count else call.part(0)


# JAX


def jax_ways(robot: Robot) -> Iterator[Ways | str]:
    """Jitted calls alone, in a scan and in a batch; gradients; adam-robotics beside them."""
    import jax
    import jax.numpy as jnp

    import dtau.jax

    jax.config.update("jax_enable_x64", True)

    def jitted(f: Any, x: Sequence[Any], states: int = 1) -> Contender:
        return Contender(loop("wait(f(*x))", wait=jax.block_until_ready, f=f, x=x), states)

    for count in (None, BATCH):
        for call in calls(robot.model, count):
            traced = partial(getattr(dtau.jax, call.name), call.model)
            compiled, x = jax.jit(traced), [jnp.asarray(y) for y in call.arrays.values()]
            require_bits(compiled(*x), call(), f"{robot.label}, {call.name} in JAX")
            contenders = {NUMPY: through_numpy(call), OURS: jitted(compiled, x)}
            yield Ways(call.name, f"batch of {count}" if count else "alone", contenders)
            if count is None:
                contenders[OURS] = jitted(_scanned(traced), x, STEPS)
                yield Ways(call.name, "in a scan", contenders)
    yield from _jax_gradients(robot, jitted)
    if robot.key == "panda" and optional("adam"):
        yield from _beside_adam(robot, jitted)


def _scanned(traced: Any) -> Any:
    """A loop of calls, the first input of each waiting for the result of the last one."""
    import jax
    import jax.numpy as jnp

    def scan(first: Any, *rest: Any) -> Any:
        def body(first: Any, _: Any) -> Any:
            result = jax.tree.leaves(traced(first, *rest))[0]
            return first + 0.0 * jnp.ravel(result)[0], None

        return jax.lax.scan(body, first, length=STEPS)[0]

    return jax.jit(scan)


def _jax_gradients(robot: Robot, jitted: Callable[..., Contender]) -> Iterator[Ways]:
    """Of a weighted sum of forward dynamics by q, v and tau, of one state and of a batch."""
    import jax
    import jax.numpy as jnp

    import dtau.jax

    model = robot.model
    weights = np.cos(np.arange(model.nv))
    for count in (None, GRADIENTS):
        at = random_inputs(model, ["forward_dynamics"], count or 1)
        arrays = {x: at[x] if count else at[x][0] for x in ("q", "v", "tau")}
        product = partial(dtau.forward_dynamics_vjp, coordinates="numbers", threads=1)
        value = partial(dtau.forward_dynamics, threads=1)
        statement = "value(model, q, v, tau); product(model, q, v, tau, lam)"
        names = {"value": value, "product": product, "model": model, "lam": weights}
        plain = Contender(loop(statement, **arrays, **names), 1)
        x = [jnp.asarray(y) for y in arrays.values()]

        def weighed(*x: Any) -> Any:
            return jnp.sum(weights * dtau.jax.forward_dynamics(model, *x))

        gradient = jax.jit(jax.grad(weighed, argnums=(0, 1, 2)))
        way = f"gradient, {count} states" if count else "gradient"
        expected = product(model, *arrays.values(), weights)
        for got, want in zip(gradient(*x), expected, strict=False):  # there are no wrenches
            require_close(np.asarray(got), want, GRADIENT, f"{robot.label}, {way}")
        yield Ways("forward_dynamics", way, {NUMPY: plain, OURS: jitted(gradient, x)})


def _beside_adam(robot: Robot, jitted: Callable[..., Contender]) -> Iterator[Ways | str]:
    """The mass matrix, the bias torque and its Jacobian beside adam-robotics, of a fixed root."""
    import jax
    import jax.numpy as jnp
    from adam.jax import KinDynComputations

    import dtau.jax

    model = robot.model.replace(gravity=(0, 0, -9.80665))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "robot.urdf"
        path.write_text(robot.urdf, encoding="utf-8")
        try:
            peer = KinDynComputations(str(path), [joint.name for joint in model.joints])
        except TypeError as error:  # adam 0.5.0 does not read the tensors of some files
            yield f"adam-robotics does not open {robot.label}: {str(error)[:100]}"
            return
    pose, still = np.eye(4), np.zeros(6)
    at = random_inputs(model, ["bias_torque"], 1)
    x = [jnp.asarray(at[name][0]) for name in ("q", "v")]

    def theirs(q: Any, v: Any) -> Any:
        return peer.bias_force(pose, q, still, v)[6:]

    ours = partial(dtau.jax.bias_torque, model)
    for name, one, other in (
        (
            "mass_matrix",
            lambda q, v: dtau.jax.mass_matrix(model, q),
            lambda q, v: peer.mass_matrix(pose, q)[6:, 6:],
        ),
        ("bias_torque", ours, theirs),
        ("bias_torque's Jacobian", jax.jacfwd(ours, (0, 1)), jax.jacfwd(theirs, (0, 1))),
    ):
        both = jax.jit(one), jax.jit(other)
        for got, want in zip(*(jax.tree.leaves(f(*x)) for f in both), strict=True):
            require_close(np.asarray(got), np.asarray(want), 1e-10, f"{name} and adam-robotics")
        found = {OURS: jitted(both[0], x), OWN: jitted(both[1], x)}
        yield Ways(name, "beside adam-robotics", found)


# PyTorch


def torch_ways(robot: Robot) -> Iterator[Ways]:
    """Calls of tensors that want no gradient and of those that do; gradients, all in one thread."""
    import torch

    import dtau.torch

    torch.set_num_threads(1)

    def tensors(call: Call, recorded: bool) -> list[Any]:
        copies = (torch.from_numpy(np.array(y)) for y in call.arrays.values())
        return [x.requires_grad_(recorded) for x in copies]

    for count in (None, BATCH):
        where = f", {BATCH} states" if count else ""
        for call in calls(robot.model, count):
            f, names = getattr(dtau.torch, call.name), {"model": call.model}
            for way, recorded in (("call", False), ("recorded", True)):
                x = tensors(call, recorded)
                got = [y.detach().numpy() for y in arrays_of(f(call.model, *x))]
                require_bits(tuple(got), call(), f"{robot.label}, {call.name} in PyTorch")
                ours = Contender(loop("f(model, *x)", f=f, x=x, **names), 1)
                yield Ways(call.name, way + where, {NUMPY: through_numpy(call), OURS: ours})
            if call.name in DYNAMICS:
                plain, ours = _torch_gradient(robot, call, tensors(call, True))
                yield Ways(call.name, f"gradient{where}", {NUMPY: plain, OURS: ours})
        shape = (*call.arrays["q"].shape[:-1], robot.model.nv)
        one, other = np.random.default_rng(0).uniform(-1.0, 1.0, (2, *shape))
        two = [torch.from_numpy(y).requires_grad_() for y in (one, other)]
        statement = "(x[0] * x[1]).backward(ones)"
        ours = Contender(loop(statement, x=two, ones=torch.from_numpy(np.ones(shape))), 1)
        plain = Contender(loop("f(x, y)", f=np.multiply, x=one, y=other), 1)
        yield Ways("a product", f"PyTorch's own gradient{where}", {NUMPY: plain, OURS: ours})


def _torch_gradient(robot: Robot, call: Call, x: list[Any]) -> tuple[Contender, Contender]:
    """Of a weighted sum of the results by q, v and the acceleration or torque."""
    import torch

    import dtau.torch

    model, given = robot.model, list(call.arrays.values())
    plain, product = getattr(dtau, call.name), getattr(dtau, f"{call.name}_vjp")
    f = getattr(dtau.torch, call.name)
    lam = np.cos(np.arange(given[1].size)).reshape(given[1].shape)
    weights = torch.from_numpy(lam)

    def through_numpy() -> Any:
        plain(model, *given, threads=1)
        by_q, *others = arrays_of(product(model, *given, lam, threads=1))
        back = dtau.tangent_map(model, given[0], threads=1).to_tangent
        return ((by_q[..., None, :] @ back)[..., 0, :], *others)

    def through_torch() -> Any:
        return torch.autograd.grad(f(model, *x), x, weights)

    for got, want in zip(through_torch(), through_numpy(), strict=True):
        what = f"{robot.label}, gradient of {call.name} in PyTorch"
        require_close(got.numpy(), want, GRADIENT, what)
    return called(through_numpy), called(through_torch)


# CasADi


def casadi_ways(robot: Robot) -> Iterator[Ways]:
    """Calls through `buffer()`, as CasADi's solvers make them; CasADi's own differentiation."""
    from benchmarks.peers import cases
    from benchmarks.peers.casadi_calls import Functions, stacked
    from benchmarks.peers.casadi_code import Called

    robot = cases.robot(robot.key)
    derived = [f"{name}_{word}" for name in DYNAMICS for word in DERIVED]
    at = cases.states(robot, cases.CHECKED) | random_inputs(robot.model, derived, cases.CHECKED)
    own = Functions(robot)
    for name in (*VALUES, *derived):
        case = cases.Case(name, robot, at)
        run, memory = _through_buffer(case)
        contenders = {
            NUMPY: through_numpy(case.call.part(0)),
            OURS: Contender(loop("call()", call=run, memory=memory), 1),
        }
        if (expression := own.get(case)) is not None:
            peer = Called(expression, stacked(case))
            contenders[OWN] = Contender(loop("call()", call=peer.call, peer=peer), 1)
        yield Ways(name, "through buffer()", contenders)


def _through_buffer(case: Any) -> tuple[Callable[[], None], object]:
    """A call through `buffer()` that gives what the package's function gives, and its memory."""
    import dtau.casadi

    problem, _, derived = case.function.rpartition("_")
    if derived not in DERIVED:
        problem, derived = case.function, ""
    options = dict(case.call.options)
    step = [np.array([options.pop("dt", DT)])] if problem == "step" else []
    function = dtau.casadi.function(case.robot.model, problem, **options)
    arguments = [*(x[0] for x in case.arguments.values()), *step]
    places = list(range(len(arguments)))
    if derived:
        function = DERIVED[derived](function)
        if derived != "derivatives":
            places[-1] = len(arguments)  # the seed, after the result
    kept = [np.array(x) for x in arguments]
    results = [np.empty(function.nnz_out(k)) for k in range(function.n_out())]
    buffer, call = function.buffer()
    for place, x in zip(places, kept, strict=True):
        buffer.set_arg(place, x.data)
    unasked = len(arguments) + 1 if derived == "hessian" else 0  # by seeds: no solver wants these
    for k, result in enumerate(results):
        if result.size and not (unasked and k % unasked == unasked - 1):
            buffer.set_res(k, result.data)
    call()
    _compare(case, derived, function, results)
    return call, (buffer, kept, results)


def _compare(case: Any, derived: str, function: Any, results: Sequence[Array]) -> None:
    """Raise where a result is not the package's: the first, of a Hessian the second."""
    import casadi

    wanted = [x[0] for x in case.wanted]
    to_tangent = dtau.tangent_map(case.robot.model, case.at["q"][0]).to_tangent
    place = 1 if derived == "hessian" else 0
    want = np.atleast_1d(wanted[place])
    if derived:
        want = want @ to_tangent if derived == "derivatives" else to_tangent.T @ want
    got = np.array(casadi.densify(casadi.DM(function.sparsity_out(place), results[place])))
    require_close(got.reshape(want.shape), want, 1e-9, case.function, floor=1e-3)
