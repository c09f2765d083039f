// Describes the patterns of results for Python: see registry/patterns.hpp.
#pragma once

#include <nanobind/nanobind.h>

namespace dtau {

void define_patterns(nanobind::module_& module);

}  // namespace dtau
