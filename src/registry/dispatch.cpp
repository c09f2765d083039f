// Selects the instruction set of the kernels by asking the processor: use_instruction_set(),
// instruction_set().
#include "registry/dispatch.hpp"

#include <atomic>
#include <cstdlib>
#include <stdexcept>

#include "batch/stores.hpp"

namespace dtau {
namespace {

struct ProcessorSet {
    std::string name;
    bool available;
};

// Best first.
std::vector<ProcessorSet> sets_of_processor() {
#if defined(__x86_64__)
    __builtin_cpu_init();
    const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
                    __builtin_cpu_supports("lzcnt") && __builtin_cpu_supports("movbe") &&
                    __builtin_cpu_supports("f16c");
    const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                    __builtin_cpu_supports("avx512vl");
    return {{"x86-64-v4", v4},
            {"x86-64-v3", v3},
            {"x86-64-v2", bool(__builtin_cpu_supports("sse4.2"))}};
#else
    return {{"baseline", true}};
#endif
}

bool processor_has(const std::string& name) {
    static const std::vector<ProcessorSet> sets = sets_of_processor();
    for (const ProcessorSet& set : sets)
        if (set.name == name) return set.available;
    return false;
}

std::string best_of_processor() {
    for (const ProcessorSet& set : sets_of_processor())
        if (set.available) return set.name;
    return "no instruction set that dtau supports";
}

std::atomic<const CompiledSet*> in_use = nullptr;

std::string list(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
    return text;
}

}  // namespace

const std::vector<std::string>& instruction_sets() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> available;
        for (int k = 0; k < compiled_set_count; ++k)
            if (processor_has(compiled_sets[k].name)) available.push_back(compiled_sets[k].name);
        return available;
    }();
    return names;
}

void use_instruction_set(const std::string& name) {
    for (int k = 0; k < compiled_set_count; ++k) {
        if (compiled_sets[k].name == name && processor_has(name)) {
            in_use = &compiled_sets[k];
            return;
        }
    }
    throw std::invalid_argument("instruction set: expected one of " + list(instruction_sets()) +
                                ", got '" + name +
                                "'; the CMake option DTAU_INSTRUCTION_SETS selects which to "
                                "compile, and the processor must have them");
}

std::string instruction_set() {
    if (!in_use) {
        if (instruction_sets().empty()) {
            std::vector<std::string> compiled;
            for (int k = 0; k < compiled_set_count; ++k) compiled.push_back(compiled_sets[k].name);
            throw std::runtime_error(
                "dtau was compiled for " + list(compiled) + ", and this processor has " +
                best_of_processor() +
                "; install it from source on this machine, or anywhere with the CMake option "
                "DTAU_INSTRUCTION_SETS=all");
        }
        const char* wanted = std::getenv("DTAU_INSTRUCTION_SET");
        use_instruction_set(wanted && *wanted ? wanted : instruction_sets().front());
        use_stores_of_environment();
    }
    return in_use.load()->name;
}

const FunctionList& functions() { return *in_use.load(std::memory_order_acquire)->functions; }
const FunctionList& pose_functions() {
    return *in_use.load(std::memory_order_acquire)->pose_functions;
}
LqrSolver* lqr_solver() { return in_use.load(std::memory_order_acquire)->lqr_solver; }
const mujoco::Kernels& mujoco_kernels() {
    return *in_use.load(std::memory_order_acquire)->mujoco_kernels;
}

}  // namespace dtau
