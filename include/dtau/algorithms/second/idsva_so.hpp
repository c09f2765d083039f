// Computes the second-order partial derivatives of inverse dynamics (IDSVA-SO): idsva_so_sweeps(),
// then idsva_so_groups() or idsva_so_by_outputs(). O(N d^2). This file is the control flow; the
// entries are in idsva_so_columns.hpp, idsva_so_rows.hpp and idsva_so_shallower.hpp. [IDSVA-SO]
// algorithm 1, grouped as in [Derivations] §7; without fast paths: textbook/idsva_so.hpp.
//
//   passes     Psi'_j, Psi''_j, S'_j, a_i, and the composites I, 2B, f of idsva.hpp
//   for each column m (the deepest of the three indices), with the composites of its body:
//     t1 = (2B)^T s_m     t2 = I s_m     alpha = 2B Psi'_m + I Psi''_m + s_m x* f     D u = (2B[u])^T s_m
//     I' = s_m x* I - I s_m x      2B' = s_m x* 2B - 2B s_m x + 2B[Psi'_m]      beta = 2B s_m + I (Psi'_m + S'_m)
//     for each j on the path of m, and each i of a joint not deeper than j's:     output m
//       zeta = D Psi'_j + s_j x* t1        gamma = s_j x* t2        eta = D s_j
//       d2 tau_m / dq_i dq_j = zeta . Psi'_i + gamma . Psi''_i       and three more tensors
//     for each output k of a shallower joint, and each i on the path of m:        output k
//       d2 tau_k / dq_i dq_m = s_k . (2B' Psi'_i + I' Psi''_i + {s_i x* alpha})   and three more
//
// It differs from the paper in three ways. The paper's tensors of 6x6 matrices become I' and 2B', the
// rates of a subtree's composites when joint m moves, which have 10 and 12 numbers as an inertia and a
// Coriolis operator have; so second derivatives have the form of first ones. The columns of a path
// are processed together in vectors (path_columns.hpp). Only entries whose three indices lie on one
// path are computed, because all others are zero: results are rows of packed tensors (packed.hpp).
//
// Results go to `rows` one row after another: rows.next() returns where to write the next one, in
// whole packs, and rows.done(count) tells how many numbers were written.
#pragma once

#include "dtau/algorithms/second/idsva_so_shallower.hpp"

namespace dtau::DTAU_VARIANT {

template <class T>
struct InverseSecondWorkspace {
    IdsvaWorkspace<T> idsva;
    IdsvaSoWorkspace<T> so;
    WrenchTensorsWorkspace<T> wrenches;

