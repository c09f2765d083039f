// Lists the numbers of results that can differ from zero: entries(), store_patterns().
#include "registry/patterns.hpp"

#include "dtau/algorithms/second/packed.hpp"
#include "dtau/mimic.hpp"

namespace dtau {
namespace {

// Pairs of velocities on one path to the world.
Entries related(const Paths& dofs) {
    Entries found;
    const std::ptrdiff_t n = dofs.n;
    std::vector<int> path(dofs.max_depth + 1);
    std::size_t count = 0;
    for (int j = 0; j < dofs.n; ++j) count += dofs.depth[j] + dofs.end[j] - j;
    found.reserve(count + 8);  // and those that EntryList adds
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

// A of a linearization: by the configuration, the velocities of a joint of several degrees of freedom
// and all accelerations; by the velocity, itself and all accelerations.
Entries state_matrix(const Tree& tree) {
    const std::ptrdiff_t n = tree.independent.n;
    struct Rows {
        std::ptrdiff_t first, count;
    };
    std::vector<Rows> turned(n);
    for (int b = 0; b < tree.nnodes; ++b) {
        const Body& body = tree.bodies[b];
        if (body.nv == 1) continue;
        for (int k = 0; k < body.nv; ++k)
            turned[independent_dof(tree, body.v + k)] = {independent_dof(tree, body.v), body.nv};
    }
    Entries found;
    const auto add = [&](std::ptrdiff_t first, std::ptrdiff_t count, std::ptrdiff_t column) {
        for (std::ptrdiff_t i = first; i < first + count; ++i) found.push_back(i * 2 * n + column);
    };
    for (std::ptrdiff_t c = 0; c < 2 * n; ++c) {
        if (c < n)
            add(turned[c].first, turned[c].count, c);
        else
            add(c - n, 1, c);
        add(n, n, c);
    }
    return found;
}

// B of a linearization: the inputs change accelerations alone.
Entries input_matrix(const Sizes& sizes) {
    const std::ptrdiff_t n = sizes.tree.independent.n, count = sizes.options.driven.count;
    Entries found;
    for (std::ptrdiff_t c = 0; c < count; ++c)
        for (std::ptrdiff_t i = n; i < 2 * n; ++i) found.push_back(i * count + c);
    return found;
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
    return &quantity == &Quantity::torque_matrix || &quantity == &Quantity::jacobians ||
           &quantity == &Quantity::state_matrix || &quantity == &Quantity::input_matrix ||
           &quantity == &Quantity::tensor;
}

Entries entries(const Quantity& quantity, const Sizes& sizes) {
    if (&quantity == &Quantity::jacobians) return of_frames(sizes);
    if (&quantity == &Quantity::state_matrix) return state_matrix(sizes.tree);
    if (&quantity == &Quantity::input_matrix) return input_matrix(sizes);
    if (&quantity == &Quantity::tensor) return tensor(sizes.tree.independent);
    return related(sizes.tree.independent);
}

double store_patterns(Job& job, const Signature& signature, const CompiledTree& tree,
                      const Sizes& sizes, Shape* shapes, EntryList* lists) {
    double numbers = 0.0;
    for (int o = 0; o < job.noutputs; ++o) {
        const Quantity& quantity = *signature.outputs[o].quantity;
        Output& out = job.outputs[o];
        // The algorithm itself computes tensors on their pattern.
        if (has_pattern(quantity) && &quantity != &Quantity::tensor) {
            const auto make = [&] { return entries(quantity, sizes); };
            const bool kept =
                &quantity == &Quantity::torque_matrix || &quantity == &Quantity::state_matrix;
            if (!kept) lists[o] = EntryList(make());
            const EntryList& list = !kept ? lists[o]
                                    : &quantity == &Quantity::state_matrix
                                        ? tree.state_matrix_entries.get(make)
                                        : tree.related_entries.get(make);
            shapes[o] = {1, {list.count}};
            if (job.code) {  // code for this robot computes the entries alone
                out.size = list.count;
                out.spans = nullptr, out.nspans = 0;
            } else {
                out.entries = list.places.data(), out.nentries = list.count;
            }
        }
        numbers += static_cast<double>(out.stored());
    }
    if (numbers == 0.0) job.count = 0;
    return numbers;
}

}  // namespace dtau
