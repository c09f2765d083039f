// Input: q. Outputs: rotations and translations, or Jacobians.
#include "dtau/algorithms/values/placements.hpp"
#include "batch/run.hpp"

namespace dtau::DTAU_VARIANT {

void forward_kinematics(const Tree& tree, const Job& job, std::ptrdiff_t begin,
                        std::ptrdiff_t end) {
    run<Results::dense, PlacementsWorkspace>(
        tree, job, begin, end,
        [&]<class T>(const Arguments<T>& x, const PlacementsWorkspace<T>& w) {
            forward_kinematics(tree, x.in[0], x.out[0], x.out[1], w);
        });
}

void frame_placements(const Tree& tree, const Job& job, std::ptrdiff_t begin, std::ptrdiff_t end) {
    run<Results::dense, PlacementsWorkspace>(
        tree, job, begin, end,
        [&]<class T>(const Arguments<T>& x, const PlacementsWorkspace<T>& w) {
            frame_placements(tree, job.frames, job.nframes, x.in[0], x.out[0], x.out[1], w);
        });
}

void frame_jacobians(const Tree& tree, const Job& job, std::ptrdiff_t begin, std::ptrdiff_t end) {
    run<Results::sparse, PlacementsWorkspace>(
        tree, job, begin, end,
        [&]<class T>(const Arguments<T>& x, const PlacementsWorkspace<T>& w) {
            frame_jacobians(tree, job.frames, job.nframes, job.axes, x.in[0], x.out[0], w);
        });
}

void wrench_at_frame(const Tree& tree, const Job& job, std::ptrdiff_t begin, std::ptrdiff_t end) {
    run<Results::sparse, PlacementsWorkspace>(
        tree, job, begin, end,
        [&]<class T>(const Arguments<T>& x, const PlacementsWorkspace<T>& w) {
            wrench_at_frame(tree, job.frames[0], job.axes, x.in[0], x.in[1], x.out[0], w);
        });
}

}  // namespace dtau::DTAU_VARIANT
