// Prepares the columns that IDSVA-SO (idsva_so.hpp) multiplies: output_columns() and forces_of_column().
// These are the paper's loops over one column m, and over a second column j or i on its path; entries
// of three columns are in idsva_so_entries.hpp.
//
// Symbols as in idsva.hpp, for the deepest column m of a triple, with composites of its body; ' is the
// rate when m moves, B' stands for 2B', and D_x D_y for the derivative along x of the derivative by y:
//   t1, t2   (2B)^T s_m and I s_m           alpha  2B Psi'_m + I Psi''_m + s_m x* f   (the rate of f)
//   D        D u = (2B[u])^T s_m            beta   2B s_m + I (Psi'_m + S'_m)
//   I', B'   rates of I and 2B              E      the Coriolis operator of the twist s_m
//
// For the output m, by columns j of its path ([Derivations] eq. 7.2):
//   zeta = D Psi'_j + s_j x* t1   gamma = s_j x* t2   eta = D s_j
// For all outputs k of shallower joints (of m's own joint: own_output()), by columns i of the path of m ([Derivations] eq. 7.4): forces, whose
// products with s_k are entries; {} is there if k's joint is strictly shallower than i's:
//   qq = B' Psi'_i + I' Psi''_i + {s_i x* alpha}   qv = B' s_i + I' (Psi'_i + S'_i)   aq = I' s_i
//   vq = E Psi'_i + {s_i x* beta}                  vv = E s_i                         {gamma of i}
#pragma once

#include "dtau/algorithms/first/idsva.hpp"
#include "dtau/algorithms/second/packed.hpp"
#include "dtau/algorithms/second/path_columns.hpp"

