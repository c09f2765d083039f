"""Mutants of springs, motors, model files, identification, patterns and the C++ library."""

from __future__ import annotations

from .mutant import Mutant

MODEL, IDENTIFICATION = "python/dtau/model/", "python/dtau/identification/"
SPRINGS = "include/dtau/springs.hpp"
BALL_SPRINGS = "include/dtau/rotation_springs.hpp"
STRETCH_SERIES = "include/dtau/algorithms/time/rotation_vector_series.hpp"
FRICTION = "include/dtau/friction.hpp"

MODELS = (
    # ------------------------------------------------------------ parameters of joints
    Mutant(
        "joint_parameters/mimics",
        "Joints that mimic others get the parameters that a call gives, too.",
        "include/dtau/given_parameters.hpp",
        "owning_dof(tree, k) == j ? x[row * n + k] : T(0.0)",
        "x[row * n + k]",
        ("tests/parameters/test_many_models.py",),
    ),
    # ------------------------------------------------------------ springs
    Mutant(
        "springs/rest",
        "A spring pulls to zero, not to its rest position.",
        SPRINGS,
        "fma(stiffness<T>(tree, spring), q[spring.q] - T(spring.rest), tau[spring.v])",
        "fma(stiffness<T>(tree, spring), q[spring.q], tau[spring.v])",
        ("tests/dynamics/test_springs.py",),
    ),
    Mutant(
        "springs/forward",
        "Forward dynamics adds the springs' torques instead of subtracting them.",
        SPRINGS,
        "fma(-stiffness<T>(tree, spring), q[spring.q] - T(spring.rest), tau[spring.v])",
        "fma(stiffness<T>(tree, spring), q[spring.q] - T(spring.rest), tau[spring.v])",
        ("tests/dynamics/test_springs.py", "tests/derivatives"),
    ),
    Mutant(
        "springs/derivative",
        "The derivative by q has the stiffness at the coordinate in place of the velocity.",
        SPRINGS,
        "dtau_dq[spring.v * n + spring.v] += stiffness<T>(tree, spring);",
        "dtau_dq[spring.v * n + (spring.q < n ? spring.q : 0)] += stiffness<T>(tree, spring);",
        ("tests/dynamics/test_springs.py", "tests/derivatives"),
        statement=True,
    ),
    Mutant(
        "springs/energy",
        "The energy of a spring lacks the factor one half.",
        SPRINGS,
        "fma(T(0.5) * stiffness<T>(tree, spring) * x, x, energy)",
        "fma(stiffness<T>(tree, spring) * x, x, energy)",
        ("tests/dynamics/test_springs.py", "tests/terms"),
    ),
    Mutant(
        "springs/ball_transposed",
        "Gradients of a spherical joint's spring take its matrix without transposing it.",
        BALL_SPRINGS,
        "return fma(e, cross(phi, y), fma(T(-0.5), y, x));",
        "return fma(e, cross(phi, y), fma(T(0.5), y, x));",
        ("tests/dynamics/test_ball_springs.py",),
        statement=True,
    ),
    Mutant(
        "springs/ball_rates",
        "The series of a spherical joint's spring has a constant coefficient e.",
        STRETCH_SERIES,
        "f[k] = k == 0 ? T(1.0) / (T(2.0 * n + 3.0) - sum) : f[0] * rest;",
        "f[k] = k == 0 ? T(1.0) / (T(2.0 * n + 3.0) - sum) : T(0.0) * rest;",
        ("tests/dynamics/test_ball_springs.py",),
        statement=True,
    ),
    # ------------------------------------------------------------ friction
    Mutant(
        "friction/forward",
        "Forward dynamics adds the torques of friction instead of subtracting them.",
        FRICTION,
        "room[k] = tau[k] - room[k];",
        "room[k] = tau[k] + room[k];",
        ("tests/dynamics/test_friction.py",),
        statement=True,
    ),
    Mutant(
        "friction/curvature",
        "The second derivative lacks the factor two.",
        FRICTION,
        "decltype(rate)(-2.0) * (rate * x.y * x.slope)",
        "decltype(rate)(-1.0) * (rate * x.y * x.slope)",
        ("tests/dynamics/test_friction.py", "tests/second_derivatives"),
    ),
    Mutant(
        "friction/series",
        "Orders above the first of w lack a product.",
        FRICTION,
        "fma(y[m * nv + j], y[(k - m) * nv + j], square)",
        "m < k ? fma(y[m * nv + j], y[(k - m) * nv + j], square) : square",
        ("tests/time_derivatives",),
    ),
    Mutant(
        "friction/tanh",
        "Tiny arguments lose digits.",
        "include/dtau/hyperbolic_tangent.hpp",
        "fma(fma(T(0.5), power, T(-0.5)), d, power * p)",
        "fma(power, fma(T(0.5), d, p), T(-0.5) * d)",
        ("tests/dynamics/test_friction.py",),
    ),
    # ------------------------------------------------------------ motors
    Mutant(
        "motors/mimic_offset",
        "Offsets of joints that mimic others do not turn the motors.",
        MODEL + "motors.py",
        "terms[:, 0] += terms[:, 1] * offset",
        "terms[:, 0] += 0.0 * offset",
        ("tests/model/test_motors.py",),
    ),
    Mutant(
        "motors/rotor",
        "The reflected inertia grows with the gear ratio, not with its square.",
        MODEL + "motors.py",
        "self.G**2 @ self.rotor_inertia",
        "self.G @ self.rotor_inertia",
        ("tests/model/test_motors.py",),
    ),
    Mutant(
        "motors/backwards",
        "A motor that turns backwards loses force in the wrong direction.",
        MODEL + "motor_limits.py",
        "-motors.stall_force * (1.0 + share)",
        "-motors.stall_force * (1.0 - share)",
        ("tests/model/test_motors.py",),
    ),
    Mutant(
        "motors/tendon_gear",
        "The gear of an actuator on a tendon is ignored.",
        "python/dtau/loaders/mjcf_motors.py",
        "gear * float(m.wrap_prm[part])",
        "float(m.wrap_prm[part])",
        ("tests/model/test_motors.py",),
    ),
    # ------------------------------------------------------------ model files
    Mutant(
        "saving/rest_position",
        "A loaded spring rests where its stiffness is.",
        MODEL + "saving.py",
        'per_velocity["rest_position"],',
        'per_velocity["stiffness"],',
        ("tests/model/test_saving.py",),
    ),
    Mutant(
        "saving/checksum",
        "A damaged file is read.",
        MODEL + "array_file.py",
        "if zlib.crc32(rest) != checksum:",
        "if False:",
        ("tests/model/test_saving.py",),
    ),
    # ------------------------------------------------------------ identification
    Mutant(
        "identification/offset",
        "The offset of a spring at rest has the wrong sign.",
        IDENTIFICATION + "regressor.py",
        '"offset": -model.stiffness[at] * model.rest_position[at],',
        '"offset": model.stiffness[at] * model.rest_position[at],',
        ("tests/identification",),
    ),
    Mutant(
        "identification/coulomb_slope",
        "The slope of Coulomb friction is that at rest.",
        IDENTIFICATION + "regressor.py",
        "slope = 4.0 * fall / (1.0 + fall) ** 2",
        "slope = np.ones_like(fall)",
        ("tests/identification",),
    ),
    Mutant(
        "identification/unit_bodies",
        "The gradient of the unit bodies is not subtracted.",
        IDENTIFICATION + "regressor.py",
        "((x - y) / small for x, y in zip(more, less, strict=True))",
        "((x - 0 * y) / small for x, y in zip(more, less, strict=True))",
        ("tests/identification",),
    ),
    Mutant(
        "identification/divergence",
        "The prior lacks the logarithm that keeps bodies positive definite.",
        IDENTIFICATION + "feasible.py",
        'np.einsum("nij,nij->", self.inverses, matrices) - logs',
        'np.einsum("nij,nij->", self.inverses, matrices) - 0.0 * logs',
        ("tests/identification",),
    ),
    # ------------------------------------------------------------ patterns and the library
    Mutant(
        "patterns/descendants",
        "The pattern of a matrix leaves out a velocity's own subtree below the diagonal.",
        "src/registry/patterns.cpp",
        "for (int i = j; i < dofs.end[j]; ++i) found.push_back(i * n + j);",
        "found.push_back(j * n + j);",
        ("tests/derivatives/test_patterns.py", "tests/batch"),
        statement=True,
    ),
    Mutant(
        "patterns/turned",
        "The pattern of A lacks how joints with several velocities turn their own errors.",
        "src/registry/patterns.cpp",
        "together && joint[c].count > 1",
        "i == c && joint[c].count > 1",
        ("tests/derivatives/test_patterns.py", "tests/batch"),
    ),
    Mutant(
        "library/normalized",
        "The C++ library and other runtimes take quaternions as they are.",
        "src/call/raw_call.cpp",
        "if (is_normalized(x)) continue;",
        "continue;",
        ("tests/interop/test_c_interface.py", "tests/interop/laws/test_jax_laws.py"),
        statement=True,
    ),
)
