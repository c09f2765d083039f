// Describes a function: its Signature holds the name, arguments and results, with the axes of every
// array by symbols. It is the only description: Python's calls, stubs, adapters, code generation,
// tests and benchmarks read it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "batch/job.hpp"
#include "batch/peak.hpp"
#include "dtau/options.hpp"
#include "registry/info.hpp"
#include "registry/options.hpp"

namespace dtau {

// ---------------------------------------------------------------- quantities: all shapes of arrays

// One axis of an array. The value of a fixed axis is its size.
enum class Axis : int {
    three = 3,
    six = 6,
    nq = 100,
    nv,
    nbodies,  // moving bodies, as the user counts them
    nframes,  // a single frame has no such axis
    ninputs,
    ncontacts,
    nrows,              // equations of the constraints
    nparameters,        // 10 nbodies; 4 nv more with joint_parameters
    ngiven_parameters,  // the same, of parameters in place of the model's
    two_nv,
    norders,         // r + 1, for time derivatives of order 0 ... r
    norders_beyond,  // r + 2
    step_variables,  // 2 nv + ninputs, and what `by` adds: 1 for dt, 6 nbodies for f_ext
};

// The meaning of numbers, for code that axes and roles do not suffice.
enum class Meaning { other, wrench, acceleration };

// The axes of an array, the role of its numbers with mimic joints, and their meaning. Together they
// identify a quantity. Its address does not: each library and module has quantities of its own. A
// file of functions may declare more.
struct Quantity {
    int naxes;
    Axis axes[4];
    MimicRole as_input = MimicRole::other, as_result = MimicRole::other;
    Meaning meaning = Meaning::other;

    constexpr bool operator==(const Quantity&) const = default;

