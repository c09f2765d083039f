// Orders the entries of packed tensors: packed_place(), packed_groups(), for_packed_entries(). A packed
// tensor over triples of degrees of freedom holds the entries whose three indices lie on one path to
// the world; all others are zero.
//
// Entries are grouped by the deepest of their indices, m, in ascending order of m. With d the depth
// of m and e, f depths on its path (0 ... d), a group holds
//   output m: entries [m, e, f], rows e (d+1), columns f (d+1)
//   then for each output f, which is shallower (d): entries [f, m, e] (d+1), then [f, e, m] (d)
#pragma once

#include "dtau/path.hpp"

namespace dtau::DTAU_VARIANT {

// One X for each tensor of second derivatives: a number or an array.
template <class X> struct Tensors {
    X dqdq, dqdv, dvdv, dadq;
};

inline constexpr int most_outputs = 6;  // rows of an output or outputs that are written together

inline std::ptrdiff_t packed_size(int depth) {  // numbers of a group
    const std::ptrdiff_t d = depth;
    return 3 * d * (d + 1) + 1;  // [Derivations] eq. 7.8
}
inline std::ptrdiff_t packed_size(const Paths& dofs) {
    std::ptrdiff_t size = 0;
    for (int m = 0; m < dofs.n; ++m) size += packed_size(dofs.depth[m]);
    return size;
}

// Computes begin[m], the place where group m begins.
inline void packed_groups(const Paths& dofs, std::ptrdiff_t* begin) {
    std::ptrdiff_t at = 0;
    for (int m = 0; m < dofs.n; ++m) begin[m] = at, at += packed_size(dofs.depth[m]);
}

// The place of entry [i, j, k]; any of the three indices may be the deepest.
inline std::ptrdiff_t packed_place(const Paths& dofs, const std::ptrdiff_t* begin, int i, int j,
                                   int k) {
    const int m = i > j ? (i > k ? i : k) : (j > k ? j : k);
    const std::ptrdiff_t d = dofs.depth[m];
    const auto depth = [&](int x) { return static_cast<std::ptrdiff_t>(dofs.depth[x]); };
    if (i == m) return begin[m] + depth(j) * (d + 1) + depth(k);
    const std::ptrdiff_t output = begin[m] + (d + 1) * (d + 1) + depth(i) * (2 * d + 1);
    return output + (j == m ? depth(k) : d + 1 + depth(j));
}

// Calls visit(i, j, k) for the entries of group m in their order; path[depth] is the path of m.
template <class Visit>
inline void for_packed_group(int m, int d, const int* path, const Visit& visit) {
    for (int e = 0; e <= d; ++e)
        for (int f = 0; f <= d; ++f) visit(m, path[e], path[f]);
    for (int f = 0; f < d; ++f) {
        for (int e = 0; e <= d; ++e) visit(path[f], m, path[e]);
        for (int e = 0; e < d; ++e) visit(path[f], path[e], m);
    }
}

// Calls visit(i, j, k, scale) for all entries of a packed tensor of all joints, in their order. i, j, k
// are independent velocities: `scale` times the entry is a part of their entry.
template <class Visit>
inline void for_packed_entries(const Tree& tree, int* path, const Visit& visit) {
    const Mimics* c = tree.mimic;
    forget_path(tree.dofs, path);
    for (int m = 0; m < tree.nv; ++m) {
        follow_path(tree.dofs, m, path);
        for_packed_group(m, tree.dofs.depth[m], path, [&](int i, int j, int k) {
            if (c)
                visit(c->v_source[i], c->v_source[j], c->v_source[k],
                      c->v_scale[i] * c->v_scale[j] * c->v_scale[k]);
            else
                visit(i, j, k, 1.0);
        });
    }
}

}  // namespace dtau::DTAU_VARIANT
