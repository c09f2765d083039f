// The forces of contacts: solves with  G = J M^-1 J^T = Y^T D^-1 Y,  Y = L^-T J^T,  M = L^T D L
// (ltdl.hpp), the inverse of the operational-space inertia, for one column or a block of them. [Notes]
// §20. Y has the zeros of the paths; G is factorised as U^T D U, in place, its upper triangle by rows.
//
// Rows of contacts that are not active have zeros in Y and a one in G. A row that depends on those
// before it gives NaN. With a damping mu, rows may depend on each other: by proximal iterations
//
//   b' = b - (mu S)^n b,   f <- f + S (b' - G f),   S = (G + mu)^-1                    (20.3)
//
// f becomes the shortest of the forces for which G f = b, or is nearest to b.
#pragma once

#include "dtau/algorithms/contacts/rows.hpp"
#include "dtau/algorithms/solve/ltdl_columns.hpp"

namespace dtau::DTAU_VARIANT {

// A pivot below so much of its diagonal entry is a rounding error.
inline constexpr double least_pivot = 1e-11;

template <class T>
struct ContactSolver {
    static constexpr int iterations = 10;
    static constexpr int packs = LtdlWorkspace<T>::packs;  // of columns in a block

    const Contacts* contacts;
    double damping;
    int stride, side;  // of the rows of Y and Z, in which contacts begin with a pack; of G
    T *Y, *Z;          // L^-T J^T and D^-1 of that (nv, rows)
    T *G, *whole;      // factors; without damping, not factorised, only with one
    T *diagonal, *more, *rest;
    Pack<T>*block, *more_block, *rest_block;

