"""Mutants of the adapters and of generated code: python/dtau."""

from __future__ import annotations

from .mutant import Mutant

PYTHON = "python/dtau/"
TORCH = "tests/interop/laws/test_torch_laws.py"

LIBRARIES = (
    # ------------------------------------------------------------ rules that differentiate
    Mutant(
        "rules/mixed_tensor",
        "The Jacobians' derivatives by q take a mixed tensor without exchanging its axes.",
        PYTHON + "autodiff/blocks.py",
        "return dqdq, x.xp.swapaxes(dqdv, -1, -2), dxdq",
        "return dqdq, dqdv, dxdq",
        (f"{TORCH}::test_law[inverse_dynamics | plain | backward_through_a_tangent]", TORCH),
    ),
    Mutant(
        "rules/inverse_sign",
        "The derivative of the inverse mass matrix has the wrong sign.",
        PYTHON + "autodiff/blocks.py",
        '(-x.xp.einsum("...ia,',
        '(x.xp.einsum("...ia,',
        (f"{TORCH}::test_law[mass_matrix_inverse | plain | reverse_jacobian]", TORCH),
    ),
    Mutant(
        "rules/carried_back",
        "The logarithm of a pose has its first-order term with the wrong sign.",
        PYTHON + "autodiff/joint_groups.py",
        "return p - 0.5 * wp",
        "return p + 0.5 * wp",
        (f"{TORCH}::test_law[difference | plain | reverse_jacobian]", TORCH),
    ),
    Mutant(
        "rules/world_point",
        "A frame's motion along world axes is taken to the wrong side of the origin.",
        PYTHON + "autodiff/compositions.py",
        "linear = linear + x.xp.swapaxes(moved, -1, -2)",
        "linear = linear - x.xp.swapaxes(moved, -1, -2)",
        (f"{TORCH}::test_law[frame_velocities | world | reverse_jacobian]", TORCH),
    ),
    # ------------------------------------------------------------ JAX, PyTorch, CasADi
    Mutant(
        "jax/tangent_of_frames",
        "Variations of q are not brought into the tangent space, where frames are differentiated.",
        PYTHON + "jax/derivatives.py",
        "if in_tangent_space(call.name):",
        'if call.name == "frame_jacobians":',
        ("tests/interop/laws/test_jax_laws.py",),
    ),
    Mutant(
        "jax/varied_states",
        "A gradient does not vary with the state.",
        PYTHON + "jax/derivatives.py",
        "parts.append(_varied_inputs(product, inputs, vectors, changes))",
        "parts.append([jnp.zeros_like(x) for x in results])",
        (
            "tests/interop/laws/test_jax_laws.py",
            "tests/interop/test_jax_use.py",
        ),
    ),
    Mutant(
        "jax/states_of_one_axis",
        "Mapped states without the axes of a batch are aligned with its last axis.",
        PYTHON + "jax/primitives.py",
        "x = x.reshape((size, *[1] * missing, *x.shape[1:]))",
        "x = x.reshape((*[1] * missing, size, *x.shape[1:]))",
        ("tests/interop/laws/test_jax_laws.py",),
    ),
    Mutant(
        "jax/float32",
        "Results are float64 even where all arrays are float32.",
        PYTHON + "jax/arguments.py",
        "result = jnp.result_type(float, *typed)",
        "result = jnp.result_type(float)",
        ("tests/interop/test_jax_float32.py",),
    ),
    Mutant(
        "jax/scopes",
        "Gradients go back through calls that were made under another jax_enable_x64.",
        PYTHON + "jax/limits.py",
        "if float64 != (widest_float() == np.float64):",
        "if float64 and widest_float() == np.float16:",
        ("tests/interop/test_jax_use.py",),
    ),
    Mutant(
        "torch/unseen_operators",
        "Calls go around PyTorch's dispatcher while a dispatch mode records operators.",
        PYTHON + "torch/direct.py",
        "if _modes() or _transforming() or",
        "if _transforming() or",
        ("tests/interop/test_torch_direct.py",),
    ),
    Mutant(
        "torch/batched_gradients",
        "Gradients that torch.autograd.grad(is_grads_batched=True) maps go to NumPy's products.",
        PYTHON + "torch/transforms.py",
        "or any(map(is_batched, cotangents))",
        "or False",
        (
            f"{TORCH}::test_law[inverse_dynamics | plain | batched_gradients]",
            TORCH,
            "tests/interop/test_torch.py",
        ),
    ),
    Mutant(
        "casadi/planar_logarithm",
        "The displacement of a planar joint has a term with the wrong sign.",
        PYTHON + "casadi/expressions/manifold.py",
        "- angle / 2.0 * _QUARTER",
        "+ angle / 2.0 * _QUARTER",
        (
            "tests/interop/test_casadi.py",
            "tests/interop/laws/test_casadi_laws.py",
        ),
    ),
    Mutant(
        "casadi/wrenches",
        "CasADi's derivative by external wrenches counts them row by row.",
        PYTHON + "casadi/plans.py",
        "[*up[-1:], *up[:-1], *down[-1:], *down[:-1]]",
        "[*up[-1:], *up[:-1], *down]",
        ("tests/interop/laws/test_casadi_laws.py",),
    ),
    Mutant(
        "casadi/kept_integrator",
        "A step's function is kept for the next call without telling integrators apart.",
        PYTHON + "casadi/builder.py",
        'integrator if "integrator" in known else None,',
        "None,",
        ("tests/interop/test_casadi_calls.py",),
    ),
    # ------------------------------------------------------------ generated code
    Mutant(
        "codegen/column_order",
        "CasADi's adjoint of a matrix in generated code comes row by row.",
        PYTHON + "codegen/casadi_interface.py",
        '_compressed(x.reshape(shape, order="F"), full=True)',
        "_compressed(x.reshape(shape), full=True)",
        ("tests/codegen/test_casadi_code.py::test_wrenches_and_gravity",),
    ),
    Mutant(
        "codegen/limit",
        "dtau.compile does not heed the limit on what a compiler may take.",
        PYTHON + "codegen/compiled.py",
        "if seconds > limit:",
        "if seconds > 1e9:",
        ("tests/codegen/test_compiled_models.py",),
    ),
)
