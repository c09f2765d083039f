// Writes the rows of the outputs k that are shallower than the deepest column m:
// all_shallower_rows(). Symbols: idsva_so_columns.hpp. For i on the path of m; {} if k's joint is
// strictly shallower than i's ([Derivations] eqs. 7.4, 7.5):
//
//   D_qi D_qm tau_k = s_k . (B' Psi'_i + I' Psi''_i + {s_i x* alpha})
//   D_qi D_vm tau_k = s_k . (E Psi'_i + {s_i x* beta})
//   D_qm D_vi tau_k = s_k . (B' s_i + I' (Psi'_i + S'_i))      D_vi D_vm tau_k = s_k . E s_i
//   D_qm M_ki       = s_k . I' s_i                             D_qi M_km = s_k . {s_i x* t2}
//
// Inside m's own joint, D_qm D_vi, D_qm D_qi and D_qm M_ki have the formulas of D_qi D_vm, D_qi D_qm and
// D_qi M_km with i and m exchanged, and D_vi D_vm tau_k = s_k . (E_i s_m + I (s_i x s_m)).
//
// The forces in parentheses do not depend on k: they are computed once for all columns of the path
// (forces_on_outputs), and the entries are their products with s_k, a few outputs at a time.
#pragma once

#include "dtau/algorithms/second/idsva_so_rows.hpp"

namespace dtau::DTAU_VARIANT {

// Computes the forces in parentheses for all columns of the path. I: composite of m's body.
template <class T>
inline void forces_on_outputs(const DeepColumn<T>& m, const Inertia<T>& I, int d,
                              const PathForces<T>& gamma, const IdsvaSoWorkspace<T>& w,
                              const ForcesOfColumn<T>& forces) {
    constexpr int width = Pack<T>::width;
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
        x.gamma = gamma.load(e);
    }
    const auto set = [&](Force<Wide<T>> OutputForces<Wide<T>>::* x, int e, const Force<T>& f) {
        set_neighbor(forces.by_pack[e / width].*x, e % width, f);
    };
    using X = OutputForces<Wide<T>>;
    set(&X::qv, d, cross_star(m.s, m.beta, m.E * m.Psidot));  // inside m's own joint
    for (int e = w.joint_begin[d]; e < d; ++e) {
        const DeepColumn<T>& o = w.own[e - w.joint_begin[d]];
        set(&X::qv, e, cross_star(m.s, o.beta, o.E * m.Psidot));
        set(&X::vv, e, mul_add(o.E, m.s, I * cross(o.s, m.s)));  // [Derivations] eq. 7.5
        set(&X::aq, e, cross_star(m.s, o.t2));
        forces.exchanged[e - w.joint_begin[d]] =
            mul_add(o.B_rate, m.Psidot, cross_star(m.s, o.alpha, o.I_rate * m.Psiddot));
    }
}

// Writes the entries [k, m, e] and, behind them, [k, e, m] of the outputs k at depths f, f + 1, ... of
// joints shallower than m's; the rows are adjacent. product(x, r): the force x times s_k of the r-th
// output. Rows are written in whole packs, in descending order: what a pack writes beyond the end of
// its part is overwritten next.
template <int count, class T, class Product>
inline void shallower_output_rows(int f, int d, const OutputForces<Wide<T>>* forces,
                                  const IdsvaSoWorkspace<T>& w, const Tensors<T*>& row,
                                  const Product& product) {
    using V = Wide<T>;
    struct Chosen {
        V qq, vq, aq;
    };
    constexpr int width = Pack<T>::width;
    const int length = 2 * d + 1;
    const auto block = [&](int e, const auto& chosen) __attribute__((always_inline)) {
        const OutputForces<V>& x = forces[e / width];
        unrolled<count>([&](int r) __attribute__((always_inline)) {
            const int at = r * length + e, behind = at + d + 1;
            const Chosen y = chosen(x, r, e);
            const V vv = product(x.vv, r);
            store(row.dqdq + at, y.qq), store(row.dqdv + at, product(x.qv, r));
            store(row.dvdv + at, vv), store(row.dadq + at, y.aq);
            if (e == d) return;
            store(row.dqdq + behind, y.qq), store(row.dqdv + behind, y.vq);
            store(row.dvdv + behind, vv), store(row.dadq + behind, product(x.aq, r));
        });
    };
    const auto own = [&](const OutputForces<V>& x, int r, int) __attribute__((always_inline)) {
        return Chosen{product(x.qq_own, r), product(x.vq_own, r), V(0.0)};
    };
    const auto other = [&](const OutputForces<V>& x, int r, int) __attribute__((always_inline)) {
        return Chosen{product(x.qq, r), product(x.vq, r), product(x.gamma, r)};
    };
    const auto both = [&](const OutputForces<V>& x, int r, int e) __attribute__((always_inline)) {
        const Chosen y = own(x, r, e), z = other(x, r, e);
        const int end = w.joint_end[f + r] - e;
        return Chosen{first_of<T>(end, y.qq, z.qq), first_of<T>(end, y.vq, z.vq),
                      first_of<T>(end, y.aq, z.aq)};
    };
    const int first_end = w.joint_end[f], last_end = w.joint_end[f + count - 1];
    int e = d / width * width;
    for (; e >= last_end; e -= width) block(e, other);
    for (; e >= 0 && e + width > first_end; e -= width) block(e, both);
    for (; e >= 0; e -= width) block(e, own);
}

