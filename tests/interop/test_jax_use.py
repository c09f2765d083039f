"""`dtau.jax` under JAX's transformations, on several devices, in several processes; its errors."""

from __future__ import annotations

import gc
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

jax = pytest.importorskip("jax")

import jax.numpy as jnp  # noqa: E402
from adapter_cases import robot  # noqa: E402
from cases import random_state, serial  # noqa: E402
from jax_cases import enable_x64, near  # noqa: E402
from processes import python  # noqa: E402

import dtau  # noqa: E402
import dtau.jax  # noqa: E402
from dtau import _core  # noqa: E402
from dtau.jax.calls import Call, prepare  # noqa: E402
from dtau.jax.limits import require_cpu  # noqa: E402

STATE = random_state(robot("small"), 1)
START = jnp.asarray(STATE["q"]), jnp.asarray(STATE["v"])
TAU = jnp.asarray(STATE["tau"])


def energy_like(x: Any) -> Any:
    """A scalar of a whole state, in one vector."""
    model = robot("small")
    q, v, tau = x[:5], x[5:9], x[9:]
    return jnp.sum(dtau.jax.forward_dynamics(model, q, v, tau) ** 2)


@pytest.mark.jit
def test_every_way_to_a_second_derivative_gives_the_same() -> None:
    x = jnp.concatenate([*START, TAU])
    t = jnp.cos(jnp.arange(x.size))
    gradient = jax.grad(energy_like)

    @jax.jit
    def ways(x: Any) -> Any:
        return (
            jax.hessian(energy_like)(x) @ t,
            jax.jvp(gradient, (x,), (t,))[1],
            jax.grad(lambda x: jnp.vdot(gradient(x), t))(x),
            jax.grad(lambda x: jax.jvp(energy_like, (x,), (t,))[1])(x),
            jax.vmap(jax.jacrev(gradient))(jnp.stack([x, x]))[1] @ t,
        )

    first, *others = ways(x)
    for other in others:
        near(other, first, 1e-12)


def rollout(tau: Any, checkpoint: bool = False) -> Any:
    model = robot("small")

    def move(state: Any, u: Any) -> Any:
        after = dtau.jax.step(model, *state, u, 1e-3, "semi_implicit")
        return tuple(after), after.v[2]

    if checkpoint:
        move = jax.checkpoint(move)
    return jax.lax.scan(move, START, tau)[1].sum()


@pytest.mark.jit
def test_gradients_through_a_scan() -> None:
    tau = jnp.tile(TAU, (20, 1))
    plain = jax.jit(jax.grad(rollout))(tau)
    near(jax.jit(jax.grad(lambda u: rollout(u, checkpoint=True)))(tau), plain, 1e-12)
    direction = jnp.ones_like(tau)
    near(jax.jit(lambda u: jax.jvp(rollout, (u,), (direction,))[1])(tau), plain.sum(), 1e-12)


@pytest.mark.jit
@pytest.mark.parametrize("checkpoint", [False, True])
def test_hessians_through_a_scan(checkpoint: bool) -> None:
    """By every way to them, and by differences of gradients."""
    tau = jnp.tile(TAU, (3, 1))
    along = jnp.cos(jnp.arange(tau.size)).reshape(tau.shape)

    def cost(u: Any) -> Any:
        return (1e2 * rollout(u, checkpoint=checkpoint)) ** 2

    slope = jax.jit(jax.grad(cost))
    change = (slope(tau + 1e-3 * along) - slope(tau - 1e-3 * along)) / 2e-3
    assert jnp.abs(change).max() > 0.1
    for way in (jax.jacfwd(jax.jacrev(cost)), jax.jacrev(jax.jacrev(cost))):
        near(jnp.tensordot(jax.jit(way)(tau), along, 2), change, 1e-6)


