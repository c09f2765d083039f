// Writes the rows of output m in the group of the deepest column m: deepest_output_rows(). Symbols:
// idsva_so_columns.hpp. For columns j and i of a joint that is not deeper than j's
// ([Derivations] eqs. 7.2, 7.3):
//
//   zeta = D Psi'_j + s_j x* t1   gamma = s_j x* t2   eta = D s_j
//   D_qi D_qj tau_m = zeta . Psi'_i + gamma . Psi''_i     D_qi D_vj tau_m = eta . Psi'_i
//   D_qj D_vi tau_m = zeta . s_i + gamma . (Psi'_i + S'_i)     (i's joint strictly shallower)
//   D_vi D_vj tau_m = eta . s_i                                less gamma . s_i inside one joint,
//                                          and friction's curvature for i = j = m
//   D_qj M_mi       = gamma . s_i                              (i's joint strictly shallower)
//
// The columns of a free root are unit motions, so that their rows are components (free_root_row).
#pragma once

#include "dtau/algorithms/second/idsva_so_columns.hpp"
#include "dtau/algorithms/second/world_wrenches.hpp"

namespace dtau::DTAU_VARIANT {

// Stores a moment as the components of a free root, whose columns are at depths 0 ... 5.
template <class T>
inline void store_moment(const Vec3<T>& n, T* row) {
    store_components<T>({n, zero_vector<T>()}, row);
}

// ---------------------------------------------------------------- the output is of the deepest joint

// Writes the entries [m, e, f] of the rows e of a free root. [Derivations] eq. 7.9
template <class T>
inline void free_root_row(const FreeRoot<T>& root, int e, int d, const OutputColumn<T>& out,
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

// Writes the entries [m, e, f] of the other rows e. Rows are written in whole packs, in ascending
// order: the next part overwrites what a pack writes beyond its part.
template <class T>
inline void deepest_output_row(const FreeRoot<T>& root, int e, int d, const OutputColumn<T>& out,
                               const IdsvaSoWorkspace<T>& w, const Tensors<T*>& row) {
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
        // [Derivations] eq. 7.3
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

// Replaces second derivatives by q inside a joint by their symmetric part: the second derivatives in
// the exponential chart.
template <class T>
inline void symmetrize_row(const FreeRoot<T>& root, int e, int d, const OutputColumn<T>& out,
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

// One entry of an output of m's joint, by the columns at depths e (first variable) and f.
template <class T>
inline Tensors<T> own_output(const OutputColumn<T>& out, int e, int f,
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

// Writes the rows [m, e, 0 ... d] of column m, the c-th of its body. wrenches: sums over its subtree of
// wrenches along the world's axes; null: there are none. curvature: of friction in column m, or null.
// springs: rotation_curvatures() of its joint, or null.
template <class T, class Rows>
inline void deepest_output_rows(const FreeRoot<T>& root, int c, int joint, bool symmetric,
                                const WrenchSums<T>* wrenches, Force<T>* h, const T* curvature,
                                const RotationCurvature<T>* springs, const IdsvaSoWorkspace<T>& w,
                                Rows& rows) {
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
        if (curvature && e == d) row.dvdv[d] += *curvature;
        for (int f = joint; springs && e >= joint && f <= d; ++f) {
            const T x = springs[c].of[e - joint][f - joint],
                    y = springs[c].of[f - joint][e - joint];
            row.dqdq[f] += symmetric ? T(0.5) * (x + y) : x;
        }
        rows.done(d + 1);
    }
}

}  // namespace dtau::DTAU_VARIANT
