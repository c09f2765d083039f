// Finds the code that serves a job: CompiledTree::code() compares its options.
#include "tree/compiled_tree.hpp"

namespace dtau {
namespace {

// Whether code for options `b` serves options `a`. Options with pointers have no code, except
// `driven`, whose columns belong to the tree. The binding names all members, so that a new member
// does not compile before it is added.
bool same(const Options& a, const Options& b) {
    const auto& [order, frames, nframes, axes, wrench_axes, acceleration, prescribed, integrator,
                 driven, symmetric, layout, joint_parameters, contacts, regularization, forces] = a;
    return !frames && !prescribed && !contacts && !forces && driven.columns == b.driven.columns &&
           driven.count == b.driven.count && order == b.order && axes == b.axes &&
           wrench_axes == b.wrench_axes && acceleration == b.acceleration &&
           integrator == b.integrator && symmetric == b.symmetric && layout == b.layout &&
           joint_parameters == b.joint_parameters;
}

bool same_inputs(const RobotFunction& code, const Job& job) {
    for (int i = 0; i < job.ninputs; ++i)
        if (code.given[i] != (job.inputs[i].data != nullptr)) return false;
    return true;
}

}  // namespace

const RobotCode* CompiledTree::code(const char* function, int lanes, const Job& job) const {
    for (const RobotFunction& code : codes_)
        if (code.lanes == lanes && code.function == function && same(*job.options, code.options) &&
            same_inputs(code, job))
            return &code.code;
    return nullptr;
}

}  // namespace dtau
