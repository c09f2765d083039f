// Second-order partial derivatives of inverse dynamics: IDSVA-SO in ground coordinates, O(N d^2).
// The formulas are those of idsva_so_rows.hpp, the sweeps those of idsva.hpp.
//
// Rows of the packed tensors (packed.hpp) go to `rows` one after another: rows.next() is where the next
// one is to be written, in whole packs, and rows.done(count) says how many numbers were.
#pragma once

#include "dtau/algorithms/second/idsva_so_rows.hpp"
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

// The group of column m, which is column c of body i. wrenches: of its subtree, where they do not turn
// with the bodies; else null.
template <class T, class Rows>
DTAU_INLINE void idsva_so_group(const FreeRoot<T>& root, const Inertia<T>& I, int c, int joint,
                                bool symmetric, const WrenchSums<T>* wrenches, Force<T>* h,
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
    if (joint > 0) forces_on_outputs(w.own[c], I, root.columns, d, w);
    for (int f = 0; f < d; ++f) {
        const Tensors<T*> row = rows.next();
        if (f < root.columns) {
            shallower_output_row(
                f, d, w.output[c].gamma, w, row,
                [&](const PathForces<T>& x, int e) { return x.load_component(f, e); });
        } else if (f < joint) {
            const Motion<Wide<T>> s = spread(w.S[f]);
            shallower_output_row(f, d, w.output[c].gamma, w, row,
                                 [&](const PathForces<T>& x, int e) { return dot(x.load(e), s); });
        } else {
            for (int e = 0; e <= 2 * d; ++e) {
                const bool m_first = e <= d;
                const Tensors<T> x =
                    own_output(w.output[f - joint], m_first ? d : e - d - 1, m_first ? e : d, w);
                row.dqdq[e] = x.dqdq, row.dqdv[e] = x.dqdv;
                row.dvdv[e] = x.dvdv, row.dadq[e] = x.dadq;
            }
        }
        if (wrenches)
            add_to_shallower_rows(*wrenches, TurningWrenches<T>(*wrenches), f, d, w, row.dqdq);
        for (int e = joint; symmetric && e < d; ++e) {
            T &x = row.dqdq[e], &y = row.dqdq[d + 1 + e];
            x = y = T(0.5) * (x + y);  // [Notes] eq. 7.7
        }
        rows.done(2 * d + 1);
    }
}

// The rows of all groups, when the inertias, Coriolis operators and forces of idsva are composites.
template <class T, class Rows>
DTAU_INLINE void idsva_so_groups(const Tree& tree, bool symmetric,
                                 const TensorWrenches<T>& wrenches, const IdsvaWorkspace<T>& idsva,
                                 const IdsvaSoWorkspace<T>& w, Rows& rows) {
    forget_path(tree.dofs, w.path);
    for (int i = 0; i < tree.nbodies; ++i) {
        const Body& body = tree.bodies[i];
        const bool free = body.parent >= 0 && path_stop(tree, body) > 0;
        const FreeRoot<T> root = free_root_above(body, idsva.ground, free ? 6 : 0);
        const int joint = tree.dofs.depth[body.v];
        follow_columns(tree, i, idsva, w);
        for (int c = 0; c < body.nv; ++c) {
            deep_column(i, body.v + c, idsva, w.own[c]);
            output_column(w.own[c], joint + body.nv, w.output[c], w);
        }
        for (int c = 0; c < body.nv; ++c)
            idsva_so_group(root, idsva.ground.I[i], c, joint, symmetric, wrenches.of(i),
                           wrenches.w ? wrenches.w->h : nullptr, w, rows);
    }
}

template <class T>
struct InverseSecondWorkspace {
    IdsvaWorkspace<T> idsva;
    IdsvaSoWorkspace<T> so;
    WrenchTensorsWorkspace<T> wrenches;

    InverseSecondWorkspace(Arena& arena, const Tree& tree, Axes wrench_axes)
        : idsva(arena, tree), so(arena, tree), wrenches(arena, tree, wrench_axes) {}
};

// The packed d2tau_dqdq, d2tau_dqdv, d2tau_dvdv, d2tau_dadq.
template <class T, class Rows>
void idsva_so(const Tree& tree, const T* q, const T* v, const T* a, const T* f_ext, bool symmetric,
              const InverseSecondWorkspace<T>& w, Rows& rows) {
    const T* body_f_ext = along_body_axes(tree, q, f_ext, w.wrenches.first.value);
    ground_sweep(tree, q, v, w.idsva.ground);
    idsva_velocities(tree, v, body_f_ext, w.idsva);
    idsva_accelerations(tree, a, w.idsva);
    free_root_accelerations(tree, w.idsva.ground, w.idsva.Psiddot);
    idsva_composites(tree, w.idsva);
    const TensorWrenches<T> wrenches =
        tensor_wrenches(tree, body_f_ext, w.idsva.ground, w.wrenches);
    idsva_so_groups(tree, symmetric, wrenches, w.idsva, w.so, rows);
}

}  // namespace dtau::DTAU_VARIANT
