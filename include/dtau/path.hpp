// The path of a degree of freedom to the world, kept up while an algorithm goes over all of them:
// path[dofs.depth[j]] = j for the j on the path of k, k included.
#pragma once

#include "dtau/lane.hpp"
#include "dtau/model.hpp"

namespace dtau::DTAU_VARIANT {

// Makes path that of k by walking only what differs. Right if, since it was forgotten, k went
// either up or down: then a subtree that was left is not entered again.
DTAU_INLINE void follow_path(const Paths& dofs, int k, int* path) {
    for (int j = k; j >= 0 && path[dofs.depth[j]] != j; j = dofs.parent[j]) path[dofs.depth[j]] = j;
}
DTAU_INLINE void forget_path(const Paths& dofs, int* path) {
    for (int a = 0; a <= dofs.max_depth; ++a) path[a] = -1;
}

}  // namespace dtau::DTAU_VARIANT
