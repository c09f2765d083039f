// The functions by which the reader of MJCF hears MuJoCo's warnings.
#pragma once

#include <nanobind/nanobind.h>

namespace dtau {

void define_mujoco_warnings(nanobind::module_& module);

}  // namespace dtau
