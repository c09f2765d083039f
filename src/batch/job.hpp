// Describes one call as a Job: a batch of states, with the memory layout of its inputs and results.
//
// A Job knows nothing of Python. Of dynamics it has what the batch layer does for all algorithms: the
// roles of arrays with mimic joints (MimicRole) and with derivatives by numbers (Converted), and which
// inputs are parameters, contacts that are on, and their positions (InputRoles).
#pragma once

#include <cstddef>
#include <new>

#include "dtau/model.hpp"

namespace dtau {

class FirstFailure;
struct Options;

// The scalars of a job: float64; float64 with every state computed alone, even in a batch; recorded
// numbers, which are float64 too.
enum class ScalarKind { real, alone, recorded };

// How the numbers of an array change with mimic joints. `other`: not at all. `q`, `v`: they are
// coordinates or velocities. `torques`: each row (or column of a Jacobian) transforms as torques
// do. `torque_matrix`: the matrix maps velocities to torques.
enum class MimicRole { other, q, v, torques, torque_matrix };

// What a call by the numbers of q (Options::by_numbers) changes of an array. A result: its columns are by
// q, or its rows are, or they are displacements of the configuration that a step reaches; by q1 in place of
// q0. An input: it is a tangent, or weights of the numbers of the configuration that a step reaches.
struct Converted {
    enum : unsigned char {
        none = 0,
        columns = 1,
        rows = 2,
        reached_rows = 4,
        at_second = 8,
        tangent = 16,
        weights = 32
    };
};

// The inputs that the batch layer itself reads, by their index; -1: there is none.
struct InputRoles {
    int parameters = -1;  // replaces the tree's parameters
    // Which contacts are on: a number below 0.5 switches one off. Algorithms leave out contacts that are
    // off in all states of a group (registry/active_constraints.hpp).
    int active = -1;
    int positions = -1;     // where contacts are held
    unsigned tangents = 0;  // the inputs that are tangents, a bit each

    bool is_tangent(int input) const { return tangents >> input & 1; }
};

// One array argument. Its last axes hold one state's numbers, evenly spaced; the other axes are
// batch axes, with stride 0 where the argument is broadcast. Null data: the argument was not given.
struct Input {
    const char* data = nullptr;
    int size = 0;                // numbers a state
    int stacked = 1;             // length of a stack of derivatives, each with the role below
    std::ptrdiff_t spacing = 0;  // bytes between numbers
    std::ptrdiff_t stride[32];   // bytes, for each of the job's batch axes
    MimicRole mimic_role = MimicRole::other;
};

// One result, contiguous.
struct Output {
    char* data = nullptr;
    std::ptrdiff_t size = 0;  // numbers a state, before entries are chosen
    // As the algorithm computes them: fewer if the call is by numbers. `converted` tells what is by
    // numbers; before that, the result is matrices of so many rows and columns.
    std::ptrdiff_t tangent_size = 0;
    unsigned char converted = Converted::none;
    int rows = 1, columns = 1;
    // The places of the numbers that are stored, in the order of memory, and further valid places up
    // to a multiple of 8. Null: all numbers are stored.
    const std::ptrdiff_t* entries = nullptr;
    std::ptrdiff_t nentries = 0;
    int stacked = 1;  // as for an input
    MimicRole mimic_role = MimicRole::other;
    // A sparse result is zero outside of its spans. No spans: no zeros are known. A single span may
    // lie in `span`, with null `spans`.
    const Span* spans = nullptr;
    std::ptrdiff_t nspans = 0;
    Span span = {0, 0};
    // How many numbers, the first ones, a state keeps whose contacts fail (Outcome in run.hpp).
    std::ptrdiff_t kept = 0;

    std::ptrdiff_t stored() const { return entries ? nentries : size; }  // numbers a state
};

// Code compiled for one robot. `alone` computes one state. `in_lanes` computes groups of states in
// lanes, one group after the other in memory; its results are whole vectors, zero before the call.
// It has the arguments and results of an algorithm; `memory` counts the numbers of temporaries for a
// group.
struct RobotCode {
    void (*alone)(const void* const* in, void* const* out);
    void (*in_lanes)(int groups, const void* const* in, void* const* out, void* memory);
    std::size_t memory;

    static constexpr int most_groups =
        16;  // at once, so that the code is read from memory once for all
};

// A place in the order in which states are computed (order.hpp).
struct Place {
    std::ptrdiff_t state;
    bool begins_group;  // of lanes
    bool alone;         // this state is computed without lanes
};

struct Job : InputRoles {
    static constexpr int max_axes = 32, max_inputs = 14, max_outputs = 13;

    ScalarKind scalar = ScalarKind::real;
    int ninputs, noutputs;
    int naxes = 0;
    std::ptrdiff_t shape[max_axes];
    std::ptrdiff_t count = 1;  // states
    // Only as many as are used are initialized, as a lone call takes less than a microsecond.
    union {
        Input inputs[max_inputs];
    };
    union {
        Output outputs[max_outputs];
    };
    const Options* options = nullptr;  // of these, the batch layer reads which rows use positions
    const RobotCode* code = nullptr;  // computes the function in place of the algorithm; null: none
    FirstFailure* failure = nullptr;  // records the states without results; null: not wanted
    const Place* order = nullptr;     // (count); null: one state after the other

    explicit Job(int inputs_used = 0, int outputs_used = 0)
        : ninputs(inputs_used), noutputs(outputs_used) {
        for (int i = 0; i < ninputs; ++i) new (inputs + i) Input;
        for (int o = 0; o < noutputs; ++o) new (outputs + o) Output;
    }
};

}  // namespace dtau
