// Describes a batch of linear-quadratic problems as an LqrJob, which an LqrSolver solves.
#pragma once

#include "batch/job.hpp"

namespace dtau {

// The inputs of a batch in the order of RiccatiProblem. The last two have no axis of knots.
struct LqrInput {
    const char* data = nullptr;
    std::ptrdiff_t next = 0;               // bytes from one knot to the next
    std::ptrdiff_t stride[Job::max_axes];  // bytes, for each of the batch axes
};

struct LqrJob {
    static constexpr int ninputs = 10, noutputs = 5;

    int nx, nu;
    std::ptrdiff_t knots;
    double regularization;
    int naxes = 0;
    std::ptrdiff_t shape[Job::max_axes];
    std::ptrdiff_t count = 1;  // problems
    LqrInput inputs[ninputs];
    double* outputs[noutputs];     // K, kappa, P, p, s, contiguous
    std::ptrdiff_t* failed_knots;  // of each problem; -1: solved
    // Whether the work ends early, asked before every problem and after so many knots of it.
    bool (*stops)(void* asked);
    void* asked;
    std::ptrdiff_t knots_between_looks;
};

// Solves the problems begin ... end - 1.
using LqrSolver = void(const LqrJob& job, std::ptrdiff_t begin, std::ptrdiff_t end);

}  // namespace dtau
