// Computes the mass matrix by the composite-rigid-body algorithm: crba(). O(N d). [RBDA]
// section 6.2, table 6.2; as the book has it: textbook/crba.hpp.
//
//   forward    S_k, I_i                             columns and inertias in the root frame (kinematics.hpp)
//   backward   for each column k of body i:         F = I^c_i s_k
//                for each j on the path of k:       M_kj = M_jk = F . s_j
//              I^c_p = I^c_p + I^c_i
//              M_kk = M_kk + armature_k
//
// The book transforms F from body to body on its way to the root, and I^c_i to the parent's axes.
// In the coordinates of the root frame nothing is transformed, and composites are sums of 10
// numbers. The columns of a free root are unit motions in its own frame, so that its rows of M are
// components of F, and its own block is its composite inertia (free_root.hpp).
//
// Symbols:
//   I[i]   inertia of body i, then I^c_i of its subtree (composite)      S[k]   column of S (nv)
//   F      force that gives the subtree of i the acceleration s_k
#pragma once

#include "dtau/free_root.hpp"

namespace dtau::DTAU_VARIANT {

// Backward pass: the inertias of the bodies become composites. Writes the lower triangle by these functions
// of `matrix`:
//   entry(k, j, M_kj)            for every k, and j = k or j on the path of k, but not of a free root
//   free_root(j, I)              the block of the columns j ... j + 5 of a free root
//   beside_free_root(k, j, F)    row k in these columns
template <class T, class Matrix>
DTAU_INLINE void crba_backward(const Tree& tree, const Motion<T>* S, Inertia<T>* inertias,
                               const Matrix& matrix) {
    for (int i = tree.nnodes - 1; i >= 0; --i) {
        const Body& body = tree.bodies[i];
        const Inertia<T>& I = inertias[i];
        const int stop = path_stop(tree, body);
        if (body.v < stop) {
            matrix.free_root(body.v, I);
            continue;
        }
        for (int k = body.v; k < body.v + body.nv; ++k) {
            const Force<T> F = I * S[k];
            for (int j = k; j >= stop; j = tree.dofs.parent[j]) matrix.entry(k, j, dot(F, S[j]));
            if (stop > 0) matrix.beside_free_root(k, stop - 6, F);
        }
        if (body.parent >= 0) inertias[body.parent] += I;
    }
}

// Writes both triangles of a matrix.
template <class T> struct BothTriangles {
    T* M;
    std::ptrdiff_t n;

    DTAU_INLINE void entry(std::ptrdiff_t k, std::ptrdiff_t j, T m) const {
        M[k * n + j] = M[j * n + k] = m;
    }
    // Not inlined, so that compilers do not prepare the addresses of this block for robots without one.
    __attribute__((noinline)) void free_root(std::ptrdiff_t j, const Inertia<T>& I) const {
        free_root_inertia(I, M + j * n + j, static_cast<int>(n));
    }
    DTAU_INLINE void beside_free_root(std::ptrdiff_t k, std::ptrdiff_t j, const Force<T>& F) const {
        store_components(F, M + k * n + j);
        store_components(F, M + j * n + k, static_cast<int>(n));
    }
};

template <class T> struct MassMatrixWorkspace {
    RootFrame<T> root_frame;

    MassMatrixWorkspace(Arena& arena, const Tree& tree, const Options&) : root_frame(arena, tree) {}
};

// M: both triangles; zero before.
template <class T> void crba(const Tree& tree, const T* q, T* M, const RootFrame<T>& root_frame) {
    const int n = tree.nv;
    root_frame_sweep<T>(tree, q, nullptr, root_frame);
    crba_backward(tree, root_frame.S, root_frame.I, BothTriangles<T>{M, n});
    for (int k = 0; k < n; ++k) M[k * n + k] += armature<T>(tree, k);
}

}  // namespace dtau::DTAU_VARIANT
