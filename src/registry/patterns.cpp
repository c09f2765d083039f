// Lists the numbers of results that can differ from zero: entries(), store_patterns().
#include "registry/patterns.hpp"

#include <algorithm>

#include "dtau/algorithms/second/packed.hpp"
#include "dtau/mimic.hpp"
#include "registry/acceleration_quantities.hpp"

namespace dtau {
namespace {

// Pairs of velocities on one path to the world.
Entries related(const Paths& dofs) {
    Entries found;
    const std::ptrdiff_t n = dofs.n;
    std::vector<int> path(dofs.max_depth + 1);
    std::size_t count = 0;
    for (int j = 0; j < dofs.n; ++j) count += dofs.depth[j] + dofs.end[j] - j;
    found.reserve(count + 8);  // and the entries that EntryList adds
    baseline::forget_path(dofs, path.data());
    for (int j = 0; j < dofs.n; ++j) {
        baseline::follow_path(dofs, j, path.data());
        for (int d = 0; d < dofs.depth[j]; ++d) found.push_back(path[d] * n + j);
        for (int i = j; i < dofs.end[j]; ++i) found.push_back(i * n + j);
    }
    return found;
}

// All six rows of the velocities that move a frame; the rows of the frames follow each other.
Entries of_frames(const Sizes& sizes) {
    const Tree& tree = sizes.tree;
    const int n = tree.independent.n, nframes = sizes.options.nframes;
    std::vector<char> moves(std::size_t(n) * nframes);
    for (int f = 0; f < nframes; ++f)
        for (int b = sizes.options.frames[f].body; b >= 0; b = tree.bodies[b].parent)
            for (int k = tree.bodies[b].v; k < tree.bodies[b].v + tree.bodies[b].nv; ++k)
                moves[std::size_t(independent_dof(tree, k)) * nframes + f] = 1;
    Entries found;
    for (int j = 0; j < n; ++j)
        for (int f = 0; f < nframes; ++f)
            for (int i = 0; i < 6 && moves[std::size_t(j) * nframes + f]; ++i)
                found.push_back((std::ptrdiff_t(f) * 6 + i) * n + j);
    return found;
}

// For each velocity the first one of its group. The velocities of a group accelerate together: they
// belong to one tree, or to trees that constraints join.
std::vector<int> groups(const Sizes& sizes) {
    const Paths& dofs = sizes.tree.independent;
    std::vector<int> first(dofs.n);
    for (int k = 0; k < dofs.n; ++k) first[k] = dofs.parent[k] < 0 ? k : first[dofs.parent[k]];
    const Constraints* contacts = sizes.options.contacts;
    for (int c = 0; contacts && c < contacts->count; ++c)
        for (int d = 1; d < contacts->at[c].ndofs; ++d) {
            const int one = first[contacts->at[c].dofs[0]], other = first[contacts->at[c].dofs[d]];
            if (one != other)
                std::replace(first.begin(), first.end(), std::max(one, other),
                             std::min(one, other));
        }
    return first;
}
bool joins_trees(const Options& options) {
    for (int c = 0; options.contacts && c < options.contacts->count; ++c)
        if (options.contacts->at[c].other_tree) return true;
    return false;
}

// Accelerations by the velocities of their group.
Entries acceleration_matrix(const Sizes& sizes) {
    const std::vector<int> group = groups(sizes);
    const std::ptrdiff_t n = sizes.tree.independent.n;
    Entries found;
    for (std::ptrdiff_t j = 0; j < n; ++j)
        for (std::ptrdiff_t i = 0; i < n; ++i)
            if (group[i] == group[j]) found.push_back(i * n + j);
    return found;
}

// Forces of constraints by columns: column c is of the velocity dof(c), on which the constraints of its
// group depend, or of all velocities if that is negative.
template <class Dof> Entries force_matrix(const Sizes& sizes, std::ptrdiff_t columns, Dof dof) {
    if (!sizes.options.contacts) return {};  // no rows
    const std::vector<int> group = groups(sizes);
    const Constraints& contacts = *sizes.options.contacts;
    Entries found;
    for (std::ptrdiff_t c = 0; c < columns; ++c)
        for (int k = 0; k < contacts.count; ++k) {
            const Constraint& held = contacts.at[k];
            const std::ptrdiff_t j = dof(c);
            if (held.ndofs == 0 || (j >= 0 && group[held.dofs[0]] != group[j])) continue;
            for (std::ptrdiff_t r = held.first; r < held.first + held.count; ++r)
                found.push_back(r * columns + c);
        }
    return found;
}
Entries row_matrix(const Sizes& sizes) {
    return force_matrix(sizes, sizes.tree.independent.n, [](std::ptrdiff_t c) { return c; });
}
Entries forces_by_states(const Sizes& sizes) {
    const std::ptrdiff_t n = sizes.tree.independent.n;
    return force_matrix(sizes, 2 * n, [n](std::ptrdiff_t c) { return c % n; });
}
Entries forces_by_inputs(const Sizes& sizes) {
    const DrivenTorques& driven = sizes.options.driven;
    return force_matrix(sizes, driven.count, [&](std::ptrdiff_t c) -> std::ptrdiff_t {
        return driven.columns ? driven.columns[c] : -1;
    });
}

// The velocities of the joint to which each velocity belongs.
struct Rows {
    std::ptrdiff_t first, count;
};
std::vector<Rows> joints(const Tree& tree) {
    std::vector<Rows> found(tree.independent.n);
    for (int b = 0; b < tree.nnodes; ++b) {
        const Body& body = tree.bodies[b];
        for (int k = 0; k < body.nv; ++k)
            found[independent_dof(tree, body.v + k)] = {independent_dof(tree, body.v), body.nv};
    }
    return found;
}

// A of a linearization: the rate of the configuration by the velocity, and by the configuration of a
// joint of several degrees of freedom; the accelerations of the group. Or A of a time step: the
// configuration of the joint after it, or of the group if its accelerations move the configuration;
// the velocities of the group.
Entries state_matrix(const Sizes& sizes, bool of_step) {
    const std::vector<int> group = groups(sizes);
    const std::vector<Rows> joint = joints(sizes.tree);
    const std::ptrdiff_t n = sizes.tree.independent.n;
    const bool moved = of_step && sizes.options.integrator != Integrator::euler;
    const auto moves = [&](std::ptrdiff_t i, std::ptrdiff_t c, bool by_velocity) {
        if (moved) return group[i] == group[c];
        const bool together = i >= joint[c].first && i < joint[c].first + joint[c].count;
        if (of_step) return together;
        return by_velocity ? i == c : together && joint[c].count > 1;
    };
    Entries found;
    for (std::ptrdiff_t c = 0; c < 2 * n; ++c) {
        for (std::ptrdiff_t i = 0; i < n; ++i)
            if (moves(i, c % n, c >= n)) found.push_back(i * 2 * n + c);
        for (std::ptrdiff_t i = 0; i < n; ++i)
            if (group[i] == group[c % n]) found.push_back((n + i) * 2 * n + c);
    }
    return found;
}

// B of a linearization: a torque changes the accelerations of its group alone, and an input of a map
// all accelerations. Of a time step: the velocities, and where they move it the configuration.
Entries input_matrix(const Sizes& sizes, bool of_step) {
    const std::vector<int> group = groups(sizes);
    const std::ptrdiff_t n = sizes.tree.independent.n, count = sizes.options.driven.count;
    const int* const driven = sizes.options.driven.columns;
    const bool moved = of_step && sizes.options.integrator != Integrator::euler;
    Entries found;
    for (std::ptrdiff_t c = 0; c < count; ++c)
        for (std::ptrdiff_t i = moved ? 0 : n; i < 2 * n; ++i)
            if (!driven || group[i % n] == group[driven[c]]) found.push_back(i * count + c);
    return found;
}

// The list that a tree keeps for a quantity; null: the entries depend on the options.
const LazyEntries* kept_entries(const Quantity& quantity, const CompiledTree& tree, bool joined) {
    if (quantity == Quantity::torque_matrix) return &tree.related_entries;
    if (quantity == AccelerationQuantity::matrix && !joined)
        return &tree.acceleration_matrix_entries;
    if (quantity == Quantity::state_matrix && !joined) return &tree.state_matrix_entries;
    return nullptr;
}

// Triples of velocities on one path to the world, in the order of packed.hpp.
Entries tensor(const Paths& dofs) {
    Entries found;
    const std::ptrdiff_t n = dofs.n;
    std::vector<int> path(dofs.max_depth + 1);
    baseline::forget_path(dofs, path.data());
    for (int m = 0; m < dofs.n; ++m) {
        baseline::follow_path(dofs, m, path.data());
        baseline::for_packed_group(m, dofs.depth[m], path.data(), [&](int i, int j, int k) {
            found.push_back((i * n + j) * n + k);
        });
    }
    return found;
}

}  // namespace

bool has_pattern(const Quantity& quantity) {
    return quantity == Quantity::torque_matrix || quantity == Quantity::jacobians ||
           quantity == AccelerationQuantity::matrix || quantity == Quantity::row_matrix ||
           quantity == Quantity::state_matrix || quantity == Quantity::input_matrix ||
           quantity == AccelerationQuantity::state_matrix ||
           quantity == AccelerationQuantity::input_matrix ||
           quantity == AccelerationQuantity::forces_by_states ||
           quantity == AccelerationQuantity::forces_by_inputs || quantity == Quantity::tensor;
}

Entries entries(const Quantity& quantity, const Sizes& sizes) {
    if (quantity == Quantity::jacobians) return of_frames(sizes);
    if (quantity == AccelerationQuantity::matrix) return acceleration_matrix(sizes);
    if (quantity == Quantity::row_matrix) return row_matrix(sizes);
    if (quantity == Quantity::state_matrix) return state_matrix(sizes, false);
    if (quantity == Quantity::input_matrix) return input_matrix(sizes, false);
    if (quantity == AccelerationQuantity::state_matrix) return state_matrix(sizes, true);
    if (quantity == AccelerationQuantity::input_matrix) return input_matrix(sizes, true);
    if (quantity == AccelerationQuantity::forces_by_states) return forces_by_states(sizes);
    if (quantity == AccelerationQuantity::forces_by_inputs) return forces_by_inputs(sizes);
    if (quantity == Quantity::tensor) return tensor(sizes.tree.independent);
    return related(sizes.tree.independent);
}

void store_patterns(Job& job, const Signature& signature, const CompiledTree& tree,
                    const Sizes& sizes, Shape* shapes, EntryList* lists) {
    const bool joined = joins_trees(sizes.options);
    for (int o = 0; o < job.noutputs; ++o) {
        const Quantity& quantity = *signature.outputs[o].quantity;
        Output& out = job.outputs[o];
        // The algorithm itself computes tensors on their pattern.
        const bool there = Asked::is_there(signature.outputs[o], sizes.options);
        if (there && has_pattern(quantity) && quantity != Quantity::tensor) {
            const auto make = [&] { return entries(quantity, sizes); };
            const LazyEntries* kept = kept_entries(quantity, tree, joined);
            int first = 0;  // result of this quantity
            while (*signature.outputs[first].quantity != quantity) ++first;
            if (!kept && first == o) lists[o] = EntryList(make());
            const EntryList& list = kept ? kept->get(make) : lists[first];
            shapes[o] = {1, {list.count}};
            if (job.code) {  // code for this robot computes the entries alone
                out.size = list.count;
                out.spans = nullptr, out.nspans = 0;
            } else {
                out.entries = list.places.data(), out.nentries = list.count;
            }
        }
    }
    if (count_stored(job) == 0.0) job.count = 0;
}

}  // namespace dtau
