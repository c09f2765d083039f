// What of a compiled tree follows from its paths: which degrees of freedom meet in which matrix.
#include "tree/compiled_tree.hpp"

#include <algorithm>
#include <stdexcept>

namespace dtau {

Paths CompiledTree::PathArrays::paths() {
    const int n = static_cast<int>(parent.size());
    int max_depth = 0;
    end.assign(n, 0);
    depth.assign(n, 0);
    for (int k = n - 1; k >= 0; --k) {
        end[k] = std::max(end[k], k + 1);
        if (parent[k] >= 0) end[parent[k]] = std::max(end[parent[k]], end[k]);
    }
    for (int k = 0; k < n; ++k) {
        depth[k] = parent[k] < 0 ? 0 : depth[parent[k]] + 1;
        max_depth = std::max(max_depth, depth[k]);
    }
    return {n, parent.data(), end.data(), depth.data(), max_depth};
}

// Independent coordinates, if joints mimic others, and the paths along which M has entries.
void CompiledTree::couple(const std::vector<BodyDescription>& bodies) {
    int nq = 0, nv = 0;
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        const JointTraits& joint = traits(bodies[i].kind);
        for (int k = 0; bodies[i].leader < 0 && k < joint.nq; ++k) {
            q_owner_.push_back(bodies_[i].q + k);
            q_source_.push_back(nq++), q_scale_.push_back(1.0), q_offset_.push_back(0.0);
        }
        for (int k = 0; bodies[i].leader < 0 && k < joint.nv; ++k) {
            v_owner_.push_back(bodies_[i].v + k);
            v_source_.push_back(nv++), v_scale_.push_back(1.0);
        }
        if (bodies[i].leader < 0) continue;
        const int leader = bodies[i].leader;
        if (leader >= static_cast<int>(bodies.size()) || bodies[leader].leader >= 0 ||
            traits(bodies[leader].kind).nq != 1 || joint.nq != 1)
            throw std::invalid_argument("Tree: a joint cannot mimic that one");
        q_source_.push_back(-1), v_source_.push_back(-1);  // found below: it may come later
        q_scale_.push_back(bodies[i].multiplier), v_scale_.push_back(bodies[i].multiplier);
        q_offset_.push_back(bodies[i].offset);
    }
    if (nv == tree_.nv) return;
    for (std::size_t i = 0; i < bodies.size(); ++i)
        if (bodies[i].leader >= 0) {
            q_source_[bodies_[i].q] = q_source_[bodies_[bodies[i].leader].q];
            v_source_[bodies_[i].v] = v_source_[bodies_[bodies[i].leader].v];
        }

    // L has an entry where M has one or elimination from the last to the first makes one: k's parent
    // is the last of those before it ([RBDA] section 6.5, for any symmetric matrix).
    std::vector<std::vector<bool>> entry(nv, std::vector<bool>(nv));
    for (int k = 0; k < tree_.nv; ++k)
        for (int j = k; j >= 0; j = dofs_.parent[j]) {
            const int r = v_source_[k], s = v_source_[j];
            entry[std::max(r, s)][std::min(r, s)] = true;
        }
    independent_.parent.assign(nv, -1);
    for (int k = nv - 1; k >= 0; --k) {
        for (int j = 0; j < k; ++j)
            if (entry[k][j]) independent_.parent[k] = j;
        const int p = independent_.parent[k];
        for (int j = 0; j < p; ++j)
            if (entry[k][j]) entry[p][j] = true;
    }
    // Subtrees must be ranges: where they are not, a chain through what lies between has all entries
    // that are needed, and more.
    for (int k = 1; k < nv; ++k) {
        int ancestor = k - 1;
        const int p = independent_.parent[k];
        while (ancestor >= 0 && ancestor != p) ancestor = independent_.parent[ancestor];
        for (int j = p + 1; ancestor != p && j <= k; ++j) independent_.parent[j] = j - 1;
    }
    tree_.independent = independent_.paths();
    coupling_ = {.nq = nq,
                 .nv = nv,
                 .q_source = q_source_.data(),
                 .v_source = v_source_.data(),
                 .q_scale = q_scale_.data(),
                 .q_offset = q_offset_.data(),
                 .v_scale = v_scale_.data(),
                 .q_owner = q_owner_.data(),
                 .v_owner = v_owner_.data()};
    tree_.coupling = &coupling_;
}

namespace {

// Adds an entry of a matrix of this size to its spans, in ascending order.
void add_entry(std::vector<Span>& spans, std::ptrdiff_t entry, std::ptrdiff_t size) {
    constexpr std::ptrdiff_t block = 8;  // that a vector of states transposes
    const std::ptrdiff_t begin = entry / block * block, end = std::min(begin + block, size);
    if (spans.empty() || spans.back().end < begin)
        spans.push_back({begin, end});
    else
        spans.back().end = end;
}

}  // namespace

// The spans of related entries of a matrix, and of the A of a linearization; what is actuated.
void CompiledTree::relate() {
    const Paths& dofs = tree_.independent;
    const std::ptrdiff_t n = dofs.n;
    std::vector<int> path;
    for (int i = 0; i < dofs.n; ++i) {
        path.clear();
        for (int j = dofs.parent[i]; j >= 0; j = dofs.parent[j]) path.push_back(j);
        for (auto j = path.rbegin(); j != path.rend(); ++j) add_entry(related_, i * n + *j, n * n);
        for (int j = i; j < dofs.end[i]; ++j) add_entry(related_, i * n + j, n * n);
    }
    for (const Body& body : bodies_) {
        for (int k = body.v; k < body.v + body.nv; ++k) {
            if (v_owner_[v_source_[k]] != k) continue;
            const int row = v_source_[k], first = row - (k - body.v);
            if (!is_free_root(body)) actuated_.push_back(row);
            for (int j = first; j < first + body.nv; ++j)
                add_entry(state_matrix_, row * 2 * n + j, 4 * n * n);
            add_entry(state_matrix_, row * 2 * n + n + row, 4 * n * n);
        }
    }
    for (std::ptrdiff_t entry = 2 * n * n; entry < 4 * n * n; ++entry)
        add_entry(state_matrix_, entry, 4 * n * n);
    tree_.related = related_.data();
    tree_.nrelated = static_cast<std::ptrdiff_t>(related_.size());
    tree_.state_matrix = state_matrix_.data();
    tree_.nstate_matrix = static_cast<std::ptrdiff_t>(state_matrix_.size());
    tree_.actuated = actuated_.data();
    tree_.nactuated = static_cast<int>(actuated_.size());
}

}  // namespace dtau
