// Solves M X = B for columns of [IDSVA] eq. 5 by the articulated-body algorithm: AZA, and M^-1.
//
// AZA ([IDSVA] section IV-E) takes each column through the last two passes of the articulated-body
// algorithm with zero velocity and gravity, O(N) for a column. Inertias, U and d come from the run that
// gave the acceleration. M^-1 ([Minverse]) is the same for columns of the identity, upper triangle only.
//
// The paper's version works in body coordinates, column by column. Here it runs in root-frame
// coordinates, where nothing is transformed between bodies, and takes blocks of neighboring columns
// in packs.
//
// Symbols, for body i and its column k: those of first/articulated_solve.hpp, and
//   x[k]      the solution's row k          at[i]  forces that reach the body, then its acceleration
#pragma once

#include "dtau/algorithms/first/articulated_solve.hpp"
#include "related.hpp"

namespace dtau::DTAU_VARIANT {

// The six components of a spatial vector, for a block of columns.
template <int packs, class T> struct SpatialBlock {
    Pack<T> c[6][packs];

    static DTAU_INLINE SpatialBlock zero() {
        SpatialBlock b;
        unrolled<6>([&](int r) { unrolled<packs>([&](int p) { b.c[r][p] = Pack<T>::unit(-1); }); });
        return b;
    }
    static DTAU_INLINE SpatialBlock load(const Pack<T>* from) {
        SpatialBlock b;
        unrolled<6>(
            [&](int r) { unrolled<packs>([&](int p) { b.c[r][p] = from[r * packs + p]; }); });
        return b;
    }
    DTAU_INLINE void store(Pack<T>* to) const {
        unrolled<6>([&](int r) { unrolled<packs>([&](int p) { to[r * packs + p] = c[r][p]; }); });
    }
    DTAU_INLINE void add_to(Pack<T>* to) const {
        unrolled<6>([&](int r) {
            unrolled<packs>(
                [&](int p) { to[r * packs + p] = {to[r * packs + p].value + c[r][p].value}; });
        });
    }
    DTAU_INLINE void add(const Pack<T>* from) {
        unrolled<6>([&](int r) {
            unrolled<packs>([&](int p) { c[r][p] = {c[r][p].value + from[r * packs + p].value}; });
        });
    }
    // this += s x
    DTAU_INLINE void add(const T (&s)[6], const Pack<T> (&x)[packs]) {
        unrolled<6>(
            [&](int r) { unrolled<packs>([&](int p) { c[r][p] = fma(s[r], x[p], c[r][p]); }); });
    }
    // x += s . this
    DTAU_INLINE void dot_add(const T (&s)[6], Pack<T> (&x)[packs]) const {
        unrolled<6>(
            [&](int r) { unrolled<packs>([&](int p) { x[p] = fma(s[r], c[r][p], x[p]); }); });
    }
};

template <class T> struct ColumnsWorkspace {
    static constexpr int packs = lanes == 8 ? 4 : 2;  // six components fit into registers
    Pack<T>*x, *at;
    int* bodies;     // bodies that the right-hand sides reach
    bool* branches;  // whether a body has children besides the next body

    ColumnsWorkspace(Arena& arena, const Tree& tree, const Options&)
        : x(arena.take<Pack<T>>(tree.nv * packs)),
          at(arena.take<Pack<T>>(tree.nnodes * 6 * packs)),
          bodies(arena.take<int>(tree.nnodes)),
          branches(arena.take<bool>(tree.nnodes)) {
        if (!branches) return;  // the arena only measures
        for (int i = 0; i < tree.nnodes; ++i) {
            const int p = tree.bodies[i].parent;
            branches[i] = false;
            if (p >= 0 && p != i - 1) branches[p] = true;
        }
    }
};

// Solves M X = -B for the columns from `begin` on and the first `solved` bodies. right(k, c) is the pack of
// B at row k, column c; B is zero outside the joints of the `count` bodies in w.bodies. Results are stored
// as by ltdl_solve_block. Forces and accelerations go from body to body in registers, except at branches.
template <int packs, class T, class Right, class Place>
DTAU_INLINE void articulated_block(const Tree& tree, const Motion<T>* S, int begin, int count,
                                   int solved, const Right& right, const Place& place,
                                   const ArticulatedFactors<T>& factors,
                                   const ColumnsWorkspace<T>& w) {
    using Block = SpatialBlock<packs, T>;
    constexpr int width = Pack<T>::width;
    const Pack<T> zero = Pack<T>::unit(-1);
    Columns<T> to[packs];
    for (int p = 0; p < packs; ++p) to[p] = place(begin + p * width);
    for (int i = 0; i < solved; ++i) {
        const Body& body = tree.bodies[i];
        for (int k = body.v * packs; k < (body.v + body.nv) * packs; ++k) w.x[k] = zero;
        for (int r = 0; w.branches[i] && r < 6 * packs; ++r) w.at[i * 6 * packs + r] = zero;
    }
    Pack<T> x[packs];
    Block block = Block::zero();
    const auto column = [&](int k, T(&s)[6], T(&U)[6]) __attribute__((always_inline)) {
        const Motion<T>& m = S[k];
        const Force<T>& f = factors.U[k];
        s[0] = m.ang.x, s[1] = m.ang.y, s[2] = m.ang.z;
        s[3] = m.lin.x, s[4] = m.lin.y, s[5] = m.lin.z;
        U[0] = f.ang.x, U[1] = f.ang.y, U[2] = f.ang.z;
        U[3] = f.lin.x, U[4] = f.lin.y, U[5] = f.lin.z;
        return -factors.d_inverse[k];
    };
    for (int r = count - 1; r >= 0; --r) {  // forces, leaves to root
        const int i = w.bodies[r];
        const Body& body = tree.bodies[i];
        const bool from_next =
            r + 1 < count && tree.bodies[w.bodies[r + 1]].parent == i && w.bodies[r + 1] == i + 1;
        if (!from_next) block = Block::zero();
        if (w.branches[i]) block.add(w.at + i * 6 * packs);
        for (int k = body.v + body.nv - 1; k >= body.v; --k) {
            T s[6], U[6];
            const T minus = column(k, s, U);
            unrolled<packs>([&](int p) { x[p] = right(k, begin + p * width); });
            block.dot_add(s, x);
            unrolled<packs>([&](int p) { w.x[k * packs + p] = x[p] = minus * x[p]; });
            block.add(U, x);
        }
        if (body.parent >= 0 && body.parent != i - 1) block.add_to(w.at + body.parent * 6 * packs);
    }
    for (int i = 0; i < solved; ++i) {  // accelerations, root to leaves
        const Body& body = tree.bodies[i];
        if (body.parent < 0)
            block = Block::zero();
        else if (body.parent != i - 1)
            block = Block::load(w.at + body.parent * 6 * packs);
        for (int k = body.v; k < body.v + body.nv; ++k) {
            T s[6], U[6];
            const T minus = column(k, s, U);
            unrolled<packs>([&](int p) { x[p] = zero; });
            block.dot_add(U, x);
            unrolled<packs>([&](int p) {
                x[p] = fma(minus, x[p], w.x[k * packs + p]);
                x[p].store(to[p].at + k * to[p].stride, to[p].room);
            });
            block.add(s, x);
        }
        if (w.branches[i]) block.store(w.at + i * 6 * packs);
    }
}

// Solves M X = -B for two matrices (nv, nv), side by side as for ltdl_solve.
template <class T>
void aza(const Tree& tree, const Motion<T>* S, const T* B, int stride,
         const Solution<T> (&solutions)[2], const ArticulatedFactors<T>& factors,
         const ColumnsWorkspace<T>& w) {
    const int n = tree.nv, padded = whole_packs<T>(n);
    const auto right = [&](int k, int c) { return Pack<T>::load(B + k * stride + c); };
    const auto place = [&](int c) -> Columns<T> {
        const Solution<T>& solution = solutions[c / padded];
        return {solution.at + c % padded, n - c % padded, solution.stride};
    };
    for_compiled_blocks<ColumnsWorkspace<T>::packs, T>(
        2 * padded, [&]<int packs>(int begin, int end) {
            int count = 0;
            for (int i = 0; i < tree.nnodes; ++i) {
                const int k = tree.bodies[i].v;
                if (is_related(tree.dofs, k, begin, end < padded ? end : padded) ||
                    is_related(tree.dofs, k, begin < padded ? 0 : begin - padded, end - padded))
                    w.bodies[count++] = i;
            }
            articulated_block<packs>(tree, S, begin, count, tree.nnodes, right, place, factors, w);
        });
}

// Computes M^-1 (nv, nv).
template <class T>
void articulated_inverse(const Tree& tree, const Motion<T>* S, T* inverse,
                         const ArticulatedFactors<T>& factors, const ColumnsWorkspace<T>& w) {
    const int n = tree.nv;
    const auto right = [&](int k, int c) { return T(-1.0) * Pack<T>::unit(k - c); };
    const auto place = [&](int c) -> Columns<T> { return {inverse + c, n - c, n}; };
    for_compiled_blocks<ColumnsWorkspace<T>::packs, T>(n, [&]<int packs>(int begin, int end) {
        int count = 0, solved = 0;
        for (int i = 0; i < tree.nnodes && tree.bodies[i].v < end; ++i, solved = i)
            if (is_ancestor(tree.dofs, tree.bodies[i].v, begin, end)) w.bodies[count++] = i;
        articulated_block<packs>(tree, S, begin, count, solved, right, place, factors, w);
    });
    mirror(inverse, n);
}

}  // namespace dtau::DTAU_VARIANT
