// Binds the functions with which the MJCF reader collects MuJoCo's warnings.
#pragma once

#include <nanobind/nanobind.h>

namespace dtau {

void define_mujoco_warnings(nanobind::module_& module);

}  // namespace dtau