    ContactSolver(Arena& arena, const Tree& tree, const Contacts& all, double mu)
        : contacts(&all), damping(mu), stride(0), side(whole_packs<T>(all.nrows)) {
        for (int c = 0; c < all.count; ++c) stride += whole_packs<T>(all.at[c].count);
        Y = arena.take_zeros<T>(tree.independent.n * stride);
        Z = arena.take<T>(tree.independent.n * stride);
        G = arena.take_zeros<T>(all.nrows * side);
        whole = arena.take<T>(mu > 0.0 ? all.nrows * side : 0);
        diagonal = arena.take<T>(all.nrows);
        more = arena.take<T>(all.nrows);
        rest = arena.take<T>(all.nrows);
        block = arena.take<Pack<T>>(all.nrows * packs);
        more_block = arena.take<Pack<T>>(all.nrows * packs);
        rest_block = arena.take<Pack<T>>(all.nrows * packs);
    }
};

// Calls visit(c, contact, column) for contacts and the places of their first rows in Y.
template <class T, class Visit>
DTAU_INLINE void for_contacts(const Contacts& contacts, const Visit& visit) {
    for (int c = 0, column = 0; c < contacts.count; ++c) {
        visit(c, contacts.at[c], column);
        column += whole_packs<T>(contacts.at[c].count);
    }
}

// Calls visit<count>(k) for k ... k + count - 1, `most` at once as long as there are as many.
template <int most, class Visit>
DTAU_INLINE void in_groups(int all, const Visit& visit) {
    int k = 0;
    for (; k + most <= all; k += most) visit.template operator()<most>(k);
    if constexpr (most > 1)
        for (; k < all; ++k) visit.template operator()<1>(k);
}

// ---------------------------------------------------------------- Y

// J^T of one contact, by the independent velocities on its paths.
template <class T>
void contact_jacobian(const Tree& tree, int c, const Contact& contact, const ContactFrames<T>& f,
                      const Motion<T>* S, const T* active, T* Y, int stride) {
    for (int d = 0; d < contact.ndofs; ++d)
        for (int r = 0; r < contact.count; ++r) Y[contact.dofs[d] * stride + r] = T(0.0);
    for_row_columns(tree, contact, f, S, [&](int k, const Motion<T>& m) {
        T rows[6];
        store_rows(contact, f.E, m, rows);
        T* to = Y + independent_dof(tree, k) * stride;
        for (int r = 0; r < contact.count; ++r)
            add_share(tree, k, if_active(active, c, rows[r]), to[r]);
    });
}

// L^-T of columns that are zero but at these degrees of freedom, all on each other's paths.
template <class T>
void inwards_on_paths(const Paths& dofs, const int* moving, int count, T* Y, int stride,
                      int columns, const LtdlWorkspace<T>& ltdl) {
    constexpr int width = Pack<T>::width;
    for (int d = 0; d < count; ++d) {
        const int k = moving[d];
        const T *L = ltdl.L + k * ltdl.stride, *from = Y + k * stride;
        for (int j = dofs.parent[k]; j >= 0; j = dofs.parent[j]) {
            const T minus = -L[dofs.depth[j]];
            T* to = Y + j * stride;
            for (int p = 0; p < columns; p += width)
                fma(minus, Pack<T>::load(from + p), Pack<T>::load(to + p)).store(to + p);
        }
    }
}

// ---------------------------------------------------------------- G

// The block of G of contacts c and d <= c, of which common[0] ... are the shared velocities.
template <class T>
void contact_block(const Contact& c, int at_c, const Contact& d, int at_d, const int* common,
                   int count, const ContactSolver<T>& w) {
    constexpr int width = Pack<T>::width;
    for (int p = 0; p < c.count; p += width)
        in_groups<3>(d.count, [&]<int rows>(int r) {
            Pack<T> sum[rows];
            unrolled<rows>([&](int k) { sum[k] = {decltype(sum[k].value)(0.0)}; });
            for (int e = 0; e < count; ++e) {
                const int row = common[e] * w.stride;
                const Pack<T> z = Pack<T>::load(w.Z + row + at_c + p);
                unrolled<rows>([&](int k) { sum[k] = fma(w.Y[row + at_d + r + k], z, sum[k]); });
            }
            unrolled<rows>([&](int k) {
                sum[k].store(w.G + (d.first + r + k) * w.side + c.first + p, c.count - p);
            });
        });
}

// U^T D U of G (n, side), whose diagonal was once `diagonal`; its own gets 1 / D.
template <class T>
void factorize_rows(int n, int side, const T* diagonal, T* G) {
    constexpr int width = Pack<T>::width;
    for (int k = 0; k < n; ++k) {
        T* row = G + k * side;
        const T pivot = row[k];
        const auto regular = less(fma(T(least_pivot), diagonal[k], -pivot), 0.0);
        const T inverse = select(regular, T(1.0) / pivot, T(__builtin_nan("")));
        for (int i = k + 1; i < n; ++i) {
            const T l = row[i] * inverse, minus = -l;
            T* to = G + i * side;
            for (int p = i / width * width; p < n; p += width)
                fma(minus, Pack<T>::load(row + p), Pack<T>::load(to + p)).store(to + p);
            row[i] = l;
        }
        row[k] = inverse;
    }
}

// Of the J^T in w.Y and the factors of M: all that solves need.
template <class T>
void factorize_contacts(const Tree& tree, const T* active, const LtdlWorkspace<T>& ltdl,
                        const ContactSolver<T>& w) {
    constexpr int width = Pack<T>::width;
    const Contacts& contacts = *w.contacts;
    for_contacts<T>(contacts, [&](int c, const Contact& contact, int at_c) {
        const int padded = whole_packs<T>(contact.count);
        inwards_on_paths(tree.independent, contact.dofs, contact.ndofs, w.Y + at_c, w.stride,
                         padded, ltdl);
        for (int d = 0; d < contact.ndofs; ++d) {
            const int k = contact.dofs[d];
            const T d_inverse = ltdl.L[k * ltdl.stride + tree.independent.depth[k]];
            const int row = k * w.stride + at_c;
            for (int p = 0; p < padded; p += width)
                (d_inverse * Pack<T>::load(w.Y + row + p)).store(w.Z + row + p);
        }
        for_contacts<T>(contacts, [&](int d, const Contact& other, int at_d) {
            if (d > c) return;
            const DofList common = contacts.common_dofs(contact, other);
            contact_block(contact, at_c, other, at_d, common.dofs, common.count, w);
        });
    });
    if (w.damping > 0.0)
        for (int k = 0; k < contacts.nrows * w.side; ++k) w.whole[k] = w.G[k];
    for (int c = 0; c < contacts.count; ++c)
        for (int k = contacts.at[c].first; k < contacts.at[c].first + contacts.at[c].count; ++k) {
            T& entry = w.G[k * w.side + k];
            entry = entry + T(w.damping);
            if (active) entry = select(less(active[c], 0.5), T(1.0), entry);
            w.diagonal[k] = entry;
        }
    factorize_rows(contacts.nrows, w.side, w.diagonal, w.G);
}

// ---------------------------------------------------------------- solves

// b (n, columns of `packs` packs each) becomes G^-1 b, with the factors of G.
template <int packs, class P, class T>
void solve_rows(int n, int side, const T* G, P* b) {
    P x[packs];
    const auto load = [&](int k) __attribute__((always_inline)) {
        unrolled<packs>([&](int p) { x[p] = b[k * packs + p]; });
    };
    const auto subtract = [&](T u, int k) __attribute__((always_inline)) {
        const T minus = -u;
        unrolled<packs>([&](int p) { x[p] = fma(minus, b[k * packs + p], x[p]); });
    };
    const auto keep = [&](int k) __attribute__((always_inline)) {
        unrolled<packs>([&](int p) { b[k * packs + p] = x[p]; });
    };
    for (int k = 1; k < n; ++k) {
        load(k);
        for (int i = 0; i < k; ++i) subtract(G[i * side + k], i);
        keep(k);
    }
    for (int k = n - 1; k >= 0; --k) {
        const T* row = G + k * side;
        load(k);
        unrolled<packs>([&](int p) { x[p] = row[k] * x[p]; });
        for (int i = k + 1; i < n; ++i) subtract(row[i], i);
        keep(k);
    }
}

template <int packs, class P, class T>
void solve_rows(P* b, const ContactSolver<T>& w) {
    solve_rows<packs>(w.contacts->nrows, w.side, w.G, b);
}

// to -= G b
template <int packs, class P, class T>
DTAU_INLINE void subtract_product(const P* b, P* to, const ContactSolver<T>& w) {
    const int n = w.contacts->nrows;
    for (int k = 0; k < n; ++k)
        for (int i = 0; i < n; ++i) {
            const T minus = -(i < k ? w.whole[i * w.side + k] : w.whole[k * w.side + i]);
            unrolled<packs>([&](int p) {
                to[k * packs + p] = fma(minus, b[i * packs + p], to[k * packs + p]);
            });
        }
}

// b becomes (mu S)^n b, what of it no force can give.
template <int packs, class P, class T>
void without_forces(P* b, const ContactSolver<T>& w) {
    for (int i = 0; i < w.iterations; ++i) {
        solve_rows<packs>(b, w);
        for (int k = 0; k < w.contacts->nrows * packs; ++k) b[k] = T(w.damping) * b[k];
    }
}

// b becomes the forces f. more, rest: as much room.
template <int packs, class P, class T>
DTAU_INLINE void solve_contacts(P* b, P* more, P* rest, const ContactSolver<T>& w) {
    if (w.damping == 0.0) return solve_rows<packs>(b, w);
    const int size = w.contacts->nrows * packs;  // [Notes] eq. 20.3
    for (int k = 0; k < size; ++k) rest[k] = b[k];
    without_forces<packs>(rest, w);
    for (int k = 0; k < size; ++k) {
        rest[k] = fma(T(-1.0), rest[k], b[k]);
        b[k] = rest[k];
    }
    solve_rows<packs>(b, w);
    for (int i = 1; i < w.iterations; ++i) {
        for (int k = 0; k < size; ++k) more[k] = rest[k];
        subtract_product<packs>(b, more, w);
        solve_rows<packs>(more, w);
        for (int k = 0; k < size; ++k) b[k] = fma(T(1.0), more[k], b[k]);
    }
}

// ---------------------------------------------------------------- one column

// rows -= Z^T x, and x += Y rows.
template <class T>
DTAU_INLINE void subtract_from_rows(const T* x, T* rows, const ContactSolver<T>& w) {
    for_contacts<T>(*w.contacts, [&](int, const Contact& contact, int column) {
        for (int d = 0; d < contact.ndofs; ++d) {
            const int k = contact.dofs[d];
            const T* z = w.Z + k * w.stride + column;
            const T minus = -x[k];
            for (int r = 0; r < contact.count; ++r)
                rows[contact.first + r] = fma(minus, z[r], rows[contact.first + r]);
        }
    });
}
template <class T>
DTAU_INLINE void add_rows(const T* rows, T* x, const ContactSolver<T>& w) {
    for_contacts<T>(*w.contacts, [&](int, const Contact& contact, int column) {
        for (int d = 0; d < contact.ndofs; ++d) {
            const int k = contact.dofs[d];
            const T* y = w.Y + k * w.stride + column;
            for (int r = 0; r < contact.count; ++r) x[k] = fma(y[r], rows[contact.first + r], x[k]);
        }
    });
}

// With x (n) = L^-T t and rows = b: the forces f and L^-T (t + J^T f) of  M a = t + J^T f,  J a = b.
// All of it is NaN if a row depends on others.
template <class T>
void solve_with_contacts(int n, T* x, T* rows, const ContactSolver<T>& w) {
    subtract_from_rows(x, rows, w);
    solve_contacts<1>(rows, w.more, w.rest, w);
    add_rows(rows, x, w);
    if (w.contacts->nrows == 0) return;
    const T dependent = T(0.0) * rows[0];
    for (int k = 0; k < n; ++k) x[k] = x[k] + dependent;
}

}  // namespace dtau::DTAU_VARIANT
