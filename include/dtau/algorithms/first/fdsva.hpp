// Computes the first-order partial derivatives of forward dynamics (FDSVA): fdsva(). O(N d^2).
// [IDSVA] section IV-E and eq. 5.
//
//   a = M^-1 (tau - bias)                           forward dynamics (factorized.hpp), M = L^T D L (ltdl.hpp)
//   dtau/dq, dtau/dv                                of inverse dynamics at (q, v, a): idsva.hpp
//   da/dtau = M^-1                                  ltdl_inverse
//   da/dq = -M^-1 dtau/dq,  da/dv = -M^-1 dtau/dv   ltdl_solve
//
// The paper multiplies by M^-1 (DMM) or repeats a reduced articulated-body algorithm for every
// column (AZA). Here the solves use the zeros that branches make in M = L^T D L, for all columns at
// once ([Derivations] §10). M is factorized anyway, so that the acceleration is a solve too.
//
// fdsva_matrices() is the second half: with constraints (constraints/derivatives.hpp) their forces
// are corrected between the two triangular solves.
#pragma once

#include <type_traits>

#include "dtau/algorithms/first/world_wrenches.hpp"
#include "dtau/algorithms/solve/factorized.hpp"

namespace dtau::DTAU_VARIANT {

template <class T> struct FdsvaWorkspace {
    FactorizedWorkspace<T> dynamics;
    // For a lone state, one solve takes both matrices and minus the identity: its vectors hold
    // neighboring columns, and longer rows fill them better. In lanes each matrix is solved in place,
    // and the inverse costs only a triangle.
    static constexpr bool together = Pack<T>::width > 1;
    int stride;  // distance of the rows of the matrices, side by side
    T *dtau_dq, *dtau_dv;
    JointMatrix<T> joint_dq, joint_dv;
    WrenchPartialsWorkspace<T> wrenches;

    FdsvaWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : dynamics(arena, tree, options),
          stride(together ? 3 * whole_packs<T>(tree.independent.n) : 0),
          dtau_dq(arena.take_zeros<T>(tree.independent.n * stride)),
          dtau_dv(dtau_dq + whole_packs<T>(tree.independent.n)),
          joint_dq(arena, tree),
          joint_dv(arena, tree),
          wrenches(arena, tree, options) {
        const int n = tree.independent.n;
        if (together && dtau_dq)
            for (int k = 0; k < n; ++k) dtau_dv[k * stride + whole_packs<T>(n) + k] = T(-1.0);
    }
};

// Runs all passes but the backward pass of idsva: the factors of M, the acceleration, and each body's
// own quantities. Returns the wrenches along body axes. q, v: of the joints; tau: of the independent
// velocities.
template <class T>
const T* fdsva_sweeps(const Tree& tree, const T* q, const T* v, const T* tau, const T* f_ext,
                      const FdsvaWorkspace<T>& w) {
    const T* body_f_ext = along_body_axes(tree, q, f_ext, w.wrenches.value);
    factorized_dynamics(tree, q, v, tau, body_f_ext, w.dynamics);
    idsva_accelerations(tree, w.dynamics.a, w.dynamics.idsva);
    return body_f_ext;
}

// Runs the backward pass of idsva and solves for the matrices, of the independent velocities. Rows of
// da_dq and da_dv are `stride` apart. `change` acts between the two triangular solves (ltdl_block.hpp):
// it numbers the columns of q, v and tau in one sequence, each matrix padded to whole packs;
// change.of_matrix(m) numbers the columns of matrix m alone.
template <class T, class Change = NoChange>
void fdsva_matrices(const Tree& tree, const T* body_f_ext, T* da_dq, T* da_dv, int stride,
                    T* da_dtau, const FdsvaWorkspace<T>& w, const Change& change = {}) {
    constexpr bool changes = !std::is_same_v<Change, NoChange>;
    T* const no_matrix = nullptr;
    const LtdlWorkspace<T>& ltdl = w.dynamics.ltdl;
    const IdsvaWorkspace<T>& partials = w.dynamics.idsva;
    constexpr bool together = FdsvaWorkspace<T>::together;
    const Paths& dofs = tree.independent;
    T *const dtau_dq = together ? w.dtau_dq : da_dq, *const dtau_dv = together ? w.dtau_dv : da_dv;
    const int rows = together ? w.stride : stride;
    if (!together && !tree.mimic) {
        for_unrelated(
            dofs, [&](int k, int c) { da_dq[k * stride + c] = da_dv[k * stride + c] = T(0.0); });
        for_shifts(tree, 0, [&](int k, int c) { da_dq[k * stride + c] = T(0.0); });
    }
    T *joint_dq = w.joint_dq.place(dtau_dq), *joint_dv = w.joint_dv.place(dtau_dv);
    const int stride_of_joints = w.joint_dq.stride(rows);
    idsva_backward(tree, {joint_dq, joint_dv, no_matrix, stride_of_joints}, partials);
    add_stiffness(tree, partials.stretched, joint_dq, stride_of_joints);
    add_world_wrench_partials(tree, body_f_ext, partials.root_frame, joint_dq, stride_of_joints,
                              w.wrenches);
    reduce_matrix(tree, joint_dq, dtau_dq, rows);
    reduce_matrix(tree, joint_dv, dtau_dv, rows);
    if constexpr (together) {
        ltdl_solve<3>(dofs, T(-1.0), dtau_dq, rows,
                      {{da_dq, stride}, {da_dv, stride}, {da_dtau, dofs.n}}, ltdl, change);
        mirror(da_dtau, dofs.n);
    } else {
        ltdl_solve<1>(dofs, T(-1.0), da_dq, stride, {{da_dq, stride}}, ltdl, change.of_matrix(0));
        ltdl_solve<1>(dofs, T(-1.0), da_dv, stride, {{da_dv, stride}}, ltdl, change.of_matrix(1));
        if constexpr (changes) {
            ltdl_changed_inverse(dofs, da_dtau, ltdl, change.of_matrix(2));
            mirror(da_dtau, dofs.n);
        } else {
            ltdl_inverse(dofs, da_dtau, ltdl);
        }
    }
}

template <class T>
void fdsva(const Tree& tree, const T* q, const T* v, const T* tau, const T* f_ext, T* da_dq,
           T* da_dv, int stride, T* da_dtau, const FdsvaWorkspace<T>& w) {
    const T* body_f_ext = fdsva_sweeps(tree, q, v, tau, f_ext, w);
    fdsva_matrices(tree, body_f_ext, da_dq, da_dv, stride, da_dtau, w);
}

}  // namespace dtau::DTAU_VARIANT