@pytest.mark.parametrize("count", [1, 4, 5, 9])
@pytest.mark.parametrize("function", ["inverse_dynamics", "step", "frame_velocities"])
def test_few_and_many_vectors_at_one_state(function: str, count: int) -> None:
    """Few are products of the core, and many are multiplied by its Jacobian."""
    model = robot("small")
    more = {"inverse_dynamics": (TAU, TAU), "step": (TAU, TAU, 0.01)}
    arguments = more.get(function, (TAU, model.bodies))
    along = jnp.cos(jnp.arange(count * model.nq)).reshape(count, model.nq)

    def result(q: Any) -> Any:
        results = jax.tree.leaves(getattr(dtau.jax, function)(model, q, *arguments))
        return jnp.concatenate([jnp.ravel(x) for x in results])

    def pushed(x: Any) -> Any:
        return jax.jvp(result, START[:1], (x,))[1]

    near(jax.vmap(pushed)(along), jnp.stack([pushed(x) for x in along]), 1e-12)
    value, pull = jax.vjp(result, START[0])
    weights = jnp.sin(jnp.arange(count * value.size)).reshape(count, -1)
    near(jax.vmap(pull)(weights)[0], jnp.stack([pull(w)[0] for w in weights]), 1e-12)


@pytest.mark.parametrize(
    "function", ["inverse_dynamics", "forward_dynamics", "mass_matrix", "step"]
)
def test_a_third_derivative_does_not_exist(function: str) -> None:
    model = robot("small")
    more = {"inverse_dynamics": (TAU, TAU), "forward_dynamics": (TAU, TAU), "mass_matrix": ()}
    arguments = more.get(function, (TAU, TAU, 0.01))

    def along(t: Any) -> Any:
        results = getattr(dtau.jax, function)(model, START[0] + t, *arguments)
        return sum(x.sum() for x in jax.tree.leaves(results))

    first = jax.jit(jax.grad(along))
    second = jax.grad(jax.grad(along))
    near(jax.jit(second)(0.0), (first(1e-4) - first(-1e-4)) / 2e-4, 1e-6)
    with pytest.raises(NotImplementedError, match="up to the second order; this asks for the th"):
        jax.jit(jax.grad(second))(0.0)


def test_quaternions_of_zero_are_no_rotations() -> None:
    q = START[0].at[:4].set(0.0)
    assert np.isnan(dtau.jax.gravity_torque(robot("small"), q)).all()


def compiled(model: dtau.Model, q: Any) -> Any:
    return jax.jit(lambda q: dtau.jax.gravity_torque(model, q)).lower(q).compile()


def test_a_program_outlives_its_model() -> None:
    builder = dtau.ModelBuilder("soon gone")
    builder.add(dtau.Revolute((0, 1, 0)), name="link", inertia=dtau.Inertia(2.0, (0.1, 0, 0.3)))
    model = builder.build()
    expected = dtau.gravity_torque(model, [0.4])
    program = compiled(model, jnp.zeros(1))
    del model, builder
    gc.collect()
    assert np.array_equal(program(jnp.array([0.4])), expected)


def test_models_are_static_arguments() -> None:
    """Equal models share a program; another one has its own."""
    traced = []

    def torque(model: dtau.Model, q: Any) -> Any:
        traced.append(model)
        return dtau.jax.gravity_torque(model, q)

    program = jax.jit(torque, static_argnums=0)
    model = robot("small")
    program(model, START[0])
    program(serial("spherical", "revolute", seed=3).model(), START[0])
    assert len(traced) == 1
    lighter = model.replace(gravity=(0, 0, -1.62))
    near(program(lighter, START[0]), dtau.gravity_torque(lighter, START[0]), 1e-15)


