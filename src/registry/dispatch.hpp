// Selects the instruction set of the kernels: use_instruction_set(); functions() returns its
// functions.
#pragma once

#include <string>
#include <vector>

#include "control/lqr.hpp"
#include "mujoco/step.hpp"
#include "registry/signature.hpp"

namespace dtau {

// A compiled instruction set. CMake writes the table of them, from compiled_sets.cpp.in.
struct CompiledSet {
    const char* name;
    const FunctionList *functions, *pose_functions;
    LqrSolver* lqr_solver;
    const mujoco::Kernels* mujoco_kernels;
};
extern const CompiledSet compiled_sets[];  // best first
extern const int compiled_set_count;

// Names of the compiled instruction sets that this processor has, best first.
const std::vector<std::string>& instruction_sets();

// The instruction set in use. The first call selects the best one, or the one that the environment
// variable DTAU_INSTRUCTION_SET names. Throws std::runtime_error if this processor has none.
std::string instruction_set();
void use_instruction_set(const std::string& name);  // throws std::invalid_argument

// Of the instruction set in use.
const FunctionList& functions();
const FunctionList& pose_functions();  // without a model
LqrSolver* lqr_solver();
const mujoco::Kernels& mujoco_kernels();

}  // namespace dtau
