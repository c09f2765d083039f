// Which rows of a right-hand side a block of its columns needs.
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

}  // namespace dtau::DTAU_VARIANT
