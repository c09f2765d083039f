// The error of a call whose state has no results; messages.cpp also has the texts of shapes and objects.
#pragma once

#include "batch/first_failure.hpp"
#include "python/call.hpp"

namespace dtau {

// Raises ValueError if a call of one state failed: it names the rows of contacts, or the joints. A batch
// has NaN in the states that fail.
void require_success(const Work& work, const FirstFailure& first);

}  // namespace dtau
