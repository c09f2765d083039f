// What every function of the module takes and gives.
#pragma once

#include "arguments.hpp"

namespace dtau {

inline constexpr Parameter q{"q", Core::q}, q0{"q0", Core::q}, q1{"q1", Core::q}, v{"v", Core::v},
    a{"a", Core::v}, tau{"tau", Core::torque}, dq{"dq", Core::v}, dv{"dv", Core::v},
    da{"da", Core::v}, dtorque{"dtau", Core::torque}, wrench{"wrench", Core::wrench},
    f_ext{"f_ext", Core::wrenches, true}, df_ext{"df_ext", Core::wrenches, true};

// Weights of results. Where joints mimic others (v_joint = G v), those of torques go to the joints
// as velocities do: lam . G^T tau_joint = (G lam) . tau_joint.
inline constexpr Parameter lam_tau{"lam", Core::v}, lam_a{"lam", Core::torque};

inline Signature functions_of_q[] = {
    {.name = "gravity_torque",
     .kernel = &KernelTable::gravity_torque,
     .inputs = {q},
     .outputs = {Core::torque}},
    {.name = "mass_matrix",
     .kernel = &KernelTable::mass_matrix,
     .inputs = {q},
     .outputs = {Core::torque_matrix}},
    {.name = "mass_matrix_inverse",
     .kernel = &KernelTable::mass_matrix_inverse,
     .inputs = {q},
     .outputs = {Core::matrix},
     .needs_inertia = true},
    {.name = "forward_kinematics",
     .kernel = &KernelTable::forward_kinematics,
     .inputs = {q},
     .outputs = {Core::rotations, Core::positions},
     .named_tuple = "Placements"},
    {.name = "normalize",
     .kernel = &KernelTable::normalize,
     .inputs = {q},
     .outputs = {Core::q},
     .real_only = true},
};
inline Signature functions_of_two[] = {
    {.name = "coriolis_matrix",
     .kernel = &KernelTable::coriolis_matrix,
     .inputs = {q, v},
     .outputs = {Core::torque_matrix}},
    {.name = "integrate",
     .kernel = &KernelTable::integrate,
     .inputs = {q, dq},
     .outputs = {Core::q}},
    {.name = "difference",
     .kernel = &KernelTable::difference,
     .inputs = {q0, q1},
     .outputs = {Core::v},
     .real_only = true},
};
inline Signature functions_of_three[] = {
    {.name = "bias_torque",
     .kernel = &KernelTable::bias_torque,
     .inputs = {q, v, f_ext},
     .outputs = {Core::torque}},
};
inline Signature functions_of_four[] = {
    {.name = "inverse_dynamics",
     .kernel = &KernelTable::inverse_dynamics,
     .inputs = {q, v, a, f_ext},
     .outputs = {Core::torque}},
    {.name = "forward_dynamics",
     .kernel = &KernelTable::forward_dynamics,
     .inputs = {q, v, tau, f_ext},
     .outputs = {Core::v},
     .needs_inertia = true},
    {.name = "inverse_dynamics_derivatives",
     .kernel = &KernelTable::inverse_dynamics_derivatives,
     .inputs = {q, v, a, f_ext},
     .outputs = {Core::torque_matrix, Core::torque_matrix, Core::torque_matrix},
     .named_tuple = "InverseDynamicsDerivatives"},
    {.name = "forward_dynamics_derivatives",
     .kernel = &KernelTable::forward_dynamics_derivatives,
     .inputs = {q, v, tau, f_ext},
     .outputs = {Core::matrix, Core::matrix, Core::matrix},
     .named_tuple = "ForwardDynamicsDerivatives",
     .needs_inertia = true},
};
inline Signature functions_of_five[] = {
    {.name = "inverse_dynamics_vjp",
     .kernel = &KernelTable::inverse_dynamics_vjp,
     .inputs = {q, v, a, lam_tau, f_ext},
     .outputs = {Core::torque, Core::torque, Core::torque, Core::wrenches},
     .named_tuple = "InverseDynamicsProductsWithWrenches",
     .shorter_tuple = "InverseDynamicsProducts"},
    {.name = "forward_dynamics_vjp",
     .kernel = &KernelTable::forward_dynamics_vjp,
     .inputs = {q, v, tau, lam_a, f_ext},
     .outputs = {Core::torque, Core::torque, Core::v, Core::wrenches},
     .named_tuple = "ForwardDynamicsProductsWithWrenches",
     .shorter_tuple = "ForwardDynamicsProducts",
     .needs_inertia = true},
};
inline Signature functions_of_eight[] = {
    {.name = "inverse_dynamics_jvp",
     .kernel = &KernelTable::inverse_dynamics_jvp,
     .inputs = {q, v, a, dq, dv, da, f_ext, df_ext},
     .outputs = {Core::torque}},
    {.name = "forward_dynamics_jvp",
     .kernel = &KernelTable::forward_dynamics_jvp,
     .inputs = {q, v, tau, dq, dv, dtorque, f_ext, df_ext},
     .outputs = {Core::v},
     .needs_inertia = true},
};
inline Signature second_derivatives[] = {
    {.name = "inverse_dynamics_second_derivatives",
     .kernel = &KernelTable::inverse_dynamics_second_derivatives,
     .inputs = {q, v, a, f_ext},
     .outputs = {Core::tensor, Core::tensor, Core::tensor, Core::tensor},
     .named_tuple = "InverseDynamicsSecondDerivatives",
     .asks_symmetric = true,
     .smaller = "packed=True or inverse_dynamics_hessian"},
    {.name = "inverse_dynamics_second_derivatives_packed",
     .kernel = &KernelTable::inverse_dynamics_second_derivatives,
     .inputs = {q, v, a, f_ext},
     .outputs = {Core::packed_tensor, Core::packed_tensor, Core::packed_tensor,
                 Core::packed_tensor},
     .named_tuple = "InverseDynamicsSecondDerivatives",
     .asks_symmetric = true,
     .smaller = "inverse_dynamics_hessian"},
    {.name = "forward_dynamics_second_derivatives",
     .kernel = &KernelTable::forward_dynamics_second_derivatives,
     .inputs = {q, v, tau, f_ext},
     .outputs = {Core::tensor, Core::tensor, Core::tensor, Core::tensor},
     .named_tuple = "ForwardDynamicsSecondDerivatives",
     .needs_inertia = true,
     .asks_symmetric = true,
     .smaller = "forward_dynamics_hessian"},
};
inline Signature hessians[] = {
    {.name = "inverse_dynamics_hessian",
     .kernel = &KernelTable::inverse_dynamics_hessian,
     .inputs = {q, v, a, lam_tau, f_ext},
     .outputs = {Core::torque_matrix, Core::torque_matrix, Core::torque_matrix,
                 Core::torque_matrix},
     .named_tuple = "InverseDynamicsHessian",
     .asks_symmetric = true},
    {.name = "forward_dynamics_hessian",
     .kernel = &KernelTable::forward_dynamics_hessian,
     .inputs = {q, v, tau, lam_a, f_ext},
     .outputs = {Core::matrix, Core::matrix, Core::matrix, Core::matrix},
     .named_tuple = "ForwardDynamicsHessian",
     .needs_inertia = true,
     .asks_symmetric = true},
};
inline Signature frame_placements = {.name = "frame_placements",
                                     .kernel = &KernelTable::frame_placements,
                                     .inputs = {q},
                                     .outputs = {Core::frame_rotations, Core::frame_positions},
                                     .named_tuple = "Placements"};
inline Signature frame_jacobians = {.name = "frame_jacobians",
                                    .kernel = &KernelTable::frame_jacobians,
                                    .inputs = {q},
                                    .outputs = {Core::jacobians}};
inline Signature wrench_at_frame = {.name = "wrench_at_frame",
                                    .kernel = &KernelTable::wrench_at_frame,
                                    .inputs = {q, wrench},
                                    .outputs = {Core::wrenches}};

}  // namespace dtau
