// Binds the functions that differentiate MuJoCo's steps.
#pragma once

#include <nanobind/nanobind.h>

namespace dtau {

void define_mujoco_steps(nanobind::module_& module);

}  // namespace dtau
