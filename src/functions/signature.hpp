// What a function is called, takes and gives.
#pragma once

#include <cstddef>

#include "batch/job.hpp"
#include "batch/peak.hpp"

namespace dtau {

// What one state's numbers are, for an input or a result.
enum class Quantity {
    q,                // (nq)
    v,                // (nv)
    torque,           // (nv)
    matrix,           // (nv, nv)
    from_tangent,     // (nq, nv)
    to_tangent,       // (nv, nq)
    torque_matrix,    // (nv, nv), zero where row and column are not related
    wrenches,         // (nbodies, 6), as the user counts bodies
    rotations,        // (nbodies, 3, 3)
    positions,        // (nbodies, 3)
    frame_rotations,  // (nframes, 3, 3)
    frame_positions,  // (nframes, 3)
    frame_twists,     // (nframes, 6)
    jacobians,        // (nframes, 6, nv)
    tensor,           // (nv, nv, nv); packed: the entries whose indices lie on one path
    wrench,           // (6)
    twists,           // (nbodies, 6)
    scalar,           // ()
    vector,           // (3), in the world
    vector_matrix,    // (3, nv), along world axes
    momentum,         // (6), along world axes
    momentum_matrix,  // (6, nv)
    state_matrix,     // (2 nv, 2 nv)
    input_map,        // (nv, ninputs), the torques of inputs
    input_matrix,     // (2 nv, ninputs)
    parameters,       // (10 nbodies); with those of joints (10 nbodies + 2 nv)
    regressor,        // (nv, as many)
    wrench_matrix,    // (nv, nbodies, 6)
    contacts,         // (ncontacts)
    rows,             // (nrows), of contacts
    row_matrix,       // (nrows, nv)
};

// Time derivatives are stacked along an axis before the quantity's, of length order + rows. The order
// is asked for, and longer stacks are cut; or the first stack among the inputs says what it is.
inline constexpr int not_stacked = -1;

struct ArraySignature {
    const char* name;
    Quantity quantity;
    int rows;
    // An input may be None; such a result there is only where the last input like it is given.
    bool optional;
};

// What a function takes before its arrays.
enum class Option {
    frames,
    axes,
    wrench_axes,
    acceleration,
    prescribed,
    integrator,
    driven,
    symmetric,
    packed,
    joint_parameters,
    contacts,
    damping,
    order,
};

struct Signature {
    const char* name;
    ArraySignature inputs[Job::max_inputs];
    ArraySignature outputs[Job::max_outputs];
    int ninputs, noutputs;
    static constexpr int max_options = 5;
    Option options[max_options];
    int noptions;
    bool solves;           // refuses models with massless joints
    bool any_quaternions;  // their norms are not checked
    // The class in dtau.results, for several results; with an optional one, that of this name and
    // WithWrenches.
    const char* results;
    const char* smaller;  // what to ask for where results do not fit into memory
};

// The input that an optional last result belongs to: the last one like it.
inline __attribute__((always_inline)) int input_of_last_result(const Signature& s) {
    int i = s.ninputs - 1;
    while (i > 0 && s.inputs[i].quantity != s.outputs[s.noutputs - 1].quantity) --i;
    return i;
}

// A function as it was compiled for one instruction set, whose list of functions can run it.
struct Function {
    Signature signature;
    const void* implementation;  // what list.cpp knows how to run
};

// The functions of one file.
struct FunctionGroup {
    const Function* functions;
    int count;

    template <int n>
    constexpr FunctionGroup(const Function (&list)[n]) : functions(list), count(n) {}
};

// All functions of one instruction set.
struct FunctionList {
    int lanes;
    const FunctionGroup* const* groups;
    int ngroups;
    void (*run)(const Function&, const Tree&, const Job&, std::ptrdiff_t begin, std::ptrdiff_t end);
    // Bytes of scratch memory that each thread of a run takes.
    std::size_t (*scratch)(const Function&, const Tree&, const Job&);
    bool (*has)(const Function&, Element);
    PeakRate (*peak_rate)();
    // Multiplications, additions and divisions of this thread since the last call.
    void (*take_operation_counts)(long long*);
};

}  // namespace dtau
