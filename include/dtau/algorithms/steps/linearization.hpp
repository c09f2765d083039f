// Linearizes the equations of motion, left-trivialized: linearize(). [Bos] propositions 1 to 3
// (eqs. 22, 31, 42).
//
//   z' = A z + B u,   z = (xi, dv),   q_eps = q (+) eps xi,   v_eps = v + eps dv
//
//   A = ( -ad_v    1     )      B = (      0        )
//       (  da_dq   da_dv )          ( da_dtau map   )
//
// The paper has one floating base; here ad_v belongs to each joint: (v cross) for a free one, zero
// for joints whose displacements commute. A textbook's A differentiates by the numbers of q, which
// makes A (nq + nv)^2 with quaternions; with increments xi in body axes it is (2 nv)^2. FDSVA
// (fdsva.hpp), and with contacts constraints/derivatives.hpp, write derivatives into A where they belong.
#pragma once

#include "dtau/algorithms/first/fdsva.hpp"
#include "dtau/algorithms/steps/exponential.hpp"
#include "dtau/algorithms/steps/input_map.hpp"

namespace dtau::DTAU_VARIANT {

// Writes -ad_v, the left half of the upper rows of A; zero before. v: of the joints.
template <class T> inline void bracket_blocks(const Tree& tree, const T* v, T* A) {
    const int width = 2 * tree.independent.n;
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        if (traits(body.kind).commutes) continue;
        const int first = independent_dof(tree, body.v);
        T block[36];
        // [Derivations] eq. 12.10
        joint_matrix(body.kind, ad(-joint_twist(body, v + body.v)), block);
        for (int r = 0; r < body.nv; ++r)
            for (int c = 0; c < body.nv; ++c)
                A[(first + r) * width + first + c] = block[r * body.nv + c];
    }
}

// Writes the upper rows of A, xi' = -ad_v xi + dv; zero before.
template <class T> inline void kinematic_rows(const Tree& tree, const T* v, T* A) {
    const int n = tree.independent.n, width = 2 * n;
    for (int k = 0; k < n; ++k) A[k * width + n + k] = T(1.0);
    bracket_blocks(tree, v, A);
}

// Writes the lower rows of B.
template <class T>
inline void input_rows(int n, const InputMap<T>& inputs, const T* da_dtau, T* B) {
    const int m = inputs.driven.count;
    for (int k = 0; k < n; ++k, da_dtau += n, B += m) {
        if (!inputs.map) {
            for (int c = 0; c < m; ++c) B[c] = da_dtau[inputs.driven.columns[c]];
            continue;
        }
        for (int c = 0; c < m; ++c) B[c] = T(0.0);
        for (int j = 0; j < n; ++j) {
            const T* row = inputs.map + static_cast<std::ptrdiff_t>(j) * m;
            for (int c = 0; c < m; ++c) B[c] = fma(row[c], da_dtau[j], B[c]);
        }
    }
}

// v: of the joints; A (2 nv, 2 nv) and B (2 nv, count), zero before: of the independent velocities.
// derive(da_dq, da_dv, stride): computes the derivatives of forward dynamics, with or without
// contacts, and da_dtau.
template <class T, class Derive>
void linearize(const Tree& tree, const InputMap<T>& inputs, const T* v, T* A, T* B,
               const T* da_dtau, const Derive& derive) {
    const int n = tree.independent.n;
    T* lower = A + 2 * n * n;
    derive(lower, lower + n, 2 * n);
    kinematic_rows(tree, v, A);
    input_rows(n, inputs, da_dtau, B + static_cast<std::ptrdiff_t>(n) * inputs.driven.count);
}

}  // namespace dtau::DTAU_VARIANT
