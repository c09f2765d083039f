// Reads tensors of another library as NumPy's arrays: TensorReader, for Python.
#pragma once

#include <nanobind/nanobind.h>

namespace dtau {

void define_tensor_reader(nanobind::module_& module);

}  // namespace dtau
