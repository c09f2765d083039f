// Runs slow batches on a thread of their own, so that an interrupted caller returns at once:
// run_watched().
#pragma once

#include <memory>

#include "batch/parallel.hpp"

namespace dtau {

// Does what run_parallel does on a thread of its own, while the calling thread polls for
// interruption. When interrupted it returns at once, and the states already begun are computed to
// their end. Everything they need must live as long as `owner`, which their thread releases after
// that.
void run_watched(const BatchWork& work, const Schedule& schedule,
                 std::shared_ptr<const void> owner);

}  // namespace dtau