    static const Quantity q, v, torque, matrix, from_tangent, to_tangent, torque_matrix, wrenches,
        rotations, positions, frame_rotations, frame_positions, frame_twists, jacobians, tensor,
        derivatives_by_torques, torque_derivatives_by_v, wrench, twists, scalar, vector,
        vector_matrix, momentum, momentum_matrix, state_matrix, input_map, input_matrix, parameters,
        given_parameters, regressor, wrench_matrix, active_contacts, contact_positions, rows,
        row_matrix, step_matrix;
};

inline constexpr Quantity Quantity::q = {1, {Axis::nq}, MimicRole::q, MimicRole::q};
inline constexpr Quantity Quantity::v = {1, {Axis::nv}, MimicRole::v, MimicRole::v};
inline constexpr Quantity Quantity::torque = {1, {Axis::nv}, MimicRole::other, MimicRole::torques};
inline constexpr Quantity Quantity::matrix = {2, {Axis::nv, Axis::nv}};
inline constexpr Quantity Quantity::from_tangent = {2, {Axis::nq, Axis::nv}};
inline constexpr Quantity Quantity::to_tangent = {2, {Axis::nv, Axis::nq}};
// Nonzero only in the spans Tree::related.
inline constexpr Quantity Quantity::torque_matrix = {
    2, {Axis::nv, Axis::nv}, MimicRole::other, MimicRole::torque_matrix};
// By all time derivatives of the torque, and of the velocity.
inline constexpr Quantity Quantity::derivatives_by_torques = {3,
                                                              {Axis::norders, Axis::nv, Axis::nv}};
inline constexpr Quantity Quantity::torque_derivatives_by_v = {
    3, {Axis::norders_beyond, Axis::nv, Axis::nv}, MimicRole::other, MimicRole::torque_matrix};
inline constexpr Quantity Quantity::wrenches = {
    2, {Axis::nbodies, Axis::six}, MimicRole::other, MimicRole::other, Meaning::wrench};
inline constexpr Quantity Quantity::rotations = {3, {Axis::nbodies, Axis::three, Axis::three}};
inline constexpr Quantity Quantity::positions = {2, {Axis::nbodies, Axis::three}};
inline constexpr Quantity Quantity::frame_rotations = {3,
                                                       {Axis::nframes, Axis::three, Axis::three}};
inline constexpr Quantity Quantity::frame_positions = {2, {Axis::nframes, Axis::three}};
inline constexpr Quantity Quantity::frame_twists = {2, {Axis::nframes, Axis::six}};
inline constexpr Quantity Quantity::jacobians = {
    3, {Axis::nframes, Axis::six, Axis::nv}, MimicRole::other, MimicRole::torques};
// With Layout::pattern it has one axis: the entries whose indices lie on one path (packed.hpp).
inline constexpr Quantity Quantity::tensor = {3, {Axis::nv, Axis::nv, Axis::nv}};
inline constexpr Quantity Quantity::wrench = {
    1, {Axis::six}, MimicRole::other, MimicRole::other, Meaning::wrench};
inline constexpr Quantity Quantity::twists = {2, {Axis::nbodies, Axis::six}};
inline constexpr Quantity Quantity::scalar = {0, {}};
// World axes, down to momentum_matrix.
inline constexpr Quantity Quantity::vector = {1, {Axis::three}};
inline constexpr Quantity Quantity::vector_matrix = {
    2, {Axis::three, Axis::nv}, MimicRole::other, MimicRole::torques};
inline constexpr Quantity Quantity::momentum = {1, {Axis::six}};
inline constexpr Quantity Quantity::momentum_matrix = {
    2, {Axis::six, Axis::nv}, MimicRole::other, MimicRole::torques};
inline constexpr Quantity Quantity::state_matrix = {2, {Axis::two_nv, Axis::two_nv}};
// Maps inputs to torques.
inline constexpr Quantity Quantity::input_map = {2, {Axis::nv, Axis::ninputs}};
inline constexpr Quantity Quantity::input_matrix = {2, {Axis::two_nv, Axis::ninputs}};
inline constexpr Quantity Quantity::parameters = {1, {Axis::nparameters}};
// In place of the model's.
inline constexpr Quantity Quantity::given_parameters = {1, {Axis::ngiven_parameters}};
inline constexpr Quantity Quantity::regressor = {2, {Axis::nv, Axis::nparameters}};
inline constexpr Quantity Quantity::wrench_matrix = {3, {Axis::nv, Axis::nbodies, Axis::six}};
inline constexpr Quantity Quantity::active_contacts = {1, {Axis::ncontacts}};
inline constexpr Quantity Quantity::contact_positions = {2, {Axis::ncontacts, Axis::three}};
inline constexpr Quantity Quantity::rows = {1, {Axis::nrows}};
inline constexpr Quantity Quantity::row_matrix = {2, {Axis::nrows, Axis::nv}};
inline constexpr Quantity Quantity::step_matrix = {2, {Axis::step_variables, Axis::step_variables}};

// ---------------------------------------------------------------- rows

// Time derivatives are stacked along an axis before the quantity's axes, of length order + rows.
// The option `order` sets the order and cuts longer stacks; without it the first stacked input
// does.
inline constexpr int not_stacked = -1;

// The numbers of a result that depend on no acceleration: a state whose contacts fail keeps them.
enum class Kept { nothing, upper_half, upper_half_of_euler, all_of_euler };

struct ArraySignature {
    const char* name;
    const Quantity* quantity;
    int rows;
    // An optional input may be None. An optional result exists only where the last input of its
    // quantity is given or, if no input has that quantity, where contacts are.
    bool optional;
    int asked = 0;  // a result that exists only where all these options ask for it (Asked)
    Kept kept = Kept::nothing;
    unsigned char numbers = Converted::none;  // what a call by numbers changes
};

// The options that ask for results: `forces`, and the words of `by`.
struct Asked {
    enum : int { forces = 1, dt = 2, f_ext = 4, parameters = 8 };
    static constexpr int by(const Options& o) {
        return (o.forces ? forces : 0) | (o.by_dt ? dt : 0) | (o.by_f_ext ? f_ext : 0) |
               (o.by_parameters ? parameters : 0);
    }
    static constexpr bool is_there(const ArraySignature& result, const Options& options) {
        return (result.asked & ~by(options)) == 0;
    }
};

struct Signature : InputRoles {
    static constexpr int max_arguments = 19;

