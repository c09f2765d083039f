// Computes the linearization of the equations of motion along a motion and its time derivatives:
// linearize_time_derivatives(). O(N^2 d r^2) for order r. The blocks are the blocks of
// steps/linearization.hpp, with the derivatives of fdsva.hpp:
//
//   A^(k) = ( -ad_(v^(k))   1 if k = 0 )      B^(k) = (        0           )
//           (  da_dq^(k)      da_dv^(k) )              ( da_dtau^(k) map   )
//
// ad is linear in its twist, whose components are along body axes. So the time derivatives of ad_v
// are ad of the time derivatives of v. The map from inputs to torques is constant.
#pragma once

#include "dtau/algorithms/steps/linearization.hpp"
#include "dtau/algorithms/time/fdsva.hpp"

namespace dtau::DTAU_VARIANT {

template <class T, class Dynamics> struct LinearizationSeriesWorkspace {
    FdsvaSeriesWorkspace<T, Dynamics> derivatives;
    T* da_dtau;  // (nv, nv), of one order

    LinearizationSeriesWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : derivatives(arena, tree, options),
          da_dtau(arena.take<T>(tree.independent.n * tree.independent.n)) {}
};

// q, v and a (order + 1, nv): of the joints; tau (order + 1, nv), A (order + 1, 2 nv, 2 nv) and B
// (order + 1, 2 nv, count): of the independent velocities.
template <class T, class Dynamics>
void linearize_time_derivatives(const Tree& tree, int order, const InputMap<T>& inputs, const T* q,
                                const T* v, const T* tau, const T* f_ext, T* A, T* B, T* a,
                                const LinearizationSeriesWorkspace<T, Dynamics>& w) {
    const FdsvaSeriesWorkspace<T, Dynamics>& d = w.derivatives;
    const int n = tree.independent.n, width = 2 * n, upper = n * inputs.driven.count;
    fdsva_series(tree, order, q, v, tau, f_ext, d);
    for (int j = 0; j < (order + 1) * tree.nv; ++j) a[j] = d.v[tree.nv + j];
    for (int k = 0; k <= order; ++k, A += width * width, B += 2 * upper) {
        const T* X = d.matrices(tree, k);
        for (int i = 0; i < n * width; ++i) A[i] = T(0.0);
        for (int i = 0; i < n && k == 0; ++i) A[i * width + n + i] = T(1.0);
        bracket_blocks(tree, d.v + k * tree.nv, A);
        for (int i = 0; i < n; ++i, X += d.stride)
            for (int c = 0; c < n; ++c) {
                A[(n + i) * width + c] = X[c];
                A[(n + i) * width + n + c] = X[d.padded + c];
                w.da_dtau[i * n + c] = X[2 * d.padded + c];
            }
        for (int i = 0; i < upper; ++i) B[i] = T(0.0);
        input_rows(n, inputs, w.da_dtau, B + upper);
    }
}

}  // namespace dtau::DTAU_VARIANT
