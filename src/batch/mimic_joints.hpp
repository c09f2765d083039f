// Applies any algorithm to a tree with mimic joints: apply_to_joints(). The algorithm computes with
// the coordinates of all joints; calls use the independent ones.
#pragma once

#include "batch/run.hpp"
#include "dtau/mimic.hpp"

namespace dtau::DTAU_VARIANT {

// Memory for the inputs and results in the coordinates of all joints; null for arrays that do not
// depend on them. Without mimic joints it takes no memory and nothing reads it.
template <class T> struct JointArguments {
    T *inputs[Job::max_inputs], *outputs[Job::max_outputs];

    JointArguments(Arena& arena, const Tree& tree, const Job& job) {
        if (!tree.mimic) return;
        for (T*& x : inputs) x = nullptr;
        for (T*& x : outputs) x = nullptr;
        const std::ptrdiff_t nv = tree.nv;
        for (int i = 0; i < job.ninputs; ++i)
            if (job.inputs[i].data && job.inputs[i].mimic_role != MimicRole::other)
                inputs[i] =
                    arena.take<T>(job.inputs[i].stacked *
                                  (job.inputs[i].mimic_role == MimicRole::q ? tree.nq : tree.nv));
        for (int o = 0; o < job.noutputs; ++o) {
            const Output& result = job.outputs[o];
            if (result.mimic_role == MimicRole::q) outputs[o] = arena.take<T>(tree.nq);
            if (result.mimic_role == MimicRole::v) outputs[o] = arena.take<T>(result.stacked * nv);
            if (result.mimic_role == MimicRole::torques)
                outputs[o] = arena.take_zeros<T>(result.tangent_size / tree.mimic->nv * nv);
            if (result.mimic_role == MimicRole::torque_matrix)
                outputs[o] = arena.take_zeros<T>(result.stacked * nv * nv);
        }
    }
};

template <class T>
void expand_inputs(const Tree& tree, const Job& job, const JointArguments<T>& joints,
                   Arguments<T>& x) {
    for (int i = 0; i < job.ninputs; ++i) {
        T* all = joints.inputs[i];
        if (!all) continue;
        if (job.inputs[i].mimic_role == MimicRole::q)
            expand_q(tree, x.inputs[i], all);
        else
            for (int k = 0; k < job.inputs[i].stacked; ++k)
                expand_v(tree, x.inputs[i] + k * tree.mimic->nv, all + k * tree.nv);
        x.inputs[i] = all;
    }
}

template <class T>
void reduce_results(const Tree& tree, const Job& job, const JointArguments<T>& joints,
                    const Arguments<T>& x) {
    const int nv = tree.mimic->nv;
    for (int o = 0; o < job.noutputs; ++o) {
        const T* all = joints.outputs[o];
        const Output& out = job.outputs[o];
        if (out.mimic_role == MimicRole::q) pick_q(tree, all, x.outputs[o]);
        for (int k = 0; k < out.stacked && out.mimic_role == MimicRole::v; ++k)
            pick_v(tree, all + k * tree.nv, x.outputs[o] + k * nv);
        if (out.mimic_role == MimicRole::torques)
            reduce_columns(tree, all, out.tangent_size / nv, x.outputs[o]);
        for (int k = 0; k < out.stacked && out.mimic_role == MimicRole::torque_matrix; ++k)
            reduce_matrix(tree, all + std::ptrdiff_t(k) * tree.nv * tree.nv,
                          x.outputs[o] + std::ptrdiff_t(k) * nv * nv, nv);
    }
}

// Applies an algorithm to the coordinates of all joints.
template <class T>
void apply_to_joints(const Algorithm<T>& algorithm, const Tree& tree, const Job& job,
                     const Arguments<T>& x, const JointArguments<T>& joints,
                     const void* workspace) {
    Arguments<T> y = x;
    expand_inputs(tree, job, joints, y);
    for (int o = 0; o < job.noutputs; ++o)
        if (joints.outputs[o]) y.outputs[o] = joints.outputs[o];
    algorithm.apply(tree, y, workspace);
    reduce_results(tree, job, joints, x);
}

}  // namespace dtau::DTAU_VARIANT
