// Second-order partial derivatives of inverse dynamics, the innermost part: all entries whose deepest
// index is one column m: those of output m here, of shallower outputs in idsva_so_shallower.hpp.
// [IDSVA-SO] algorithm 1 with three changes. What a subtree's composites do when its joint moves is
// held in the 10 and 12 numbers of an inertia and of a Coriolis operator (inertia.hpp), so that second
// derivatives look like first ones. The columns of a path are processed in vectors
// (path_columns.hpp). Results are rows of packed tensors (packed.hpp).
//
// Symbols as in idsva.hpp and hessian.hpp, for the deepest column m of a triple, with composites of
// its body; ' is the rate when m moves:
//   t1, t2   (2B)^T s_m and I s_m           alpha  2B Psi'_m + I Psi''_m + s_m x* f   (the rate of f)
//   D        D u = (2B[u])^T s_m            beta   2B s_m + I (Psi'_m + S'_m)
//   I', B'   rates of I and 2B              E      the Coriolis operator of the twist s_m
//
// Output m, columns j and i of a joint that is not deeper than j's ([Notes] eqs. 7.2, 7.3):
//   zeta = D Psi'_j + s_j x* t1   gamma = s_j x* t2   eta = D s_j
//   D_qi D_qj tau_m = zeta . Psi'_i + gamma . Psi''_i     D_qi D_vj tau_m = eta . Psi'_i
//   D_qj D_vi tau_m = zeta . s_i + gamma . (Psi'_i + S'_i)     (i's joint strictly shallower)
//   D_vi D_vj tau_m = eta . s_i                                less gamma . s_i inside one joint
//   D_qj M_mi       = gamma . s_i                              (i's joint strictly shallower)
//
// Output k of a joint strictly shallower than m's, i on the path of m; {} if k's joint is strictly
// shallower than i's ([Notes] eqs. 7.4, 7.5):
//   D_qi D_qm tau_k = s_k . (B' Psi'_i + I' Psi''_i + {s_i x* alpha})
//   D_qi D_vm tau_k = s_k . (E Psi'_i + {s_i x* beta})
//   D_qm D_vi tau_k = s_k . (B' s_i + I' (Psi'_i + S'_i))      D_vi D_vm tau_k = s_k . E s_i
//   D_qm M_ki       = s_k . I' s_i                             D_qi M_km = s_k . {s_i x* t2}
// Inside m's own joint, D_qm D_vi, D_qm D_qi and D_qm M_ki are those of D_qi D_vm, D_qi D_qm and
// D_qi M_km with i and m exchanged, and D_vi D_vm tau_k = s_k . (E_i s_m + I (s_i x s_m)).
#pragma once

#include "dtau/algorithms/first/idsva.hpp"
#include "dtau/algorithms/second/packed.hpp"
#include "dtau/algorithms/second/path_columns.hpp"

namespace dtau::DTAU_VARIANT {

// What depends on the deepest column alone.
template <class T>
struct DeepColumn {
    Motion<T> s, Psidot, Psiddot;
    Vec3<T> t1;
    Force<T> t2, alpha, beta;
    Inertia<T> I_rate;
    Coriolis<T> B_rate, E;
    CoriolisDual<T> D;
};

// The columns of one joint as outputs: zeta, gamma and eta for the columns j of the path.
template <class T>
struct OutputColumn {
    PathVectors<T> zeta, eta;
    PathForces<T> gamma;

    OutputColumn(Arena& arena, int n) : zeta(arena, n), eta(arena, n), gamma(arena, n) {}
};

// On s_k for the outputs k of shallower joints, of a column or of some neighbours: with {} where there
// is one, and without.
template <class T>
struct OutputForces {
    Force<T> qq, qq_own, qv, vq, vq_own, vv, aq, gamma;
};

// Forces on the columns of one path, by packs; qq of m and the columns of its own joint, exchanged.
template <class T>
struct ForcesOfColumn {
    OutputForces<Wide<T>>* by_pack;
    Force<T>* exchanged;  // (5)
};

// Beside that of idsva, from which its sweeps start.
template <class T>
struct IdsvaSoWorkspace {
    int *path, *joint_begin, *joint_end;  // by depth: column; depths of the columns of its joint
    PathMotions<T> S, Psidot, Psiddot, Upsilondot;
    OutputColumn<T> output[6];      // of the deepest joint
    DeepColumn<T>* own;             // its columns
    OutputForces<Wide<T>>* forces;  // a pack of columns each
    Force<T>* exchanged;
    std::ptrdiff_t* first_pack;  // of each column's forces

