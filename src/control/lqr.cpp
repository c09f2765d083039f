// Solves linear-quadratic problems, one after the other: solve_lqr().
#include "control/lqr.hpp"

#include "batch/scratch.hpp"
#include "dtau/algorithms/solve/riccati.hpp"

namespace dtau::DTAU_VARIANT {
namespace {

RiccatiProblem problem_of(const LqrJob& job, std::ptrdiff_t number) {
    std::ptrdiff_t index[Job::max_axes], left = number;
    for (int axis = job.naxes - 1; axis >= 0; --axis) {
        index[axis] = left % job.shape[axis];
        left /= job.shape[axis];
    }
    const auto input = [&](int i) {
        const LqrInput& array = job.inputs[i];
        KnotArray found = {array.data, array.next};
        for (int axis = 0; found.data && axis < job.naxes; ++axis)
            found.data += index[axis] * array.stride[axis];
        return found;
    };
    const std::ptrdiff_t nx = job.nx, nu = job.nu, N = job.knots;
    const auto output = [&](int o, std::ptrdiff_t size) { return job.outputs[o] + number * size; };
    return {input(0),
            input(1),
            input(2),
            input(3),
            input(4),
            input(5),
            input(6),
            input(7),
            input(8),
            input(9),
            job.regularization,
            output(0, N * nu * nx),
            output(1, N * nu),
            output(2, (N + 1) * nx * nx),
            output(3, (N + 1) * nx),
            output(4, N + 1)};
}

}  // namespace

LqrSolver solve_lqr;  // declared again in compiled_sets.cpp
void solve_lqr(const LqrJob& job, std::ptrdiff_t begin, std::ptrdiff_t end) {
    Arena measured;
    RiccatiWorkspace(measured, job.nx, job.nu);
    Arena arena(scratch(measured.used()), measured.used());
    const RiccatiWorkspace workspace(arena, job.nx, job.nu);
    const auto stops = [&] { return job.stops(job.asked); };
    for (std::ptrdiff_t k = begin; k < end && !stops(); ++k)
        job.failed_knots[k] = riccati_backward(problem_of(job, k), job.knots, workspace,
                                               job.knots_between_looks, stops);
    trim_scratch();
}

}  // namespace dtau::DTAU_VARIANT
