// Arrays that are read together: broadcast against each other, and the quaternions among them.
#include <algorithm>
#include <cmath>

#include "python/arrays.hpp"

namespace nb = nanobind;

namespace dtau {

void broadcast(Job& job, const Signature& signature, const nb::object* arrays, const Shape* cores) {
    for (int i = 0; i < job.ninputs; ++i) {
        if (!arrays[i].is_valid()) continue;
        const int axes = PyArray_NDIM(array(arrays[i])) - cores[i].ndim;
        if (axes > Job::max_axes)
            throw nb::value_error((std::string(signature.inputs[i].name) + " has " +
                                   std::to_string(axes) + " batch axes, expected at most " +
                                   std::to_string(Job::max_axes))
                                      .c_str());
        if (axes > job.naxes) job.naxes = axes;
    }
    for (int axis = 0; axis < job.naxes; ++axis) job.shape[axis] = 1;
    for (int i = 0; i < job.ninputs; ++i) {
        if (!arrays[i].is_valid()) continue;
        PyArrayObject* a = array(arrays[i]);
        const int axes = PyArray_NDIM(a) - cores[i].ndim, skip = job.naxes - axes;
        for (int axis = 0; axis < skip; ++axis) job.in[i].stride[axis] = 0;
        for (int axis = 0; axis < axes; ++axis) {
            const npy_intp n = PyArray_DIM(a, axis);
            std::ptrdiff_t& size = job.shape[skip + axis];
            if (n != 1 && size != 1 && n != size) {
                std::string shapes;
                for (int j = 0; j < job.ninputs; ++j) {
                    if (!arrays[j].is_valid()) continue;
                    PyArrayObject* b = array(arrays[j]);
                    shapes += (shapes.empty() ? "" : ", ") + std::string(signature.inputs[j].name) +
                              " " + text(PyArray_DIMS(b), PyArray_NDIM(b) - cores[j].ndim);
                }
                throw nb::value_error(
                    ("batch shapes do not broadcast against each other: " + shapes).c_str());
            }
            if (n != 1) size = n;
            job.in[i].stride[skip + axis] = n == 1 ? 0 : PyArray_STRIDE(a, axis);
        }
    }
    for (int axis = 0; axis < job.naxes; ++axis)
        if (__builtin_mul_overflow(job.count, job.shape[axis], &job.count))
            throw nb::value_error("the batch has more states than can be counted");
}

void check_quaternions(nb::handle q, const char* name, const CompiledTree& tree, int type) {
    if (tree.quaternions().empty() || type != NPY_DOUBLE) return;
    PyArrayObject* a = array(q);
    const int last = PyArray_NDIM(a) - 1;
    const npy_intp spacing = PyArray_STRIDE(a, last);
    npy_intp index[Job::max_axes];
    const char* state = PyArray_BYTES(a);
    npy_intp shape[Job::max_axes];  // axes that only repeat a state are walked once
    for (int axis = 0; axis < last; ++axis) {
        shape[axis] = PyArray_STRIDE(a, axis) == 0 ? std::min<npy_intp>(PyArray_DIM(a, axis), 1)
                                                   : PyArray_DIM(a, axis);
        if (shape[axis] == 0) return;
        index[axis] = 0;
    }
    for (;;) {
        for (const auto& [first, body] : tree.quaternions()) {
            double x[4], squared = 0.0;
            for (int k = 0; k < 4; ++k) {
                x[k] = *reinterpret_cast<const double*>(state + (first + k) * spacing);
                squared += x[k] * x[k];
            }
            if (std::fabs(squared - 1.0) < 1e-6) continue;  // the exact test only where it may fail
            const double norm = std::hypot(std::hypot(x[0], x[1], x[2]), x[3]);
            const double finite = (x[0] - x[0]) + (x[1] - x[1]) + (x[2] - x[2]) + (x[3] - x[3]);
            if (std::fabs(norm - 1.0) > 1e-6 && finite == 0.0) {
                std::string where = last > 0 ? " at batch index " + text(index, last) : "";
                throw nb::value_error(
                    (std::string(name) + ": the quaternion of joint '" + tree.joint_name(body) +
                     "'" + where + " has norm " + str(nb::float_(norm)) +
                     ", expected 1 within 1e-6 (order x y z w; dtau.normalize makes it so)")
                        .c_str());
            }
        }
        int axis = last - 1;
        for (; axis >= 0; --axis) {
            state += PyArray_STRIDE(a, axis);
            if (++index[axis] < shape[axis]) break;
            state -= PyArray_STRIDE(a, axis) * shape[axis];
            index[axis] = 0;
        }
        if (axis < 0) return;
    }
}

}  // namespace dtau
