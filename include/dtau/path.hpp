// Keeps the path of the current degree of freedom k to the world while an algorithm loops over k:
// follow_path(), extend_path(). path[dofs.depth[j]] = j for the j on the path of k, k included.
#pragma once

#include "dtau/lane.hpp"
#include "dtau/model.hpp"

namespace dtau::DTAU_VARIANT {

// Switches `path` to the path of k; visits only the part that differs. Between two calls of forget_path, k
// must only increase or only decrease, so that no subtree is entered twice.
DTAU_INLINE void follow_path(const Paths& dofs, int k, int* path) {
    for (int j = k; j >= 0 && path[dofs.depth[j]] != j; j = dofs.parent[j]) path[dofs.depth[j]] = j;
}
DTAU_INLINE void forget_path(const Paths& dofs, int* path) {
    for (int a = 0; a <= dofs.max_depth; ++a) path[a] = -1;
}

// The same where every k is visited, from 0 on: the path of its parent stands there already.
DTAU_INLINE void extend_path(const Paths& dofs, int k, int* path) { path[dofs.depth[k]] = k; }

// Calls visit(k, c) for rows k and columns c that are not related: neither is on the path of the
// other.
template <class Visit> DTAU_INLINE void for_unrelated(const Paths& dofs, const Visit& visit) {
    for (int k = 0; k < dofs.n; ++k) {
        for (int below = k; below > 0;) {
            const int j = dofs.parent[below];
            for (int c = j + 1; c < below; ++c) visit(k, c);
            below = j;
        }
        for (int c = dofs.end[k]; c < dofs.n; ++c) visit(k, c);
    }
}

}  // namespace dtau::DTAU_VARIANT
