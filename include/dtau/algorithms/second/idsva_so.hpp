// Computes the second-order partial derivatives of inverse dynamics (IDSVA-SO): idsva_so_sweeps(),
// then idsva_so_groups() or idsva_so_by_outputs(). O(N d^2). [IDSVA-SO] algorithm 1, grouped as in
// [Derivations] §7; without fast paths: textbook/idsva_so.hpp. Here is the loop over the columns m,
// in idsva_so_columns.hpp the loop over a second column, in idsva_so_entries.hpp over a third.
//
//   passes     Psi'_j, Psi''_j, S'_j, a_i, and the composites I, 2B, f of idsva.hpp
//   for each column m (the deepest of the three indices), with the composites of its body:
//     t1 = (2B)^T s_m     t2 = I s_m     alpha = 2B Psi'_m + I Psi''_m + s_m x* f     D u = (2B[u])^T s_m
//     I' = s_m x* I - I s_m x      2B' = s_m x* 2B - 2B s_m x + 2B[Psi'_m]      beta = 2B s_m + I (Psi'_m + S'_m)
//     for each j on the path of m:                                                output_columns()
//       zeta = D Psi'_j + s_j x* t1        gamma = s_j x* t2        eta = D s_j
//     for each j on the path of m, and each i of a joint not deeper than j's:     deepest_output()
//       d2 tau_m / dq_i dq_j = zeta . Psi'_i + gamma . Psi''_i       and three more tensors
//     for each i on the path of m:                                                forces_of_column()
//       2B' Psi'_i + I' Psi''_i + {s_i x* alpha}                     and five more forces
//     for each output k of a shallower column, and each i on the path of m:       shallower_outputs()
//       d2 tau_k / dq_i dq_m = s_k . (2B' Psi'_i + I' Psi''_i + {s_i x* alpha})   and three more
//
// Results are grouped by the deepest column m (packed.hpp), so that shallower outputs include earlier columns of
// m's own joint; these have the formulas of the output m, with columns exchanged (own_output()).
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

#include "dtau/algorithms/second/idsva_so_entries.hpp"

namespace dtau::DTAU_VARIANT {

template <class T> struct InverseSecondWorkspace {
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

// The joint of body i as the deepest one.
template <class T>
inline DeepestJoint<T> deepest_joint(const Tree& tree, int i, bool symmetric,
                                     const TensorWrenches<T>& wrenches,
                                     const RootFrame<T>& root_frame) {
    const Body& body = tree.bodies[i];
    const bool under_root = body.parent >= 0 && path_stop(tree, body) > 0;
    return {tree.dofs.depth[body.v],
            free_root_above(body, root_frame, under_root ? 6 : 0),
            wrenches.of(i),
            wrenches.h(),
            nullptr,
            symmetric};
}

// Computes all rows, group by group: a group of packed.hpp has the rows of one column m.
template <class T, class Rows>
inline void idsva_so_groups(const Tree& tree, bool symmetric, const TensorWrenches<T>& wrenches,
                            const IdsvaWorkspace<T>& idsva, const IdsvaSoWorkspace<T>& w,
                            Rows& rows) {
    RotationCurvature<T> of_axes[3];
    forget_path(tree.dofs, w.path);
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        DeepestJoint<T> joint = deepest_joint(tree, i, symmetric, wrenches, idsva.root_frame);
        joint.springs = rotation_curvatures(tree, body, idsva.stretched, of_axes);
        output_columns(tree, i, idsva, w);
        for (int c = 0; c < body.nv; ++c) {  // column m
            deepest_output(joint, c, w, rows);
            const ForcesOfColumn<T> forces = w.forces_of(0);
            if (joint.begin > 0) forces_of_column(c, joint.begin, idsva.root_frame.I[i], w, forces);
            shallower_outputs(joint, c, 0, joint.begin + c, forces, w, rows);
        }
    }
}

// Computes the same rows output by output: the rows of output k from its own group, then from the
// groups of the columns m below it, first those of its own joint; rows.finish(k) ends them. This keeps the
// forces of all columns.
template <class T, class Rows>
inline void idsva_so_by_outputs(const Tree& tree, bool symmetric, const TensorWrenches<T>& wrenches,
                                const IdsvaWorkspace<T>& idsva, const IdsvaSoWorkspace<T>& w,
                                Rows& rows) {
    RotationCurvature<T> of_axes[3];
    forget_path(tree.dofs, w.path);
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        const int begin = output_columns(tree, i, idsva, w);
        for (int c = 0; begin > 0 && c < body.nv; ++c)
            forces_of_column(c, begin, idsva.root_frame.I[i], w, w.forces_of(body.v + c));
    }
    forget_path(tree.dofs, w.path);
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        DeepestJoint<T> joint = deepest_joint(tree, i, symmetric, wrenches, idsva.root_frame);
        joint.springs = rotation_curvatures(tree, body, idsva.stretched, of_axes);
        output_columns(tree, i, idsva, w);
        for (int c = 0; c < body.nv; ++c) {  // output k
            const int f = joint.begin + c;
            deepest_output(joint, c, w, rows);
            for (int m = c + 1; m < body.nv; ++m)
                shallower_outputs(joint, m, f, f + 1, w.forces_of(body.v + m), w, rows);
            DeepestJoint<T> below = joint;
            below.springs = nullptr;
            for (int b = i + 1; b < tree.nnodes && tree.bodies[b].v < tree.dofs.end[body.v]; ++b) {
                const Body& deep = tree.bodies[b];
                // Without, only columns up to f are read, which all these paths share.
                if (wrenches.w) follow_columns(tree, b, idsva, w);
                below.begin = tree.dofs.depth[deep.v], below.wrenches = wrenches.of(b);
                for (int m = 0; m < deep.nv; ++m)
                    shallower_outputs(below, m, f, f + 1, w.forces_of(deep.v + m), w, rows);
            }
            rows.finish(body.v + c);
        }
    }
}

}  // namespace dtau::DTAU_VARIANT
