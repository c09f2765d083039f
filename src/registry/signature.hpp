// A row of the registry: what a function is called, takes and gives, with the axes of every array by
// symbols. Python's calls, stubs, adapters, code generation, tests and benchmarks read it, and nothing
// else says it again.
#pragma once

#include <cstddef>

#include "batch/job.hpp"
#include "batch/peak.hpp"
#include "dtau/options.hpp"

namespace dtau {

// ---------------------------------------------------------------- quantities: the only shapes

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

// What an array is: its axes, and what its numbers mean with mimic joints. A quantity is known by its
// address; one that a single function has may be declared beside that function's row.
struct Quantity {
    int naxes;
    Axis axes[4];
    MimicRole as_input = MimicRole::other, as_result = MimicRole::other;

    static const Quantity q, v, torque, matrix, from_tangent, to_tangent, torque_matrix, wrenches,
        rotations, positions, frame_rotations, frame_positions, frame_twists, jacobians, tensor,
        wrench, twists, scalar, vector, vector_matrix, momentum, momentum_matrix, state_matrix,
        input_map, input_matrix, parameters, regressor, wrench_matrix, contacts, rows, row_matrix;
};

inline constexpr Quantity Quantity::q = {1, {Axis::nq}, MimicRole::q, MimicRole::q};
inline constexpr Quantity Quantity::v = {1, {Axis::nv}, MimicRole::v, MimicRole::v};
inline constexpr Quantity Quantity::torque = {1, {Axis::nv}, MimicRole::other, MimicRole::torques};
inline constexpr Quantity Quantity::matrix = {2, {Axis::nv, Axis::nv}};
inline constexpr Quantity Quantity::from_tangent = {2, {Axis::nq, Axis::nv}};
inline constexpr Quantity Quantity::to_tangent = {2, {Axis::nv, Axis::nq}};
// Zero where row and column are not related.
inline constexpr Quantity Quantity::torque_matrix = {
    2, {Axis::nv, Axis::nv}, MimicRole::other, MimicRole::torque_matrix};
inline constexpr Quantity Quantity::wrenches = {2, {Axis::nbodies, Axis::six}};
inline constexpr Quantity Quantity::rotations = {3, {Axis::nbodies, Axis::three, Axis::three}};
inline constexpr Quantity Quantity::positions = {2, {Axis::nbodies, Axis::three}};
inline constexpr Quantity Quantity::frame_rotations = {3,
                                                       {Axis::nframes, Axis::three, Axis::three}};
inline constexpr Quantity Quantity::frame_positions = {2, {Axis::nframes, Axis::three}};
inline constexpr Quantity Quantity::frame_twists = {2, {Axis::nframes, Axis::six}};
inline constexpr Quantity Quantity::jacobians = {
    3, {Axis::nframes, Axis::six, Axis::nv}, MimicRole::other, MimicRole::torques};
// Packed: one axis, the entries whose indices lie on one path.
inline constexpr Quantity Quantity::tensor = {3, {Axis::nv, Axis::nv, Axis::nv}};
inline constexpr Quantity Quantity::wrench = {1, {Axis::six}};
inline constexpr Quantity Quantity::twists = {2, {Axis::nbodies, Axis::six}};
inline constexpr Quantity Quantity::scalar = {0, {}};
// Along world axes, to momentum_matrix.
inline constexpr Quantity Quantity::vector = {1, {Axis::three}};
inline constexpr Quantity Quantity::vector_matrix = {
    2, {Axis::three, Axis::nv}, MimicRole::other, MimicRole::torques};
inline constexpr Quantity Quantity::momentum = {1, {Axis::six}};
inline constexpr Quantity Quantity::momentum_matrix = {
    2, {Axis::six, Axis::nv}, MimicRole::other, MimicRole::torques};
inline constexpr Quantity Quantity::state_matrix = {2, {Axis::two_nv, Axis::two_nv}};
// The torques of inputs.
inline constexpr Quantity Quantity::input_map = {2, {Axis::nv, Axis::ninputs}};
inline constexpr Quantity Quantity::input_matrix = {2, {Axis::two_nv, Axis::ninputs}};
inline constexpr Quantity Quantity::parameters = {1, {Axis::nparameters}};
inline constexpr Quantity Quantity::regressor = {2, {Axis::nv, Axis::nparameters}};
inline constexpr Quantity Quantity::wrench_matrix = {3, {Axis::nv, Axis::nbodies, Axis::six}};
inline constexpr Quantity Quantity::contacts = {1, {Axis::ncontacts}};
inline constexpr Quantity Quantity::rows = {1, {Axis::nrows}};
inline constexpr Quantity Quantity::row_matrix = {2, {Axis::nrows, Axis::nv}};

// ---------------------------------------------------------------- rows

// Time derivatives are stacked along an axis before the quantity's, of length order + rows. The order
// is asked for, and longer stacks are cut; or the first stack among the inputs says what it is.
inline constexpr int not_stacked = -1;

struct ArraySignature {
    const char* name;
    const Quantity* quantity;
    int rows;
    // An input may be None. A result is computed only where the last input like it is given (it is
    // None otherwise), or where contacts are.
    bool optional;
};

// What a function takes beside its arrays.
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
    regularization,
    order,
};

