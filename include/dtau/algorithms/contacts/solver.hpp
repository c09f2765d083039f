// Factorizes  G = J M^-1 J^T = Y^T D^-1 Y,  Y = L^-T J^T,  M = L^T D L (ltdl.hpp), the inverse of the
// operational-space inertia. [Notes] §20. Y has the zeros of the paths; G becomes U^T D U, in place, its
// upper triangle by rows. Solves with these factors: forces.hpp.
//
// Rows of contacts that are not active have zeros in Y and a one in G. A row that depends on those
// before it gives NaN, and so does a row that is a rounding error.
//
// An error of a row is in the pivots of all rows that are eliminated with it. [Notes] eq. 20.18
#pragma once

#include "dtau/algorithms/contacts/failures.hpp"
#include "dtau/algorithms/contacts/rows.hpp"
#include "dtau/algorithms/solve/ltdl_columns.hpp"

namespace dtau::DTAU_VARIANT {

// A pivot below so much of what it is the rest of is a rounding error, and so is a row or column of J
// whose square is below so much of that of what it is computed from.
inline constexpr double least_pivot = 1e-11, least_square = 1e-20;

template <class T>
struct ContactSolver {
    static constexpr int iterations = 10;
    static constexpr int packs = LtdlWorkspace<T>::packs;  // of columns in a block

    const Contacts* contacts;
    double damping;
    int stride, side;  // of the rows of Y and Z, in which contacts begin with a pack; of G
    T *Y, *Z;          // L^-T J^T and D^-1 of that (nv, rows)
    T *G, *whole;      // factors; without damping, not factorised, only with one
    T* least;          // (nrows) the least pivots of G
    T *more, *rest;
    Pack<T>*block, *more_block, *rest_block;
    Failures<T>* failures;

    ContactSolver(Arena& arena, const Tree& tree, const Options& options)
        : contacts(options.contacts),
          damping(options.contact_damping),
          stride(0),
          side(whole_packs<T>(options.contacts->nrows)) {
        for (int c = 0; c < options.contacts->count; ++c)
            stride += whole_packs<T>(options.contacts->at[c].count);
        Y = arena.take_zeros<T>(tree.independent.n * stride);
        Z = arena.take<T>(tree.independent.n * stride);
        G = arena.take_zeros<T>(options.contacts->nrows * side);
        whole = arena.take<T>(options.contact_damping > 0.0 ? options.contacts->nrows * side : 0);
        least = arena.take<T>(options.contacts->nrows);
        more = arena.take<T>(options.contacts->nrows);
        rest = arena.take<T>(options.contacts->nrows);
        block = arena.take<Pack<T>>(options.contacts->nrows * packs);
        more_block = arena.take<Pack<T>>(options.contacts->nrows * packs);
        rest_block = arena.take<Pack<T>>(options.contacts->nrows * packs);
        failures = arena.make<Failures<T>>();
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

// A bound for what linear rows are differences of, squared: the terms s_lin and r x s_ang of columns.
template <class T>
DTAU_INLINE T linear_scale(const Contact& contact, const ContactFrames<T>& f) {
    T reach = dot(f.a.r, f.a.r);
    if (contact.b.body >= 0) reach = reach + dot(f.b.r, f.b.r);
    return fma(T(contact.turning), reach, T(contact.sliding));
}

// The least pivots of a contact's rows, for diagonal entries of 1: those of rows that are rounding errors
// of what they are differences of are 1, which none is above. [Notes] eq. 20.17
template <class T>
DTAU_INLINE void least_pivots(const Contact& contact, const ContactFrames<T>& f, const T* Y,
                              int stride, T* least) {
    T squares[6];
    in_groups<3>(contact.count, [&]<int rows>(int r) __attribute__((always_inline)) {
        T sum[rows];
        unrolled<rows>([&](int k) { sum[k] = T(0.0); });
        for (int d = 0; d < contact.ndofs; ++d) {
            const T* y = Y + contact.dofs[d] * stride + r;
            unrolled<rows>([&](int k) { sum[k] = fma(y[k], y[k], sum[k]); });
        }
        unrolled<rows>([&](int k) { squares[r + k] = sum[k]; });
    });
    const T linear = squares[0] + squares[1] + squares[2] + linear_scale(contact, f);
    const T noise[2] = {T(least_square) * linear, T(least_square * contact.turning)};
    for (int r = 0; r < contact.count; ++r) {
        const auto is_noise = less(squares[r] - noise[r >= 3], 0.0);
        least[r] = select(is_noise, T(1.0), T(least_pivot));
    }
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

// U^T D U of G (n, side), whose diagonal gets 1 / D; NaN for pivots that are not above the least ones, for
// which `carried` of the errors of rows before them counts. size, errors: (n) room. [Notes] eq. 20.18
template <class T>
void factorize_rows(int n, int side, const T* least, double carried, T* size, T* errors, T* G) {
    constexpr int width = Pack<T>::width;
    for (int k = 0; k < n; ++k) {
        size[k] = square_root(G[k * side + k]);
        errors[k] = T(0.0);
    }
    for (int k = 0; k < n; ++k) {
        T* row = G + k * side;
        const T pivot = row[k], before = errors[k];
        const T own = select(less(before, 0.0), -size[k], size[k]), error = before + own;
        const T bound = fma(T(carried) * before, error + own, least[k]);
        const auto regular = less(bound - pivot, 0.0);
        const T inverse = select(regular, T(1.0) / pivot, T(__builtin_nan("")));
        for (int i = k + 1; i < n; ++i) {
            const T l = row[i] * inverse, minus = -l;
            T* to = G + i * side;
            for (int p = i / width * width; p < n; p += width)
                fma(minus, Pack<T>::load(row + p), Pack<T>::load(to + p)).store(to + p);
            row[i] = l;
            errors[i] = fma(minus, error, errors[i]);
        }
        row[k] = inverse;
    }
}

// All that solves need, from J^T in w.Y, the least pivots of its rows, and the factors of M.
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
            w.least[k] = (w.damping > 0.0 ? T(least_pivot) : w.least[k]) * entry;
            if (active) {
                const auto off = less(active[c], 0.5);
                entry = select(off, T(1.0), entry);
                w.least[k] = select(off, T(least_pivot), w.least[k]);
            }
        }
    const double carried = w.damping > 0.0 ? 0.0 : least_pivot;
    factorize_rows(contacts.nrows, w.side, w.least, carried, w.more, w.rest, w.G);
    if_rejected(contacts.nrows, w.side, w.more, w.rest, w.G, [&](int l, int row) {
        // least_pivots gives rows that are rounding errors the whole diagonal entry.
        const double size = number_of_state(w.more[row], l);
        const bool noise = number_of_state(w.least[row], l) > 0.5 * size * size;
        const auto cause = noise ? Failure::Cause::rounding_errors : Failure::Cause::dependent_row;
        w.failures->note(l, {cause, 1, {row}, w.failures->factorizations});
    });
    ++w.failures->factorizations;
}

}  // namespace dtau::DTAU_VARIANT
