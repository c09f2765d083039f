// Forms and factorizes the Schur complement of M in the equations of motion with constraints:
// factorize_schur_complement(). [Derivations] §20. O(nrows^2 d) if constraints share bodies, and
// O(nrows^3) for the factors.
//
//   [ M  -J^T ] [ a ]   [ tau - bias ]        M = L^T D L                                (ltdl.hpp)
//   [ J    0  ] [ f ] = [ aref       ]        Y = L^-T J^T,   Z = D^-1 Y
//                                             G = Lambda^-1 = J M^-1 J^T = Y^T D^-1 Y    (nrows, nrows)
//                                             G + R 1 = U^T D_G U
//
// Lambda is the operational-space inertia of the constraints, and MuJoCo's name of G + R is efc_AR.
// Y has the zeros of the paths: column r is zero but at the degrees of freedom that move row r, so
// that the block of two constraints is a sum over the velocities that move both
// (schur_complement_block). U overwrites the upper triangle of G, by rows, and 1 / D_G its
// diagonal. Solves with these factors are in forces.hpp.
//
// R is the regularization (MuJoCo's efc_R, the same number for all rows). Without it (R = 0), two kinds
// of rows give NaN: rows that depend on rows before them, and rows that are nothing but rounding
// errors. Least pivots tell these: the rounding errors of a row grow in the pivots of the rows that it
// is eliminated from ([Derivations] eq. 20.18). A constraint that is active in another lane
// only has zeros in Y and ones on the diagonal of G; registry/active_constraints.hpp leaves out the others.
#pragma once

#include "dtau/algorithms/constraints/failures.hpp"
#include "dtau/algorithms/constraints/rows.hpp"
#include "dtau/algorithms/solve/ltdl_columns.hpp"