namespace dtau::DTAU_VARIANT {

// Quantities that depend on the deepest column alone.
template <class T> struct DeepColumn {
    Motion<T> s, Psidot, Psiddot;
    Vec3<T> t1;
    Force<T> t2, alpha, beta;
    Inertia<T> I_rate;
    Coriolis<T> B_rate, E;
    CoriolisDual<T> D;
    T curvature;  // of friction
};

// zeta, gamma and eta of one output for the columns j of the path.
template <class T> struct OutputColumn {
    PathVectors<T> zeta, eta;
    PathForces<T> gamma;

    OutputColumn(Arena& arena, int n) : zeta(arena, n), eta(arena, n), gamma(arena, n) {}
};

// The forces whose products with s_k are entries of the outputs k, for one column or a pack of
// neighbors. The `own` ones leave out the terms in {}.
template <class T> struct OutputForces {
    Force<T> qq, qq_own, qv, vq, vq_own, vv, aq, gamma;
};

// Forces for the columns of one path, by packs; `exchanged`: qq with m and a column of its own joint
// exchanged.
template <class T> struct ForcesOfColumn {
    OutputForces<Wide<T>>* by_pack;
    Force<T>* exchanged;  // (5)
};

// Quantities beside the workspace of idsva, which must be filled first.
template <class T> struct IdsvaSoWorkspace {
    int *path, *joint_begin, *joint_end;  // by depth: the column there; depth range of its joint
    PathMotions<T> S, Psidot, Psiddot, Upsilondot;
    OutputColumn<T> output[6];      // one for each column of the deepest joint
    DeepColumn<T>* own;             // its columns
    OutputForces<Wide<T>>* forces;  // a pack of columns each
    Force<T>* exchanged;
    std::ptrdiff_t* first_pack;  // of each column's forces

    // every_column: keeps the forces of all columns.
    IdsvaSoWorkspace(Arena& arena, const Tree& tree, bool every_column)
        : IdsvaSoWorkspace(arena, tree.dofs, tree.dofs.max_depth + 1, every_column ? tree.nv : 1) {}
    IdsvaSoWorkspace(Arena& arena, const Paths& dofs, int n, int columns)
        : path(arena.take<int>(n)),
          joint_begin(arena.take<int>(n)),
          joint_end(arena.take<int>(n)),
          S(arena, n),
          Psidot(arena, n),
          Psiddot(arena, n),
          Upsilondot(arena, n),
          output{{arena, n}, {arena, n}, {arena, n}, {arena, n}, {arena, n}, {arena, n}},
          own(arena.take<DeepColumn<T>>(6)),
          forces(arena.take<OutputForces<Wide<T>>>(columns > 1 ? all_packs(dofs) : packs(n - 1))),
          exchanged(arena.take<Force<T>>(5 * columns)),
          first_pack(arena.take<std::ptrdiff_t>(columns)) {
        if (!first_pack) return;
        first_pack[0] = 0;
        for (int m = 1; m < columns; ++m)
            first_pack[m] = first_pack[m - 1] + packs(dofs.depth[m - 1]);
    }
    // The forces of column m; m = 0 if only one column's are kept.
    ForcesOfColumn<T> forces_of(int m) const { return {forces + first_pack[m], exchanged + 5 * m}; }

  private:
    static int packs(int depth) { return depth / Pack<T>::width + 1; }
    static std::ptrdiff_t all_packs(const Paths& dofs) {
        std::ptrdiff_t count = 0;
        for (int m = 0; m < dofs.n; ++m) count += packs(dofs.depth[m]);
        return count;
    }
};

// Switches to the path of body i, and reuses the prefix that it shares with the path before.
template <class T>
inline void follow_columns(const Tree& tree, int i, const IdsvaWorkspace<T>& idsva,
                           const IdsvaSoWorkspace<T>& w) {
    for (; i >= 0; i = tree.bodies[i].parent) {
        const Body& body = tree.bodies[i];
        const int begin = tree.dofs.depth[body.v], end = begin + body.nv;
        if (w.path[begin] == body.v) return;
        for (int e = begin; e < end; ++e) {
            const int k = body.v + e - begin;
            w.path[e] = k, w.joint_begin[e] = begin, w.joint_end[e] = end;
            w.S.set(e, idsva.root_frame.S[k]);
            w.Psidot.set(e, idsva.Psidot[k]);
            w.Psiddot.set(e, idsva.Psiddot[k]);
            w.Upsilondot.set(e, idsva.Upsilondot[k]);
        }
    }
}

// Computes everything that depends on column k of body i alone.
template <class T>
inline void deep_column(const Tree& tree, int i, int k, const IdsvaWorkspace<T>& w,
                        DeepColumn<T>& m) {
    const Inertia<T>& I = w.root_frame.I[i];
    const Coriolis<T>& B = w.B[i];
    const Motion<T> s = w.root_frame.S[k], Psidot = w.Psidot[k], Psiddot = w.Psiddot[k];
    const Force<T> t2 = I * s;
    m.s = s, m.Psidot = Psidot, m.Psiddot = Psiddot, m.t2 = t2;
    m.t1 = transposed_mul(B, s);
    m.alpha = mul_add(B, Psidot, cross_star(s, w.f[i], I * Psiddot));  // [Derivations] eq. 4.7
    m.beta = mul_add(B, s, I * w.Upsilondot[k]);
    m.I_rate = moving(s, I);             // [Derivations] eq. 5.4
    m.B_rate = moving(s, B, I, Psidot);  // [Derivations] eq. 5.6
    m.E = coriolis(I, s, t2);
    m.D = coriolis_dual(I, s, t2);
    const bool friction = k >= tree.friction.first && k < tree.friction.end;
    m.curvature = friction ? w.curvature[k] : T(0.0);
}

// Computes zeta, gamma and eta of output k for the columns at depths 0 ... end - 1.
template <class T>
inline void output_column(const DeepColumn<T>& k, int end, const OutputColumn<T>& out,
                          const IdsvaSoWorkspace<T>& w) {
    const CoriolisDual<Wide<T>> D = {spread(k.D.E), spread(k.D.e)};
    const Vec3<Wide<T>> t1 = spread(k.t1);
    const Force<Wide<T>> t2 = spread(k.t2);
    for (int e = 0; e < end; e += Pack<T>::width) {
        const Motion<Wide<T>> S = w.S.load(e);
        out.zeta.store(e, cross(S.ang, t1, D * w.Psidot.load(e)));  // [Derivations] eq. 7.2
        out.eta.store(e, D * S);
        out.gamma.store(e, cross_star(S, t2));
    }
}

// Switches to the path of body i, and prepares its columns as outputs. Returns the depth of its
// joint.
template <class T>
inline int output_columns(const Tree& tree, int i, const IdsvaWorkspace<T>& idsva,
                          const IdsvaSoWorkspace<T>& w) {
    const Body& body = tree.bodies[i];
    const int begin = tree.dofs.depth[body.v];
    follow_columns(tree, i, idsva, w);
    for (int c = 0; c < body.nv; ++c) {
        deep_column(tree, i, body.v + c, idsva, w.own[c]);
        output_column(w.own[c], begin + body.nv, w.output[c], w);
    }
    return begin;
}

// Computes the forces of column m, the c-th of its joint, for all columns of its path. I: composite of m's body.
// Inside m's own joint, D_qm D_vi, D_qm D_qi and D_qm M_ki have the formulas of D_qi D_vm, D_qi D_qm and
// D_qi M_km with i and m exchanged.
template <class T>
inline void forces_of_column(int c, int begin, const Inertia<T>& I, const IdsvaSoWorkspace<T>& w,
                             const ForcesOfColumn<T>& forces) {
    constexpr int width = Pack<T>::width;
    const int d = begin + c;
    const DeepColumn<T>& m = w.own[c];
    const Inertia<Wide<T>> I_rate = {Wide<T>(0.0), spread(m.I_rate.h), spread(m.I_rate.J)};
    const Coriolis<Wide<T>> B = {spread(m.B_rate.A), spread(m.B_rate.p2)},
                            E = {spread(m.E.A), spread(m.E.p2)};
    const Force<Wide<T>> alpha = spread(m.alpha), beta = spread(m.beta);
    for (int e = 0; e <= d; e += width) {
        OutputForces<Wide<T>>& x = forces.by_pack[e / width];
        const Motion<Wide<T>> S = w.S.load(e), Psidot = w.Psidot.load(e);
        x.qq_own = mul_add(B, Psidot, I_rate * w.Psiddot.load(e));
        x.qq = cross_star(S, alpha, x.qq_own);  // [Derivations] eq. 7.4
        x.vq_own = E * Psidot;
        x.vq = cross_star(S, beta, x.vq_own);  // [Derivations] eq. 7.4
        x.qv = mul_add(B, S, I_rate * w.Upsilondot.load(e));
        x.vv = E * S;  // [Derivations] eq. 7.4
        x.aq = I_rate * S;
        x.gamma = w.output[c].gamma.load(e);
    }
    OutputForces<Wide<T>>& last = forces.by_pack[d / width];
    last.qv = first_of<T>(d % width, last.qv, last.vq);  // D_qm D_vm has the formula of D_qi D_vm
    const auto set = [&](Force<Wide<T>> OutputForces<Wide<T>>::* x, int e, const Force<T>& f) {
        set_neighbor(forces.by_pack[e / width].*x, e % width, f);
    };
    using X = OutputForces<Wide<T>>;
    for (int e = begin; e < d; ++e) {  // the columns before m in its joint
        const DeepColumn<T>& o = w.own[e - begin];
        set(&X::qv, e, cross_star(m.s, o.beta, o.E * m.Psidot));
        set(&X::vv, e, mul_add(o.E, m.s, I * cross(o.s, m.s)));  // [Derivations] eq. 7.5
        set(&X::aq, e, cross_star(m.s, o.t2));
        forces.exchanged[e - begin] =
            mul_add(o.B_rate, m.Psidot, cross_star(m.s, o.alpha, o.I_rate * m.Psiddot));
    }
}

}  // namespace dtau::DTAU_VARIANT
