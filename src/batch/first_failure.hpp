// Records the first state of a job without results, and why: FirstFailure, the status of the job.
#pragma once

#include <cstddef>
#include <mutex>

#include "dtau/failure.hpp"

namespace dtau {

class FirstFailure {
  public:
    // Any thread may report at any time. The state with the lowest number is kept.
    void report(std::ptrdiff_t state, const Failure& failure);

    // Read it when the job is done. A negative state: all states have results.
    std::ptrdiff_t state() const { return state_; }
    const Failure& failure() const { return failure_; }

  private:
    std::mutex mutex_;
    std::ptrdiff_t state_ = -1;
    Failure failure_;
};

}  // namespace dtau
