// Applies an algorithm to states: finds their inputs, Cursor, prepares scratch memory, Scratch, and arguments,
// start(), and calls it, apply().
#pragma once

#include "batch/by_numbers.hpp"
#include "batch/lanes.hpp"
#include "batch/mimic_joints.hpp"
#include "batch/robot_code.hpp"
#include "batch/scratch.hpp"
#include "batch/stores.hpp"
#include "dtau/given_parameters.hpp"
#include "dtau/joint_parameters.hpp"

namespace dtau::DTAU_VARIANT {

inline Stores stores_of(const Job& job) {
    std::ptrdiff_t numbers = 0;
    for (int o = 0; o < job.noutputs; ++o) numbers += job.outputs[o].stored();
    return dtau::stores_of(job.count * numbers * std::ptrdiff_t(sizeof(double)));
}

// Whether the call has parameters in place of the tree's, and parameters of joints too. Code compiled for one
// robot reads them itself.
inline bool gives_parameters(const Job& job) {
    return !job.code && job.parameters >= 0 && job.inputs[job.parameters].data;
}
inline bool gives_joint_parameters(const Tree& tree, const Job& job) {
    return gives_parameters(job) && job.inputs[job.parameters].size > parameter_count(tree, false);
}
// The tree that the algorithms of a call read.
inline const Tree& tree_of_call(const Tree& tree, const Job& job) {
    return gives_joint_parameters(tree, job) ? every_joint(tree) : tree;
}

// Iterates over the states of a job and tracks the address of the current state in every input.
class Cursor {
  public:
    Cursor(const Job& job, std::ptrdiff_t state) : job_(job) { go_to(state); }
    const char* operator[](int input) const { return inputs_[input]; }

    void go_to(std::ptrdiff_t state) {
        for (int i = 0; i < job_.ninputs; ++i) inputs_[i] = job_.inputs[i].data;
        for (int axis = job_.naxes - 1; axis >= 0; --axis) {
            index_[axis] = state % job_.shape[axis];
            state /= job_.shape[axis];
            move(axis, index_[axis]);
        }
    }
    void next() {
        for (int axis = job_.naxes - 1; axis >= 0; --axis) {
            if (++index_[axis] < job_.shape[axis]) return move(axis, 1);
            move(axis, 1 - index_[axis]);
            index_[axis] = 0;
        }
    }

  private:
    void move(int axis, std::ptrdiff_t steps) {
        for (int i = 0; i < job_.ninputs; ++i)
            if (inputs_[i]) inputs_[i] += steps * job_.inputs[i].stride[axis];
    }

    const Job& job_;
    const char* inputs_[Job::max_inputs];
    std::ptrdiff_t index_[Job::max_axes];
};

// Scratch memory of a run: the algorithm's workspace, gathered inputs, and results that have not left
// for memory.
template <class T> struct Scratch {
    const void* workspace;
    T* inputs[Job::max_inputs];
    T* outputs[Job::max_outputs];
    GivenParameters<T> parameters;
    JointArguments<T> joints;
    TangentArguments<T> tangent;
    LineStore lines;

    static Scratch create(const Algorithm<T>& algorithm, const Tree& tree, const Job& job,
                          bool with_outputs) {
        const std::size_t size = bytes(algorithm, tree, job, with_outputs);
        void* block = nullptr;
        // Some algorithms read memory that they have not written, without effect on results. A tape
        // records such reads too, so recorded scratch memory begins as zeros.
        if constexpr (std::is_same_v<T, Recorded>)
            block = recorded_scratch(size);
        else
            block = scratch(size);
        Arena arena(block, size);
        return Scratch(arena, algorithm, tree, job, with_outputs);
    }
    static std::size_t bytes(const Algorithm<T>& algorithm, const Tree& tree, const Job& job,
                             bool with_outputs) {
        Arena measured;
        Scratch(measured, algorithm, tree, job, with_outputs);
        return measured.used();
    }

  private:
    // Inlined: where it only measures, a lone call stores none of it.
    DTAU_INLINE Scratch(Arena& arena, const Algorithm<T>& algorithm, const Tree& tree,
                        const Job& job, bool with_outputs)
        : workspace(algorithm.workspace(arena, tree, job)),
          parameters(arena, tree, gives_parameters(job), gives_joint_parameters(tree, job)),
          joints(arena, tree, job),
          tangent(arena, tree, job),
          lines(arena, group_size<T> > 1) {
        const int groups = groups_at_once<T>(job);
        for (int i = 0; i < job.ninputs; ++i) {
            // A state alone reads contiguous numbers where they are, except numbers that may be cleared.
            const Input& input = job.inputs[i];
            const bool gathered = group_size<T> > 1 || i == job.positions ||
                                  input.spacing != std::ptrdiff_t(sizeof(T));
            inputs[i] = input.data && gathered ? arena.take<T>(groups * input.size) : nullptr;
        }
        for (int o = 0; o < job.noutputs; ++o)
            if (with_outputs || job.outputs[o].entries)
                outputs[o] = arena.take<T>(groups * LineStore::padded(job.outputs[o].size));
    }
};

// Sets the addresses of the results of a state.
template <class T>
void point_at(const Job& job, std::ptrdiff_t state, Destination<T>& destination) {
    for (int o = 0; o < job.noutputs; ++o)
        destination.at[o] =
            reinterpret_cast<Number<T>*>(job.outputs[o].data) + state * job.outputs[o].stored();
}

// Sets the arguments that are the same for all states, and the addresses of the results of state
// `begin`.
template <class T> Arguments<T> start(const Job& job, std::ptrdiff_t begin) {
    Arguments<T> x;
    x.nonzero = nullptr;
    x.options = job.options;
    x.failure = job.failure;
    for (const T*& in : x.inputs) in = nullptr;
    for (T*& out : x.outputs) out = nullptr;
    x.reached = nullptr;
    x.first = begin;
    x.order = nullptr;
    x.destination.states = 1;
    x.destination.stores = stores_of(job);
    for (int o = 0; o < job.noutputs; ++o) x.destination.size[o] = job.outputs[o].size;
    point_at(job, begin, x.destination);
    return x;
}

template <class T>
void apply_by_tangents(const Tree& tree, const Algorithm<T>& algorithm, const Job& job,
                       const Arguments<T>& x, const Scratch<T>& scratch) {
    if (tree.mimic)
        apply_to_joints(algorithm, tree, job, x, scratch.joints, scratch.workspace);
    else
        algorithm.apply(tree, x, scratch.workspace);
}

template <class T>
void apply_to(const Tree& tree, const Algorithm<T>& algorithm, const Job& job,
              const Arguments<T>& x, const Scratch<T>& scratch) {
    if (!converts(job)) return apply_by_tangents(tree, algorithm, job, x, scratch);
    apply_by_numbers(job, x, scratch.tangent, [&](const Arguments<T>& y) {
        apply_by_tangents(tree, algorithm, job, y, scratch);
    });
}

template <class T>
void apply(const Algorithm<T>& algorithm, const Tree& tree, const Job& job, const Arguments<T>& x,
           const Scratch<T>& scratch) {
    if (!scratch.parameters.inertias) return apply_to(tree, algorithm, job, x, scratch);
    const Tree given = with_parameters(tree, x.inputs[job.parameters], scratch.parameters);
    apply_to(given, algorithm, job, x, scratch);
}

}  // namespace dtau::DTAU_VARIANT
