// Multiplies covectors by tangent maps from Python: TangentMap.
#pragma once

#include <nanobind/nanobind.h>

namespace dtau {

void define_tangent_map(nanobind::module_& module);

}  // namespace dtau
