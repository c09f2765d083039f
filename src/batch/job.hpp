// What one call asks for: a batch of states, by where its inputs and outputs lie in memory.
//
// A Job knows nothing of dynamics and nothing of Python.
#pragma once

#include <cstddef>

#include "dtau/contacts.hpp"
#include "dtau/model.hpp"

namespace dtau {

class FirstFailure;

// The arrays' numbers: float64; float64, every state alone even in a batch; complex128 for complex
// step; float64 whose operations are counted; recorded numbers, which are float64 too.
enum class Element { real, alone, complex, counted, recorded };

// What numbers mean where joints mimic others: nothing special; coordinates or velocities; torques,
// or what like torques belongs to each velocity, in rows (columns of a Jacobian too); a matrix that
// gives torques for velocities.
enum class Meaning { other, q, v, torques, torque_matrix };

// One array argument. Its last axes hold one state's numbers, evenly spaced; the others are batch
// axes, with stride 0 where it is broadcast. Null data: the argument was not given.
struct Input {
    const char* data = nullptr;
    int size = 0;                // numbers a state
    int stacked = 1;             // how often the meaning repeats in them: in a stack of derivatives
    std::ptrdiff_t spacing = 0;  // bytes from one to the next
    std::ptrdiff_t stride[32];   // bytes, a batch axis (as many as the job has)
    Meaning meaning = Meaning::other;
};

// One result: contiguous.
struct Output {
    char* data = nullptr;
    std::ptrdiff_t size = 0;  // numbers a state
    int stacked = 1;          // as for an input
    Meaning meaning = Meaning::other;
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

// What a function takes beside its arrays, for its algorithm; what it does not take is not read.
struct Options {
    // The order of the time derivatives: as asked for, or what the length of the stacks says.
    static constexpr int max_order = 100;
    int order = 0;

    const Frame* frames = nullptr;
    int nframes = 0;
    Axes axes = Axes::body;
    Axes wrench_axes = Axes::body;  // of external wrenches
    Acceleration acceleration = Acceleration::spatial;

    const bool* prescribed = nullptr;  // (independent nv) whose motion is given, and not its torque

    Integrator integrator = Integrator::euler;
    DrivenTorques driven;

    // Of second derivatives: by q, those in the exponential chart; tensors in the packed form.
    bool symmetric = false, packed = false;

    bool joint_parameters = false;  // armature and damping are parameters too

    const Contacts* contacts = nullptr;
    double contact_damping = 0.0;  // of their forces, where rows may depend on each other

    const RobotCode* code = nullptr;  // that computes the function, if there is any
};

struct Job {
    static constexpr int max_axes = 32, max_inputs = 10, max_outputs = 7;

    Element element = Element::real;
    int naxes = 0;
    std::ptrdiff_t shape[max_axes];
    std::ptrdiff_t count = 1;  // states
    Input in[max_inputs];
    Output out[max_outputs];
    int ninputs = 0, noutputs = 0;
    Options options;
    FirstFailure* failure = nullptr;  // told which states have no results; null: nobody asks
};

}  // namespace dtau
