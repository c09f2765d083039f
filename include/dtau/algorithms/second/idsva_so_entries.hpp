// Writes the entries of three columns of IDSVA-SO (idsva_so.hpp) as rows over the third: deepest_output() for
// the output m, the deepest column of the three; shallower_outputs() for outputs k of shallower columns.
// Symbols: idsva_so_columns.hpp. j and i are columns of the path of m; d is the depth of m, and e and f are
// depths on its path (packed.hpp).
//
// Output m, where i's joint is not deeper than j's ([Derivations] eq. 7.3):
//   D_qi D_qj tau_m = zeta . Psi'_i + gamma . Psi''_i     D_qi D_vj tau_m = eta . Psi'_i
//   D_qj D_vi tau_m = zeta . s_i + gamma . (Psi'_i + S'_i)     (i's joint strictly shallower)
//   D_vi D_vj tau_m = eta . s_i                                less gamma . s_i inside one joint,
//                                          and friction's curvature for i = j = m
//   D_qj M_mi       = gamma . s_i                              (i's joint strictly shallower)
//
// Output k ([Derivations] eqs. 7.4, 7.5), with the forces of column m for i, which do not depend on k:
//   D_qi D_qm tau_k = s_k . qq    D_qi D_vm tau_k = s_k . vq    D_qm D_vi tau_k = s_k . qv
//   D_vi D_vm tau_k = s_k . vv    D_qm M_ki       = s_k . aq    D_qi M_km       = s_k . {gamma}
//
// The columns of a free root are unit motions, so that products with them are components. Rows are written in
// whole packs: what a pack writes beyond the end of its part is overwritten next.
#pragma once

#include "dtau/algorithms/second/idsva_so_columns.hpp"
#include "dtau/algorithms/second/world_wrenches.hpp"

