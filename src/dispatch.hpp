// Chooses the instruction set.
#pragma once

#include <string>
#include <vector>

#include "functions/table.hpp"

namespace dtau {

// Names of the instruction sets that were compiled and that this processor has, best first.
const std::vector<std::string>& instruction_sets();

// The one in use; at import the best one, or the one that DTAU_INSTRUCTION_SET names.
const std::string& instruction_set();
void use_instruction_set(const std::string& name);  // throws std::invalid_argument

const KernelTable& kernels();       // of the instruction set in use
const KernelTable& test_kernels();  // for complex and counted numbers, and for them alone

}  // namespace dtau