namespace dtau::DTAU_VARIANT {

// A pivot is a rounding error if it is below least_pivot times its diagonal entry before elimination;
// a row or column of J is one if its square is below least_square times the square of the numbers that
// it is computed from.
inline constexpr double least_pivot = 1e-11, least_square = 1e-20;

template <class T> struct SchurComplement {
    using Scalar = T;
    static constexpr int packs = LtdlWorkspace<T>::packs;  // of columns in a block

    const Constraints* constraints;
    double R;                        // regularization
    int stride_of_all, side_of_all;  // stride() and side() if no constraint is left out
    T *Y, *Z;                        // L^-T J^T, and D^-1 Y (nv, rows); first Y is J^T
    T *G, *whole;                    // G, overwritten by its factors; a copy of G if R > 0
    T* least;                        // (nrows) least pivots of G that are accepted
    T *more, *rest;                  // (nrows) room
    Pack<T>*block, *more_block, *rest_block;
    Failures<T>* failures;

    SchurComplement(Arena& arena, const Tree& tree, const Options& options)
        : constraints(options.contacts),
          R(options.regularization),
          stride_of_all(0),
          side_of_all(whole_packs<T>(constraints->nrows)) {
        const int nrows = constraints->nrows;
        for (int c = 0; c < constraints->count; ++c)
            stride_of_all += whole_packs<T>(constraints->at[c].count);
        // Packs of a lone state also read what is beside its rows.
        const auto take = [&](int count) {
            return Pack<T>::width > 1 ? arena.take_zeros<T>(count) : arena.take<T>(count);
        };
        Y = take(tree.independent.n * stride_of_all);
        Z = arena.take<T>(tree.independent.n * stride_of_all);
        G = take(nrows * side_of_all);
        whole = arena.take<T>(R > 0.0 ? nrows * side_of_all : 0);
        arena.take_each(nrows, least, more, rest);
        arena.take_each(nrows * packs, block, more_block, rest_block);
        failures = arena.make<Failures<T>>();
    }
    int size() const { return constraints->nrows; }
    // Distances of rows: of Y and Z, where each constraint begins with a pack; of G. In lanes, the rows of
    // those that hold lie together.
    int stride() const { return Pack<T>::width > 1 ? stride_of_all : constraints->nrows; }
    int side() const { return Pack<T>::width > 1 ? side_of_all : constraints->nrows; }
};

// Calls visit(c, constraint, column) for all constraints; column: place of its first row in Y.
template <class T, class Visit>
inline void for_constraints(const Constraints& constraints, const Visit& visit) {
    for (int c = 0, column = 0; c < constraints.count; ++c) {
        visit(c, constraints.at[c], column);
        column += whole_packs<T>(constraints.at[c].count);
    }
}

// Calls visit<count>(k) for k ... k + count - 1, `most` at once as long as there are as many.
template <int most, class Visit> inline void in_groups(int all, const Visit& visit) {
    int k = 0;
    for (; k + most <= all; k += most) visit.template operator()<most>(k);
    if constexpr (most > 1)
        for (; k < all; ++k) visit.template operator()<1>(k);
}

// ---------------------------------------------------------------- J^T, and Y = L^-T J^T

// J^T of one constraint, for the independent velocities that move it.
template <class T>
void constraint_jacobian(const Tree& tree, int c, const Constraint& constraint,
                         const ConstraintFrames<T>& f, const Motion<T>* S, const T* active, T* Y,
                         int stride) {
    for (int d = 0; d < constraint.ndofs; ++d)
        for (int r = 0; r < constraint.count; ++r) Y[constraint.dofs[d] * stride + r] = T(0.0);
    for_constraint_columns(tree, constraint, f, S, [&](int k, const Motion<T>& m) {
        T rows[6];
        store_rows(constraint, f.E, m, rows);
        T* to = Y + independent_dof(tree, k) * stride;
        for (int r = 0; r < constraint.count; ++r)
            add_share(tree, k, if_active(active, c, rows[r]), to[r]);
    });
}

// The squared bound of the terms s_lin and r x s_ang, whose differences are the linear rows.
template <class T>
inline T linear_scale(const Constraint& constraint, const ConstraintFrames<T>& f) {
    T reach = dot(f.a.r, f.a.r);
    if (constraint.b.body >= 0) reach = reach + dot(f.b.r, f.b.r);
    return fma(T(constraint.turning), reach, T(constraint.sliding));
}

// The least pivots of a constraint's rows relative to their diagonal entries. For a row that is
// nothing but rounding errors it is 1, and no pivot is above that. [Derivations] eq. 20.17
template <class T>
inline void least_pivots(const Constraint& constraint, const ConstraintFrames<T>& f, const T* Y,
                         int stride, T* least) {
    T squares[6] = {T(0.0), T(0.0), T(0.0)};  // a single row leaves two linear ones
    in_groups<3>(constraint.count, [&]<int rows>(int r) __attribute__((always_inline)) {
        T sum[rows];
        unrolled<rows>([&](int k) { sum[k] = T(0.0); });
        for (int d = 0; d < constraint.ndofs; ++d) {
            const T* y = Y + constraint.dofs[d] * stride + r;
            unrolled<rows>([&](int k) { sum[k] = fma(y[k], y[k], sum[k]); });
        }
        unrolled<rows>([&](int k) { squares[r + k] = sum[k]; });
    });
    const T linear = squares[0] + squares[1] + squares[2] + linear_scale(constraint, f);
    const T noise[2] = {T(least_square) * linear, T(least_square * constraint.turning)};
    for (int r = 0; r < constraint.count; ++r) {
        const auto is_noise = less(squares[r] - noise[r >= 3], 0.0);
        least[r] = select(is_noise, T(1.0), T(least_pivot));
    }
}

// Multiplies by L^-T columns that are nonzero only at these degrees of freedom, which include all on
// their paths.
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

// ---------------------------------------------------------------- G = Y^T D^-1 Y

// The block of G for constraints c and d <= c; `common` lists the velocities that move both.
template <class T>
void schur_complement_block(const Constraint& c, int at_c, const Constraint& d, int at_d,
                            const int* common, int count, const SchurComplement<T>& w) {
    constexpr int width = Pack<T>::width;
    const int stride = w.stride(), side = w.side();
    for (int p = 0; p < c.count; p += width)
        in_groups<3>(d.count, [&]<int rows>(int r) {
            Pack<T> sum[rows];
            unrolled<rows>([&](int k) { sum[k] = {decltype(sum[k].value)(0.0)}; });
            for (int e = 0; e < count; ++e) {
                const int row = common[e] * stride;
                const Pack<T> z = Pack<T>::load(w.Z + row + at_c + p);
                unrolled<rows>([&](int k) { sum[k] = fma(w.Y[row + at_d + r + k], z, sum[k]); });
            }
            unrolled<rows>([&](int k) {
                sum[k].store(w.G + (d.first + r + k) * side + c.first + p, c.count - p);
            });
        });
}

// Factorizes G (n, side) = U^T D U in place, with 1 / D on the diagonal. A pivot is NaN unless it is
// above its least pivot plus `carried` times the errors carried over from the rows before it. size,
// errors: (n) room. [Derivations] eq. 20.18
template <class T>
void factorize_utdu(int n, int side, const T* least, double carried, T* size, T* errors, T* G) {
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

// Computes Y, Z and the factors of G + R. In: J^T in w.Y, the least pivots of its rows, the factors
// of M.
template <class T>
void factorize_schur_complement(const Tree& tree, const T* active, const LtdlWorkspace<T>& ltdl,
                                const SchurComplement<T>& w) {
    constexpr int width = Pack<T>::width;
    const Constraints& constraints = *w.constraints;
    const int stride = w.stride(), side = w.side();
    for_constraints<T>(constraints, [&](int c, const Constraint& constraint, int at_c) {
        const int padded = whole_packs<T>(constraint.count);
        inwards_on_paths(tree.independent, constraint.dofs, constraint.ndofs, w.Y + at_c, stride,
                         padded, ltdl);
        for (int d = 0; d < constraint.ndofs; ++d) {
            const int k = constraint.dofs[d];
            const T d_inverse = ltdl.L[k * ltdl.stride + tree.independent.depth[k]];
            const int row = k * stride + at_c;
            for (int p = 0; p < padded; p += width)
                (d_inverse * Pack<T>::load(w.Y + row + p)).store(w.Z + row + p);
        }
        for_constraints<T>(constraints, [&](int d, const Constraint& other, int at_d) {
            if (d > c) return;
            const DofList common = constraints.common_dofs(constraint, other);
            schur_complement_block(constraint, at_c, other, at_d, common.dofs, common.count, w);
        });
    });
    if (w.R > 0.0)
        for (int k = 0; k < constraints.nrows * side; ++k) w.whole[k] = w.G[k];
    for (int c = 0; c < constraints.count; ++c)
        for (int k = constraints.at[c].first; k < constraints.at[c].first + constraints.at[c].count;
             ++k) {
            T& entry = w.G[k * side + k];
            entry = entry + T(w.R);
            w.least[k] = (w.R > 0.0 ? T(least_pivot) : w.least[k]) * entry;
            if (active) {
                const auto off = less(active[c], 0.5);
                entry = select(off, T(1.0), entry);
                w.least[k] = select(off, T(least_pivot), w.least[k]);
            }
        }
    const double carried = w.R > 0.0 ? 0.0 : least_pivot;
    factorize_utdu(constraints.nrows, side, w.least, carried, w.more, w.rest, w.G);
    if_rejected(constraints.nrows, side, w.more, w.rest, w.G, [&](int l, int row) {
        // For rows that are nothing but rounding errors, or zeros, the least pivot is the whole diagonal
        // entry.
        const double size = number_of_state(w.more[row], l);
        const bool noise = number_of_state(w.least[row], l) >= 0.5 * size * size;
        const auto cause = noise ? Failure::Cause::rounding_errors : Failure::Cause::dependent_row;
        w.failures->note(l, {cause, 1, {constraints.row_of_all(row)}, w.failures->factorizations});
    });
    ++w.failures->factorizations;
}

}  // namespace dtau::DTAU_VARIANT
