// Runs the functions of an instruction set that has kernels for groups of lanes alone: LanesOnly. The
// set DTAU_LONE_STATES computes its lone states, and those that a batch computes one by one. Both give
// a state the same bits, and for one state wider vectors are of no use.
#pragma once

#include <functional>

#include "registry/function.hpp"

namespace dtau::DTAU_VARIANT {

// `lone` is the list of the other set. Callers see its functions; `groups` has those in lanes, in the
// same order.
template <const FunctionList& lone, const auto& groups>
struct LanesOnly {
    static void run(const Function& function, const Tree& tree, const Job& job,
                    std::ptrdiff_t begin, std::ptrdiff_t end) {
        if (job.count == 1) return lone.run(function, tree, job, begin, end);
        const Algorithms& algorithms = chosen(in_lanes(function), tree, *job.options);
        const std::ptrdiff_t whole = end_of_groups(algorithms, tree, job, begin, end);
        if (begin < whole) run_groups(algorithms, tree, job, begin, whole);
        if (whole < end) lone.run(function, tree, one_by_one(job), whole, end);
    }
    static std::size_t scratch(const Function& function, const Tree& tree, const Job& job) {
        const Algorithms& algorithms = chosen(in_lanes(function), tree, *job.options);
        if (DTAU_VARIANT::one_by_one(algorithms, tree, job))
            return lone.scratch(function, tree, one_by_one(job));
        return scratch_of_groups(algorithms, tree, job);
    }
    static bool has(const Function& function, ScalarKind scalar) {
        return DTAU_VARIANT::has(in_lanes(function), scalar);
    }

  private:
    static const Function& in_lanes(const Function& function) {
        for (int g = 0;; ++g) {
            const FunctionGroup& group = *lone.groups[g];
            const Function* const end = group.functions + group.count;
            if (std::less_equal()(group.functions, &function) && std::less()(&function, end))
                return groups.at[g]->functions[&function - group.functions];
        }
    }
    static Job one_by_one(const Job& job) {
        Job alone = job;
        alone.scalar = ScalarKind::alone;
        return alone;
    }
};

}  // namespace dtau::DTAU_VARIANT
