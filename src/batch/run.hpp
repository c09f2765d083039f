// Runs an algorithm over a range of a job's states, in groups of lanes or one by one.
//
// A state in which any given number is not finite gets NaN in all its results and spoils no other.
#pragma once

#include <cstring>
#include <type_traits>

#include "dtau/arena.hpp"
#include "dtau/counted.hpp"
#include "dtau/coupling.hpp"
#include "dtau/pack.hpp"
#include "batch/job.hpp"
#include "batch/lanes.hpp"
#include "batch/scratch.hpp"

namespace dtau::DTAU_VARIANT {

// Walks over the states of a job and keeps, for every input, where the current state lies.
class Cursor {
  public:
    Cursor(const Job& job, std::ptrdiff_t state) : job_(job) {
        for (int i = 0; i < job.ninputs; ++i) position_[i] = job.in[i].data;
        for (int axis = job.naxes - 1; axis >= 0; --axis) {
            index_[axis] = state % job.shape[axis];
            state /= job.shape[axis];
            move(axis, index_[axis]);
        }
    }
    const char* operator[](int input) const { return position_[input]; }

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
            if (position_[i]) position_[i] += steps * job_.in[i].stride[axis];
    }

    const Job& job_;
    const char* position_[Job::max_inputs];
    std::ptrdiff_t index_[Job::max_axes];
};

// 0 if all numbers are finite, NaN otherwise.
inline double finite_test(const double* x, std::ptrdiff_t size) {
    double sum = 0.0;
    for (std::ptrdiff_t k = 0; k < size; ++k) sum += x[k] * 0.0;
    return sum;
}

// One state, or one group of states, as an algorithm sees it.
template <class T>
struct Arguments {
    const T* in[Job::max_inputs];
    T* out[Job::max_outputs];
    std::ptrdiff_t state;  // the first of the group
    int states = 1;
};

// Whether an algorithm writes all of its results, or only what can differ from zero, into zeros, or
// puts them where they belong by itself, piece by piece.
enum class Results { dense, sparse, streamed };

// Scratch of a run: gathered inputs, results on their way out of lanes, the algorithm's workspace;
// where joints mimic others, what of inputs and results is in the coordinates of all joints.
template <class T, template <class> class Workspace>
struct Scratch {
    T* in[Job::max_inputs];
    T* out[Job::max_outputs];
    T *joint_in[Job::max_inputs] = {}, *joint_out[Job::max_outputs] = {};
    Workspace<T> workspace;
    std::size_t bytes;

    static Scratch create(const Tree& tree, const Job& job, bool with_outputs) {
        Arena measured;
        const Scratch first(measured, tree, job, with_outputs);
        Arena arena(scratch(first.bytes));
        return Scratch(arena, tree, job, with_outputs);
    }

  private:
    static Workspace<T> create_workspace(Arena& arena, const Tree& tree, const Job& job) {
        if constexpr (std::is_constructible_v<Workspace<T>, Arena&, const Tree&, int>)
            return Workspace<T>(arena, tree, job.order);
        else
            return Workspace<T>(arena, tree);
    }
    Scratch(Arena& arena, const Tree& tree, const Job& job, bool with_outputs)
        : workspace(create_workspace(arena, tree, job)) {
        for (int i = 0; i < job.ninputs; ++i)
            in[i] = job.in[i].data ? arena.take<T>(job.in[i].size) : nullptr;
        for (int o = 0; o < job.noutputs; ++o)
            out[o] = with_outputs ? arena.take_zeros<T>(job.out[o].size) : nullptr;
        if (tree.coupling) take_joints(arena, tree, job);
        bytes = arena.used();
    }
    void take_joints(Arena& arena, const Tree& tree, const Job& job) {
        for (int i = 0; i < job.ninputs; ++i)
            if (job.in[i].data && job.in[i].meaning != Meaning::other)
                joint_in[i] = arena.take<T>(job.in[i].stacked *
                                            (job.in[i].meaning == Meaning::q ? tree.nq : tree.nv));
        for (int o = 0; o < job.noutputs; ++o) {
            const Output& out = job.out[o];
            const std::ptrdiff_t nv = tree.nv;
            if (out.meaning == Meaning::q) joint_out[o] = arena.take<T>(tree.nq);
            if (out.meaning == Meaning::v) joint_out[o] = arena.take<T>(out.stacked * nv);
            if (out.meaning == Meaning::torques)
                joint_out[o] = arena.take_zeros<T>(out.size / tree.coupling->nv * nv);
            if (out.meaning == Meaning::torque_matrix)
                joint_out[o] = arena.take_zeros<T>(out.stacked * nv * nv);
        }
    }
};

