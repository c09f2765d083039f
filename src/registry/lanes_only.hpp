// Runs the functions of an instruction set that has kernels for groups of lanes alone: LanesOnly. The
// set DTAU_LONE_STATES computes its lone states, and states that a batch computes one by one. Both give
// a state the same bits, and for one state wider vectors are of no use.
#pragma once

#include "registry/runner.hpp"

namespace dtau::DTAU_VARIANT {

// `lone` is the list of the other set, `groups` are the groups of this one.
template <const FunctionList& lone, const auto& groups> struct LanesOnly {
    static void run(const Function& function, const Tree& tree, const Job& job,
                    std::ptrdiff_t begin, std::ptrdiff_t end) {
        if (job.count == 1) return lone.run(function, tree, job, begin, end);
        const Algorithms& algorithms = Runner<groups>::chosen(function, tree, *job.options);
        run_by_turns(algorithms, tree, job, begin, end,
                     [&](std::ptrdiff_t first, std::ptrdiff_t stop) {
                         lone.run(function, tree, one_by_one(job), first, stop);
                     });
    }
    static std::size_t scratch(const Function& function, const Tree& tree, const Job& job) {
        const Algorithms& algorithms = Runner<groups>::chosen(function, tree, *job.options);
        if (DTAU_VARIANT::one_by_one(algorithms, tree, job))
            return lone.scratch(function, tree, one_by_one(job));
        return scratch_of_groups(algorithms, tree, job);
    }

  private:
    static Job one_by_one(const Job& job) {
        Job alone = job;
        alone.scalar = ScalarKind::alone;
        return alone;
    }
};

}  // namespace dtau::DTAU_VARIANT
