// Solves linear-quadratic problems, one after the other: solve_lqr().
#include "control/lqr.hpp"

#include "batch/application.hpp"
#include "batch/first_failure.hpp"
#include "batch/interruption.hpp"
#include "dtau/algorithms/solve/riccati.hpp"

namespace dtau::DTAU_VARIANT {

LqrSolver solve_lqr;  // declared again in compiled_sets.cpp
void solve_lqr(const void* lqr_job, std::ptrdiff_t begin, std::ptrdiff_t end) {
    const LqrJob& job = *static_cast<const LqrJob*>(lqr_job);
    Arena measured;
    RiccatiWorkspace(measured, job.nx, job.nu);
    Arena arena(scratch(measured.used()), measured.used());
    const RiccatiWorkspace workspace(arena, job.nx, job.nu);
    const auto look = [&] { check_interruption(job.microseconds); };
    Cursor cursor(job, begin);
    for (std::ptrdiff_t k = begin; k < end; ++k, cursor.next()) {
        const auto in = [&](int i) { return KnotArray{cursor[i], job.inputs[i].spacing}; };
        const auto out = [&](int o) {
            return reinterpret_cast<double*>(job.outputs[o].data) + k * job.outputs[o].size;
        };
        const RiccatiProblem problem = {in(0),
                                        in(1),
                                        in(2),
                                        in(3),
                                        in(4),
                                        in(5),
                                        in(6),
                                        in(7),
                                        in(8),
                                        in(9),
                                        job.regularization,
                                        out(0),
                                        out(1),
                                        out(2),
                                        out(3),
                                        out(4)};
        const std::ptrdiff_t failed = riccati_backward(problem, job.knots, workspace, look);
        if (failed >= 0)
            job.failure->report(k * job.knots + failed,
                                {Failure::Cause::indefinite_weight, 0, {}, 0});
    }
}

}  // namespace dtau::DTAU_VARIANT
