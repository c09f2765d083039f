// Finds the code that serves a job: CompiledTree::code() compares its options.
#include <algorithm>

#include "tree/compiled_tree.hpp"

namespace dtau {
namespace {

template <std::size_t n> bool same(const double (&a)[n], const double (&b)[n]) {
    return std::equal(a, a + n, b);
}

bool same(const Frame& a, const Frame& b) {
    return a.body == b.body && same(a.rotation, b.rotation) && same(a.translation, b.translation);
}

// Of one tree, or of equal trees: the other members follow from these.
bool same(const Constraint& a, const Constraint& b) {
    return same(a.a, b.a) && same(a.b, b.b) && a.count == b.count && a.hinge == b.hinge &&
           a.axes == b.axes && a.spatial == b.spatial && a.kp == b.kp && a.kd == b.kd &&
           a.held_by_call == b.held_by_call;
}

bool same(const Constraints* a, const Constraints* b) {
    if (a == b) return true;
    return a && b && a->count == b->count &&
           std::equal(a->at, a->at + a->count, b->at,
                      [](const Constraint& x, const Constraint& y) { return same(x, y); });
}

// Whether code for options `b` serves options `a`. Options with other pointers have no code, except
// `driven`, whose columns belong to the tree; neither have options of `by`, which dtau.compile refuses.
// The binding names all members, so that a new member does not compile before it is added.
bool same(const Options& a, const Options& b) {
    const auto& [order, frames, nframes, axes, wrench_axes, acceleration, prescribed, integrator,
                 driven, symmetric, layout, joint_parameters, contacts, regularization, forces,
                 by_dt, by_f_ext, by_parameters, by_numbers] = a;
    return !frames && !prescribed && !by_dt && !by_f_ext && !by_parameters &&
           by_numbers == b.by_numbers && driven.columns == b.driven.columns &&
           driven.count == b.driven.count && order == b.order && axes == b.axes &&
           wrench_axes == b.wrench_axes && acceleration == b.acceleration &&
           integrator == b.integrator && symmetric == b.symmetric && layout == b.layout &&
           joint_parameters == b.joint_parameters && same(contacts, b.contacts) &&
           regularization == b.regularization && forces == b.forces;
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
