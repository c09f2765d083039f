// Declares why an algorithm has no results for a state: Failure. Plain data for all instruction sets.
#pragma once

namespace dtau {

struct Failure {
    enum class Cause {
        dependent_row,         // a row of the constraints depends on those before it
        rounding_errors,       // nothing but rounding errors moves a row
        lost_forces,           // rounding errors of rows that contradict each other, divided by R
        unreached_velocities,  // no forces of the constraints act on these velocities
        indefinite_weight,     // the weight of the inputs at a knot is not positive definite
    };
    static constexpr int most = 16;

    Cause cause;
    int count;         // how many rows or velocities
    int places[most];  // the first of them
    int stage;         // of a time step
};

}  // namespace dtau
