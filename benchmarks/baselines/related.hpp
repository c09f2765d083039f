// Divides the columns of a right-hand side into blocks, and finds the rows that each block needs:
// for_compiled_blocks(), is_related().
#pragma once

#include "dtau/algorithms/solve/ltdl_columns.hpp"

namespace dtau::DTAU_VARIANT {

// Is k on the path from one of the columns begin ... end - 1, or one of them on that from k?
DTAU_INLINE bool is_related(const Paths& dofs, int k, int begin, int end) {
    if (begin >= end) return false;
    if (is_ancestor(dofs, k, begin, end)) return true;
    while (k >= end) k = dofs.parent[k];
    return k >= begin;
}

// Calls solve<packs>(begin, end) for blocks of at most `most` packs of columns.
template <int most, class T, class Solve>
DTAU_INLINE void for_compiled_blocks(int columns, const Solve& solve) {
    for_blocks<T>(columns, most, [&](int begin, int end, int packs) {
        with_packs<most>(packs, [&]<int count>() { solve.template operator()<count>(begin, end); });
    });
}

}  // namespace dtau::DTAU_VARIANT