namespace dtau::DTAU_VARIANT {

// The joint of the deepest column m, and what is added to products of columns.
template <class T> struct DeepestJoint {
    int begin;                            // the depth of its first column
    FreeRoot<T> root;                     // above it; without columns if there is none
    const WrenchSums<T>* wrenches;        // of its subtree, along the world's axes; null: none
    Force<T>* h;                          // of WrenchTensorsWorkspace
    const RotationCurvature<T>* springs;  // by its columns; null: none
    bool symmetric;                       // second derivatives by q in the exponential chart
};

// Adds the curvature of a spring to a block (count, count).
template <class T>
inline void add_spring(const RotationCurvature<T>& spring, int count, T* x, int stride) {
    for (int e = 0; e < count; ++e)
        for (int f = 0; f < count; ++f) x[e * stride + f] += spring.of[e][f];
}

// ---------------------------------------------------------------- the output is m

// Writes the rows [m, e, 0 ... d] of the columns e of a free root. [Derivations] eq. 7.9
template <class T>
inline void free_root_rows(const FreeRoot<T>& root, int d, const OutputColumn<T>& out,
                           const Tensors<T*>& rows) {
    constexpr int width = Pack<T>::width;
    const int length = d + 1;
    const FreeRoot<Wide<T>> wide = {6, spread(root.v), spread(root.gravity)};
    const Vec3<Wide<T>> zero = zero_vector<Wide<T>>();
    const auto packs = [&](T* tensor, int f, const Force<Wide<T>>& x) {
        const Components<Wide<T>> c = components(x);
        for (int e = 0; e < 6; ++e) store(tensor + e * length + f, c.x[e]);
    };
    clear(0, 6 * length, rows.dqdv);
    for (int f = 6 + (d - 6) / width * width; f >= 6; f -= width) {  // D_qi D_qj = D_qj D_qi
        const Force<Wide<T>> gamma = out.gamma.load(f);
        packs(rows.dqdq, f, {dot_Psiddot(wide, gamma), zero});
        packs(rows.dvdv, f, {out.eta.load(f), zero});
        packs(rows.dadq, f, gamma);
    }
    for (int e = 0; e < 6; ++e) {
        const Force<T> gamma = out.gamma[e];
        const int at = e * length;
        store_components({dot_Psiddot(root, gamma), zero_vector<T>()}, rows.dqdq + at);
        store_components({out.eta[e] - gamma.ang, -gamma.lin}, rows.dvdv + at);
        for (int f = 0; f < 6; ++f) rows.dadq[at + f] = T(0.0);
    }
}

// Writes the row [m, e, 0 ... d] of another column e, at rows + at.
template <class T>
inline void deepest_output_row(const FreeRoot<T>& root, int e, int d, const OutputColumn<T>& out,
                               const IdsvaSoWorkspace<T>& w, const Tensors<T*>& rows, int at) {
    constexpr int width = Pack<T>::width;
    const Tensors<T*> row = {rows.dqdq + at, rows.dqdv + at, rows.dvdv + at, rows.dadq + at};
    const int first = root.columns, begin = w.joint_begin[e];
    const int end = w.joint_end[e] <= d ? w.joint_end[e] : d + 1;
    const Vec3<T> own_zeta = out.zeta[e], own_eta = out.eta[e];
    const Force<T> own_gamma = out.gamma[e];
    if (first > 0) {
        const Vec3<T> zero = zero_vector<T>();
        store_components({dot_Psiddot(root, own_gamma), zero}, row.dqdq);
        store_components(dot_Sdot(root, own_gamma, own_zeta), row.dqdv);
        store_components({own_eta, zero}, row.dvdv);
        clear(0, first, row.dadq);
    }
    const Vec3<Wide<T>> zeta = spread(own_zeta), eta = spread(own_eta);
    const Force<Wide<T>> gamma = spread(own_gamma);
    for (int f = first; f < end; f += width) {  // j = e, i = f
        const Motion<Wide<T>> S = w.S.load(f);
        // [Derivations] eq. 7.3
        store(row.dqdq + f, dot(zeta, w.Psidot.load_ang(f), dot(gamma, w.Psiddot.load(f))));
        store(row.dqdv + f, dot(zeta, S.ang, dot(gamma, w.Upsilondot.load(f))));
        store(row.dvdv + f, dot(eta, S.ang));
        store(row.dadq + f, Wide<T>(0.0));
    }
    const Motion<Wide<T>> S = spread(w.S[e]), Psiddot = spread(w.Psiddot[e]);
    const Vec3<Wide<T>> Psidot_ang = spread(w.Psidot.ang(e));
    for (int f = begin; f < end; f += width)  // inside e's joint: i = e, j = f
        store(row.dqdv + f, dot(out.eta.load(f), Psidot_ang));
    for (int f = begin; end - begin > 1 && f < end; ++f)
        row.dvdv[f] = row.dvdv[f] - dot(own_gamma, w.S[f]);
    for (int f = end; f <= d; f += width) {  // of a deeper joint: i = e, j = f
        const Vec3<Wide<T>> eta_f = out.eta.load(f);
        const Force<Wide<T>> gamma_f = out.gamma.load(f);
        store(row.dqdq + f, dot(out.zeta.load(f), Psidot_ang, dot(gamma_f, Psiddot)));
        store(row.dqdv + f, dot(eta_f, Psidot_ang));
        store(row.dvdv + f, dot(eta_f, S.ang));
        store(row.dadq + f, dot(gamma_f, S));
    }
}

// Writes the rows [m, e, 0 ... d] of column m, the c-th of its joint.
template <class T, class Rows>
inline void deepest_output(const DeepestJoint<T>& joint, int c, const IdsvaSoWorkspace<T>& w,
                           Rows& rows) {
    const int d = joint.begin + c, length = d + 1;
    const OutputColumn<T>& out = w.output[c];
    for (int e = 0; joint.wrenches && e <= d; ++e)
        joint.h[e] = common_curvature(*joint.wrenches, w.own[c].s, w.S[e]);
    for (int begin = 0, end; begin <= d; begin = end) {  // a joint of the path
        end = w.joint_end[begin] <= d ? w.joint_end[begin] : d + 1;
        const Tensors<T*> row = rows.next();
        if (begin < joint.root.columns)
            free_root_rows(joint.root, d, out, row);
        else
            for (int e = begin; e < end; ++e)
                deepest_output_row(joint.root, e, d, out, w, row, (e - begin) * length);
        if (joint.wrenches)
            for (int e = begin; e < end; ++e)
                add_to_deepest_row(joint.h, e, d, w, row.dqdq + (e - begin) * length);
        if (end > d) {  // m's own joint
            row.dvdv[c * length + d] += w.own[c].curvature;
            if (joint.springs) add_spring(joint.springs[c], c + 1, row.dqdq + begin, length);
        }
        if (joint.symmetric) symmetrize(row.dqdq + begin, end - begin, length);
        rows.done((end - begin) * length);
    }
}

// ---------------------------------------------------------------- the output is shallower

// Which columns of a pack have the terms in {}; `some`: the first `end` have not.
enum class Braces { none, some, all };
template <Braces braces, class T>
DTAU_INLINE Wide<T> chosen(int end, const Wide<T>& without, const Wide<T>& with) {
    if constexpr (braces == Braces::some) return first_of<T>(end, without, with);
    return braces == Braces::all ? with : without;
}

// Writes the entries [k, m, e] and, behind them, [k, e, m] of the outputs k at depths f, f + 1, ... of
// joints shallower than m's; the rows are adjacent, and written in descending order. product(x, r): the force
// x times s_k of the r-th output.
template <int count, class T, class Product>
inline void shallower_output_rows(int f, int d, const OutputForces<Wide<T>>* forces,
                                  const IdsvaSoWorkspace<T>& w, const Tensors<T*>& row,
                                  const Product& product) {
    using V = Wide<T>;
    constexpr int width = Pack<T>::width;
    const int length = 2 * d + 1;
    const auto block = [&]<Braces braces>(int e) __attribute__((always_inline)) {
        const OutputForces<V>& x = forces[e / width];
        unrolled<count>([&](int r) __attribute__((always_inline)) {
            const int end = w.joint_end[f + r] - e;
            const V qq = chosen<braces, T>(end, product(x.qq_own, r), product(x.qq, r)),
                    vq = chosen<braces, T>(end, product(x.vq_own, r), product(x.vq, r)),
                    aq = chosen<braces, T>(end, V(0.0), product(x.gamma, r)), vv = product(x.vv, r);
            const int at = r * length + e, behind = at + d + 1;
            store(row.dqdq + at, qq), store(row.dqdv + at, product(x.qv, r));
            store(row.dvdv + at, vv), store(row.dadq + at, aq);
            if (e == d) return;
            store(row.dqdq + behind, qq), store(row.dqdv + behind, vq);
            store(row.dvdv + behind, vv), store(row.dadq + behind, product(x.aq, r));
        });
    };
    const int first_end = w.joint_end[f], last_end = w.joint_end[f + count - 1];
    int e = d / width * width;
    for (; e >= last_end; e -= width) block.template operator()<Braces::all>(e);
    for (; e >= 0 && e + width > first_end; e -= width) block.template operator()<Braces::some>(e);
    for (; e >= 0; e -= width) block.template operator()<Braces::none>(e);
}

// The same for as many of the outputs f ... end - 1 as registers hold; returns how many.
template <class T>
inline int some_output_rows(const FreeRoot<T>& root, int f, int end, int d,
                            const OutputForces<Wide<T>>* forces, const IdsvaSoWorkspace<T>& w,
                            const Tensors<T*>& row) {
    if (f < root.columns && f + 6 <= end) {
        shallower_output_rows<6>(f, d, forces, w, row,
                                 [](const Force<Wide<T>>& x, int r) { return components(x).x[r]; });
        return 6;
    }
    const auto products = [&]<int count>() {
        Motion<Wide<T>> s[count];
        unrolled<count>([&](int r) { s[r] = spread(w.S[f + r]); });
        shallower_output_rows<count>(f, d, forces, w, row,
                                     [&](const Force<Wide<T>>& x, int r) { return dot(x, s[r]); });
        return count;
    };
    constexpr bool many = lanes == 8;  // AVX-512 has twice as many registers
    if (many && f + 4 <= end) return products.template operator()<4>();
    if (many && f + 2 <= end) return products.template operator()<2>();
    return products.template operator()<1>();
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

// Writes the entries of an output of m's own joint. spring: of rotation_curvatures() for this output, or null.
template <class T>
inline void own_output_row(const OutputColumn<T>& out, int d, const RotationCurvature<T>* spring,
                           const IdsvaSoWorkspace<T>& w, const Tensors<T*>& row) {
    for (int e = 0; e <= 2 * d; ++e) {
        const bool m_first = e <= d;
        const Tensors<T> x = own_output(out, m_first ? d : e - d - 1, m_first ? e : d, w);
        row.dqdq[e] = x.dqdq, row.dqdv[e] = x.dqdv, row.dvdv[e] = x.dvdv, row.dadq[e] = x.dadq;
    }
    const int joint = w.joint_begin[d], m = d - joint;
    for (int e = 0; spring && e <= m; ++e) {
        row.dqdq[joint + e] += spring->of[m][e];
        if (e < m) row.dqdq[d + 1 + joint + e] += spring->of[e][m];
    }
}

// Writes the rows of the outputs at depths f ... end - 1, which are shallower than column m, the c-th of its
// joint. forces: of m.
template <class T, class Rows>
inline void shallower_outputs(const DeepestJoint<T>& joint, int c, int f, int end,
                              const ForcesOfColumn<T>& forces, const IdsvaSoWorkspace<T>& w,
                              Rows& rows) {
    const int d = joint.begin + c, length = 2 * d + 1;
    for (int count; f < end; f += count) {
        const Tensors<T*> row = rows.next();
        const bool own = f >= joint.begin;
        count = 1;
        if (own)
            own_output_row(w.output[f - joint.begin], d,
                           joint.springs ? joint.springs + f - joint.begin : nullptr, w, row);
        else
            count = some_output_rows(joint.root, f, end < joint.begin ? end : joint.begin, d,
                                     forces.by_pack, w, row);
        for (int r = 0; r < count; ++r) {
            T *const by_m = row.dqdq + r * length, *const behind = by_m + d + 1;
            if (!own)
                for (int e = joint.begin; e < d; ++e)
                    behind[e] = dot(forces.exchanged[e - joint.begin], w.S[f + r]);
            if (joint.wrenches)
                add_to_shallower_rows(*joint.wrenches, TurningWrenches<T>(*joint.wrenches), f + r,
                                      d, w, by_m);
            if (joint.symmetric)  // [Derivations] eq. 7.7
                for (int e = joint.begin; e < d; ++e)
                    by_m[e] = behind[e] = T(0.5) * (by_m[e] + behind[e]);
        }
        rows.done(count * length);
    }
}

}  // namespace dtau::DTAU_VARIANT
