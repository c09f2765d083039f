// Runs a function over a range of states, with the core behind code for one robot: run_states().
#include "registry/run_states.hpp"

#include <cmath>

namespace dtau {
namespace {

bool any_nan(const Job& job, std::ptrdiff_t state) {
    for (int o = 0; o < job.noutputs; ++o) {
        const std::ptrdiff_t size = job.outputs[o].stored();
        const double* const numbers =
            reinterpret_cast<const double*>(job.outputs[o].data) + state * size;
        double sum = 0.0;  // NaN if one of the numbers is not finite
        for (std::ptrdiff_t k = 0; k < size; ++k) sum += 0.0 * numbers[k];
        if (std::isnan(sum)) return true;
    }
    return false;
}

}  // namespace

void run_states(const FunctionList& list, const Function& function, const Tree& tree,
                const Job& job, std::ptrdiff_t begin, std::ptrdiff_t end) {
    list.run(function, tree, job, begin, end);
    if (!job.code || !job.options->contacts) return;
    Job core = job;
    core.code = nullptr;
    for (std::ptrdiff_t state = begin; state < end; ++state)  // which have no other order
        if (any_nan(job, state)) list.run(function, tree, core, state, state + 1);
}

}  // namespace dtau
