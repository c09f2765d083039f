// Exports the library of baselines through plain C: open_tree(), and run(), which applies a function to
// states by its name.
//
// The package's own code compiles the trees and runs the states in lanes (src/tree, src/batch). With
// DTAU_SCALAR the library has complex or counted numbers instead.
#include <cstdio>
#include <cstring>
#include <exception>
#include <optional>
#include <vector>

#include "batch/run.hpp"
#include "functions.hpp"
#include "tree/compiled_tree.hpp"

namespace {

using namespace dtau;
using namespace dtau::DTAU_VARIANT;

template <std::size_t n> std::array<double, n> row(const double* x, int i) {
    std::array<double, n> r;
    for (std::size_t k = 0; k < n; ++k) r[k] = x[i * n + k];
    return r;
}

struct Found {
    const Signature& signature;
    const void* implementation;
};

std::optional<Found> find(const char* name) {
    for (const FunctionGroup* group : {&baseline_values, &baseline_inverse, &baseline_forward})
        for (int k = 0; k < group->count; ++k)
            if (!std::strcmp(group->signatures[k].name, name))
                return Found{group->signatures[k], group->implementations[k]};
    return std::nullopt;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

// Compiles a tree; matrices by rows, every joint independent. Returns null and prints a message for an
// invalid tree.
const void* open_tree(int nbodies, const int* kind, const int* parent, const double* rotation,
                      const double* translation, const double* axis, const double* pitch,
                      const double* mass, const double* com, const double* tensor, int nv,
                      const double* armature, const double* damping, const double* gravity,
                      char* message, std::size_t room) {
    try {
        std::vector<BodyDescription> bodies(nbodies);
        for (int i = 0; i < nbodies; ++i)
            bodies[i] = {static_cast<JointKind>(kind[i]),
                         parent[i],
                         i,
                         -1,
                         1.0,
                         0.0,
                         row<9>(rotation, i),
                         row<3>(translation, i),
                         row<3>(axis, i),
                         pitch[i],
                         mass[i],
                         row<3>(com, i),
                         row<9>(tensor, i)};
        return new CompiledTree(bodies, std::vector<std::string>(nbodies), {},
                                {armature, armature + nv}, {damping, damping + nv},
                                row<3>(gravity, 0));
    } catch (const std::exception& error) {
        std::snprintf(message, room, "%s", error.what());
        return nullptr;
    }
}

void close_tree(const void* tree) { delete static_cast<const CompiledTree*>(tree); }

// Applies a function `passes` times to all states, rows of q, v and x (its third input); results:
// contiguous, one array each. False if there is no such function.
bool run(const void* compiled, const char* name, int element, std::ptrdiff_t states, const void* q,
         const void* v, const void* x, void* const* results, std::ptrdiff_t passes) {
    const std::optional<Found> function = find(name);
    if (!function) return false;
    const Tree& tree = static_cast<const CompiledTree*>(compiled)->tree();
    const Signature& signature = function->signature;
    const Options options;
    Job job(signature.ninputs, signature.noutputs);
    job.options = &options;
    job.scalar = static_cast<ScalarKind>(element);
    constexpr std::ptrdiff_t number = sizeof(Alone);
    job.naxes = 1, job.shape[0] = job.count = states;
    const void* const given[] = {q, v, x};
    for (int i = 0; i < job.ninputs; ++i) {
        Input& input = job.inputs[i];
        input.data = static_cast<const char*>(given[i]);
        input.size = i == 0 ? tree.nq : tree.nv;
        input.spacing = number;
        input.stride[0] = input.size * number;
    }
    for (int o = 0; o < job.noutputs; ++o) {
        const Quantity* const quantity = signature.outputs[o].quantity;
        const std::ptrdiff_t n = tree.nv;
        job.outputs[o].data = static_cast<char*>(results[o]);
        job.outputs[o].size =
            quantity == &Quantity::matrix || quantity == &Quantity::torque_matrix ? n * n : n;
        if (quantity == &Quantity::torque_matrix)
            job.outputs[o].spans = tree.related, job.outputs[o].nspans = tree.nrelated;
    }
    const auto* implementation = static_cast<const Implementation*>(function->implementation);
    for (std::ptrdiff_t pass = 0; pass < passes; ++pass)
        dtau::DTAU_VARIANT::run(implementation->independent, tree, job, 0, states);
    return true;
}

// Multiplications, additions and divisions since the last call.
void take_counts(long long* to) {
    const OperationCounts counts = Counted::counts;
    Counted::counts = {};
    to[0] = counts.multiplications, to[1] = counts.additions, to[2] = counts.divisions;
}

}  // extern "C"
#pragma GCC visibility pop
