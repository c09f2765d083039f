// Declares the quantities by accelerations, whose zeros patterns.cpp knows: AccelerationQuantity.
#pragma once

#include "registry/signature.hpp"

namespace dtau {

// Accelerations and forces depend on the velocities of their tree, and of the trees that constraints
// join to it.
struct AccelerationQuantity {
    static const Quantity matrix, state_matrix, input_matrix, forces_by_states, forces_by_inputs;
};

inline constexpr Quantity AccelerationQuantity::matrix = {
    2, {Axis::nv, Axis::nv}, MimicRole::other, MimicRole::other, Meaning::acceleration};
// A and B of a time step.
inline constexpr Quantity AccelerationQuantity::state_matrix = {
    2, {Axis::two_nv, Axis::two_nv}, MimicRole::other, MimicRole::other, Meaning::acceleration};
inline constexpr Quantity AccelerationQuantity::input_matrix = {
    2, {Axis::two_nv, Axis::ninputs}, MimicRole::other, MimicRole::other, Meaning::acceleration};
// The rows of constraints by the states and inputs of a time step.
inline constexpr Quantity AccelerationQuantity::forces_by_states = {2, {Axis::nrows, Axis::two_nv}};
inline constexpr Quantity AccelerationQuantity::forces_by_inputs = {2,
                                                                    {Axis::nrows, Axis::ninputs}};

}  // namespace dtau
