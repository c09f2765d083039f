// Raw calls as Python prepares them.
#pragma once

#include <nanobind/nanobind.h>

namespace dtau {

void define_raw_calls(nanobind::module_& module);

}  // namespace dtau