// Calls the algorithm, which computes with the coordinates of all joints, for those of a job.
template <class T, template <class> class Workspace, class Algorithm>
DTAU_INLINE void apply(const Tree& tree, const Job& job, const Arguments<T>& given,
                       const Scratch<T, Workspace>& scratch, const Algorithm& algorithm) {
    if (!tree.coupling) return algorithm(given, scratch.workspace);
    Arguments<T> joints = given;
    for (int i = 0; i < job.ninputs; ++i) {
        T* all = scratch.joint_in[i];
        if (!all) continue;
        joints.in[i] = all;
        if (job.in[i].meaning == Meaning::q)
            expand_q(tree, given.in[i], all);
        else
            for (int k = 0; k < job.in[i].stacked; ++k)
                expand_v(tree, given.in[i] + k * tree.coupling->nv, all + k * tree.nv);
    }
    for (int o = 0; o < job.noutputs; ++o)
        if (scratch.joint_out[o]) joints.out[o] = scratch.joint_out[o];
    algorithm(joints, scratch.workspace);
    for (int o = 0; o < job.noutputs; ++o) {
        const T* all = scratch.joint_out[o];
        const Output& out = job.out[o];
        const int nv = tree.coupling->nv;
        if (out.meaning == Meaning::q) pick_q(tree, all, given.out[o]);
        for (int k = 0; k < out.stacked && out.meaning == Meaning::v; ++k)
            pick_v(tree, all + k * tree.nv, given.out[o] + k * nv);
        if (out.meaning == Meaning::torques) reduce_columns(tree, all, out.size / nv, given.out[o]);
        for (int k = 0; k < out.stacked && out.meaning == Meaning::torque_matrix; ++k)
            reduce_matrix(tree, all + std::ptrdiff_t(k) * tree.nv * tree.nv,
                          given.out[o] + std::ptrdiff_t(k) * nv * nv, nv);
    }
}

inline constexpr double not_a_number = __builtin_nan("");

// One state at a time. E is also the element type of the arrays.
template <class E, Results results, template <class> class Workspace, class Algorithm>
void run_alone(const Tree& tree, const Job& job, std::ptrdiff_t begin, std::ptrdiff_t end,
               const Algorithm& algorithm) {
    constexpr int doubles = sizeof(E) / sizeof(double);
    const auto scratch = Scratch<E, Workspace>::create(tree, job, false);
    Cursor cursor(job, begin);
    for (std::ptrdiff_t state = begin; state < end; ++state, cursor.next()) {
        Arguments<E> arguments;
        double finite = 0.0;
        for (int i = 0; i < job.ninputs; ++i) {
            const Input& input = job.in[i];
            arguments.in[i] = nullptr;
            if (!input.data) continue;
            arguments.in[i] = reinterpret_cast<const E*>(cursor[i]);
            if (input.spacing != sizeof(E)) {
                for (int k = 0; k < input.size; ++k)
                    scratch.in[i][k] = *reinterpret_cast<const E*>(cursor[i] + k * input.spacing);
                arguments.in[i] = scratch.in[i];
            }
            finite +=
                finite_test(reinterpret_cast<const double*>(arguments.in[i]), input.size * doubles);
        }
        arguments.state = state;
        for (int o = 0; o < job.noutputs; ++o) {
            arguments.out[o] = reinterpret_cast<E*>(job.out[o].data) + state * job.out[o].size;
            if (results == Results::sparse)
                std::memset(job.out[o].data + state * job.out[o].size * sizeof(E), 0,
                            job.out[o].size * sizeof(E));
        }
        if (finite == 0.0) {
            apply(tree, job, arguments, scratch, algorithm);
        } else {
            for (int o = 0; o < job.noutputs; ++o)
                for (std::ptrdiff_t k = 0; k < job.out[o].size; ++k)
                    arguments.out[o][k] = E(not_a_number);
        }
    }
}

