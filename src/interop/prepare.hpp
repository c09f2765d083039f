// Prepares raw calls from Python: see raw_call.hpp.
#pragma once

#include <nanobind/nanobind.h>

namespace dtau {

void define_raw_calls(nanobind::module_& module);

}  // namespace dtau