# ------------------------------------------------------------------ errors


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((np.zeros(4), TAU, TAU), ValueError, r"q: expected shape \(\.\.\., 5\), got \(4,\)"),
        ((START[0], np.zeros((2, 4)), np.zeros((3, 4))), ValueError, r"batch shapes.*v \(2,\)"),
        (
            (START[0], 1j * TAU, TAU),
            TypeError,
            "v: expected an array of real numbers, got complex128",
        ),
        ((START[0], "fast", TAU), TypeError, "v: expected an array of real numbers, got str"),
        ((START[0], None, TAU), TypeError, "v: expected an array, got None"),
    ],
)
def test_what_does_not_fit_is_named(arguments: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=f"^{message}"):
        dtau.jax.inverse_dynamics(robot("small"), *arguments)


def test_other_mistakes_are_named() -> None:
    model = robot("small")
    with pytest.raises(
        TypeError, match=r"model: expected a dtau\.Model, got jaxlib\.[\w.]*ArrayImpl; models are"
    ):
        dtau.jax.gravity_torque(START[0], START[0])
    with pytest.raises(ValueError, match="f_ext_axes: expected 'body', 'world' or 'mixed'"):
        dtau.jax.bias_torque(model, *START, f_ext_axes="local")
    with pytest.raises(ValueError, match=r"no frame named 'hand'"):
        dtau.jax.frame_placements(model, START[0], "hand")


def test_other_processors_are_refused() -> None:
    """What is registered for them, called here."""
    jax.ffi.register_ffi_target("dtau_refusal", _core.xla_refusal(), platform="cpu")
    call = jax.ffi.ffi_call("dtau_refusal", jax.ShapeDtypeStruct((), np.float64))
    with pytest.raises(Exception, match="computes on the CPU, and this program runs elsewhere"):
        call(TAU)


def test_batches_without_states() -> None:
    """Whose arrays have no address in some versions of JAX."""
    q = jnp.zeros((0, robot("small").nq))
    assert dtau.jax.gravity_torque(robot("small"), q).shape == (0, robot("small").nv)


def test_no_states_and_room_for_some_do_not_fit() -> None:
    """Results would be left as the memory was. What JAX makes of calls always fits."""
    prepared = prepare(Call.of(robot("small"), "gravity_torque"))
    attributes = {"call": np.int64(prepared.number), "given": np.int64(1), "name": "gravity_torque"}
    nq, nv = robot("small").nq, robot("small").nv
    for states in (0, 3):
        call = jax.ffi.ffi_call("dtau_call", jax.ShapeDtypeStruct((states, nv), np.float64))
        if states:
            with pytest.raises(Exception, match="expected results with room for 0 states"):
                call(np.zeros((0, nq)), **attributes)
        else:
            assert call(np.zeros((0, nq)), **attributes).shape == (0, nv)


@pytest.mark.parametrize("processor", ["cuda", "rocm", "tpu"])
def test_programs_for_other_processors_are_refused_when_they_are_lowered(processor: str) -> None:
    def torque(q: Any) -> Any:
        return dtau.jax.gravity_torque(robot("small"), q).sum()

    for f, q in (
        (torque, START[0]),
        (jax.grad(torque), START[0]),
        (jax.vmap(torque), START[0][None]),
    ):
        traced = jax.jit(f).trace(q)
        for platforms in ((processor,), ("cpu", processor)):
            with pytest.raises(
                NotImplementedError, match=r"this program is lowered .*pure_callback"
            ):
                traced.lower(lowering_platforms=platforms)


def test_arrays_on_other_processors_are_refused() -> None:
    class Elsewhere:
        def devices(self) -> list[Any]:
            return [SimpleNamespace(platform="gpu")]

    with pytest.raises(NotImplementedError, match=r"an array lies .* jax\.default_device"):
        require_cpu([None, TAU, Elsewhere()])
    require_cpu([None, TAU])


