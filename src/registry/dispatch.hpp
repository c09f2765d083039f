// Chooses the instruction set.
#pragma once

#include <string>
#include <vector>

#include "registry/signature.hpp"

namespace dtau {

// An instruction set that was compiled, in the file that CMake makes of compiled_sets.cpp.in.
struct CompiledSet {
    const char* name;
    const FunctionList* functions;
};
extern const CompiledSet compiled_sets[];  // best first
extern const int compiled_set_count;

// Names of those that this processor has, best first.
const std::vector<std::string>& instruction_sets();

// The one in use; at import the best one, or the one that DTAU_INSTRUCTION_SET names. Throws
// std::runtime_error if this processor has none of them.
std::string instruction_set();
void use_instruction_set(const std::string& name);  // throws std::invalid_argument

const FunctionList& functions();  // of the instruction set in use

}  // namespace dtau
