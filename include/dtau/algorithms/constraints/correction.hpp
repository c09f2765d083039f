// Corrects the columns of a solve for the constraints: ConstraintCorrection, called between the two
// triangular solves with M = L^T D L (ltdl_columns.hpp). With right-hand sides B of the equations of
// motion, and S of the constraints,
//
//   X = L^-T B,   df = G^-1 (S - scale Z^T X),   X <- X + scale Y df      [Derivations] eq. 20.9
//
// where B includes J_b^T m for loops (columns.hpp). A few packs of columns are corrected at a time,
// in registers.
#pragma once

#include "dtau/algorithms/constraints/columns.hpp"

namespace dtau::DTAU_VARIANT {

// Called between the two triangular solves, for a block of columns: ltdl_block.hpp.
template <class T> struct ConstraintCorrection {
    const Tree& tree;
    const SchurComplement<T>& schur;
    const ConstraintColumns<T>& w;
    T* dforces[3];  // df for each matrix, by q first; null: not wanted
    int offset;     // of the first column
    double scale;   // of the solve
    // How many rows of X (or of the constraints) and packs of columns are in registers at once.
    static constexpr int together = 3,
                         most_packs = Pack<T>::width > 1 ? 6 : SchurComplement<T>::packs;

    ConstraintCorrection of_matrix(int m) const {
        return {
            tree, schur, w, {dforces[0], dforces[1], dforces[2]}, m * w.padded, m < 2 ? -1.0 : 1.0};
    }
    void operator()(int packs, int first, T* X, std::ptrdiff_t stride) const;

  private:
    template <int packs>
    __attribute__((noinline)) void correct_columns(int first, T* X, std::ptrdiff_t stride) const {
        constexpr int width = Pack<T>::width;
        const Constraints& constraints = *schur.constraints;
        const int n = tree.independent.n, begin = offset + first;
        if (begin < w.padded)
            for_loops(constraints, [&](int, const Constraint& constraint, int number) {
                add_turns<packs>(constraint, number, begin, X, stride);
            });
        for_constraints<T>(constraints, [&](int, const Constraint& constraint, int column) {
            in_groups<together>(constraint.count, [&]<int rows>(int r) {
                wanted_rows<rows, packs>(constraint, r, column + r, begin, X, stride);
            });
        });
        solve_forces<packs>(schur.block, schur.more_block, schur.rest_block, schur);
        for_constraints<T>(constraints, [&](int, const Constraint& constraint, int column) {
            in_groups<together>(constraint.ndofs, [&]<int count>(int d) {
                add_forces<count, packs>(constraint, constraint.dofs + d, column, X, stride);
            });
        });
        if (schur.R > 0.0 && dforces[0]) replace_ranges<packs>(begin);
        for (int r = 0; dforces[0] && r < constraints.nrows; ++r)
            unrolled<packs>([&](int p) {
                const int c = begin + p * width, column = c % w.padded;
                schur.block[r * packs + p].store(dforces[c / w.padded] + r * n + column,
                                                 n - column);
            });
    }

    // df += N (dJ/dx z - df); J depends on q only. [Derivations] eq. 20.10
    template <int packs> void replace_ranges(int begin) const {
        constexpr int width = Pack<T>::width;
        Pack<T>* const x = schur.more_block;
        const int nrows = schur.constraints->nrows;
        for (int r = 0; r < nrows; ++r)
            for (int p = 0; p < packs; ++p) {
                const int c = begin + p * width;
                x[r * packs + p] =
                    c < w.padded ? Pack<T>::load(w.ranges + r * w.padded + c) : Pack<T>::unit(-1);
            }
        replace_null_space<packs>(schur.block, x, schur);
    }
    // -drows/dx + scale Z^T X, for the rows from `first` on of a constraint.
    template <int rows, int packs>
    void wanted_rows(const Constraint& constraint, int first, int column, int begin, const T* X,
                     std::ptrdiff_t stride) const {
        constexpr int width = Pack<T>::width;
        Pack<T> x[rows][packs];
        const T* from = w.rows + (constraint.first + first) * w.width + begin;
        const int z_stride = schur.stride();
        unrolled<rows>([&](int r) __attribute__((always_inline)) {
            unrolled<packs>([&](int p) __attribute__((always_inline)) {
                x[r][p] = Pack<T>::load(from + r * w.width + p * width);
            });
        });
        for (int d = 0; d < constraint.ndofs; ++d) {
            const int k = constraint.dofs[d];
            const T* z = schur.Z + k * z_stride + column;
            T by[rows];
            unrolled<rows>([&](int r) { by[r] = T(-scale) * z[r]; });
            unrolled<packs>([&](int p) __attribute__((always_inline)) {
                const Pack<T> of = {in_register(Pack<T>::load(X + k * stride + p * width).value)};
                unrolled<rows>([&](int r) { x[r][p] = fma(by[r], of, x[r][p]); });
            });
        }
        unrolled<rows>([&](int r) __attribute__((always_inline)) {
            unrolled<packs>([&](int p) __attribute__((always_inline)) {
                schur.block[(constraint.first + first + r) * packs + p] = x[r][p];
            });
        });
    }
    // X += scale Y df, for `count` rows of X.
    template <int count, int packs>
    void add_forces(const Constraint& constraint, const int* dofs, int column, T* X,
                    std::ptrdiff_t stride) const {
        constexpr int width = Pack<T>::width;
        Pack<T> x[count][packs];
        unrolled<count>([&](int d) __attribute__((always_inline)) {
            unrolled<packs>([&](int p) __attribute__((always_inline)) {
                x[d][p] = Pack<T>::load(X + dofs[d] * stride + p * width);
            });
        });
        const int y_stride = schur.stride();
        for (int r = 0; r < constraint.count; ++r) {
            const Pack<T>* df = schur.block + (constraint.first + r) * packs;
            T by[count];
            unrolled<count>(
                [&](int d) { by[d] = T(scale) * schur.Y[dofs[d] * y_stride + column + r]; });
            unrolled<packs>([&](int p) __attribute__((always_inline)) {
                const Pack<T> force = {in_register(df[p].value)};
                unrolled<count>([&](int d) { x[d][p] = fma(by[d], force, x[d][p]); });
            });
        }
        unrolled<count>([&](int d) __attribute__((always_inline)) {
            unrolled<packs>([&](int p) __attribute__((always_inline)) {
                x[d][p].store(X + dofs[d] * stride + p * width);
            });
        });
    }
    // X += L^-T J_b^T m, for the columns of a block that belong to q.
    template <int packs>
    void add_turns(const Constraint& constraint, int number, int begin, T* X,
                   std::ptrdiff_t stride) const {
        constexpr int width = Pack<T>::width;
        const T* m = w.turns + number * 6 * w.padded + begin;
        const T* Y = w.loops + number * tree.independent.n * w.loop_columns;
        for (int d = 0; d < constraint.ndofs; ++d) {
            const int k = constraint.dofs[d];
            for (int p = 0; p < packs && begin + p * width < w.padded; ++p) {
                T* const to = X + k * stride + p * width;
                Pack<T> sum = Pack<T>::load(to);
                for (int r = 0; r < 6; ++r)
                    sum = fma(Y[k * w.loop_columns + r],
                              Pack<T>::load(m + r * w.padded + p * width), sum);
                sum.store(to);
            }
        }
    }
};

// Not inside the class: there it would be inline, and every file that calls it would compile all
// numbers of packs.
template <class T>
void ConstraintCorrection<T>::operator()(int packs, int first, T* X, std::ptrdiff_t stride) const {
    in_parts<most_packs>(packs, [&]<int some>(int p) {
        const int begin = p * Pack<T>::width;
        correct_columns<some>(first + begin, X + begin, stride);
    });
}

// The same solve for a matrix whose B is zero.
template <class T>
inline void solve_constraint_columns(const Paths& dofs, T* solution, const LtdlWorkspace<T>& ltdl,
                                     const ConstraintCorrection<T>& change) {
    const int n = dofs.n;
    const RightSides<T> no_rows = {nullptr, 0, n};
    const Solutions<T> to = {{{solution, n}}, n, whole_packs<T>(n)};
    for_blocks<T>(n, ltdl.packs, [&](int begin, int, int packs) {
        ltdl_solve_block<T>({dofs, ltdl, no_rows, to, begin, packs, 0, n}, T(-1.0), change);
    });
}

}  // namespace dtau::DTAU_VARIANT
