// The quantities that functions take and give: their axes, by symbols, and what their numbers mean
// where joints mimic others. The only place where a shape is written down.
#pragma once

#include "batch/job.hpp"

namespace dtau {

// One axis of an array. An axis of a fixed size is that number.
enum class Axis : int {
    three = 3,
    six = 6,
    nq = 100,
    nv,
    nbodies,  // as the user counts bodies
    nframes,  // left out for a single frame
    ninputs,
    ncontacts,
    nrows,        // of contacts
    nparameters,  // 10 nbodies; with those of joints 2 nv more
    two_nv,
};

enum class Quantity {
    q,
    v,
    torque,
    matrix,
    from_tangent,
    to_tangent,
    torque_matrix,  // zero where row and column are not related
    wrenches,
    rotations,
    positions,
    frame_rotations,
    frame_positions,
    frame_twists,
    jacobians,
    tensor,  // packed: one axis, the entries whose indices lie on one path
    wrench,
    twists,
    scalar,
    vector,         // in the world
    vector_matrix,  // along world axes
    momentum,       // along world axes
    momentum_matrix,
    state_matrix,
    input_map,  // the torques of inputs
    input_matrix,
    parameters,
    regressor,
    wrench_matrix,
    contacts,
    rows,
    row_matrix,
};

struct QuantityTraits {
    Quantity quantity;
    int naxes;
    Axis axes[3];
    Meaning as_input = Meaning::other, as_result = Meaning::other;
};

// In the order of Quantity.
inline constexpr QuantityTraits quantity_traits[] = {
    {Quantity::q, 1, {Axis::nq}, Meaning::q, Meaning::q},
    {Quantity::v, 1, {Axis::nv}, Meaning::v, Meaning::v},
    {Quantity::torque, 1, {Axis::nv}, Meaning::other, Meaning::torques},
    {Quantity::matrix, 2, {Axis::nv, Axis::nv}},
    {Quantity::from_tangent, 2, {Axis::nq, Axis::nv}},
    {Quantity::to_tangent, 2, {Axis::nv, Axis::nq}},
    {Quantity::torque_matrix, 2, {Axis::nv, Axis::nv}, Meaning::other, Meaning::torque_matrix},
    {Quantity::wrenches, 2, {Axis::nbodies, Axis::six}},
    {Quantity::rotations, 3, {Axis::nbodies, Axis::three, Axis::three}},
    {Quantity::positions, 2, {Axis::nbodies, Axis::three}},
    {Quantity::frame_rotations, 3, {Axis::nframes, Axis::three, Axis::three}},
    {Quantity::frame_positions, 2, {Axis::nframes, Axis::three}},
    {Quantity::frame_twists, 2, {Axis::nframes, Axis::six}},
    {Quantity::jacobians,
     3,
     {Axis::nframes, Axis::six, Axis::nv},
     Meaning::other,
     Meaning::torques},
    {Quantity::tensor, 3, {Axis::nv, Axis::nv, Axis::nv}},
    {Quantity::wrench, 1, {Axis::six}},
    {Quantity::twists, 2, {Axis::nbodies, Axis::six}},
    {Quantity::scalar, 0, {}},
    {Quantity::vector, 1, {Axis::three}},
    {Quantity::vector_matrix, 2, {Axis::three, Axis::nv}, Meaning::other, Meaning::torques},
    {Quantity::momentum, 1, {Axis::six}},
    {Quantity::momentum_matrix, 2, {Axis::six, Axis::nv}, Meaning::other, Meaning::torques},
    {Quantity::state_matrix, 2, {Axis::two_nv, Axis::two_nv}},
    {Quantity::input_map, 2, {Axis::nv, Axis::ninputs}},
    {Quantity::input_matrix, 2, {Axis::two_nv, Axis::ninputs}},
    {Quantity::parameters, 1, {Axis::nparameters}},
    {Quantity::regressor, 2, {Axis::nv, Axis::nparameters}},
    {Quantity::wrench_matrix, 3, {Axis::nv, Axis::nbodies, Axis::six}},
    {Quantity::contacts, 1, {Axis::ncontacts}},
    {Quantity::rows, 1, {Axis::nrows}},
    {Quantity::row_matrix, 2, {Axis::nrows, Axis::nv}},
};

static_assert([] {
    int k = 0;
    for (const QuantityTraits& t : quantity_traits)
        if (t.quantity != static_cast<Quantity>(k++)) return false;
    return k == static_cast<int>(Quantity::row_matrix) + 1;
}());

constexpr const QuantityTraits& traits(Quantity quantity) {
    return quantity_traits[static_cast<int>(quantity)];
}

}  // namespace dtau
