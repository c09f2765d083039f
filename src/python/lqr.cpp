// Solves batches of linear-quadratic problems from Python: lqr(), for dtau/functions/control.py.
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include "batch/first_failure.hpp"
#include "batch/parallel.hpp"
#include "batch/require_memory.hpp"
#include "control/lqr.hpp"
#include "python/bindings.hpp"
#include "python/call.hpp"
#include "python/lock.hpp"
#include "python/result_memory.hpp"
#include "registry/dispatch.hpp"
#include "registry/split_batch.hpp"

namespace nb = nanobind;

namespace dtau {
namespace {

// Takes the memory of an array, and the strides of its axes of the batch and of knots, which come before
// the axes of a matrix or vector. Axes that are not there, or of length 1, broadcast.
void place_input(const Job& job, Input& input, nb::handle given, int core_axes, bool has_knots) {
    if (given.is_none()) return;
    PyArrayObject* a = array(given);
    input.data = PyArray_BYTES(a);
    int left = PyArray_NDIM(a) - core_axes;
    const auto stride = [&]() -> std::ptrdiff_t {
        return left > 0 && PyArray_DIM(a, --left) != 1 ? PyArray_STRIDE(a, left) : 0;
    };
    if (has_knots) input.spacing = stride();
    for (int axis = job.naxes - 1; axis >= 0; --axis) input.stride[axis] = stride();
}

// Estimates the time of a knot in microseconds.
double price(double nx, double nu) { return 0.2 + 1e-4 * nx * (nx + nu) * (nx + 0.5 * (nx + nu)); }

// Ends early if a signal handler raises.
void run_lqr(const LqrJob& job, int threads) {
    constexpr double noticed = 1e6;  // nanoseconds
    const double each = 1e3 * job.microseconds * static_cast<double>(job.knots);
    const BatchSplit split = split_batch(each, 1, job.count, threads);
    ReleasedLock lock;
    run_parallel({lqr_solver(), &job, job.count},
                 {split.threads, split.chunk, signal_raises, &lock, each > noticed});
}

// Returns K, kappa, P, p, s, and the first knot that failed, counted through all problems; -1: none.
// `inputs` are the arrays of RiccatiProblem in its order, aligned, of float64, each knot
// contiguous; None for zeros. `shape` is the shape of the batch.
nb::tuple lqr(const std::vector<nb::object>& inputs, const std::vector<npy_intp>& shape,
              std::ptrdiff_t knots, int nx, int nu, double regularization, nb::handle threads) {
    double numbers = (static_cast<double>(knots) + 1.0) * (nx + 1.0) * (nx + nu + 1.0);
    for (npy_intp n : shape) numbers *= static_cast<double>(n);
    require_memory("lqr", sizeof(double) * numbers, "use a smaller batch");
    const int wanted = thread_count(threads);
    LqrJob job;
    job.nx = nx, job.nu = nu, job.knots = knots, job.regularization = regularization;
    job.microseconds = price(nx, nu);
    for (npy_intp n : shape) job.shape[job.naxes++] = n, job.count *= n;
    constexpr int core_axes[] = {2, 2, 2, 2, 2, 1, 1, 1, 2, 1}, first_final = 8;
    for (int i = 0; i < job.ninputs; ++i)
        place_input(job, job.inputs[i], inputs[i], core_axes[i], i < first_final);
    const Shape shapes[] = {{3, {knots, nu, nx}},
                            {2, {knots, nu}},
                            {3, {knots + 1, nx, nx}},
                            {2, {knots + 1, nx}},
                            {1, {knots + 1}}};
    nb::object results[Job::max_outputs];
    {
        const KeptMemory memory(sizeof(double) * numbers);
        for (int o = 0; o < job.noutputs; ++o) {
            results[o] = new_output(job, shapes[o]);
            job.outputs[o].data = PyArray_BYTES(array(results[o]));
            job.outputs[o].size = count_numbers(shapes[o]);
        }
    }
    FirstFailure failure;
    job.failure = &failure;
    run_lqr(job, wanted);
    if (PyErr_Occurred()) throw nb::python_error();
    return nb::make_tuple(results[0], results[1], results[2], results[3], results[4],
                          failure.state());
}

}  // namespace

void define_lqr(nb::module_& m) {
    m.def("lqr", &lqr, nb::arg("inputs"), nb::arg("shape"), nb::arg("knots"), nb::arg("nx"),
          nb::arg("nu"), nb::arg("regularization"), nb::arg("threads").none(),
          nb::sig("def lqr(inputs: Sequence[NDArray[numpy.float64] | None], shape: Sequence[int], "
                  "knots: int, nx: int, nu: int, regularization: float, threads: int | None) -> "
                  "tuple[Any, ...]"));
}

}  // namespace dtau
