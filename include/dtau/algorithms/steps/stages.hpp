// Linearizes an RK4 step with its stages: linearize_stages(). For the stages i of step.hpp, with the state
// (q_i, v_i), the variations of discrete_linearization.hpp are
//
//   (xi_i, dv_i) = A_i z + B_i u        xi_i in the tangent space at q_i;  A_0 = 1, B_0 = 0
//
// A running cost l is integrated by the same method: L = h sum of b_i l(q_i, v_i, u).
#pragma once

#include "dtau/algorithms/steps/discrete_linearization.hpp"

namespace dtau::DTAU_VARIANT {

// Where the stages go: A (stages, 2 nv, 2 nv), B (stages, 2 nv, inputs), q (stages, nq), v (stages,
// nv), of the independent velocities.
template <class T>
struct StageResults {
    T *A, *B, *q, *v;

    // Stores the variations of a block of columns, which the workspace has at stage i.
    void store_columns(int i, const BlockStart<T>& start, int n,
                       const DiscreteWorkspace<T>& w) const {
        constexpr int width = Pack<T>::width;
        const int states = 2 * n, inputs = start.groups.inputs.driven.count;
        const Pack<T> zero = {T(0.0)};
        for (int p = 0; p < start.packs; ++p) {
            const int c = start.begin + p * width, input = c - start.groups.padded;
            const bool of_state = input < 0;
            const int stride = of_state ? states : inputs;
            const int room = of_state ? states - c : inputs - input;
            T* to = of_state ? A + i * states * states + c : B + i * states * inputs + input;
            for (int k = 0; k < states; ++k, to += stride) {
                const Pack<T>& x =
                    k < n ? w.q[k * start.packs + p] : w.v[(k - n) * start.packs + p];
                fma(T(1.0), x, zero).store(to, room);
            }
        }
    }
    // Stores the states of all stages, after the step.
    void store_states(const Tree& tree, const StepWorkspace<T>& step) const {
        const int nq = tree.mimic ? tree.mimic->nq : tree.nq, n = tree.independent.n;
        for (int i = 0; i < max_stages; ++i) {
            T *const to_q = q + i * nq, *const to_v = v + i * n;
            if (tree.mimic) {
                pick_q(tree, step.q(i), to_q);
                pick_v(tree, step.v(i), to_v);
                continue;
            }
            for (int k = 0; k < nq; ++k) to_q[k] = step.q(i)[k];
            for (int k = 0; k < n; ++k) to_v[k] = step.v(i)[k];
        }
    }
};

// Arguments as of linearize_discrete.
template <class T, class Stages>
void linearize_stages(const Tree& tree, const InputMap<T>& inputs, const T* q, const T* v,
                      const T* tau, T h, T* A, T* B, T* q_next, T* v_next,
                      const StageResults<T>& results, const Stages& stages) {
    const Integrator method = Integrator::rk4;
    const DiscreteWorkspace<T>& w = stages.workspace();
    step_to_linearize(tree, method, q, v, tau, h, q_next, v_next, stages);
    results.store_states(tree, w.step);
    linearize_blocks<T>(tree, method, inputs, h, {A, B}, w, [&](int i, const BlockStart<T>& start) {
        results.store_columns(i, start, tree.independent.n, w);
        return stages.change(tree, i, start);
    });
}

}  // namespace dtau::DTAU_VARIANT
