// Objects in messages, and the error of a call whose state has no results.
#pragma once

#include <string>
#include <string_view>

#include "batch/first_failure.hpp"
#include "python/call.hpp"

namespace dtau {

// Text as the object holds it; null for what is no text, or has no UTF-8.
std::string_view utf8(nanobind::handle object);

// The repr of an object; of NumPy's text that of the text, without its class.
nanobind::object plain_repr(nanobind::handle object);

// An object in a message, the first 80 letters of it.
std::string shown(nanobind::handle object);

// Raises ValueError if a call of one state failed: it names the rows of contacts, or the joints. A batch
// has NaN in the states that fail.
void require_success(const Work& work, const FirstFailure& first);

}  // namespace dtau
