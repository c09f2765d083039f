// Records the failure of the state with the lowest number: FirstFailure::report().
#include "batch/first_failure.hpp"

namespace dtau {

void FirstFailure::report(std::ptrdiff_t state, const Failure& failure) {
    const std::lock_guard lock(mutex_);
    if (state_ >= 0 && state_ <= state) return;
    state_ = state;
    failure_ = failure;
}

}  // namespace dtau
