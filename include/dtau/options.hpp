// What a function takes beside its arrays, as its algorithms read it. Plain data for all instruction
// sets.
#pragma once

#include "dtau/constraints.hpp"
#include "dtau/model.hpp"

namespace dtau {

// An option that a function does not take is not read.
struct Options {
    // The order of the time derivatives: as asked for, or what the length of the stacks says.
    static constexpr int max_order = 100;
    int order = 0;

    const Frame* frames = nullptr;
    int nframes = 0;
    Axes axes = Axes::body;
    Axes wrench_axes = Axes::body;  // of external wrenches
    Acceleration acceleration = Acceleration::spatial;

    const bool* prescribed = nullptr;  // (independent nv) whose motion is given, and not its torque

    Integrator integrator = Integrator::euler;
    DrivenTorques driven;

    // Of second derivatives: by q, those in the exponential chart; tensors in the packed form.
    bool symmetric = false, packed = false;

    bool joint_parameters = false;  // armature and damping are parameters too

    const Constraints* contacts = nullptr;
    double regularization = 0.0;  // of their forces, where rows may depend on each other
    bool forces = false;          // whether their forces are results, too
};

}  // namespace dtau