// What an argument is if it is left out: it may not be; None; False; 0; or the first of its words.
enum class Default { required, none, no, zero, word };

// An argument as Python has it: an option, or one of the inputs.
struct Argument {
    const char* name;
    Default by_default;
    int input;  // which; -1: it is an option
    Option option;
};

struct Signature {
    static constexpr int max_arguments = 16;

    const char* name;
    Argument arguments[max_arguments];  // in the public order, which is that of the inputs too
    int narguments;
    ArraySignature inputs[Job::max_inputs];
    ArraySignature outputs[Job::max_outputs];
    int ninputs, noutputs;
    bool maybe_contacts;   // may be given and need not: there is an algorithm more, for them
    bool solves;           // refuses models with massless joints
    bool any_quaternions;  // their norms are not checked
    // The classes in dtau.results of several results: without and with contacts, if these differ.
    const char *results, *all_results;
    const char* smaller;  // what to ask for where results do not fit into memory
};

// The place among the arguments of an option; -1: the function does not take it.
constexpr int place(const Signature& s, Option option) {
    for (int k = 0; k < s.narguments; ++k)
        if (s.arguments[k].input < 0 && s.arguments[k].option == option) return k;
    return -1;
}
// The input that an optional last result belongs to: the last one like it; -1: there is none, the
// result is one of contacts.
inline __attribute__((always_inline)) int input_of_last_result(const Signature& s) {
    int i = s.ninputs - 1;
    while (i >= 0 && s.inputs[i].quantity != s.outputs[s.noutputs - 1].quantity) --i;
    return i;
}
// How many results a call has; is_given(i) says whether input i is.
template <class IsGiven>
int count_results(const Signature& s, const Options& options, const IsGiven& is_given) {
    if (!s.outputs[s.noutputs - 1].optional) return s.noutputs;
    const int i = input_of_last_result(s);
    const bool there = i < 0 ? options.contacts != nullptr : is_given(i);
    return s.noutputs - !there;
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
    bool (*has)(const Function&, ScalarKind);
    PeakRate (*peak_rate)();
    // Multiplications, additions and divisions of this thread since the last call.
    void (*take_operation_counts)(long long*);
};

// ---------------------------------------------------------------- shapes, for a tree and options

// The numbers of one state.
struct Shape {
    int ndim;
    std::ptrdiff_t size[4];
};
inline constexpr int max_core_axes = 4;

// What shapes depend on.
struct Sizes {
    const Tree& tree;
    const Options& options;
    bool single_frame;  // no axis for frames
};
Shape core_shape(const Quantity& quantity, const Sizes& sizes);

// The same with an axis before it for a stack of time derivatives.
Shape stacked(const Shape& core, int length);

// Sizes and meanings of the results that the job counts. Returns how many numbers a state has.
double describe_outputs(Job& job, const Signature& signature, const Sizes& sizes, Shape* shapes);

}  // namespace dtau
