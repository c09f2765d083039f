// Inputs: q; v, its derivatives. Outputs: rotations, translations, twists, their derivatives.
#include "dtau/algorithms/time/kinematics.hpp"
#include "batch/run.hpp"

namespace dtau::DTAU_VARIANT {

using States = std::ptrdiff_t;

void kinematics_time_derivatives(const Tree& tree, const Job& job, States begin, States end) {
    run<Results::dense, TimeKinematicsWorkspace>(
        tree, job, begin, end,
        [&]<class T>(const Arguments<T>& x, const TimeKinematicsWorkspace<T>& w) {
            kinematics_time_derivatives(tree, job.order, x.in[0], x.in[1], x.out[0], x.out[1],
                                        x.out[2], w);
        });
}

}  // namespace dtau::DTAU_VARIANT
