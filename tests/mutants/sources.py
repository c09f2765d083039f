"""The files that mutants are drawn from, the tests that these meet, and mutants by their texts.

Change the tests of a file where its mutants survive that others find, and put those first that find
most. LEFT_OUT has mutants that say nothing of the tests, with the reason.
"""

from __future__ import annotations

from typing import NamedTuple


class Sources(NamedTuple):
    """Files of one folder, as a pattern and the names for its star, and what they share."""

    pattern: str
    names: str
    tests: str
    """In the folder tests; first those that find most."""
    each: int = 2
    """Mutants of each file."""


class Pinned(NamedTuple):
    """A slip that no operator makes: a text that is once in its file, and another in its place."""

    name: str
    slip: str
    """In one sentence, as a reviewer would say it."""
    file: str
    old: str
    new: str
    tests: str


_CORE, _ALGORITHMS, _PYTHON = "include/dtau/", "include/dtau/algorithms/", "python/dtau/"
_TORCH_LAWS, _JAX_LAWS, _CASADI_LAWS = (
    f"interop/laws/test_{name}_laws.py" for name in ("torch", "jax", "casadi")
)
_SAME_BITS = "batch/test_instruction_sets.py::test_a_state_has_the_same_bits_everywhere"

SOURCES = (
    # ------------------------------------------------------------ the core
    Sources(_CORE + "*.hpp", "spatial inertia",
            "dynamics/test_dynamics.py terms derivatives second_derivatives", 4),
    Sources(_CORE + "*.hpp", "turns joint kinematics",
            "dynamics/test_dynamics.py derivatives batch/test_invariance.py", 3),
    Sources(_CORE + "*.hpp", "rotation_vector", "manifold"),
    Sources(_CORE + "*.hpp", "numbers", f"manifold/test_numbers.py {_CASADI_LAWS}", 3),
    Sources(_CORE + "*.hpp", "mimic", "model/test_mimic.py parameters/test_parameters.py", 3),
    Sources(_CORE + "*.hpp", "given_parameters", "parameters/test_many_models.py"),
    Sources(_CORE + "*.hpp", "springs rotation_springs friction hyperbolic_tangent",
            "dynamics/test_springs.py dynamics/test_ball_springs.py dynamics/test_friction.py "
            "derivatives terms time_derivatives second_derivatives", 3),
    Sources(_ALGORITHMS + "values/*.hpp", "rnea crba aba wrench_axes",
            "dynamics/test_dynamics.py dynamics/test_wrench_axes.py derivatives"),
    Sources(_ALGORITHMS + "values/*.hpp", "coriolis energy momentum", "terms centroidal"),
    Sources(_ALGORITHMS + "values/*.hpp", "frames", "frames", 3),
    Sources(_ALGORITHMS + "first/*.hpp", "idsva_bodies idsva_alone",
            f"derivatives/test_derivatives.py dynamics {_SAME_BITS}"),
    Sources(_ALGORITHMS + "first/*.hpp", "products regressor",
            "products parameters/test_parameters.py derivatives/test_laws.py parameters", 3),
    Sources(_ALGORITHMS + "first/*.hpp", "center_of_mass energy",
            "centroidal derivatives/test_laws.py"),
    Sources(_ALGORITHMS + "*/frames.hpp", "first second", "frames derivatives/test_laws.py"),
    Sources(_ALGORITHMS + "second/*.hpp",
            "hessian idsva_so_columns idsva_so_entries forward_tensors packed",
            "second_derivatives derivatives/test_laws.py derivatives/test_patterns.py"),
    Sources(_ALGORITHMS + "time/*.hpp", "taylor inverse kinematics rotation_vector_series",
            "time_derivatives dynamics/test_ball_springs.py"),
    Sources(_ALGORITHMS + "time/*.hpp", "mimic momentum",
            "model/test_mimic.py time_derivatives/test_rate_laws.py"),
    Sources(_ALGORITHMS + "time/*.hpp", "constraint_rows constraint_jacobians constrained",
            "constraints/test_constrained_time_derivatives.py"),
    Sources(_ALGORITHMS + "solve/*.hpp", "ltdl factorized",
            "dynamics/test_dynamics.py derivatives products"),
    Sources(_ALGORITHMS + "*.hpp", "solve/riccati poses/poses", "control poses"),
    Sources(_ALGORITHMS + "steps/*.hpp", "manifold exponential", "manifold poses", 3),
    Sources(_ALGORITHMS + "steps/*.hpp", "step discrete_linearization step_products step_jvp",
            "steps/test_steps.py"),
    Sources(_ALGORITHMS + "steps/*.hpp", "step_hessian step_hessian_terms",
            "steps/test_step_hessians.py steps/test_linearization.py manifold/test_numbers.py"),
    Sources(_ALGORITHMS + "steps/*.hpp", "linearization",
            "steps/test_linearization.py steps/test_step_hessians.py manifold/test_numbers.py"),
    Sources(_ALGORITHMS + "constraints/*.hpp",
            "rows schur_complement forces correction failures inverse impulse tensors",
            "constraints/test_constrained_dynamics.py constraints/test_contradictions.py "
            "constraints/test_contact_steps.py derivatives/test_laws.py "
            "constraints/test_impulses.py constraints/test_contact_hessians.py "
            "constraints/test_mixed_contacts.py constraints/test_unreached_velocities.py"),
    # ------------------------------------------------------------ the compiled code around it
    Sources("src/python/*.cpp", "arrays_in arrays_out plain_call messages",
            "batch/test_errors.py batch/test_buffers.py batch/test_lone_calls.py "
            "batch/test_invariance.py time_derivatives/test_orders.py "
            "constraints/test_constrained_dynamics.py constraints/test_unreached_velocities.py", 3),
    Sources("src/python/*.cpp", "options options_of_robots",
            "interop/test_adapters.py steps/test_linearization.py dynamics/test_equilibrium.py "
            "constraints/test_contacts.py time_derivatives/test_orders.py "
            "parameters/test_parameters.py frames/test_wrench_at_frame.py"),
    Sources("src/*.cpp", "python/result_memory batch/kept_blocks", "batch/test_kept_memory.py"),
    Sources("src/call/*.cpp", "options raw_call",
            f"constraints/test_contacts.py interop/test_c_interface.py batch {_JAX_LAWS}"),
    Sources("src/registry/*.cpp", "shapes patterns",
            "frames/test_frame_derivatives.py frames/test_wrench_at_frame.py "
            "derivatives/test_patterns.py parameters/test_parameters.py manifold/test_numbers.py "
            "batch"),
    Sources("src/batch/*.hpp", "run_in_lanes run_alone run application lanes",
            f"batch/test_invariance.py {_SAME_BITS} constraints/test_mixed_contacts.py "
            "constraints/test_positions.py constraints/test_gaits.py batch/test_buffers.py", 3),
    Sources("src/*.hpp", "registry/active_constraints registry/held_constraints batch/mimic_joints",
            "constraints/test_gaits.py constraints/test_mixed_contacts.py model/test_mimic.py"),
    Sources("src/batch/*.cpp", "parallel",
            "batch/test_threads.py batch/test_process_lifetime.py batch/test_forks.py "
            "interop/test_c_interface.py"),
    Sources("src/tree/*.cpp", "compiled_tree sparsity",
            "dynamics/test_dynamics.py frames/test_frame_derivatives.py "
            f"steps/test_linearization.py {_SAME_BITS} model/test_mimic.py batch/test_core.py", 3),
    Sources("src/codegen/*.cpp", "adjoint tape write",
            "codegen/test_generated_code.py codegen/test_casadi_code.py codegen/test_payload.py "
            "codegen/test_limit.py codegen/test_compiled_models.py", 3),
    # ------------------------------------------------------------ adapters and generated code
    Sources(_PYTHON + "autodiff/*.py", "blocks joint_groups compositions", _TORCH_LAWS),
    Sources(_PYTHON + "jax/*.py", "derivatives primitives arguments limits",
            "interop/test_jax_float32.py interop/test_jax_use.py "
            f"interop/test_adapter_many_models.py {_JAX_LAWS}"),
    Sources(_PYTHON + "torch/*.py", "direct transforms",
            f"interop/test_torch_direct.py interop/test_torch.py {_TORCH_LAWS}"),
    Sources(_PYTHON + "casadi/*.py", "expressions/manifold plans builder",
            f"interop/test_casadi.py interop/test_casadi_calls.py {_CASADI_LAWS}"),
    Sources(_PYTHON + "codegen/*.py", "casadi_interface compiled",
            "codegen/test_compiled_models.py codegen/test_casadi_code.py"),
    # ------------------------------------------------------------ models, loaders, functions
    Sources(_PYTHON + "loaders/*.py", "urdf inertias xacro",
            "model/test_urdf.py model/test_xacro.py model/test_repairing.py"),
    Sources(_PYTHON + "loaders/*.py", "mjcf mjcf_forces mjcf_loops mjcf_motors",
            "model/test_mjcf.py model/test_mjcf_loops.py model/test_motors.py"),
    Sources(_PYTHON + "model/*.py", "mimic editing identified massless builder",
            "model/test_editing.py model/test_mimic.py model/test_building.py parameters"),
    Sources(_PYTHON + "*.py",
            "model/pose model/writing model/motors model/motor_limits model/saving "
            "model/array_file support/immutable",
            "model/test_pose.py model/test_writing.py model/test_motors.py model/test_saving.py "
            "model/test_pickles.py"),
    Sources(_PYTHON + "identification/*.py", "regressor feasible",
            "identification model/test_pickles.py"),
    Sources(_PYTHON + "functions/*.py",
            "constraints_projection dynamics_equilibrium manifold_states",
            "constraints/test_projection.py dynamics/test_equilibrium.py batch/test_errors.py"),
    Sources(_PYTHON + "conventions/*.py",
            "twists states velocity_order coordinates wrenches linearizations pinocchio_model "
            "mujoco_model", "conventions model/test_mjcf.py model/test_pickles.py"),
    Sources(_PYTHON + "cli/*.py", "check checks/inertias convert generate",
            "cli/test_check.py cli/test_convert.py cli/test_generate.py"),
)  # fmt: skip

