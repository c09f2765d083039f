// What functions take before their arrays, as Python gives it: frames, integrators, inputs.
#pragma once

#include <array>
#include <string>
#include <variant>

#include <nanobind/ndarray.h>

#include "python/call.hpp"

namespace dtau {

namespace nb = nanobind;

template <class X, int... Shape>
using Rows = nb::ndarray<const X, nb::shape<-1, Shape...>, nb::c_contig, nb::device::cpu>;

template <std::size_t N, class Array>
std::array<double, N> row(const Array& a, std::size_t i) {
    std::array<double, N> result;
    for (std::size_t k = 0; k < N; ++k) result[k] = a.data()[i * N + k];
    return result;
}

// None: the torques of all joints but free roots; indices of torques; or a map (nv, ninputs).
using GivenColumns = nb::ndarray<const std::int32_t, nb::shape<-1>, nb::c_contig, nb::device::cpu>;
using GivenMap = nb::ndarray<const double, nb::shape<-1, -1>, nb::c_contig, nb::device::cpu>;
using GivenInputs = std::variant<std::monostate, GivenColumns, GivenMap>;

FrameList frame_list(Rows<std::int32_t> bodies, Rows<double, 3, 3> rotation,
                     Rows<double, 3> translation, Axes axes, bool single, nb::handle model);
Integrator integrator(const std::string& name);
void choose_inputs(Choices& choices, const GivenInputs& inputs, nb::handle model);

}  // namespace dtau
