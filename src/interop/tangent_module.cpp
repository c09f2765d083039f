// Multiplies covectors by tangent maps from Python: TangentMap.pull_back().
#include "interop/tangent_module.hpp"

#include <utility>
#include <vector>

#include "interop/tangent_columns.hpp"
#include "python/call.hpp"

namespace nb = nanobind;

namespace dtau {
namespace {

class TangentMap {
  public:
    TangentMap(int nq, int nv, nb::list joints) : nq_(nq), nv_(nv) {
        std::vector<ManifoldJoint> at;
        for (nb::handle joint : joints)
            at.push_back({static_cast<ManifoldJoint::Kind>(nb::cast<int>(joint[0])),
                          nb::cast<int>(joint[1]), nb::cast<int>(joint[2])});
        columns_ = TangentColumns(nq, nv, std::move(at));
    }

    // Returns T(q)^T g (..., nq) for g (..., nv). q (..., nq) has the same batch axes as g, or none.
    nb::object pull_back(nb::handle q, nb::handle g) const {
        const nb::object at = contiguous(q, nq_), covectors = contiguous(g, nv_);
        PyArrayObject* a = array(covectors);
        const int axes = PyArray_NDIM(a) - 1;
        npy_intp shape[Job::max_axes + 1];
        for (int axis = 0; axis < axes; ++axis) shape[axis] = PyArray_DIM(a, axis);
        shape[axes] = nq_;
        const npy_intp count = PyArray_SIZE(a) / nv_,
                       stride = PyArray_NDIM(array(at)) > 1 ? nq_ : 0;
        if (stride && PyArray_SIZE(array(at)) != count * nq_)
            throw nb::value_error("q: expected the batch axes of the covectors, or none");
        nb::object result = nb::steal(PyArray_SimpleNew(axes + 1, shape, NPY_DOUBLE));
        if (!result.is_valid()) throw nb::python_error();
        const auto* from = static_cast<const double*>(PyArray_DATA(a));
        const auto* x = static_cast<const double*>(PyArray_DATA(array(at)));
        auto* to = static_cast<double*>(PyArray_DATA(array(result)));
        for (npy_intp k = 0; k < count; ++k)
            columns_.right(x + k * stride, from + k * nv_, 1, to + k * nq_);
        return result;
    }

  private:
    static nb::object contiguous(nb::handle given, int last) {
        nb::object result =
            nb::steal(PyArray_FROM_OTF(given.ptr(), NPY_DOUBLE, NPY_ARRAY_CARRAY_RO));
        if (!result.is_valid()) throw nb::python_error();
        const int axes = PyArray_NDIM(array(result));
        if (axes < 1 || PyArray_DIM(array(result), axes - 1) != last)
            throw nb::value_error("q, g: expected arrays (..., nq) and (..., nv)");
        return result;
    }

    int nq_, nv_;
    TangentColumns columns_;
};

}  // namespace

void define_tangent_map(nb::module_& m) {
    nb::class_<TangentMap>(m, "TangentMap")
        .def(nb::init<int, int, nb::list>(), nb::arg("nq"), nb::arg("nv"), nb::arg("joints"),
             nb::sig("def __init__(self, nq: int, nv: int, joints: list[tuple[int, int, int]]) -> "
                     "None"))
        .def("pull_back", &TangentMap::pull_back, nb::arg("q"), nb::arg("g"),
             nb::sig("def pull_back(self, q: NDArray[numpy.float64], g: NDArray[numpy.float64]) -> "
                     "NDArray[numpy.float64]"));
}

}  // namespace dtau