def test_gradients_outside_of_a_scope_with_float64_are_refused() -> None:
    """Values and forward mode leave the scope, in float32; reverse mode goes through it again."""
    model = robot("small")
    q, v = (np.asarray(x, np.float32) for x in START)

    def torque(q: Any) -> Any:
        with enable_x64(True):
            return dtau.jax.inverse_dynamics(model, q, v, v).sum()

    with enable_x64(False):
        value = torque(q)
        for gradient in (jax.grad(torque), jax.jit(jax.grad(torque)), jax.jacrev(torque)):
            with pytest.raises(TypeError, match=r"^dtau\.jax: a gradient is pulled back where"):
                gradient(q)
        with enable_x64(True):
            got, want = jax.grad(torque)(q), jax.jit(jax.grad(torque))(q.astype(float))
    assert value.dtype == got.dtype == np.float32
    near(got, want, 1e-6)

    chain, still = dtau.robots.chain(3), np.zeros(3)

    def narrow(q: Any) -> Any:
        with enable_x64(False):
            return dtau.jax.inverse_dynamics(chain, q, still, still).sum()

    with pytest.raises(TypeError, match=r"is on, .* was off: .* inside jax\.enable_x64\(False\)"):
        jax.grad(narrow)(np.zeros(3, np.float32))


@pytest.mark.jit
def test_programs_in_other_processes(tmp_path: Path) -> None:
    """One that knows an equal model runs it; another says what is missing."""
    pytest.importorskip("flatbuffers")
    export = pytest.importorskip("jax.export")  # of JAX 0.6.1 only where absl is
    model = dtau.robots.quadruped()
    q = dtau.neutral(model)
    exported = export.export(
        jax.jit(lambda q: dtau.jax.gravity_torque(model, q)),
        disabled_checks=[export.DisabledSafetyCheck.custom_call("dtau_call")],
    )
    file = tmp_path / "program"
    file.write_bytes(exported(q).serialize())
    program = """
import sys, jax, jax.export, dtau, dtau.jax, pathlib
jax.config.update("jax_enable_x64", True)
call = jax.export.deserialize(bytearray(pathlib.Path(sys.argv[1]).read_bytes())).call
q = dtau.neutral(dtau.robots.quadruped())
try:
    call(q)
except Exception as error:
    print(error)
dtau.jax.gravity_torque(dtau.robots.quadruped(), q)
print(call(q)[2])
"""
    done = python(program, file)
    assert "gravity_torque: this process does not know the model" in done.stdout
    assert str(dtau.gravity_torque(model, q)[2])[:12] in done.stdout, done.stderr


@pytest.mark.parametrize("of", ["a function", "gradients", "Hessians"])
def test_exported_programs_take_batches_of_any_size(of: str) -> None:
    export = pytest.importorskip("jax.export")  # of JAX 0.6.1 only where absl is
    model = dtau.robots.quadruped()

    def cost(q: Any, v: Any, a: Any) -> Any:
        height = dtau.jax.frame_placements(model, q, "LF_FOOT")[0][..., 2]
        return (dtau.jax.forward_dynamics(model, q, v, a) ** 2).sum() + height.sum()

    program = {
        "a function": lambda q, v, a: dtau.jax.inverse_dynamics(model, q, v, a),
        "gradients": jax.grad(cost, (0, 1, 2)),
        "Hessians": jax.vmap(jax.hessian(cost, 1)),
    }[of]
    (batch,) = export.symbolic_shape("batch")
    exported = export.export(
        jax.jit(program), disabled_checks=[export.DisabledSafetyCheck.custom_call("dtau_call")]
    )(*(jax.ShapeDtypeStruct((batch, n), np.float64) for n in (model.nq, model.nv, model.nv)))
    for size in (1, 3):
        state = dtau.random_state(model, np.random.default_rng(size), shape=(size,))
        found, expected = exported.call(*state), jax.jit(program)(*state)
        for x, y in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
            assert np.array_equal(x, y)