PINNED = (
    Pinned("exponential/small_angles",
           "The closed forms of the exponential serve angles at which they cancel.",
           _ALGORITHMS + "steps/exponential.hpp", "less(t, 1.0)", "less(t, 1e-12)",
           "manifold/test_jacobians.py manifold"),
    Pinned("exponential/planar_adjoint",
           "A map of a planar joint's displacement lacks the turn's effect on y.",
           _ALGORITHMS + "steps/exponential.hpp", "Q.z.y", "zero", "manifold/test_jacobians.py"),
    Pinned("friction/tanh", "Tiny arguments lose digits.",
           _CORE + "hyperbolic_tangent.hpp", "fma(fma(T(0.5), power, T(-0.5)), d, power * p)",
           "fma(power, fma(T(0.5), d, p), T(-0.5) * d)", "dynamics/test_friction.py"),
    Pinned("arguments/complex", "Complex numbers are accepted, and their imaginary parts dropped.",
           "src/python/arrays_in.cpp", "kind == 'u' || kind == 'b'",
           "kind == 'u' || kind == 'b' || kind == 'c'", "batch/test_errors.py"),
    Pinned("batch/non_finite_alone", "A lone state that is not finite is computed all the same.",
           "src/batch/run_alone.hpp", "test.is_finite(0)", "true", "batch/test_invariance.py"),
    Pinned("registry/joint_parameters",
           "Results by inertial parameters always have columns of the joints.",
           "src/registry/shapes.cpp", "parameter_count(tree, options.joint_parameters)",
           "parameter_count(tree, true)", "parameters/test_parameters.py::test_robots"),
    Pinned("jax/float32", "Results are float64 even where all arrays are float32.",
           _PYTHON + "jax/arguments.py", "float, *typed", "float", "interop/test_jax_float32.py"),
    Pinned("saving/rest_position", "A loaded spring rests where its stiffness is.",
           _PYTHON + "model/saving.py", 'per_velocity["rest_position"],',
           'per_velocity["stiffness"],', "model/test_saving.py"),
    Pinned("results/exchanged", "Two blocks of a Hessian have each other's names.",
           _PYTHON + "results/dynamics.py",
           "dqdv: Array\n    dvdv: Array\n    dadq",
           "dvdv: Array\n    dqdv: Array\n    dadq",
           "oracles/test_oracles.py"),
)  # fmt: skip

