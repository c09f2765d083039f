// Runs the passes of IDSVA (idsva.hpp) for a lone state, several bodies and columns at once, in vectors:
// idsva_forward_alone(), idsva_backward_alone(). Each number has the arithmetic of a state in lanes.
//
//   forward    P, v, a and the rates of columns, body by body; then I, B and f, for packs of bodies
//   backward   1. composites of all bodies
//              2. for packs of columns k:   t1, t2, by_q, by_v                [Derivations] eqs. 4.5, 4.7
//              3. for each column j, for packs of columns k in its subtree:   entries (k, j) and (j, k)
//
// A subtree is a range of columns, so that row j is written in whole vectors. In lanes the loops of step 3
// are the other way round, for each k over its path: the factors of k then stay in registers.
#pragma once

#include <cstddef>

#include "dtau/algorithms/first/idsva_bodies.hpp"

namespace dtau::DTAU_VARIANT {

// ---------------------------------------------------------------- forward pass

// The constants of a body that place its inertia, as they follow each other in Body.
template <class T> struct CentralInertia {
    Vec3<T> com;
    Sym3<T> inertia;
};
static_assert(offsetof(Body, inertia) == offsetof(Body, com) + 3 * sizeof(double));

// Computes I, B and f of all bodies from P, v and a.
template <class T> DTAU_INLINE void all_body_forces(const Tree& tree, const IdsvaWorkspace<T>& w) {
    constexpr int width = Pack<T>::width;
    const RootFrame<T>& g = w.root_frame;
    for (int first = 0; first < tree.nnodes; first += width) {
        const int count = tree.nnodes - first;
        int bodies[width];
        T masses[width];
        for (int l = 0; l < width; ++l) {
            bodies[l] = first + (l < count ? l : count - 1);
            masses[l] = tree.bodies[bodies[l]].mass;
        }
        const auto at = [&](auto* all) { return [=, &bodies](int l) { return all + bodies[l]; }; };
        const auto central = [&](int l) {
            return reinterpret_cast<const CentralInertia<T>*>(tree.bodies[bodies[l]].com);
        };
        const Placement<Wide<T>> P = gathered<Placement, T>(at(g.P));
        const CentralInertia<Wide<T>> constants = gathered<CentralInertia, T>(central);
        const Inertia<Wide<T>> I =
            transformed(P.R, P.r, Pack<T>::load(masses).value, constants.com, constants.inertia);
        scatter<Inertia, T>(I, at(g.I), count);
        const Motion<Wide<T>> v = gathered<Motion, T>(at(g.v)), a = gathered<Motion, T>(at(w.a));
        const Force<Wide<T>> momentum = I * v;
        scatter<Coriolis, T>(coriolis(I, v, momentum), at(w.B), count);
        scatter<Force, T>(cross_star(v, momentum) + I * a, at(w.f), count);
    }
    for (int i = 0; i < tree.nnodes; ++i) {  // roots are not placed: their frame is the root frame
        if (tree.bodies[i].parent >= 0) continue;
        g.I[i] = own_inertia<T>(tree, i);
        const Force<T> momentum = g.I[i] * g.v[i];
        w.B[i] = coriolis(g.I[i], g.v[i], momentum);
        w.f[i] = cross_star(g.v[i], momentum) + g.I[i] * w.a[i];
    }
}

// All quantities of bodies and columns, without external wrenches and given inertias.
template <class T>
DTAU_INLINE void idsva_forward_alone(const Tree& tree, const Configuration<T>& x, const T* v,
                                     const T* a, const IdsvaWorkspace<T>& w) {
    for (int i = 0; i < tree.nnodes; ++i) {
        place_body(tree, i, x, w.root_frame);
        twist_body(tree, i, v, w.root_frame);
        column_velocities(tree, i, v, w);
        column_accelerations(tree, i, a, w);
    }
    all_body_forces(tree, w);
}

// ---------------------------------------------------------------- backward pass

// Step 2. Skips free roots, whose columns have no factors, but not inside of a pack.
template <class T>
DTAU_INLINE void all_column_factors(const Tree& tree, const IdsvaWorkspace<T>& w) {
    constexpr int width = Pack<T>::width;
    const RootFrame<T>& g = w.root_frame;
    const auto end = [&](int i) { return tree.bodies[i].v + tree.bodies[i].nv; };
    for (int k = 0, i = 0; k < tree.nv;) {  // i: the body of column k
        if (is_free_root(tree.bodies[i])) {
            k = end(i++);
            continue;
        }
        int columns[width], bodies[width];
        for (int l = 0, body = i; l < width; ++l) {
            columns[l] = k + l < tree.nv ? k + l : tree.nv - 1;
            while (end(body) <= columns[l]) ++body;
            bodies[l] = body;
        }
        const auto body = [&](auto* all) {
            return [=, &bodies](int l) { return all + bodies[l]; };
        };
        const auto column = [&](auto* all) {
            return [=, &columns](int l) { return all + columns[l]; };
        };
        const ColumnFactors<Wide<T>> factors = column_factors(
            gathered<Inertia, T>(body(g.I)), gathered<Coriolis, T>(body(w.B)),
            gathered<Force, T>(body(w.f)), gathered<Motion, T>(column(g.S)),
            gathered<Motion, T>(column(w.Psidot)), gathered<Motion, T>(column(w.Psiddot)),
            gathered<Motion, T>(column(w.Upsilondot)));
        w.factors.store(k, factors);
        k += width;
        while (i < tree.nnodes && end(i) <= k) ++i;
    }
}

// Calls visit(k, number of columns, their factors) for packs of the columns begin ... end - 1.
template <class T, class Visit>
DTAU_INLINE void for_packs(int begin, int end, const FactorTable<T>& factors, const Visit& visit) {
    constexpr int width = Pack<T>::width;
    for (int k = begin; k < end; k += width)
        visit(k, end - k < width ? end - k : width, factors.load(k));
}

// Step 3: entries of column j and of columns in its subtree, k ... k + count - 1. Columns come last, so that
// the diagonal is theirs.
template <class T>
DTAU_INLINE void related_entries(int j, int k, int count, const ColumnFactors<Wide<T>>& x,
                                 const IdsvaWorkspace<T>& w, const Partials<T>& out) {
    const int n = out.n, row = j * n + k, column = k * n + j;
    const Motion<Wide<T>> s = spread(w.root_frame.S[j]);
    const Wide<T> a = dot(x.t2, s);
    // [IDSVA] eqs. 30, 32; [Derivations] eq. 4.6
    const Wide<T> dq = dot(x.t1, spread(w.Psidot[j].ang), dot(x.t2, spread(w.Psiddot[j])));
    const Wide<T> dv = dot(x.t1, s.ang, dot(x.t2, spread(w.Upsilondot[j])));
    Pack<T>{dot(s, x.by_q)}.store(out.dq + row, count);
    Pack<T>{dot(s, x.by_v)}.store(out.dv + row, count);
    if (out.da) Pack<T>{a}.store(out.da + row, count);
    Pack<T>{dq}.store_column(out.dq + column, n, count);
    Pack<T>{dv}.store_column(out.dv + column, n, count);
    if (out.da) Pack<T>{a}.store_column(out.da + column, n, count);
}

// Entries within a joint of several columns: row k in the columns j.
template <class T>
DTAU_INLINE void joint_entries(const Body& body, const IdsvaWorkspace<T>& w,
                               const Partials<T>& out) {
    for (int k = body.v; k < body.v + body.nv; ++k) {
        const Vec3<T> t1 = w.factors.t1(k);
        const Force<T> t2 = w.factors.t2(k);
        for (int j = body.v; j < body.v + body.nv; ++j) {
            const int at = k * out.n + j;
            const Motion<T>& s = w.root_frame.S[j];
            out.dq[at] = dot(t1, w.Psidot[j].ang, dot(t2, w.Psiddot[j]));
            out.dv[at] = dot(t1, s.ang, dot(t2, w.Upsilondot[j]));
            if (out.da) out.da[at] = dot(t2, s);
        }
    }
}

// Rows and columns of a free root, from column `base` on, at the columns k ... k + count - 1.
template <class T>
DTAU_INLINE void free_root_packs(const FreeRoot<Wide<T>>& root, int base, int k, int count,
                                 const ColumnFactors<Wide<T>>& x, const Partials<T>& out) {
    const int n = out.n, row = base * n + k, column = k * n + base;
    const auto rows = [&](const Force<Wide<T>>& f, T* to) {
        const Components<Wide<T>> c = components(f);
        for (int r = 0; r < 6; ++r) Pack<T>{c.x[r]}.store(to + r * n, count);
    };
    const auto columns = [&](const Force<Wide<T>>& f, T* to, int first) {
        const Components<Wide<T>> c = components(f);
        for (int r = first; r < 6; ++r) Pack<T>{c.x[r]}.store_column(to + r, n, count);
    };
    rows(x.by_q, out.dq + row), rows(x.by_v, out.dv + row);
    columns({dot_Psiddot(root, x.t2), zero_vector<Wide<T>>()}, out.dq + column, 3);
    columns(dot_Sdot(root, x.t2, x.t1), out.dv + column, 0);
    if (out.da) rows(x.t2, out.da + row), columns(x.t2, out.da + column, 0);
}

// Backward pass: composites and the matrices but for diagonal terms.
template <class T>
DTAU_INLINE void idsva_backward_alone(const Tree& tree, const Partials<T>& out,
                                      const IdsvaWorkspace<T>& w) {
    const RootFrame<T>& g = w.root_frame;
    const int n = out.n;
    idsva_composites(tree, w);
    all_column_factors(tree, w);
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        const int first = body.v, end = body.v + body.nv, subtree = tree.dofs.end[first];
        if (is_free_root(body)) {
            const FreeRoot<T> root = free_root_above(body, g);
            const int block = first * n + first;
            free_root_partials(g.I[i], w.B[i], root, out.dq + block, out.dv + block, n);
            if (out.da) free_root_inertia(g.I[i], out.da + block, n);
            const FreeRoot<Wide<T>> wide = {root.columns, spread(root.v), spread(root.gravity)};
            for_packs(end, subtree, w.factors, [&](int k, int count, const auto& x) {
                free_root_packs(wide, first, k, count, x, out);
            });
            continue;
        }
        for (int j = first; j < end; ++j)
            for_packs(j, subtree, w.factors, [&](int k, int count, const auto& x) {
                related_entries(j, k, count, x, w, out);
            });
        if (body.nv > 1) joint_entries(body, w, out);
    }
}

}  // namespace dtau::DTAU_VARIANT
