// Pairs of matrices between tangent spaces (manifold_jacobians.hpp), of which little changes from state
// to state: the blocks of joints whose displacements do not add. All else is zeros, and ones.
//
// A lone state's are written where they belong. Of a group of states only what changes is computed in
// lanes, and put into a matrix that has the rest already, one state after the other; from there it goes
// on, past the caches where it would only pass through them.
#pragma once

#include "dtau/algorithms/steps/manifold_jacobians.hpp"
#include "functions/shared/packed_rows.hpp"

namespace dtau::DTAU_VARIANT {

// Matrices (m, nv) and (nv, m), with m = nv, or m = nq for those from and to the numbers of q.
template <class T>
class TangentMatrices {
    static constexpr bool alone = group_size<T> == 1;
    static constexpr int most = 42;  // entries of a joint that change

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

    // entries(put) computes all that changes.
    template <class Entries>
    DTAU_INLINE void write(const Tree& tree, const Destination<T>& to,
                           const Entries& entries) const {
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
                    if (to.past_caches)
                        stream(whole_[o], size, result);
                    else
                        std::memcpy(result, whole_[o], size * sizeof(Number<T>));
                }
            if (to.past_caches) end_streams();
        }
    }

  private:
    DTAU_INLINE void put_ones(const Tree& tree, Number<T>* const* matrices) const {
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