    const char* name;
    Links links;
    Argument arguments[max_arguments];  // in the public order, inputs too
    int narguments;
    ArraySignature inputs[Job::max_inputs];
    ArraySignature outputs[Job::max_outputs];
    int ninputs, noutputs;
    bool optional_contacts;  // contacts are optional, with an algorithm of their own
    bool solves;             // refuses models with massless joints
    bool any_quaternions;    // accepts quaternions of any norm
    const char* results;     // class in dtau.results for several results
    // The first outputs are there in every call: these are the tuple, the others its attributes. Behind
    // them is the optional one, if there is one, then the results of `forces`, then the results of `by`.
    int nalways, nforces, nby;
    const char* memory_advice;  // function that MemoryError advises: its results take less memory
};

// The index of an option among the arguments; -1: the function does not take it.
constexpr int place(const Signature& s, Option option) {
    for (int k = 0; k < s.narguments; ++k)
        if (s.arguments[k].input < 0 && s.arguments[k].option == option) return k;
    return -1;
}
// The last input with the quantity of the optional last result; -1: no input has it, and contacts
// decide.
inline __attribute__((always_inline)) int input_of_last_result(const Signature& s) {
    int i = s.ninputs - 1;
    const ArraySignature& last = s.outputs[s.noutputs - s.nby - s.nforces - 1];
    while (i >= 0 && *s.inputs[i].quantity != *last.quantity) --i;
    return i;
}
// Tells the job which inputs the batch layer itself reads.
inline void name_inputs(Job& job, const Signature& s) { static_cast<InputRoles&>(job) = s; }
// Whether an input maps inputs to torques.
constexpr bool takes_input_map(const Signature& s) {
    for (int i = 0; i < s.ninputs; ++i)
        if (*s.inputs[i].quantity == Quantity::input_map) return true;
    return false;
}
// The number of results of a call without the results of `by`; is_given(i) tells whether input i
// is given.
template <class IsGiven>
int count_results(const Signature& s, const Options& options, const IsGiven& is_given) {
    const int count = s.noutputs - s.nby - s.nforces;
    if (s.outputs[count - 1].optional) {
        const int i = input_of_last_result(s);
        const bool there = i < 0 ? options.contacts != nullptr : is_given(i);
        if (!there) return count - 1;
    }
    return options.forces ? count + s.nforces : count;
}
// Whether so many results lack the optional one.
constexpr bool misses_one(const Signature& s, int count) {
    return count < s.noutputs - s.nby - s.nforces;
}
// The number of outputs of a job that has `count` results without the results of `by`.
inline int count_outputs(const Signature& s, const Options& options, int count) {
    return Asked::by(options) & ~Asked::forces ? s.noutputs : count;
}

// A function. The lists of all instruction sets have it at the same place of the same group.
struct Function {
    const Signature& signature;
    int group, place;
};

// The functions of one file, for one instruction set.
struct FunctionGroup {
    const Signature* signatures;  // null in sets that take another's signatures
    const void* const* implementations;
    int count;
};

// All functions of one instruction set.
struct FunctionList {
    int lanes;
    const FunctionGroup* const* groups;
    int ngroups;
    const FunctionList* described;  // the list with the signatures
    void (*run)(const Function&, const Tree&, const Job&, std::ptrdiff_t begin, std::ptrdiff_t end);
    // Bytes of scratch memory for each thread of a run.
    std::size_t (*scratch)(const Function&, const Tree&, const Job&);
    bool (*has)(const Function&, ScalarKind);
    PeakRate (*peak_rate)();

    Function function(int group, int place) const {
        return {described->groups[group]->signatures[place], group, place};
    }
};

// ---------------------------------------------------------------- shapes, for a tree and options

// The axes of one state's array.
struct Shape {
    int ndim;
    std::ptrdiff_t size[4];
};
inline constexpr int max_core_axes = 4;
std::ptrdiff_t count_numbers(const Shape& shape);

// Everything that shapes depend on.
struct Sizes {
    const Tree& tree;
    const Options& options;
    bool single_frame;  // the results have no axis for frames
};
Shape core_shape(const Quantity& quantity, const Sizes& sizes);

// The same of an input, which a call by numbers may change.
Shape input_shape(const ArraySignature& input, const Sizes& sizes);

// The shape with a leading axis for a stack of time derivatives.
Shape stacked(const Shape& core, int length);

// Fills in the sizes and mimic roles of the job's results.
void describe_outputs(Job& job, const Signature& signature, const Sizes& sizes, Shape* shapes);

// The numbers of all results of a state: as they are computed, and as they are stored.
double count_numbers(const Job& job);
double count_stored(const Job& job);

}  // namespace dtau
