// Runs the functions of an instruction set: Runner.
#pragma once

#include "registry/function.hpp"

namespace dtau::DTAU_VARIANT {

// `groups` are the groups of this instruction set.
template <const auto& groups> struct Runner {
    static const Algorithms& chosen(const Function& function, const Tree& tree,
                                    const Options& options) {
        const Implementation& all = implementation_of(function);
        if (options.contacts && function.signature.optional_contacts) return all.constrained;
        return tree.mimic && all.for_mimic ? all.mimic : all.independent;
    }
    static bool has(const Function& function, ScalarKind scalar) {
        const Algorithms& independent = implementation_of(function).independent;
#ifdef DTAU_SCALAR
        return scalar == ScalarKind::recorded && independent.alone.apply;
#else
        return scalar == ScalarKind::real || independent.in_lanes.apply;
#endif
    }
    static void run(const Function& function, const Tree& tree, const Job& job,
                    std::ptrdiff_t begin, std::ptrdiff_t end) {
        DTAU_VARIANT::run(chosen(function, tree, *job.options), tree, job, begin, end);
    }
    static std::size_t scratch(const Function& function, const Tree& tree, const Job& job) {
        return scratch_bytes(chosen(function, tree, *job.options), tree, job);
    }

  private:
    static const Implementation& implementation_of(const Function& function) {
        return *static_cast<const Implementation*>(
            groups.at[function.group]->implementations[function.place]);
    }
};

}  // namespace dtau::DTAU_VARIANT
