// What one call asks for: a batch of states, by where its inputs and outputs lie in memory.
//
// A Job knows nothing of dynamics and nothing of Python. It hands a tree and options on to algorithms.
#pragma once

#include <cstddef>

#include "dtau/model.hpp"

namespace dtau {

class FirstFailure;
struct Options;

// The arrays' numbers: float64; float64, every state alone even in a batch; complex128 for complex
// step; float64 whose operations are counted; recorded numbers, which are float64 too.
enum class ScalarKind { real, alone, complex, counted, recorded };

// What becomes of numbers where joints mimic others: nothing; they are coordinates or velocities; torques,
// or what like torques belongs to each velocity, in rows (columns of a Jacobian too); a matrix that
// gives torques for velocities.
enum class MimicRole { other, q, v, torques, torque_matrix };

// One array argument. Its last axes hold one state's numbers, evenly spaced; the others are batch
// axes, with stride 0 where it is broadcast. Null data: the argument was not given.
struct Input {
    const char* data = nullptr;
    int size = 0;                // numbers a state
    int stacked = 1;             // how often the role repeats in them: in a stack of derivatives
    std::ptrdiff_t spacing = 0;  // bytes from one to the next
    std::ptrdiff_t stride[32];   // bytes, a batch axis (as many as the job has)
    MimicRole mimic_role = MimicRole::other;
};

// One result: contiguous.
struct Output {
    char* data = nullptr;
    std::ptrdiff_t size = 0;  // numbers a state
    int stacked = 1;          // as for an input
    MimicRole mimic_role = MimicRole::other;
    // Outside of these a sparse result is zero; none: it has no zeros that are known. A single one
    // may be `span`, with null `spans`.
    const Span* spans = nullptr;
    std::ptrdiff_t nspans = 0;
    Span span = {0, 0};
};

// A function that was compiled for one robot: of one state; and of groups of states in lanes, one after
// the other in memory, of results whole vectors, which are zeros before. It takes and gives what an
// algorithm would, and in lanes memory for so many numbers a group.
struct RobotCode {
    void (*alone)(const void* const* in, void* const* out);
    void (*in_lanes)(int groups, const void* const* in, void* const* out, void* memory);
    std::size_t memory;

    static constexpr int most_groups = 16;  // at once: each is read from memory once
};

struct Job {
    static constexpr int max_axes = 32, max_inputs = 10, max_outputs = 7;

    ScalarKind scalar = ScalarKind::real;
    int naxes = 0;
    std::ptrdiff_t shape[max_axes];
    std::ptrdiff_t count = 1;  // states
    Input inputs[max_inputs];
    Output outputs[max_outputs];
    int ninputs = 0, noutputs = 0;
    const Options* options = nullptr;  // for the algorithm alone
    const RobotCode* code = nullptr;   // that computes the function, if there is any
    FirstFailure* failure = nullptr;   // told which states have no results; null: nobody asks
};

}  // namespace dtau
