// Binds the functions that differentiate MuJoCo's steps and copy its arrays.
#pragma once

#include <nanobind/nanobind.h>

namespace dtau {

void define_mujoco_steps(nanobind::module_& module);
void define_mujoco_copies(nanobind::module_& module);

}  // namespace dtau
