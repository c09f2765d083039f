// Reads and makes NumPy's arrays for the functions of MuJoCo's steps: ArrayReader, new_array().
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>

#include "mujoco/step.hpp"
#include "python/call.hpp"

namespace dtau::mujoco {

namespace nb = nanobind;

template <class X> constexpr int type_of = NPY_DOUBLE;
template <> constexpr int type_of<Index> = NPY_INTP;
template <> constexpr int type_of<std::int32_t> = NPY_INT32;

// Reads arrays from a list, in turn. An array of another type or size is an error of the package.
class ArrayReader {
  public:
    explicit ArrayReader(nb::handle arrays) : arrays_(nb::cast<nb::tuple>(arrays)) {}

    template <class X> const X* take(Index size) {
        const X* found = take_any<X>();
        if (size_ != size)
            throw std::invalid_argument("array " + std::to_string(place_ - 1) + ": expected " +
                                        std::to_string(size) + " numbers, got " +
                                        std::to_string(size_));
        return found;
    }
    template <class X> const X* take_any() {
        if (place_ == arrays_.size()) throw std::invalid_argument("expected more arrays");
        const nb::handle given = arrays_[place_++];
        if (!PyArray_CheckExact(given.ptr()) || PyArray_TYPE(array(given)) != type_of<X> ||
            !PyArray_IS_C_CONTIGUOUS(array(given)) || !PyArray_ISALIGNED(array(given)))
            throw std::invalid_argument("array " + std::to_string(place_ - 1) +
                                        ": expected a contiguous array of another type");
        size_ = PyArray_SIZE(array(given));
        return static_cast<const X*>(PyArray_DATA(array(given)));
    }
    // Takes an array of so many numbers for each of these pointers.
    template <class... X> void each(Index size, const X*&... to) { ((to = take<X>(size)), ...); }
    Lists lists(Index count) {
        const Index* starts = take<Index>(count + 1);
        return {starts, take<Index>(starts[count])};
    }
    Lengths lengths(Index count) {
        const Lists dofs = lists(count);
        const Index size = dofs.starts[count];
        const Index* numbers = take<Index>(size);
        return {dofs, numbers, take<double>(size)};
    }
    Index size() const { return size_; }

  private:
    nb::tuple arrays_;
    std::size_t place_ = 0;
    Index size_ = 0;
};

template <class X = double> const X* numbers(nb::handle given, Index size) {
    return ArrayReader(nb::make_tuple(given)).take<X>(size);
}
template <class X = double> const X* numbers_or_null(nb::handle given, Index size) {
    return given.is_none() ? nullptr : numbers<X>(given, size);
}

inline nb::object new_array(std::vector<npy_intp> shape, int type = NPY_DOUBLE) {
    nb::object result =
        nb::steal(PyArray_SimpleNew(static_cast<int>(shape.size()), shape.data(), type));
    if (!result.is_valid()) throw nb::python_error();
    return result;
}
template <class X = double> X* data(nb::handle object) {
    return static_cast<X*>(PyArray_DATA(array(object)));
}

// The array of numbers to write to, of which this axis must be there.
inline PyArrayObject* writable(nb::handle given, int axis) {
    ArrayReader(nb::make_tuple(given)).take_any<double>();
    if (PyArray_NDIM(array(given)) <= axis)
        throw std::invalid_argument("expected an array of " + std::to_string(axis + 1) +
                                    " axes or more");
    return array(given);
}

}  // namespace dtau::mujoco
