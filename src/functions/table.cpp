#include "functions/table.hpp"

#include "dtau/lane.hpp"

namespace dtau::DTAU_VARIANT {

using States = std::ptrdiff_t;
void inverse_dynamics(const Tree&, const Job&, States, States);
void bias_torque(const Tree&, const Job&, States, States);
void gravity_torque(const Tree&, const Job&, States, States);
void forward_dynamics(const Tree&, const Job&, States, States);
void mass_matrix(const Tree&, const Job&, States, States);
void mass_matrix_inverse(const Tree&, const Job&, States, States);
void coriolis_matrix(const Tree&, const Job&, States, States);
void inverse_dynamics_derivatives(const Tree&, const Job&, States, States);
void forward_dynamics_derivatives(const Tree&, const Job&, States, States);
void inverse_dynamics_jvp(const Tree&, const Job&, States, States);
void inverse_dynamics_vjp(const Tree&, const Job&, States, States);
void forward_dynamics_jvp(const Tree&, const Job&, States, States);
void forward_dynamics_vjp(const Tree&, const Job&, States, States);
void inverse_dynamics_hessian(const Tree&, const Job&, States, States);
void forward_dynamics_hessian(const Tree&, const Job&, States, States);
void inverse_dynamics_second_derivatives(const Tree&, const Job&, States, States);
void forward_dynamics_second_derivatives(const Tree&, const Job&, States, States);
void forward_kinematics(const Tree&, const Job&, States, States);
void frame_placements(const Tree&, const Job&, States, States);
void frame_jacobians(const Tree&, const Job&, States, States);
void wrench_at_frame(const Tree&, const Job&, States, States);
void integrate(const Tree&, const Job&, States, States);
void difference(const Tree&, const Job&, States, States);
void normalize(const Tree&, const Job&, States, States);
void inverse_dynamics_time_derivatives(const Tree&, const Job&, States, States);
void forward_dynamics_time_derivatives(const Tree&, const Job&, States, States);
void hybrid_dynamics_time_derivatives(const Tree&, const Job&, States, States);
void mass_matrix_time_derivatives(const Tree&, const Job&, States, States);
void coriolis_matrix_time_derivatives(const Tree&, const Job&, States, States);
void gravity_torque_time_derivatives(const Tree&, const Job&, States, States);
void bias_torque_time_derivatives(const Tree&, const Job&, States, States);
void kinematics_time_derivatives(const Tree&, const Job&, States, States);
void linearize(const Tree&, const Job&, States, States);
void linearize_discrete(const Tree&, const Job&, States, States);
void step(const Tree&, const Job&, States, States);
void step_vjp(const Tree&, const Job&, States, States);
PeakRate peak_rate();
void take_operation_counts(long long*);

extern const KernelTable kernels;
const KernelTable kernels = {
    .lanes = lanes,
    .inverse_dynamics = inverse_dynamics,
    .bias_torque = bias_torque,
    .gravity_torque = gravity_torque,
    .forward_dynamics = forward_dynamics,
    .mass_matrix = mass_matrix,
    .mass_matrix_inverse = mass_matrix_inverse,
    .coriolis_matrix = coriolis_matrix,
    .inverse_dynamics_derivatives = inverse_dynamics_derivatives,
    .forward_dynamics_derivatives = forward_dynamics_derivatives,
    .inverse_dynamics_jvp = inverse_dynamics_jvp,
    .inverse_dynamics_vjp = inverse_dynamics_vjp,
    .forward_dynamics_jvp = forward_dynamics_jvp,
    .forward_dynamics_vjp = forward_dynamics_vjp,
    .inverse_dynamics_hessian = inverse_dynamics_hessian,
    .forward_dynamics_hessian = forward_dynamics_hessian,
    .inverse_dynamics_second_derivatives = inverse_dynamics_second_derivatives,
    .forward_dynamics_second_derivatives = forward_dynamics_second_derivatives,
    .forward_kinematics = forward_kinematics,
    .frame_placements = frame_placements,
    .frame_jacobians = frame_jacobians,
    .wrench_at_frame = wrench_at_frame,
    .integrate = integrate,
    .difference = difference,
    .normalize = normalize,
    .inverse_dynamics_time_derivatives = inverse_dynamics_time_derivatives,
    .forward_dynamics_time_derivatives = forward_dynamics_time_derivatives,
    .hybrid_dynamics_time_derivatives = hybrid_dynamics_time_derivatives,
    .mass_matrix_time_derivatives = mass_matrix_time_derivatives,
    .coriolis_matrix_time_derivatives = coriolis_matrix_time_derivatives,
    .gravity_torque_time_derivatives = gravity_torque_time_derivatives,
    .bias_torque_time_derivatives = bias_torque_time_derivatives,
    .kinematics_time_derivatives = kinematics_time_derivatives,
    .linearize = linearize,
    .linearize_discrete = linearize_discrete,
    .step = step,
    .step_vjp = step_vjp,
    .peak_rate = peak_rate,
    .take_operation_counts = take_operation_counts,
};

}  // namespace dtau::DTAU_VARIANT