// The same for as many outputs from f on as registers hold; returns how many.
template <class T>
inline int shallower_outputs(int f, int joint, int d, const OutputForces<Wide<T>>* forces,
                             const IdsvaSoWorkspace<T>& w, const Tensors<T*>& row) {
    const auto rows = [&]<int count>() {
        Motion<Wide<T>> s[count];
        unrolled<count>([&](int r) { s[r] = spread(w.S[f + r]); });
        shallower_output_rows<count>(f, d, forces, w, row,
                                     [&](const Force<Wide<T>>& x, int r) { return dot(x, s[r]); });
        return count;
    };
    constexpr bool many = lanes == 8;  // AVX-512 has twice as many registers
    if (many && f + 4 <= joint) return rows.template operator()<4>();
    if (many && f + 2 <= joint) return rows.template operator()<2>();
    return rows.template operator()<1>();
}

// The same for the outputs of a free root.
template <class T>
inline int root_outputs(int d, const OutputForces<Wide<T>>* forces, const IdsvaSoWorkspace<T>& w,
                        const Tensors<T*>& row) {
    shallower_output_rows<6>(0, d, forces, w, row,
                             [](const Force<Wide<T>>& x, int r) { return components(x).x[r]; });
    return 6;
}

// Writes an output of m's own joint. spring: of rotation_curvatures() for this output, or null.
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

// Completes the row of output f: the entries inside m's own joint, which begins at depth `joint`, and
// the part of the wrenches.
template <class T>
inline void complete_shallower_row(int f, int d, int joint, bool symmetric,
                                   const WrenchSums<T>* wrenches, const Force<T>* exchanged,
                                   const IdsvaSoWorkspace<T>& w, T* dqdq) {
    T* const behind = dqdq + d + 1;
    for (int e = joint; f < joint && e < d; ++e) behind[e] = dot(exchanged[e - joint], w.S[f]);
    if (wrenches) add_to_shallower_rows(*wrenches, TurningWrenches<T>(*wrenches), f, d, w, dqdq);
    for (int e = joint; symmetric && e < d; ++e)
        dqdq[e] = behind[e] = T(0.5) * (dqdq[e] + behind[e]);  // [Derivations] eq. 7.7
}

// Writes the rows of all outputs shallower than column m, the c-th of its body.
template <class T, class Rows>
inline void all_shallower_rows(const FreeRoot<T>& root, int c, int joint, bool symmetric,
                               const WrenchSums<T>* wrenches, const RotationCurvature<T>* springs,
                               const ForcesOfColumn<T>& forces, const IdsvaSoWorkspace<T>& w,
                               Rows& rows) {
    const int d = joint + c;
    for (int f = 0, count; f < d; f += count) {
        const Tensors<T*> row = rows.next();
        count = 1;
        if (f < root.columns)
            count = root_outputs(d, forces.by_pack, w, row);
        else if (f < joint)
            count = shallower_outputs(f, joint, d, forces.by_pack, w, row);
        else
            own_output_row(w.output[f - joint], d, springs ? springs + f - joint : nullptr, w, row);
        for (int r = 0; r < count; ++r)
            complete_shallower_row(f + r, d, joint, symmetric, wrenches, forces.exchanged, w,
                                   row.dqdq + r * (2 * d + 1));
        rows.done(count * (2 * d + 1));
    }
}

}  // namespace dtau::DTAU_VARIANT
