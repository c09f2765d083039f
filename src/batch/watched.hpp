// Work over a batch whose states take long: its caller does not wait for their end when it is interrupted.
#pragma once

#include <memory>

#include "batch/parallel.hpp"

namespace dtau {

// As run_parallel, on a thread of its own, while the calling one asks whether it is interrupted. Then
// it returns at once, and states that were begun are computed to their end. What they need must live
// as long as `owner`, which their thread lets go after that.
void run_watched(const BatchWork& work, const Schedule& schedule,
                 std::shared_ptr<const void> owner);

}  // namespace dtau
