// Second-order partial derivatives of inverse dynamics: IDSVA-SO in ground coordinates, O(N d^2).
// The formulas are those of idsva_so_rows.hpp, the sweeps those of idsva.hpp.
//
// Rows of the packed tensors (packed.hpp) go to `rows` one after another: rows.next() is where the next
// ones are to be written, in whole packs, and rows.done(count) says how many numbers were.
#pragma once

#include "dtau/algorithms/second/idsva_so_shallower.hpp"
#include "dtau/algorithms/second/world_wrenches.hpp"

namespace dtau::DTAU_VARIANT {

// Makes the path that of body i: what it shares with the path before stays.
template <class T>
DTAU_INLINE void follow_columns(const Tree& tree, int i, const IdsvaWorkspace<T>& idsva,
                                const IdsvaSoWorkspace<T>& w) {
    for (; i >= 0; i = tree.bodies[i].parent) {
        const Body& body = tree.bodies[i];
        const int begin = tree.dofs.depth[body.v], end = begin + body.nv;
        if (w.path[begin] == body.v) return;
        for (int e = begin; e < end; ++e) {
            const int k = body.v + e - begin;
            w.path[e] = k, w.joint_begin[e] = begin, w.joint_end[e] = end;
            w.S.set(e, idsva.ground.S[k]);
            w.Psidot.set(e, idsva.Psidot[k]);
            w.Psiddot.set(e, idsva.Psiddot[k]);
            w.Upsilondot.set(e, idsva.Upsilondot[k]);
        }
    }
}

// Column k, of body i.
template <class T>
DTAU_INLINE void deep_column(int i, int k, const IdsvaWorkspace<T>& w, DeepColumn<T>& m) {
    const Inertia<T>& I = w.ground.I[i];
    const Coriolis<T>& B = w.B[i];
    const Motion<T> s = w.ground.S[k], Psidot = w.Psidot[k], Psiddot = w.Psiddot[k];
    const Force<T> t2 = I * s;
    m.s = s, m.Psidot = Psidot, m.Psiddot = Psiddot, m.t2 = t2;
    m.t1 = transposed_mul(B, s);
    m.alpha = mul_add(B, Psidot, cross_star(s, w.f[i], I * Psiddot));  // [Notes] eq. 4.7
    m.beta = mul_add(B, s, I * w.Upsilondot[k]);
    m.I_rate = moving(s, I);             // [Notes] eq. 5.4
    m.B_rate = moving(s, B, I, Psidot);  // [Notes] eq. 5.6
    m.E = coriolis(I, s, t2);
    m.D = coriolis_dual(I, s, t2);
}

// Rows [m, e, 0 ... d] of column m, which is column c of its body. wrenches: of its subtree, where
// they do not turn with the bodies; else null.
template <class T, class Rows>
DTAU_INLINE void deepest_output_rows(const FreeRoot<T>& root, int c, int joint, bool symmetric,
                                     const WrenchSums<T>* wrenches, Force<T>* h,
                                     const IdsvaSoWorkspace<T>& w, Rows& rows) {
    const int d = joint + c;
    for (int e = 0; wrenches && e <= d; ++e) h[e] = common_curvature(*wrenches, w.own[c].s, w.S[e]);
    for (int e = 0; e <= d; ++e) {
        const Tensors<T*> row = rows.next();
        if (e < root.columns)
            free_root_row(root, e, d, w.output[c], row);
        else
            deepest_output_row(root, e, d, w.output[c], w, row);
        if (symmetric) symmetrize_row(root, e, d, w.output[c], w, row.dqdq);
        if (wrenches) add_to_deepest_row(h, e, d, symmetric, w, row.dqdq);
        rows.done(d + 1);
    }
}

// What is left to do on the row of output f: entries of m's own joint, which begins at depth joint, and
// what wrenches add.
template <class T>
DTAU_INLINE void complete_shallower_row(int f, int d, int joint, bool symmetric,
                                        const WrenchSums<T>* wrenches, const Force<T>* exchanged,
                                        const IdsvaSoWorkspace<T>& w, T* dqdq) {
    T* const behind = dqdq + d + 1;
    for (int e = joint; f < joint && e < d; ++e) behind[e] = dot(exchanged[e - joint], w.S[f]);
    if (wrenches) add_to_shallower_rows(*wrenches, TurningWrenches<T>(*wrenches), f, d, w, dqdq);
    for (int e = joint; symmetric && e < d; ++e)
        dqdq[e] = behind[e] = T(0.5) * (dqdq[e] + behind[e]);  // [Notes] eq. 7.7
}

// The rows of the outputs that are shallower than column c.
template <class T, class Rows>
DTAU_INLINE void all_shallower_rows(const FreeRoot<T>& root, int c, int joint, bool symmetric,
                                    const WrenchSums<T>* wrenches, const ForcesOfColumn<T>& forces,
                                    const IdsvaSoWorkspace<T>& w, Rows& rows) {
    const int d = joint + c;
    for (int f = 0, count; f < d; f += count) {
        const Tensors<T*> row = rows.next();
        count = 1;
        if (f < root.columns)
            count = root_outputs(d, forces.by_pack, w, row);
        else if (f < joint)
            count = shallower_outputs(f, joint, d, forces.by_pack, w, row);
        else
            own_output_row(w.output[f - joint], d, w, row);
        for (int r = 0; r < count; ++r)
            complete_shallower_row(f + r, d, joint, symmetric, wrenches, forces.exchanged, w,
                                   row.dqdq + r * (2 * d + 1));
        rows.done(count * (2 * d + 1));
    }
}

// Makes the path and the outputs those of body i. Returns the depth of its joint.
template <class T>
DTAU_INLINE int output_columns(const Tree& tree, int i, const IdsvaWorkspace<T>& idsva,
                               const IdsvaSoWorkspace<T>& w) {
    const Body& body = tree.bodies[i];
    const int joint = tree.dofs.depth[body.v];
    follow_columns(tree, i, idsva, w);
    for (int c = 0; c < body.nv; ++c) {
        deep_column(i, body.v + c, idsva, w.own[c]);
        output_column(w.own[c], joint + body.nv, w.output[c], w);
    }
    return joint;
}
template <class T>
DTAU_INLINE FreeRoot<T> free_root_of_outputs(const Tree& tree, int i, const Ground<T>& ground) {
    const Body& body = tree.bodies[i];
    const bool free = body.parent >= 0 && path_stop(tree, body) > 0;
    return free_root_above(body, ground, free ? 6 : 0);
}

// The rows of all groups, when the inertias, Coriolis operators and forces of idsva are composites.
template <class T, class Rows>
DTAU_INLINE void idsva_so_groups(const Tree& tree, bool symmetric,
                                 const TensorWrenches<T>& wrenches, const IdsvaWorkspace<T>& idsva,
                                 const IdsvaSoWorkspace<T>& w, Rows& rows) {
    forget_path(tree.dofs, w.path);
    for (int i = 0; i < tree.nnodes; ++i) {
        const FreeRoot<T> root = free_root_of_outputs(tree, i, idsva.ground);
        const int joint = output_columns(tree, i, idsva, w);
        for (int c = 0; c < tree.bodies[i].nv; ++c) {
            deepest_output_rows(root, c, joint, symmetric, wrenches.of(i), wrenches.h(), w, rows);
            const ForcesOfColumn<T> forces = w.forces_of(0);
            if (joint > 0)
                forces_on_outputs(w.own[c], idsva.ground.I[i], joint + c, w.output[c].gamma, w,
                                  forces);
            all_shallower_rows(root, c, joint, symmetric, wrenches.of(i), forces, w, rows);
        }
    }
}

// The same rows in another order, output by output: those of f that the packed tensors have in the
// groups of f and of the columns below it follow each other, and rows.finish(f) ends them.
template <class T, class Rows>
DTAU_INLINE void idsva_so_by_outputs(const Tree& tree, bool symmetric,
                                     const TensorWrenches<T>& wrenches,
                                     const IdsvaWorkspace<T>& idsva, const IdsvaSoWorkspace<T>& w,
                                     Rows& rows) {
    forget_path(tree.dofs, w.path);
    for (int i = 0; i < tree.nnodes; ++i) {
        const int joint = output_columns(tree, i, idsva, w);
        for (int c = 0; joint > 0 && c < tree.bodies[i].nv; ++c)
            forces_on_outputs(w.own[c], idsva.ground.I[i], joint + c, w.output[c].gamma, w,
                              w.forces_of(tree.bodies[i].v + c));
    }
    forget_path(tree.dofs, w.path);
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        const FreeRoot<T> root = free_root_of_outputs(tree, i, idsva.ground);
        const int joint = output_columns(tree, i, idsva, w);
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
            deepest_output_rows(root, c, joint, symmetric, wrenches.of(i), wrenches.h(), w, rows);
            for (int m = c + 1; m < body.nv; ++m)
                row_below(i, m, [&](int d, const auto*, const Tensors<T*>& row) {
                    own_output_row(w.output[c], d, w, row);
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

template <class T>
struct InverseSecondWorkspace {
    IdsvaWorkspace<T> idsva;
    IdsvaSoWorkspace<T> so;
    WrenchTensorsWorkspace<T> wrenches;

    // by_outputs: for idsva_so_by_outputs.
    InverseSecondWorkspace(Arena& arena, const Tree& tree, const Options& options, bool by_outputs)
        : idsva(arena, tree, options),
          so(arena, tree, by_outputs),
          wrenches(arena, tree, options) {}
};

// The sweeps before idsva_so_groups or idsva_so_by_outputs.
template <class T>
TensorWrenches<T> idsva_so_sweeps(const Tree& tree, const T* q, const T* v, const T* a,
                                  const T* f_ext, const InverseSecondWorkspace<T>& w) {
    const T* body_f_ext = along_body_axes(tree, q, f_ext, w.wrenches.first.value);
    ground_sweep(tree, q, v, w.idsva.ground);
    idsva_velocities(tree, v, body_f_ext, w.idsva);
    idsva_accelerations(tree, a, w.idsva);
    free_root_accelerations(tree, w.idsva.ground, w.idsva.Psiddot);
    idsva_composites(tree, w.idsva);
    return tensor_wrenches(tree, body_f_ext, w.idsva.ground, w.wrenches);
}

}  // namespace dtau::DTAU_VARIANT
