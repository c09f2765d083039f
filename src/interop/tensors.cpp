// Reads tensors of another library as NumPy's arrays that share their memory: TensorReader. It
// takes a tenth of the time of the library's own conversion.
#include "python/bindings.hpp"

#include <algorithm>

#include "batch/job.hpp"
#include "interop/dlpack.hpp"
#include "python/call.hpp"
#include "python/lock.hpp"

namespace nb = nanobind;

namespace dtau {
namespace {

class TensorReader {
  public:
    // Takes the library's exchange interface and its types of plain tensors.
    TensorReader(nb::capsule exchange, nb::tuple types) : types_(types) {
        exchange_ = static_cast<const dlpack::Exchange*>(exchange.data("dlpack_exchange_api"));
        while (exchange_ && exchange_->major > dlpack::major_version) exchange_ = exchange_->older;
        if (!exchange_ || exchange_->major != dlpack::major_version || !exchange_->describe)
            throw nb::value_error("exchange: expected DLPack's exchange interface of version 1");
    }

    // The arrays of tensors, which may be None; None unless all tensors are plain, hold float64 and
    // lie on the CPU.
    nb::object arrays(nb::tuple tensors) const {
        nb::list result;
        for (nb::handle tensor : tensors) {
            nb::object x = tensor.is_none() ? nb::none() : array(tensor);
            if (!x.is_valid()) return nb::none();
            result.append(std::move(x));
        }
        return result;
    }

  private:
    bool is_plain(nb::handle tensor) const {
        return std::any_of(types_.begin(), types_.end(),
                           [&](nb::handle type) { return tensor.type().is(type); });
    }
    // Whether the memory holds the numbers with the other sign, which DLPack does not tell.
    static bool is_negated(nb::handle tensor) {
        static constinit KeptObject kept;
        PyObject* const name = kept.get([] { return PyUnicode_InternFromString("is_neg"); });
        const nb::object result =
            nb::steal(PyObject_CallMethodObjArgs(tensor.ptr(), name, nullptr));
        if (!result.is_valid()) throw nb::python_error();
        return !result.is(nb::handle(Py_False));
    }
    // Invalid: it is no plain tensor.
    nb::object array(nb::handle tensor) const {
        if (!is_plain(tensor) || is_negated(tensor)) return {};
        dlpack::Tensor x;
        if (exchange_->describe(tensor.ptr(), &x) != 0) {
            PyErr_Clear();
            return {};
        }
        if (x.device_type != dlpack::cpu || x.kind != dlpack::floating || x.bits != 64 ||
            x.lanes != 1 || x.ndim > Job::max_axes)
            return {};
        npy_intp shape[Job::max_axes], strides[Job::max_axes], next = sizeof(double);
        for (int k = x.ndim - 1; k >= 0; --k) {
            shape[k] = static_cast<npy_intp>(x.shape[k]);
            strides[k] =
                x.strides ? static_cast<npy_intp>(x.strides[k]) * npy_intp{sizeof(double)} : next;
            next *= shape[k];
        }
        if (!x.data && next != 0) return {};  // zeros that the library does not store
        static double none;
        char* data =
            x.data ? static_cast<char*>(x.data) + x.byte_offset : reinterpret_cast<char*>(&none);
        nb::object result = nb::steal(PyArray_New(&PyArray_Type, x.ndim, shape, NPY_DOUBLE, strides,
                                                  data, 0, NPY_ARRAY_WRITEABLE, nullptr));
        if (!result.is_valid() ||
            PyArray_SetBaseObject(dtau::array(result), nb::borrow(tensor).release().ptr()) != 0)
            throw nb::python_error();
        return result;
    }

    const dlpack::Exchange* exchange_;
    nb::tuple types_;
};

}  // namespace

void define_tensor_reader(nb::module_& m) {
    nb::class_<TensorReader>(m, "TensorReader")
        .def(nb::init<nb::capsule, nb::tuple>(), nb::arg("exchange"), nb::arg("types"),
             nb::sig("def __init__(self, exchange: object, types: tuple[type, ...]) -> None"))
        .def("arrays", &TensorReader::arrays, nb::arg("tensors"),
             nb::sig("def arrays(self, tensors: tuple[object, ...]) -> "
                     "list[NDArray[numpy.float64] | None] | None"));
}

}  // namespace dtau
