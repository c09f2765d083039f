// Describes a batch of linear-quadratic problems as an LqrJob, which an LqrSolver solves.
#pragma once

#include "batch/job.hpp"

namespace dtau {

// The inputs and results of RiccatiProblem, in its order. The spacing of an input is the distance
// between knots, 0 if all share the numbers; the numbers of a knot are contiguous.
struct LqrJob : Job {
    int nx, nu;
    std::ptrdiff_t knots;
    double regularization;
    double microseconds;  // estimate of a knot's time

    LqrJob() : Job(10, 5) {}
};

// Solves the problems begin ... end - 1 of an LqrJob. Reports a knot that fails as number
// problem * knots + knot. Ends by check_interruption().
using LqrSolver = void(const void* job, std::ptrdiff_t begin, std::ptrdiff_t end);

}  // namespace dtau
