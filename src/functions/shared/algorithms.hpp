// Lists the algorithms that several functions use, so that each is compiled once, in a file of
// functions/shared/: DTAU_DECLARE() says so to every other file, DTAU_COMPILE() compiles a list.
// tests/copies.py finds what should be in a list.
#pragma once

#include "dtau/algorithms/first/fdsva.hpp"
#include "dtau/algorithms/first/inertial_torque.hpp"
#include "dtau/algorithms/solve/column_blocks.hpp"
#include "dtau/algorithms/steps/step.hpp"
#include "dtau/algorithms/values/aba.hpp"
#include "dtau/algorithms/values/rnea.hpp"
#include "dtau/numbers.hpp"

#include "registry/scalars.hpp"

// A list has its functions and workspaces for the scalar T. `link` is extern, or nothing where they are
// compiled.
#define DTAU_SHARED(link, ...) link template decltype(__VA_ARGS__) __VA_ARGS__;

#if defined(DTAU_SCALAR)  // one file has all functions
#define DTAU_DECLARE(list)
#elif defined(DTAU_NO_LANES)  // the few columns in lanes are compiled where they are used
#define DTAU_DECLARE(list) list(extern, Alone)
#else
#define DTAU_DECLARE(list) list(extern, Alone) list(extern, Grouped)
#endif
#if defined(DTAU_LONE_STATES)
#define DTAU_COMPILE(list) list(, Grouped)
#elif defined(DTAU_NO_LANES)
#define DTAU_COMPILE(list) list(, Alone)
#else
#define DTAU_COMPILE(list) list(, Alone) list(, Grouped)
#endif

// In dynamics.cpp.
#define DTAU_SHARED_DYNAMICS(link, T)                                              \
    DTAU_SHARED(link, add_rotation_torques<T>)                                     \
    DTAU_SHARED(link, rnea<T>)                                                     \
    DTAU_SHARED(link, root_frame_sweep<T>)                                         \
    DTAU_SHARED(link, aba<T>)                                                      \
    DTAU_SHARED(link, along_body_axes<T>)                                          \
    DTAU_SHARED(link, idsva_velocities<T>)                                         \
    DTAU_SHARED(link, idsva_accelerations<T>)                                      \
    DTAU_SHARED(link, idsva_backward<T>)                                           \
    DTAU_SHARED(link, add_world_wrench_partials<T>)                                \
    DTAU_SHARED(link, mass_matrix_factors<T>)                                      \
    DTAU_SHARED(link, sweep_inwards<T>)                                            \
    DTAU_SHARED(link, sweep_outwards<T>)                                           \
    DTAU_SHARED(link, negative_products<T>)                                        \
    link template FactorizedWorkspace<T>::FactorizedWorkspace(Arena&, const Tree&, \
                                                              const Options&);     \
    DTAU_SHARED(link, factorized_dynamics<T>)                                      \
    DTAU_SHARED(link, fdsva<T>)

// Products and time steps, in steps.cpp.
#define DTAU_SHARED_PRODUCTS(link, T)                                                          \
    link template void add_rotation_times<false>(const Tree&, double, const T*, const T*, T*); \
    link template void add_rotation_times<true>(const Tree&, double, const T*, const T*, T*);  \
    DTAU_SHARED(link, tangent_block<T>)                                                        \
    link template struct Reached<T>;                                                           \
    DTAU_SHARED(link, articulated_factors<T>)                                                  \
    DTAU_SHARED(link, articulated_dynamics<T>)                                                 \
    DTAU_SHARED(link, articulated_solve<T>)                                                    \
    DTAU_SHARED(link, vary_along_body_axes<T>)                                                 \
    DTAU_SHARED(link, gradient_along_world_axes<T>)                                            \
    DTAU_SHARED(link, tangent_outwards<T>)                                                     \
    DTAU_SHARED(link, adjoint_inwards<T>)                                                      \
    DTAU_SHARED(link, inverse_dynamics_vjp<T>)                                                 \
    DTAU_SHARED(link, motion_sweep<T>)                                                         \
    link template void JointColumns<T>::compute(const Tree&, const T*, const T*) const;        \
    DTAU_SHARED(link, inverse_dynamics_parameter_jvp<T>)                                       \
    DTAU_SHARED(link, inverse_dynamics_parameter_vjp<T>)                                       \
    DTAU_SHARED(link, less_inertial_torque<T>)                                                 \
    DTAU_SHARED(link, subtract_inertial_gradient<T>)                                           \
    DTAU_SHARED(link, forward_dynamics_jvp<T>)                                                 \
    DTAU_SHARED(link, mimic_forward_dynamics_jvp<T>)                                           \
    DTAU_SHARED(link, forward_dynamics_vjp<T>)                                                 \
    DTAU_SHARED(link, mimic_forward_dynamics_vjp<T>)                                           \
    DTAU_SHARED(link, integrate<T>)                                                            \
    DTAU_SHARED(link, joint_displacement_rate<T>)                                              \
    DTAU_SHARED(link, displacement_variation<T>)                                               \
    DTAU_SHARED(link, rate_variation<T>)                                                       \
    DTAU_SHARED(link, step_variation<T>)

namespace dtau::DTAU_VARIANT {

DTAU_DECLARE(DTAU_SHARED_DYNAMICS)
DTAU_DECLARE(DTAU_SHARED_PRODUCTS)

}  // namespace dtau::DTAU_VARIANT
