#include "tree/compiled_tree.hpp"

namespace dtau {
namespace {

// Options that point to something else have no code, but for the torques that drive a robot by
// themselves, which are the tree's.
bool same(const Options& a, const Options& b) {
    return !a.frames && !a.prescribed && !a.contacts && a.driven.columns == b.driven.columns &&
           a.driven.count == b.driven.count && a.order == b.order && a.axes == b.axes &&
           a.wrench_axes == b.wrench_axes && a.acceleration == b.acceleration &&
           a.integrator == b.integrator && a.symmetric == b.symmetric && a.packed == b.packed &&
           a.joint_parameters == b.joint_parameters;
}

bool same_inputs(const RobotFunction& code, const Job& job) {
    for (int i = 0; i < job.ninputs; ++i)
        if (code.given[i] != (job.in[i].data != nullptr)) return false;
    return true;
}

}  // namespace

const RobotCode* CompiledTree::code(const char* function, int lanes, const Job& job) const {
    for (const RobotFunction& code : codes_)
        if (code.lanes == lanes && code.function == function && same(job.options, code.options) &&
            same_inputs(code, job))
            return &code.code;
    return nullptr;
}

}  // namespace dtau