    // by_outputs: true for idsva_so_by_outputs, which keeps the forces of all columns.
    InverseSecondWorkspace(Arena& arena, const Tree& tree, const Options& options, bool by_outputs)
        : idsva(arena, tree, options),
          so(arena, tree, by_outputs),
          wrenches(arena, tree, options) {}
};

// The passes of idsva.hpp: columns and bodies from the root to the leaves, then composites back.
template <class T>
TensorWrenches<T> idsva_so_sweeps(const Tree& tree, const T* q, const T* v, const T* a,
                                  const T* f_ext, const InverseSecondWorkspace<T>& w) {
    const T* body_f_ext = along_body_axes(tree, q, f_ext, w.wrenches.first.value);
    root_frame_sweep(tree, q, v, w.idsva.root_frame);
    idsva_velocities(tree, q, v, body_f_ext, w.idsva);
    idsva_accelerations(tree, a, w.idsva);
    free_root_accelerations(tree, w.idsva.root_frame, w.idsva.Psiddot);
    idsva_composites(tree, w.idsva);
    return tensor_wrenches(tree, body_f_ext, w.idsva.root_frame, w.wrenches);
}

// Curvature of friction in column c of body i; null outside of the columns with friction.
template <class T>
inline const T* own_curvature(const Tree& tree, int i, int c, const IdsvaWorkspace<T>& idsva) {
    const int k = tree.bodies[i].v + c;
    return k >= tree.friction.first && k < tree.friction.end ? idsva.curvature + k : nullptr;
}

// Rows of the free root above body i, if there is one; they need no products.
template <class T>
inline FreeRoot<T> free_root_of_outputs(const Tree& tree, int i, const RootFrame<T>& root_frame) {
    const Body& body = tree.bodies[i];
    const bool free = body.parent >= 0 && path_stop(tree, body) > 0;
    return free_root_above(body, root_frame, free ? 6 : 0);
}

// Computes all rows, group by group: a group of packed.hpp has the rows of one column m, the c-th of
// body i.
template <class T, class Rows>
inline void idsva_so_groups(const Tree& tree, bool symmetric, const TensorWrenches<T>& wrenches,
                            const IdsvaWorkspace<T>& idsva, const IdsvaSoWorkspace<T>& w,
                            Rows& rows) {
    forget_path(tree.dofs, w.path);
    for (int i = 0; i < tree.nnodes; ++i) {
        const FreeRoot<T> root = free_root_of_outputs(tree, i, idsva.root_frame);
        const int joint = output_columns(tree, i, idsva, w);
        RotationCurvature<T> of_axes[3];
        const RotationCurvature<T>* springs =
            rotation_curvatures(tree, tree.bodies[i], idsva.stretched, of_axes);
        for (int c = 0; c < tree.bodies[i].nv; ++c) {
            deepest_output_rows(root, c, joint, symmetric, wrenches.of(i), wrenches.h(),
                                own_curvature(tree, i, c, idsva), springs, w, rows);
            const ForcesOfColumn<T> forces = w.forces_of(0);
            if (joint > 0)
                forces_on_outputs(w.own[c], idsva.root_frame.I[i], joint + c, w.output[c].gamma, w,
                                  forces);
            all_shallower_rows(root, c, joint, symmetric, wrenches.of(i), springs, forces, w, rows);
        }
    }
}

// Computes the same rows output by output: the rows of output f from its own group, then from the
// groups of the columns below it; rows.finish(f) ends them. This keeps the forces of all columns.
template <class T, class Rows>
inline void idsva_so_by_outputs(const Tree& tree, bool symmetric, const TensorWrenches<T>& wrenches,
                                const IdsvaWorkspace<T>& idsva, const IdsvaSoWorkspace<T>& w,
                                Rows& rows) {
    forget_path(tree.dofs, w.path);
    for (int i = 0; i < tree.nnodes; ++i) {
        const int joint = output_columns(tree, i, idsva, w);
        for (int c = 0; joint > 0 && c < tree.bodies[i].nv; ++c)
            forces_on_outputs(w.own[c], idsva.root_frame.I[i], joint + c, w.output[c].gamma, w,
                              w.forces_of(tree.bodies[i].v + c));
    }
    forget_path(tree.dofs, w.path);
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        const FreeRoot<T> root = free_root_of_outputs(tree, i, idsva.root_frame);
        const int joint = output_columns(tree, i, idsva, w);
        RotationCurvature<T> of_axes[3];
        const RotationCurvature<T>* springs =
            rotation_curvatures(tree, body, idsva.stretched, of_axes);
        for (int c = 0; c < body.nv; ++c) {
            const int f = joint + c;
            const Motion<Wide<T>> s_f = spread(w.S[f]);
            const auto row_below = [&](int below, int m, const auto& write) {
                const int begin = tree.dofs.depth[tree.bodies[below].v], d = begin + m;
                const ForcesOfColumn<T> forces = w.forces_of(tree.bodies[below].v + m);
                const Tensors<T*> row = rows.next();
                write(d, forces.by_pack, row);
                complete_shallower_row(f, d, begin, symmetric, wrenches.of(below), forces.exchanged,
                                       w, row.dqdq);
                rows.done(2 * d + 1);
            };
            deepest_output_rows(root, c, joint, symmetric, wrenches.of(i), wrenches.h(),
                                own_curvature(tree, i, c, idsva), springs, w, rows);
            for (int m = c + 1; m < body.nv; ++m)
                row_below(i, m, [&](int d, const auto*, const Tensors<T*>& row) {
                    own_output_row(w.output[c], d, springs ? springs + c : nullptr, w, row);
                });
            for (int b = i + 1; b < tree.nnodes && tree.bodies[b].v < tree.dofs.end[body.v]; ++b) {
                if (wrenches.w) follow_columns(tree, b, idsva, w);
                for (int m = 0; m < tree.bodies[b].nv; ++m)
                    row_below(b, m, [&](int d, const auto* forces, const Tensors<T*>& row) {
                        shallower_output_rows<1>(
                            f, d, forces, w, row,
                            [&](const Force<Wide<T>>& x, int) { return dot(x, s_f); });
                    });
            }
            rows.finish(body.v + c);
        }
    }
}

}  // namespace dtau::DTAU_VARIANT
