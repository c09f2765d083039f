// Declares the options of a call as its algorithms read them: Options. Plain data for all instruction sets.
#pragma once

#include "dtau/constraints.hpp"
#include "dtau/model.hpp"

namespace dtau {

// Which numbers of a result are stored: all, or numbers that can differ from zero.
enum class Layout { dense, pattern };

// A function reads only the options that it takes.
struct Options {
    // The order of the time derivatives: as requested, or from the length of the stacks.
    static constexpr int max_order = 100;
    int order = 0;

    const Frame* frames = nullptr;
    int nframes = 0;
    Axes axes = Axes::body;
    Axes wrench_axes = Axes::body;  // of external wrenches
    Acceleration acceleration = Acceleration::spatial;

    const bool* prescribed =
        nullptr;  // (independent nv) true: the motion is given; false: the torque

    Integrator integrator = Integrator::euler;
    DrivenTorques driven;

    bool symmetric = false;  // second derivatives by q in the exponential chart
    Layout layout = Layout::dense;

    bool joint_parameters = false;  // JointParameter are parameters too

    const Constraints* contacts = nullptr;
    double regularization = 0.0;  // R of the constraints: lets rows depend on each other
    bool forces = false;          // whether the contact forces are results too

    // Whether derivatives by these are results too.
    bool by_dt = false, by_f_ext = false, by_parameters = false;
    bool by_numbers = false;  // derivatives are by the numbers of q, not by tangents
};

}  // namespace dtau
