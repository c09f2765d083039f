// The compiled functions of one instruction set.
#pragma once

#include "batch/job.hpp"

namespace dtau {

// Computes the states begin ... end of a job.
using Kernel = void (*)(const Tree&, const Job&, std::ptrdiff_t begin, std::ptrdiff_t end);

// Multiply-adds a second on one core.
struct PeakRate {
    double alone, in_lanes;
};

struct KernelTable {
    int lanes;
    Kernel inverse_dynamics, bias_torque, gravity_torque;
    Kernel forward_dynamics;
    Kernel mass_matrix, mass_matrix_inverse, coriolis_matrix;
    Kernel inverse_dynamics_derivatives, forward_dynamics_derivatives;
    Kernel inverse_dynamics_jvp, inverse_dynamics_vjp, forward_dynamics_jvp, forward_dynamics_vjp;
    Kernel inverse_dynamics_hessian, forward_dynamics_hessian;
    Kernel inverse_dynamics_second_derivatives, forward_dynamics_second_derivatives;
    Kernel forward_kinematics, frame_placements, frame_jacobians, wrench_at_frame;
    Kernel integrate, difference, normalize;
    Kernel inverse_dynamics_time_derivatives, forward_dynamics_time_derivatives;
    Kernel hybrid_dynamics_time_derivatives;
    Kernel mass_matrix_time_derivatives, coriolis_matrix_time_derivatives;
    Kernel gravity_torque_time_derivatives, bias_torque_time_derivatives;
    Kernel kinematics_time_derivatives;
    Kernel linearize, linearize_discrete, step, step_vjp;

    PeakRate (*peak_rate)();
    // Multiplications, additions and divisions of this thread since the last call.
    void (*take_operation_counts)(long long*);
};

}  // namespace dtau