LEFT_OUT: dict[str, str] = {
    "batch/lanes/factor-cc80d938": "the loop behind stores the entries that are left",
    "batch/lanes/compare-eb972c52": "stores the last numbers twice",
    "batch/lanes/term-02aa8013": "before its buffer, which core/unit/line_store.cpp finds",
    "batch/run/compare-5b36c408": "runs no groups",
    "batch/run/compare-cbc81b61": "stores the same numbers another way",
    "batch/run/compare-be779189": "runs no lone states",
    "cli/checks/inertias/compare-2096cd52": "a density at the limit itself, which rounding decides",
    "cli/checks/inertias/compare-24b121dd": "another density at its limit",
    "cli/checks/inertias/number-8c76eecc": "a leeway for rounding",
    "cli/generate/number-09e133a9": "a limit on time, and the default of an option",
    "codegen/casadi_interface/factor-c441986f": "no matrix has rows without columns",
    "constraints/schur_complement/number-1cfcf77a": "messages of rows do not read their number",
    "first/idsva_alone/compare-e190b5ce": "reads past the last body, and drops that",
    "loaders/inertias/number-72610b8d": "no mass is in an inertia about the center of mass",
    "loaders/inertias/number-020bff02": "nor is the center of mass",
    "model/massless/condition-74db7b96": "a limit on time, for over 100 groups of mimic joints",
    "numbers/branch-ca5678f7": "adds zeros: these rows of a spherical joint's block have no others",
    "python/messages/statement-6efb872a": "the first 80 characters of a text, without memory",
    "registry/active_constraints/branch-e0bfcb10": "only results with rows come here",
    "rotation_vector/compare-a8c65ba2": "does not compile: a comparison of lanes has another type",
    "second/idsva_so_columns/factor-e468e061": "does not compile: a motion is no force",
    "time/momentum/branch-94695658": "a pointer that roots do not read",
    "torch/direct/condition-0b80cbbf": "PyTorch drops gradients that nobody needs",
    "torch/direct/condition-be245149": "only masks have no gradients, and go another way",
    "torch/direct/condition-d3d07045": "an input that is not given has no array either",
    "torch/direct/condition-f23ff6f0": "the reader of arrays refuses tensors of transforms too",
    "tree/compiled_tree/number-2da476c7": "reads past an array, so that the compiler drops it",
}