    // every_column: the forces of all columns are kept.
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
    // Of column m; of 0, if only one column's are kept.
    ForcesOfColumn<T> forces_of(int m) const { return {forces + first_pack[m], exchanged + 5 * m}; }

  private:
    static int packs(int depth) { return depth / Pack<T>::width + 1; }
    static std::ptrdiff_t all_packs(const Paths& dofs) {
        std::ptrdiff_t count = 0;
        for (int m = 0; m < dofs.n; ++m) count += packs(dofs.depth[m]);
        return count;
    }
};

// As components of a free root, whose columns take the depths 0 ... 5: a moment.
template <class T>
DTAU_INLINE void store_moment(const Vec3<T>& n, T* row) {
    store_components<T>({n, zero_vector<T>()}, row);
}

// ---------------------------------------------------------------- the output is of the deepest joint

// For output k, the columns at depths 0 ... end - 1.
template <class T>
DTAU_INLINE void output_column(const DeepColumn<T>& k, int end, const OutputColumn<T>& out,
                               const IdsvaSoWorkspace<T>& w) {
    const CoriolisDual<Wide<T>> D = {spread(k.D.E), spread(k.D.e)};
    const Vec3<Wide<T>> t1 = spread(k.t1);
    const Force<Wide<T>> t2 = spread(k.t2);
    for (int e = 0; e < end; e += Pack<T>::width) {
        const Motion<Wide<T>> S = w.S.load(e);
        out.zeta.store(e, cross(S.ang, t1, D * w.Psidot.load(e)));  // [Notes] eq. 7.2
        out.eta.store(e, D * S);
        out.gamma.store(e, cross_star(S, t2));
    }
}

// Entries [m, e, f] for the row e of a free root: [Notes] eq. 7.9.
template <class T>
DTAU_INLINE void free_root_row(const FreeRoot<T>& root, int e, int d, const OutputColumn<T>& out,
                               const Tensors<T*>& row) {
    const Force<T> gamma = out.gamma[e];
    clear(0, d + 1, row.dqdv);
    clear(0, 6, row.dadq);
    store_moment(dot_Psiddot(root, gamma), row.dqdq);
    store_components({out.eta[e] - gamma.ang, -gamma.lin}, row.dvdv);
    clear(6, d + 1, row.dqdq);
    clear(6, d + 1, row.dvdv);
    const Vec3<Wide<T>> gravity = spread(root.gravity);
    const auto entries = [&](const auto& qq, const auto& vv) {
        for (int f = 6; f <= d; f += Pack<T>::width) {  // of a deeper joint: D_qi D_qj = D_qj D_qi
            store(row.dqdq + f, qq(out.gamma.load(f).lin));
            store(row.dvdv + f, vv(out.eta.load(f)));
        }
    };
    using V = Vec3<Wide<T>>;
    if (e == 3)
        entries([&](const V& l) { return cross(gravity, l).x; }, [](const V& n) { return n.x; });
    if (e == 4)
        entries([&](const V& l) { return cross(gravity, l).y; }, [](const V& n) { return n.y; });
    if (e == 5)
        entries([&](const V& l) { return cross(gravity, l).z; }, [](const V& n) { return n.z; });
    for (int f = 6; f <= d; f += Pack<T>::width)
        store(row.dadq + f, out.gamma.load_component(e, f));
}

// Entries [m, e, f] for the other rows e. Rows are written in whole packs, in ascending order, so that
// what goes beyond a part's end is overwritten.
template <class T>
DTAU_INLINE void deepest_output_row(const FreeRoot<T>& root, int e, int d,
                                    const OutputColumn<T>& out, const IdsvaSoWorkspace<T>& w,
                                    const Tensors<T*>& row) {
    constexpr int width = Pack<T>::width;
    const int first = root.columns, begin = w.joint_begin[e];
    const int end = w.joint_end[e] <= d ? w.joint_end[e] : d + 1;
    const Vec3<T> own_zeta = out.zeta[e], own_eta = out.eta[e];
    const Force<T> own_gamma = out.gamma[e];
    if (first > 0) {
        store_moment(dot_Psiddot(root, own_gamma), row.dqdq);
        store_components(dot_Sdot(root, own_gamma, own_zeta), row.dqdv);
        store_moment(own_eta, row.dvdv);
        clear(0, first, row.dadq);
    }
    const Vec3<Wide<T>> zeta = spread(own_zeta), eta = spread(own_eta);
    const Force<Wide<T>> gamma = spread(own_gamma);
    for (int f = first; f < end; f += width) {
        const Motion<Wide<T>> S = w.S.load(f);
        // [Notes] eq. 7.3
        store(row.dqdq + f, dot(zeta, w.Psidot.load_ang(f), dot(gamma, w.Psiddot.load(f))));
        store(row.dqdv + f, dot(zeta, S.ang, dot(gamma, w.Upsilondot.load(f))));
        store(row.dvdv + f, dot(eta, S.ang));
        store(row.dadq + f, Wide<T>(0.0));
    }
    const Motion<Wide<T>> S = spread(w.S[e]), Psiddot = spread(w.Psiddot[e]);
    const Vec3<Wide<T>> Psidot_ang = spread(w.Psidot.ang(e));
    for (int f = begin; f < end; f += width) store(row.dqdv + f, dot(out.eta.load(f), Psidot_ang));
    for (int f = begin; end - begin > 1 && f < end; ++f)
        row.dvdv[f] = row.dvdv[f] - dot(own_gamma, w.S[f]);
    for (int f = end; f <= d; f += width) {  // of a deeper joint; D_qi D_qj = D_qj D_qi
        const Vec3<Wide<T>> eta_f = out.eta.load(f);
        const Force<Wide<T>> gamma_f = out.gamma.load(f);
        store(row.dqdq + f, dot(out.zeta.load(f), Psidot_ang, dot(gamma_f, Psiddot)));
        store(row.dqdv + f, dot(eta_f, Psidot_ang));
        store(row.dvdv + f, dot(eta_f, S.ang));
        store(row.dadq + f, dot(gamma_f, S));
    }
}

// Of the second derivatives by q inside a joint, those in the exponential chart: the symmetric part.
template <class T>
DTAU_INLINE void symmetrize_row(const FreeRoot<T>& root, int e, int d, const OutputColumn<T>& out,
                                const IdsvaSoWorkspace<T>& w, T* dqdq) {
    const bool free = e < root.columns;
    for (int f = w.joint_begin[e]; f < w.joint_end[e] && f <= d; ++f) {
        const Force<T> gamma = out.gamma[f];
        const Vec3<T> weight = dot_Psiddot(root, gamma);
        const T exchanged = free ? components<T>({weight, zero_vector<T>()}).x[e]
                                 : dot(out.zeta[f], w.Psidot.ang(e), dot(gamma, w.Psiddot[e]));
        if (f != e) dqdq[f] = T(0.5) * (dqdq[f] + exchanged);
    }
}

// One entry of an output of m's joint: by columns at depths e (first) and f.
template <class T>
DTAU_INLINE Tensors<T> own_output(const OutputColumn<T>& out, int e, int f,
                                  const IdsvaSoWorkspace<T>& w) {
    const bool before = w.joint_end[f] <= w.joint_begin[e],
               after = w.joint_end[e] <= w.joint_begin[f];
    const int deep = after ? f : e, shallow = after ? e : f;
    const Vec3<T> zeta = out.zeta[deep], s_ang = w.S.ang(shallow);
    const Force<T> gamma = out.gamma[deep];
    const T eta_s = dot(out.eta[deep], s_ang), gamma_s = before ? T(0.0) : dot(gamma, w.S[shallow]);
    return {dot(zeta, w.Psidot.ang(shallow), dot(gamma, w.Psiddot[shallow])),
            before ? dot(zeta, s_ang, dot(gamma, w.Upsilondot[shallow]))
                   : dot(out.eta[f], w.Psidot.ang(e)),
            before || after ? eta_s : eta_s - gamma_s, after ? gamma_s : T(0.0)};
}

}  // namespace dtau::DTAU_VARIANT
