#include "dispatch.hpp"

#include <cstdlib>
#include <stdexcept>

namespace dtau {

#if defined(__x86_64__)
namespace x86_64_v2 {
extern const KernelTable kernels;
}
namespace x86_64_v3 {
extern const KernelTable kernels;
}
namespace x86_64_v4 {
extern const KernelTable kernels;
}
#else
namespace baseline {
extern const KernelTable kernels;
}
#endif
namespace test_scalars {
extern const KernelTable kernels;
}

namespace {

struct InstructionSet {
    std::string name;
    const KernelTable* kernels;
    bool available;
};

// Best first.
const std::vector<InstructionSet>& compiled() {
#if defined(__x86_64__)
    __builtin_cpu_init();
    static const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                           __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
                           __builtin_cpu_supports("lzcnt") && __builtin_cpu_supports("movbe") &&
                           __builtin_cpu_supports("f16c");
    static const bool v4 = v3 && __builtin_cpu_supports("avx512f") &&
                           __builtin_cpu_supports("avx512bw") &&
                           __builtin_cpu_supports("avx512cd") &&
                           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    static const std::vector<InstructionSet> sets = {
        {"x86-64-v4", &x86_64_v4::kernels, v4},
        {"x86-64-v3", &x86_64_v3::kernels, v3},
        {"x86-64-v2", &x86_64_v2::kernels, bool(__builtin_cpu_supports("sse4.2"))},
    };
#else
    static const std::vector<InstructionSet> sets = {{"baseline", &baseline::kernels, true}};
#endif
    return sets;
}

const InstructionSet*& in_use() {
    static const InstructionSet* set = nullptr;
    return set;
}

std::string list(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
    return text.empty() ? "none" : text;
}

}  // namespace

const std::vector<std::string>& instruction_sets() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> available;
        for (const InstructionSet& set : compiled())
            if (set.available) available.push_back(set.name);
        return available;
    }();
    return names;
}

void use_instruction_set(const std::string& name) {
    for (const InstructionSet& set : compiled()) {
        if (set.name == name && set.available) {
            in_use() = &set;
            return;
        }
    }
    throw std::invalid_argument("instruction set '" + name +
                                "' is not to be had here: expected one of " +
                                list(instruction_sets()));
}

const std::string& instruction_set() {
    if (!in_use()) {
        if (instruction_sets().empty())
            throw std::runtime_error("dtau needs a processor with SSE 4.2");
        const char* wanted = std::getenv("DTAU_INSTRUCTION_SET");
        use_instruction_set(wanted && *wanted ? wanted : instruction_sets().front());
    }
    return in_use()->name;
}

const KernelTable& kernels() { return *in_use()->kernels; }
const KernelTable& test_kernels() { return test_scalars::kernels; }

}  // namespace dtau
