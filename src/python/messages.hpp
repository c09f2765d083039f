// Formats objects for messages, and raises the error of a call without results: require_success().
#pragma once

#include <string>
#include <string_view>

#include "batch/first_failure.hpp"
#include "python/call.hpp"

namespace dtau {

// The UTF-8 text that a str object holds; null for other objects, and for text without UTF-8.
std::string_view utf8(nanobind::handle object);

// The repr of an object; NumPy's strings appear without their class.
nanobind::object plain_repr(nanobind::handle object);

// An object for a message: the first 80 characters of its repr.
std::string shown(nanobind::handle object);

// Raises ValueError if a call with one state failed, and names the constraint rows or the joints. A
// batch has NaN in its failed states instead.
void require_success(const Work& work, const FirstFailure& first);

}  // namespace dtau
