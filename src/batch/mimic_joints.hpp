// Joints that mimic others, around any algorithm: it computes with the coordinates of all joints, and
// calls are made with independent ones.
#pragma once

#include "batch/algorithm.hpp"
#include "dtau/mimic.hpp"

namespace dtau::DTAU_VARIANT {

// Room for what of inputs and results is in the coordinates of all joints, null for the others. Without
// joints that mimic others nothing is there, and nothing is read.
template <class T>
struct JointArguments {
    T *in[Job::max_inputs], *out[Job::max_outputs];

    JointArguments(Arena& arena, const Tree& tree, const Job& job) {
        if (!tree.mimic) return;
        for (T*& x : in) x = nullptr;
        for (T*& x : out) x = nullptr;
        const std::ptrdiff_t nv = tree.nv;
        for (int i = 0; i < job.ninputs; ++i)
            if (job.in[i].data && job.in[i].meaning != Meaning::other)
                in[i] = arena.take<T>(job.in[i].stacked *
                                      (job.in[i].meaning == Meaning::q ? tree.nq : tree.nv));
        for (int o = 0; o < job.noutputs; ++o) {
            const Output& result = job.out[o];
            if (result.meaning == Meaning::q) out[o] = arena.take<T>(tree.nq);
            if (result.meaning == Meaning::v) out[o] = arena.take<T>(result.stacked * nv);
            if (result.meaning == Meaning::torques)
                out[o] = arena.take_zeros<T>(result.size / tree.mimic->nv * nv);
            if (result.meaning == Meaning::torque_matrix)
                out[o] = arena.take_zeros<T>(result.stacked * nv * nv);
        }
    }
};

template <class T>
void expand_inputs(const Tree& tree, const Job& job, const JointArguments<T>& joints,
                   Arguments<T>& x) {
    for (int i = 0; i < job.ninputs; ++i) {
        T* all = joints.in[i];
        if (!all) continue;
        if (job.in[i].meaning == Meaning::q)
            expand_q(tree, x.in[i], all);
        else
            for (int k = 0; k < job.in[i].stacked; ++k)
                expand_v(tree, x.in[i] + k * tree.mimic->nv, all + k * tree.nv);
        x.in[i] = all;
    }
}

template <class T>
void reduce_results(const Tree& tree, const Job& job, const JointArguments<T>& joints,
                    const Arguments<T>& x) {
    const int nv = tree.mimic->nv;
    for (int o = 0; o < job.noutputs; ++o) {
        const T* all = joints.out[o];
        const Output& out = job.out[o];
        if (out.meaning == Meaning::q) pick_q(tree, all, x.out[o]);
        for (int k = 0; k < out.stacked && out.meaning == Meaning::v; ++k)
            pick_v(tree, all + k * tree.nv, x.out[o] + k * nv);
        if (out.meaning == Meaning::torques) reduce_columns(tree, all, out.size / nv, x.out[o]);
        for (int k = 0; k < out.stacked && out.meaning == Meaning::torque_matrix; ++k)
            reduce_matrix(tree, all + std::ptrdiff_t(k) * tree.nv * tree.nv,
                          x.out[o] + std::ptrdiff_t(k) * nv * nv, nv);
    }
}

// Applies an algorithm to the arguments of a call.
template <class T>
void apply(const Algorithm<T>& algorithm, const Tree& tree, const Job& job, const Arguments<T>& x,
           const JointArguments<T>& joints, const void* workspace) {
    if (!tree.mimic) return algorithm.apply(tree, x, workspace);
    Arguments<T> y = x;
    expand_inputs(tree, job, joints, y);
    for (int o = 0; o < job.noutputs; ++o)
        if (joints.out[o]) y.out[o] = joints.out[o];
    algorithm.apply(tree, y, workspace);
    reduce_results(tree, job, joints, x);
}

}  // namespace dtau::DTAU_VARIANT
