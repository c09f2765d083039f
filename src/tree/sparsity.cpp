// Derives the sparsity of matrices from the tree's paths, also with mimic joints:
// set_mimic_joints(), relate().
#include "tree/compiled_tree.hpp"

#include <algorithm>
#include <iterator>
#include <map>
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

namespace {

// The parents of the paths along which L has entries, when mimic joints share the columns `source`
// of the joints that they mimic, nv in all: L has an entry where M has one or elimination from the
// last to the first makes one, and k's parent is the last of those before it ([RBDA] section 6.5,
// for any symmetric matrix).
std::vector<int> eliminated(const std::vector<int>& parent, const std::vector<int>& source,
                            int nv) {
    // M couples all columns of a path with each other. Links between neighbors in the order of
    // columns lead to the same parents. Along a path from the root to a tip, each new column is
    // linked with the two beside it. Neighbors at the tip are then linked, as the later of any two
    // had the other beside it.
    std::vector<std::vector<int>> later(nv);  // for each column, the linked columns of higher index
    const auto link = [&](int r, int s) { later[std::min(r, s)].push_back(std::max(r, s)); };
    std::map<int, int> on_path;  // its columns, and how often each occurs
    int last = -1;
    for (int k = 0; k < static_cast<int>(parent.size()); ++k) {
        for (; last != parent[k]; last = parent[last])
            if (const auto at = on_path.find(source[last]); --at->second == 0) on_path.erase(at);
        const auto at = on_path.try_emplace(source[k], 0).first;
        if (at->second++ == 0) {
            if (at != on_path.begin()) link(std::prev(at)->first, at->first);
            if (std::next(at) != on_path.end()) link(std::next(at)->first, at->first);
        }
        last = k;
    }
    // From the last column to the first: each becomes the parent of the columns linked with it, or
    // of the last ancestor found so far (where the shortcuts end).
    std::vector<int> result(nv, -1), short_cut(nv, -1);
    for (int j = nv - 1; j >= 0; --j)
        for (int k : later[j])
            while (k != j) {
                const int next = short_cut[k];
                short_cut[k] = j;
                if (next < 0) result[k] = j;
                k = next < 0 ? j : next;
            }
    return result;
}

}  // namespace

// Sets the independent coordinates with mimic joints, and the paths along which M has entries.
void CompiledTree::set_mimic_joints(const std::vector<BodyDescription>& bodies) {
    int nq = 0, nv = 0;
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        const JointTraits& joint = traits(bodies[i].kind);
        for (int k = 0; bodies[i].mimicked < 0 && k < joint.nq; ++k) {
            q_owner_.push_back(bodies_[i].q + k);
            q_source_.push_back(nq++), q_scale_.push_back(1.0), q_offset_.push_back(0.0);
        }
        for (int k = 0; bodies[i].mimicked < 0 && k < joint.nv; ++k) {
            v_owner_.push_back(bodies_[i].v + k);
            v_source_.push_back(nv++), v_scale_.push_back(1.0);
        }
        if (bodies[i].mimicked < 0) continue;
        const int mimicked = bodies[i].mimicked;
        if (mimicked >= static_cast<int>(bodies.size()) || bodies[mimicked].mimicked >= 0 ||
            traits(bodies[mimicked].kind).nq != 1 || joint.nq != 1)
            throw std::invalid_argument(
                "Tree: expected a mimic joint and an independent joint of one coordinate each");
        q_source_.push_back(-1),
            v_source_.push_back(-1);  // set below: the mimicked joint may come later
        q_scale_.push_back(bodies[i].multiplier), v_scale_.push_back(bodies[i].multiplier);
        q_offset_.push_back(bodies[i].offset);
    }
    if (nv == tree_.nv) return;
    for (std::size_t i = 0; i < bodies.size(); ++i)
        if (bodies[i].mimicked >= 0) {
            q_source_[bodies_[i].q] = q_source_[bodies_[bodies[i].mimicked].q];
            v_source_[bodies_[i].v] = v_source_[bodies_[bodies[i].mimicked].v];
        }

    independent_.parent = eliminated(dofs_.parent, v_source_, nv);
    // The kernels need subtrees that are ranges. Where they are not, a chain through the columns
    // between them has all entries needed, and more.
    for (int k = 1; k < nv; ++k) {
        int ancestor = k - 1;
        const int p = independent_.parent[k];
        while (ancestor >= 0 && ancestor != p) ancestor = independent_.parent[ancestor];
        for (int j = p + 1; ancestor != p && j <= k; ++j) independent_.parent[j] = j - 1;
    }
    tree_.independent = independent_.paths();
    mimic_ = {.nq = nq,
              .nv = nv,
              .q_source = q_source_.data(),
              .v_source = v_source_.data(),
              .q_scale = q_scale_.data(),
              .q_offset = q_offset_.data(),
              .v_scale = v_scale_.data(),
              .q_owner = q_owner_.data(),
              .v_owner = v_owner_.data()};
    tree_.mimic = &mimic_;
}

namespace {

// Adds a range of entries of a matrix of this size to its spans, in ascending order.
void add_entries(std::vector<Span>& spans, std::ptrdiff_t first, std::ptrdiff_t last,
                 std::ptrdiff_t size) {
    constexpr std::ptrdiff_t block =
        8;  // the transpose in batch/lanes.hpp works on blocks of up to 8 numbers
    const std::ptrdiff_t begin = first / block * block;
    const std::ptrdiff_t end = std::min(last / block * block + block, size);
    if (spans.empty() || spans.back().end < begin)
        spans.push_back({begin, end});
    else
        spans.back().end = end;
}

}  // namespace

// Sets the spans of related entries of a matrix and of the A of a linearization, and the actuated
// joints.
void CompiledTree::relate() {
    const Paths& dofs = tree_.independent;
    const std::ptrdiff_t n = dofs.n;
    std::vector<std::pair<int, int>> path;  // in runs of columns one after another, first and last
    for (int i = 0; i < dofs.n; ++i) {
        while (!path.empty() && path.back().first > dofs.parent[i]) path.pop_back();
        if (!path.empty()) path.back().second = dofs.parent[i];
        for (const auto& [first, last] : path)
            add_entries(related_, i * n + first, i * n + last, n * n);
        add_entries(related_, i * n + i, i * n + dofs.end[i] - 1, n * n);
        if (!path.empty() && path.back().second == i - 1)
            path.back().second = i;
        else
            path.emplace_back(i, i);
    }
    for (const Body& body : bodies_) {
        for (int k = body.v; k < body.v + body.nv; ++k) {
            if (v_owner_[v_source_[k]] != k) continue;
            const std::ptrdiff_t row = v_source_[k], first = row - (k - body.v);
            if (!is_free_root(body)) actuated_.push_back(static_cast<int>(row));
            add_entries(state_matrix_, row * 2 * n + first, row * 2 * n + first + body.nv - 1,
                        4 * n * n);
            add_entries(state_matrix_, row * 2 * n + n + row, row * 2 * n + n + row, 4 * n * n);
        }
    }
    add_entries(state_matrix_, 2 * n * n, 4 * n * n - 1, 4 * n * n);
    tree_.related = related_.data();
    tree_.nrelated = static_cast<std::ptrdiff_t>(related_.size());
    tree_.state_matrix = state_matrix_.data();
    tree_.nstate_matrix = static_cast<std::ptrdiff_t>(state_matrix_.size());
    tree_.actuated = actuated_.data();
    tree_.nactuated = static_cast<int>(actuated_.size());
}

}  // namespace dtau