@pytest.mark.jit
def test_a_batch_over_several_devices() -> None:
    """With `shard_map` every device computes its own states, and nothing is gathered."""
    program = """
import jax, numpy as np, dtau, dtau.jax
from jax.sharding import Mesh, NamedSharding, PartitionSpec
jax.config.update("jax_enable_x64", True)
model = dtau.robots.quadruped()
q, v, a = dtau.random_state(model, np.random.default_rng(0), shape=(12,))
mesh, rows = Mesh(np.array(jax.devices()), ("states",)), PartitionSpec("states")
assert len(jax.devices()) == 3
place = lambda x: jax.device_put(x, NamedSharding(mesh, rows))
torque = lambda q, v, a: dtau.jax.inverse_dynamics(model, q, v, a)
cost = lambda q, v, a: torque(q, v, a).sum()
gradient, hessian = jax.vmap(jax.grad(cost)), jax.vmap(jax.hessian(cost))
try:
    from jax import shard_map
except ImportError:
    from jax.experimental.shard_map import shard_map
newer = hasattr(jax, "reshard")  # JAX 0.6 refuses its own jacrev of what varies over a mesh
for function in (torque, gradient, hessian)[: 3 if newer else 2]:
    split = jax.jit(shard_map(function, mesh=mesh, in_specs=(rows,) * 3, out_specs=rows))
    x = [place(y) for y in (q, v, a)]
    result = split(*x)
    assert len(result.sharding.device_set) == 3
    assert np.allclose(result, jax.jit(function)(q, v, a), rtol=0, atol=1e-11)
    assert "all-gather" not in split.lower(*x).compile().as_text()
    try:
        split.trace(*x).lower(lowering_platforms=("cuda",))
        print("lowered")
    except NotImplementedError as error:
        assert "lowered for another processor" in str(error)
if newer:
    # Here q does not vary over the mesh.
    total = lambda v, a: (torque(q[0], v, a) ** 2).sum()
    split = jax.jit(shard_map(jax.grad(total), mesh=mesh, in_specs=(rows,) * 2, out_specs=rows))
    assert np.allclose(split(*x[1:]), jax.grad(total)(v, a), 1e-12, 1e-9)
    explicit = jax.make_mesh((3,), ("states",), axis_types=(jax.sharding.AxisType.Explicit,))
    with jax.set_mesh(explicit):
        x = [jax.device_put(y, NamedSharding(explicit, rows)) for y in (q, v, a)]
        total = lambda *x: (torque(*x) ** 2).sum()
        assert np.allclose(jax.jit(jax.grad(total))(*x), jax.grad(total)(q, v, a), 1e-12, 1e-9)
print("split")
"""
    flags = "--xla_force_host_platform_device_count=3"
    done = python(program, XLA_FLAGS=flags)
    assert done.stdout.endswith("split\n"), done.stderr


def test_trees_of_results_keep_their_attributes() -> None:
    """Through jit, vmap and grad; the paths of leaves have the names of the attributes."""
    model = dtau.robots.quadruped()
    q, v, tau = dtau.random_state(model, np.random.default_rng(0), shape=(3,))
    lin = dtau.linearize_discrete(model, q, v, tau, 0.01, by="dt")
    leaves, _ = jax.tree_util.tree_flatten_with_path(lin)
    names = ["A", "B", "q", "v", "dq_ddt", "dv_ddt"]
    assert [jax.tree_util.keystr(path) for path, _ in leaves] == [f".{x}" for x in names]
    twice = jax.tree.map(lambda x: 2.0 * x, lin)
    mapped = jax.vmap(lambda x: x)(jax.jit(lambda x: x)(twice))
    slope = jax.grad(lambda x: (x.dv_ddt * x.v).sum())(twice)
    for result in (mapped, slope):
        assert type(result) is dtau.results.DiscreteLinearization
        assert list(vars(result)) == names[4:]
    near(mapped.dv_ddt, 2.0 * lin.dv_ddt, 1e-15)
    near(slope.dv_ddt, 2.0 * lin.v, 1e-15)
    assert not vars(jax.tree.map(np.asarray, dtau.linearize(model, q, v, tau)))
