// Computes what the Hessian of a time step (step_hessian.hpp) has more in a call by the numbers of q: the
// curvature of the numbers of q+, add_number_curvature(), and the brackets that make it raw, add_brackets().
// Only joints that do not commute have them. [Derivations] eqs. 16.6 to 16.8
#pragma once

#include "dtau/algorithms/steps/step_hessian_terms.hpp"
#include "dtau/algorithms/steps/step_products.hpp"
#include "dtau/numbers.hpp"

namespace dtau::DTAU_VARIANT {

// Adds the gradient by q of the joints, through their displacement at this stage: Ad^T x.
template <class T>
void add_joint_gradients(const Tree& tree, int stage, const T* x,
                         const StepHessianWorkspace<T>& w) {
    for_noncommuting_joints(tree, true, [&](int j, const Body& body, int first) {
        transposed_product<true>(w.variation.at(j, stage).Ad, body.nv, x + first,
                                 w.gradient + first);
    });
}

// Adds a^T K b (n, n) to `to`, whose rows are `stride` apart.
template <class T>
void add_congruence(int n, const T* a, const T (&K)[6][6], const T* b, T* to,
                    std::ptrdiff_t stride) {
    T Kb[36];
    for (int r = 0; r < n; ++r)
        for (int c = 0; c < n; ++c) {
            T sum(0.0);
            for (int k = 0; k < n; ++k) sum = fma(K[r][k], b[k * n + c], sum);
            Kb[r * n + c] = sum;
        }
    for (int r = 0; r < n; ++r)
        for (int c = 0; c < n; ++c)
            for (int k = 0; k < n; ++k)
                to[r * stride + c] = fma(a[k * n + r], Kb[k * n + c], to[r * stride + c]);
}

// Adds the second derivatives K of the numbers of a joint's q+, weighted with s: they are by xi+ = Ad xi +
// J theta, so by two of theta, by xi and theta, and by two of xi.
template <class T>
void add_number_curvature(const Body& body, int first, const JointVariation<T>& by,
                          const Reached<T>& reached, const T* s, JointCurvature<T>& curvature, T* H,
                          const StepHessianWorkspace<T>& w) {
    const CoordinateRuns& runs = reached.map.runs;
    int c = 0;
    while (runs.at[c].v != first) ++c;
    T K[6][6];
    number_curvature(body.kind, reached.map.blocks[c], reached.numbers + runs.at[c].q,
                     s + runs.at[c].q, K);
    add_congruence(body.nv, by.J, K, by.J, curvature.both, body.nv);
    add_congruence(body.nv, by.Ad, K, by.J, curvature.mixed, body.nv);
    add_congruence(body.nv, by.Ad, K, by.Ad, w.row(H, first) + first, w.nz);
}

// Adds g . [e_k, e_j] / 2 for the velocities j, k of a joint: D_k D_j, each in its own tangent space.
template <class T> void add_brackets(const Tree& tree, T* H, const StepHessianWorkspace<T>& w) {
    for_noncommuting_joints(tree, true, [&](int, const Body& body, int first) {
        for_unit_twists<T>(body, [&](int j, const Motion<T>& x) {
            for_unit_twists<T>(body, [&](int k, const Motion<T>& y) {
                T bracket[6];
                for (T& b : bracket) b = T(0.0);
                joint_coordinates(body, cross(y, x), bracket);
                T& to = w.row(H, first + j)[first + k];
                for (int i = 0; i < body.nv; ++i)
                    to = fma(T(0.5) * w.gradient[first + i], bracket[i], to);
            });
        });
    });
}

}  // namespace dtau::DTAU_VARIANT
