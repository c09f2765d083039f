// Writes pairs of matrices between tangent spaces (manifold_jacobians.hpp): TangentMatrices. From
// state to state only the blocks of joints whose displacements do not add change; all other entries
// are zeros and ones.
//
// The matrices of a lone state are written in place. For a group of states only the changing
// entries are computed in lanes. They go into a matrix that has the other entries already, one
// state after the other, and from there to the result, streamed where they would only pass through
// the caches.
#pragma once

#include "dtau/algorithms/steps/manifold_jacobians.hpp"
#include "functions/shared/packed_rows.hpp"

namespace dtau::DTAU_VARIANT {

// Matrices (m, nv) and (nv, m): m = nv, or m = nq for maps from and to the numbers of q.
template <class T> class TangentMatrices {
    static constexpr bool alone = group_size<T> == 1;
    static constexpr int most = 42;  // changing entries of a joint

  public:
    // `first`: what the first matrix has for 1.
    TangentMatrices(Arena& arena, const Tree& tree, bool numbers, double first)
        : numbers_(numbers),
          first_(first),
          nv_(tree.independent.n),
          m_(numbers ? independent_nq(tree) : nv_) {
        if constexpr (!alone) {
            int joints = 0;
            for_independent_joints(tree, false, [&](const Body&, int, int) { ++joints; });
            for (int o = 0; o < 2; ++o) {
                whole_[o] = arena.take_zeros<Number<T>>(std::ptrdiff_t(m_) * nv_);
                value_[o] = arena.take<T>(most * joints);
                place_[o] = arena.take<std::ptrdiff_t>(most * joints);
            }
            if (place_[1]) put_ones(tree, whole_);
        }
    }

    // entries(put) computes all changing entries.
    template <class Entries>
    void write(const Tree& tree, const Destination<T>& to, const Entries& entries) const {
        const std::ptrdiff_t size = std::ptrdiff_t(m_) * nv_, columns[2] = {nv_, m_};
        if constexpr (alone) {
            for (int o = 0; o < 2; ++o)
                std::memset(static_cast<void*>(to.at[o]), 0, size * sizeof(T));
            put_ones(tree, to.at);
            entries([&](int o, int row, int column, T value) {
                to.at[o][row * columns[o] + column] = value;
            });
        } else {
            int count[2] = {0, 0};
            entries([&](int o, int row, int column, T value) {
                place_[o][count[o]] = row * columns[o] + column;
                value_[o][count[o]++] = value;
            });
            for (int l = 0; l < to.states; ++l)
                for (int o = 0; o < 2; ++o) {
                    for (int k = 0; k < count[o]; ++k)
                        whole_[o][place_[o][k]] = value_[o][k].value[l];
                    Number<T>* result = to.at[o] + l * to.size[o];
                    if (to.past_caches())
                        stream(whole_[o], size, result);
                    else
                        std::memcpy(result, whole_[o], size * sizeof(Number<T>));
                }
            if (to.past_caches()) end_streams();
        }
    }

  private:
    void put_ones(const Tree& tree, Number<T>* const* matrices) const {
        for_independent_joints(tree, true, [&](const Body& body, int q, int v) {
            const std::ptrdiff_t k = numbers_ ? q : v;
            for (int i = 0; i < body.nv; ++i) {
                matrices[0][(k + i) * nv_ + v + i] = Number<T>(first_);
                matrices[1][(v + i) * std::ptrdiff_t(m_) + k + i] = Number<T>(1.0);
            }
        });
    }

    bool numbers_;
    double first_;
    int nv_, m_;
    Number<T>* whole_[2];
    T* value_[2];
    std::ptrdiff_t* place_[2];
};

}  // namespace dtau::DTAU_VARIANT