// Groups of states in the lanes of vectors. A short group is padded with copies of its last state.
template <Results results, template <class> class Workspace, class Algorithm>
void run_in_lanes(const Tree& tree, const Job& job, std::ptrdiff_t begin, std::ptrdiff_t end,
                  const Algorithm& algorithm) {
    const auto scratch = Scratch<Lane, Workspace>::create(tree, job, results != Results::streamed);
    Arguments<Lane> arguments;
    for (int i = 0; i < job.ninputs; ++i) arguments.in[i] = scratch.in[i];
    for (int o = 0; o < job.noutputs; ++o) arguments.out[o] = scratch.out[o];

    Cursor cursor(job, begin);
    for (std::ptrdiff_t state = begin; state < end; state += lanes) {
        const int states = end - state < lanes ? static_cast<int>(end - state) : lanes;
        const char* from[Job::max_inputs][lanes];
        for (int l = 0; l < lanes; ++l) {
            for (int i = 0; i < job.ninputs; ++i) from[i][l] = cursor[i];
            if (l + 1 < states) cursor.next();
        }
        cursor.next();
        Lane finite(0.0);
        for (int i = 0; i < job.ninputs; ++i)
            if (job.in[i].data) gather(job.in[i], from[i], scratch.in[i], finite);
        arguments.state = state, arguments.states = states;
        apply(tree, job, arguments, scratch, algorithm);
        for (int o = 0; o < job.noutputs; ++o) {
            const std::ptrdiff_t size = job.out[o].size;
            double* target = reinterpret_cast<double*>(job.out[o].data) + state * size;
            if (results == Results::sparse && job.out[o].spans)
                scatter_sparse(scratch.out[o], job.out[o], states, target);
            else if (results != Results::streamed)
                scatter(scratch.out[o], {0, size}, size, states, target);
            for (int l = 0; l < states; ++l)
                for (std::ptrdiff_t k = 0; finite.value[l] != 0.0 && k < size; ++k)
                    target[l * size + k] = not_a_number;
        }
    }
}

// Every state alone. Algorithm: callable with (Arguments<T>, Workspace<T>) for every scalar T.
template <Results results, template <class> class Workspace, class Algorithm>
void run_each(const Tree& tree, const Job& job, std::ptrdiff_t begin, std::ptrdiff_t end,
              const Algorithm& algorithm) {
#ifdef DTAU_TEST_SCALARS
    if (job.element == Element::complex)
        run_alone<Complex, results, Workspace>(tree, job, begin, end, algorithm);
    else
        run_alone<Counted, results, Workspace>(tree, job, begin, end, algorithm);
#else
    run_alone<double, results, Workspace>(tree, job, begin, end, algorithm);
#endif
}

// A batch in lanes, a lone state alone.
template <Results results, template <class> class Workspace, class Algorithm>
void run(const Tree& tree, const Job& job, std::ptrdiff_t begin, std::ptrdiff_t end,
         const Algorithm& algorithm) {
#ifndef DTAU_TEST_SCALARS
    if (job.element == Element::real && job.count > 1)
        return run_in_lanes<results, Workspace>(tree, job, begin, end, algorithm);
#endif
    run_each<results, Workspace>(tree, job, begin, end, algorithm);
}

// For algorithms that need no workspace.
template <class T>
struct NoWorkspace {
    NoWorkspace(Arena&, const Tree&) {}
};

}  // namespace dtau::DTAU_VARIANT
