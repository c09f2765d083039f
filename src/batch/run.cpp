// Runs an algorithm over a range of states: run() computes groups of states in lanes
// (run_in_lanes), or one state at a time (run_alone).
#include "batch/run.hpp"

#include "batch/run_alone.hpp"
#include "batch/run_in_lanes.hpp"

namespace dtau::DTAU_VARIANT {
namespace {

#if !defined(DTAU_TEST_SCALARS) && !defined(DTAU_RECORDED)
bool one_by_one(const Algorithms& algorithms, const Tree& tree, const Job& job) {
    return job.scalar == ScalarKind::alone || job.count == 1 || !algorithms.in_lanes.apply ||
           (algorithms.one_by_one && algorithms.one_by_one(tree, *job.options));
}

// The most states that take less time one by one than in lanes. A group of lanes takes as long as two
// lone states, and longer if its results leave the nearest cache, or a larger one.
std::ptrdiff_t few_states(const Job& job) {
    constexpr std::size_t nearest = 30'000, larger = 300'000;  // bytes
    std::size_t bytes = 0;
    for (int o = 0; o < job.noutputs; ++o) bytes += job.outputs[o].size * sizeof(Lane);
    return bytes < nearest ? 1 : bytes < larger ? 2 : 3;
}
#endif

}  // namespace

void run(const Algorithms& algorithms, const Tree& tree, const Job& job, std::ptrdiff_t begin,
         std::ptrdiff_t end) {
#if defined(DTAU_RECORDED)
    run_alone(algorithms.recorded, algorithms.results, recorded_tree(tree), job, begin, end);
#elif defined(DTAU_TEST_SCALARS)
    if (job.scalar == ScalarKind::complex)
        return run_alone(algorithms.complex, algorithms.results, tree, job, begin, end);
    run_alone(algorithms.counted, algorithms.results, tree, job, begin, end);
#else
    if (job.code && job.count == 1)
        return run_alone(robot_algorithm<double>, Results::dense, without_mimic_joints(tree), job,
                         begin, end);
    if (job.code)
        return run_in_lanes(robot_algorithm<Lane>, results_in_lanes(algorithms),
                            without_mimic_joints(tree), job, begin, end);
    std::ptrdiff_t whole = begin;  // the end of the groups in lanes
    if (!one_by_one(algorithms, tree, job)) {
        // Ordered states all stay in lanes.
        const std::ptrdiff_t rest = job.order ? 0 : (end - begin) % lanes;
        whole = rest <= few_states(job) ? end - rest : end;
    }
    if (begin < whole)
        run_in_lanes(algorithms.in_lanes, algorithms.results, tree, job, begin, whole);
    if (whole < end) run_alone(algorithms.alone, algorithms.results, tree, job, whole, end);
#endif
}

std::size_t scratch_bytes(const Algorithms& algorithms, const Tree& tree, const Job& job) {
#if defined(DTAU_RECORDED)
    return Scratch<Recorded>::bytes(algorithms.recorded, tree, job, false);
#elif defined(DTAU_TEST_SCALARS)
    if (job.scalar == ScalarKind::complex)
        return Scratch<Complex>::bytes(algorithms.complex, tree, job, false);
    return Scratch<Counted>::bytes(algorithms.counted, tree, job, false);
#else
    if (job.code)
        return Scratch<Lane>::bytes(robot_algorithm<Lane>, without_mimic_joints(tree), job, true);
    if (one_by_one(algorithms, tree, job))
        return Scratch<double>::bytes(algorithms.alone, tree, job, false);
    return Scratch<Lane>::bytes(algorithms.in_lanes, tree, job,
                                algorithms.results != Results::streamed);
#endif
}

}  // namespace dtau::DTAU_VARIANT
