"""Arrays of other libraries as arguments and as `out`: DLPack, PyTorch's tensors, masked arrays."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dtau
from dtau import identification

MODEL = dtau.robots.quadruped()
RNG = np.random.default_rng(7)
Q = dtau.integrate(MODEL, dtau.neutral(MODEL), RNG.normal(size=MODEL.nv))
V, A = RNG.normal(size=(2, MODEL.nv))
TORQUE = dtau.inverse_dynamics(MODEL, Q, V, A)


class Shared:
    """An array that other libraries reach through DLPack alone."""

    def __init__(self, array: Any) -> None:
        self.array = np.asarray(array)

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()


class Elsewhere(Shared):
    """An array whose library does not copy it from the memory of a GPU."""

    def __dlpack__(self, **options: Any) -> Any:
        raise BufferError("the memory is that of cuda:0")


class Rewriting(Shared):
    """An array whose library runs a function when it shares the memory."""

    def __init__(self, array: Any, run: Callable[[], Any]) -> None:
        super().__init__(array)
        self.run = run

    def __dlpack__(self, **options: Any) -> Any:
        self.run()
        return super().__dlpack__(**options)


def tensor(array: Any, **options: Any) -> Any:
    torch = pytest.importorskip("torch")
    return torch.tensor(np.array(array), dtype=torch.float64, **options)


KINDS = [Shared, tensor]


@pytest.mark.parametrize("kind", KINDS)
def test_arguments_are_read(kind: Any) -> None:
    got = dtau.inverse_dynamics(MODEL, kind(Q), kind(V), kind(A))
    assert type(got) is np.ndarray
    np.testing.assert_array_equal(got, TORQUE)
    batch = dtau.inverse_dynamics(MODEL, kind([Q, Q]), V, A)
    np.testing.assert_array_equal(batch, [TORQUE, TORQUE])


def test_dlpack_of_other_numbers_is_read() -> None:
    one = Shared(np.ones(MODEL.nv, dtype=np.float32))
    np.testing.assert_array_equal(
        dtau.inverse_dynamics(MODEL, Q, one, A),
        dtau.inverse_dynamics(MODEL, Q, np.ones(MODEL.nv), A),
    )


def test_dlpack_is_read_outside_of_calls() -> None:
    np.testing.assert_array_equal(dtau.Pose(translation=Shared([1.0, 2, 3])).translation, [1, 2, 3])


@pytest.mark.parametrize("kind", KINDS)
def test_out_is_written(kind: Any) -> None:
    out = kind(np.full(MODEL.nv, np.nan))
    result = dtau.inverse_dynamics(MODEL, Q, V, A, out=out)
    assert type(result) is np.ndarray
    np.testing.assert_array_equal(result, TORQUE)
    np.testing.assert_array_equal(np.from_dlpack(out), TORQUE)


@pytest.mark.parametrize("container", [tuple, list])
def test_several_outs_are_written(container: Any) -> None:
    square = (MODEL.nv, MODEL.nv)
    out = [Shared(np.zeros(square)), np.zeros(square), tensor(np.zeros(square))]
    got = dtau.inverse_dynamics_derivatives(MODEL, Q, V, A, out=container(out))
    expected = dtau.inverse_dynamics_derivatives(MODEL, Q, V, A)
    assert got[1] is out[1]
    for given, result, wanted in zip(out, got, expected, strict=True):
        np.testing.assert_array_equal(result, wanted)
        np.testing.assert_array_equal(np.from_dlpack(given), wanted)


def test_out_that_shares_the_memory_of_an_argument_is_refused() -> None:
    v = V.copy()
    with pytest.raises(ValueError, match="out: expected memory of its own, got memory that v uses"):
        dtau.inverse_dynamics(MODEL, Q, v, A, out=Shared(v))


def test_out_may_call_the_function_while_it_is_shared() -> None:
    out = Rewriting(np.zeros(MODEL.nv), lambda: dtau.inverse_dynamics(MODEL, Q, A, V))
    np.testing.assert_array_equal(dtau.inverse_dynamics(MODEL, Q, V, A, out=out), TORQUE)


def test_out_may_empty_its_list_while_it_is_shared() -> None:
    square = (MODEL.nv, MODEL.nv)
    out: list[Any] = [np.zeros(square) for _ in range(3)]
    out[0] = Rewriting(out[0], lambda: out.clear())
    got = dtau.inverse_dynamics_derivatives(MODEL, Q, V, A, out=out)
    np.testing.assert_array_equal(
        got.dtau_dq, dtau.inverse_dynamics_derivatives(MODEL, Q, V, A).dtau_dq
    )


@pytest.mark.parametrize(
    ("out", "problem"),
    [
        (lambda: Shared(np.zeros(MODEL.nv, dtype=np.float32)), "expected dtype float64"),
        (lambda: Shared(np.zeros(3)), "expected shape"),
        (lambda: Elsewhere(np.zeros(MODEL.nv)), "out: expected memory on the CPU.*cuda:0"),
        (lambda: [0.0] * MODEL.nv, "out: expected a NumPy array, got list"),
    ],
)
def test_unfit_out_is_refused(out: Callable[[], Any], problem: str) -> None:
    with pytest.raises((TypeError, ValueError), match=problem):
        dtau.inverse_dynamics(MODEL, Q, V, A, out=out())


def test_out_with_the_other_sign_is_refused() -> None:
    torch = pytest.importorskip("torch")
    out = torch.zeros(2 * MODEL.nv, dtype=torch.complex128).conj().imag[: MODEL.nv]
    assert out.is_neg()
    with pytest.raises(ValueError, match=r"out: .*negative bit is set; use tensor\.resolve_neg"):
        dtau.inverse_dynamics(MODEL, Q, V, A, out=out)


def test_out_of_jax_is_refused() -> None:
    jax = pytest.importorskip("jax")
    with jax.enable_x64(True):
        out = jax.numpy.zeros(MODEL.nv, dtype=np.float64)
        with pytest.raises(ValueError, match="out: expected a writable array"):
            dtau.inverse_dynamics(MODEL, Q, V, A, out=out)
        assert not out.any()


def calls(given: Any) -> list[tuple[str, Callable[[], Any]]]:
    """Every way that an array is taken: in the core, outside, and as `out`."""
    return [
        ("v", lambda: dtau.inverse_dynamics(MODEL, Q, given, A)),
        ("v", lambda: dtau.inverse_dynamics(MODEL, np.array([Q, Q]), given, A)),
        ("inputs", lambda: dtau.linearize(MODEL, Q, V, TORQUE, inputs=given)),
        ("out", lambda: dtau.inverse_dynamics(MODEL, Q, V, A, out=given)),
        ("armature", lambda: dtau.Link("x", None, dtau.Free(), "y", armature=given)),
    ]


def refusals(given: Any, words: str) -> None:
    for argument, call in calls(given):
        with pytest.raises(TypeError, match=f"^{argument}: .*{words}"):
            call()


def test_masked_arrays_are_refused() -> None:
    refusals(np.ma.masked_array(V, mask=V > 0), r"without a mask, got a MaskedArray.*\.filled\(")


@pytest.mark.filterwarnings("ignore:Warning. converting a masked element")
def test_masked_arrays_are_refused_in_lists() -> None:
    for items in ([np.ma.masked_array(x, mask=x > 0) for x in V], [*V[1:], np.ma.masked]):
        for argument, call in calls(items):
            if argument != "out":
                with pytest.raises(TypeError, match=f"^{argument}: .*without a mask, got a Masked"):
                    call()


def test_masked_arrays_are_refused_outside_of_calls(tmp_path: Path) -> None:
    model, path = dtau.robots.chain(3), tmp_path / "robot.c"
    base = identification.base_parameters(identification.Regressor(model))
    masked = np.ma.masked_array(np.ones(3), mask=[False, True, False])
    wanted = "without a mask, got a MaskedArray"
    with pytest.raises(TypeError, match=f"^noise: .*{wanted}"):
        identification.condition_number(base, *np.zeros((3, 5, 3)), noise=masked)
    with pytest.raises(TypeError, match=f"^velocity_limits: .*{wanted}"):
        identification.excite(base, period=1.0, velocity_limits=masked)
    for options, name in (
        ({"inputs": np.ma.masked_array(np.eye(3))}, "inputs"),
        ({"inputs": [masked, masked, masked]}, "inputs"),
        ({"v": masked}, "v"),
    ):
        with pytest.raises(TypeError, match=f"^{name}: .*{wanted}"):
            dtau.generate(model, {"f": ("linearize", options)}, path)


def test_tensors_that_require_grad_are_refused() -> None:
    refusals(tensor(V, requires_grad=True), "requires grad.*dtau.torch keep it.*detach")


def test_tensors_that_require_grad_are_refused_in_lists() -> None:
    items = [tensor(x, requires_grad=True) for x in V]
    for argument, call in calls(items):
        if argument != "out":
            with pytest.raises(TypeError, match=f"^{argument}: .*requires grad.*dtau.torch"):
                call()


def test_dlpack_from_elsewhere_is_refused() -> None:
    for argument, call in calls(Elsewhere(V)):
        with pytest.raises(ValueError, match=f"^{argument}: .*on the CPU.*Elsewhere.*cuda:0"):
            call()


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_errors_of_other_libraries_stay(error: type[BaseException]) -> None:
    class Broken:
        count = 0

        def __array__(self, *_: Any, **__: Any) -> Any:
            self.count += 1
            if self.count == 1:
                raise error("its own")
            return V

    for argument, _ in calls(V):
        broken = Broken()
        if argument != "out":
            with pytest.raises(error, match="its own"):
                dict(calls(broken))[argument]()
            assert broken.count == 1
