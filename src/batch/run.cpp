// Runs an algorithm over a range of states: run() computes groups of states in lanes
// (run_groups), and the states that are left one at a time (run_alone).
#include "batch/run.hpp"

#include "batch/order.hpp"
#include "batch/run_alone.hpp"
#include "batch/run_in_lanes.hpp"

namespace dtau::DTAU_VARIANT {

#ifdef DTAU_SCALAR

namespace {

const Tree& tree_of(const Tree& tree, const auto*) { return tree; }
Tree tree_of(const Tree& tree, const Recorded*) { return recorded_tree(tree); }

}  // namespace

void run(const Algorithms& algorithms, const Tree& tree, const Job& job, std::ptrdiff_t begin,
         std::ptrdiff_t end) {
    run_alone(algorithms.alone, algorithms.results,
              tree_of(tree_of_call(tree, job), static_cast<Alone*>(nullptr)), job, begin, end);
}

std::size_t scratch_bytes(const Algorithms& algorithms, const Tree& tree, const Job& job) {
    return Scratch<Alone>::bytes(algorithms.alone, tree_of_call(tree, job), job, false);
}

#else

bool one_by_one(const Algorithms& algorithms, const Tree& tree, const Job& job) {
    if (job.code) return job.count == 1;
    return job.scalar == ScalarKind::alone || job.count == 1 || !algorithms.in_lanes.apply ||
           (converts(job) && algorithms.results == Results::streamed) ||
           (algorithms.one_by_one && algorithms.one_by_one(tree, *job.options));
}

std::ptrdiff_t begin_of_group(const Job& job, std::ptrdiff_t place) {
    while (job.order && place < job.count && !job.order[place].begins_group) ++place;
    return place;
}

std::ptrdiff_t end_of_groups(const Job& job, std::ptrdiff_t begin, std::ptrdiff_t end) {
    if (job.order) {
        while (begin < end && !job.order[begin].alone) ++begin;
        return begin;
    }
    // States of code for one robot all stay in lanes.
    const std::ptrdiff_t rest = job.code ? 0 : (end - begin) % lanes;
    return rest <= few_states(job, lanes) ? end - rest : end;
}

std::ptrdiff_t end_of_lone_states(const Job& job, std::ptrdiff_t begin, std::ptrdiff_t end) {
    if (!job.order) return end;
    while (begin < end && job.order[begin].alone) ++begin;
    return begin;
}

void run_groups(const Algorithms& algorithms, const Tree& tree, const Job& job,
                std::ptrdiff_t begin, std::ptrdiff_t end) {
    if (job.code)
        return run_in_lanes(robot_algorithm<Lane>, results_in_lanes(algorithms),
                            without_mimic_joints(tree), job, begin, end);
    run_in_lanes(algorithms.in_lanes, algorithms.results, tree_of_call(tree, job), job, begin, end);
}

std::size_t scratch_of_groups(const Algorithms& algorithms, const Tree& tree, const Job& job) {
    if (job.code)
        return Scratch<Lane>::bytes(robot_algorithm<Lane>, without_mimic_joints(tree), job, true);
    return Scratch<Lane>::bytes(algorithms.in_lanes, tree_of_call(tree, job), job,
                                algorithms.results != Results::streamed);
}

#ifndef DTAU_LONE_STATES  // where another instruction set runs lone states: registry/lanes_only.hpp
void run(const Algorithms& algorithms, const Tree& tree, const Job& job, std::ptrdiff_t begin,
         std::ptrdiff_t end) {
    run_by_turns(algorithms, tree, job, begin, end, [&](std::ptrdiff_t first, std::ptrdiff_t stop) {
        if (job.code)
            return run_alone(robot_algorithm<double>, Results::dense, without_mimic_joints(tree),
                             job, first, stop);
        run_alone(algorithms.alone, algorithms.results, tree_of_call(tree, job), job, first, stop);
    });
}

std::size_t scratch_bytes(const Algorithms& algorithms, const Tree& tree, const Job& job) {
    if (!one_by_one(algorithms, tree, job) || job.code)
        return scratch_of_groups(algorithms, tree, job);
    return Scratch<double>::bytes(algorithms.alone, tree_of_call(tree, job), job, false);
}
#endif

#endif

}  // namespace dtau::DTAU_VARIANT
