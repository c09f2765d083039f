// Chooses threads and chunks for the states of a batch: split_batch().
#include "registry/split_batch.hpp"

#include <algorithm>
#include <cmath>

#include "batch/system.hpp"

namespace dtau {
namespace {

// Estimates the cost of a state in nanoseconds: a share for every body and every number of the
// result, and for solving with the mass matrix.
double price(const Signature& signature, const Tree& tree, const Options& options, double numbers) {
    return 15.0 * (1.0 + options.order) * tree.nnodes +
           numbers * (signature.solves ? 0.1 * tree.nv : 0.5);
}

}  // namespace

BatchSplit split_batch(const Signature& signature, const Tree& tree, const Options& options,
                       int lanes, std::ptrdiff_t count, int threads, double numbers) {
    return split_batch(price(signature, tree, options, numbers), lanes, count, threads);
}

BatchSplit split_batch(double state, int lanes, std::ptrdiff_t count, int threads) {
    // Nanoseconds. The calling thread wakes the others one after the other. So a batch of w takes
    // w / n + n waking, the least with n = sqrt(w / waking).
    constexpr double worth_threads = 200e3, waking = 2.5e3;
    if (count == 1) return {1, 1, state};
    if (threads == 0) {
        const double work = state * static_cast<double>(count);
        threads = work < worth_threads ? 1
                                       : static_cast<int>(std::min<double>(std::sqrt(work / waking),
                                                                           available_processors()));
    }
    // A chunk takes at most about a millisecond, so that signals are seen soon, and has whole
    // groups of lanes. Threads that start late still find work.
    const std::ptrdiff_t group = lanes;
    std::ptrdiff_t chunk = static_cast<std::ptrdiff_t>(1e6 / std::max(state, 1.0));
    if (threads > 1) chunk = std::min(chunk, count / (8 * threads) + 1);
    chunk = std::max<std::ptrdiff_t>(1, (chunk + group - 1) / group) * group;
    const std::ptrdiff_t useful = (count + chunk - 1) / chunk;
    return {static_cast<int>(std::min<std::ptrdiff_t>(threads, useful)), chunk, state};
}

}  // namespace dtau
