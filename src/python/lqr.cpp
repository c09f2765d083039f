// Solves batches of linear-quadratic problems from Python: lqr(), for dtau/functions/control.py.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "batch/parallel.hpp"
#include "control/lqr.hpp"
#include "python/call.hpp"
#include "python/lock.hpp"
#include "python/result_memory.hpp"
#include "python/tree.hpp"
#include "registry/dispatch.hpp"
#include "registry/split_batch.hpp"

namespace nb = nanobind;

namespace dtau {
namespace {

struct LqrWork {
    using Clock = std::chrono::steady_clock;

    LqrSolver* solve;
    LqrJob job;
    ReleasedLock* lock = nullptr;
    std::thread::id caller = std::this_thread::get_id();  // it alone may take the lock
    Clock::time_point looked = Clock::now();
    std::atomic<bool> stopped = false;
};

// Whether a signal handler has raised. The calling thread looks some fifty times a second.
bool lqr_stops(void* self) {
    LqrWork& work = *static_cast<LqrWork*>(self);
    if (work.stopped.load(std::memory_order_relaxed)) return true;
    if (std::this_thread::get_id() != work.caller) return false;
    if (LqrWork::Clock::now() - work.looked < std::chrono::milliseconds(20)) return false;
    if (work.lock->signal_raises()) work.stopped = true;
    work.looked = LqrWork::Clock::now();
    return work.stopped;
}

void compute(const void* self, std::ptrdiff_t begin, std::ptrdiff_t end) {
    const LqrWork& work = *static_cast<const LqrWork*>(self);
    work.solve(work.job, begin, end);
}

// Takes the strides of an array that Python broadcast to the batch axes, an axis of knots if it has
// one, and the axes of a matrix or vector, whose numbers are contiguous.
LqrInput input_of(nb::handle given, int naxes, bool has_knots) {
    LqrInput input;
    if (given.is_none()) return input;
    PyArrayObject* a = array(given);
    input.data = PyArray_BYTES(a);
    for (int axis = 0; axis < naxes; ++axis) input.stride[axis] = PyArray_STRIDE(a, axis);
    if (has_knots) input.next = PyArray_STRIDE(a, naxes);
    return input;
}

nb::object new_result(const std::vector<npy_intp>& shape) {
    nb::object result =
        nb::steal(PyArray_SimpleNew(static_cast<int>(shape.size()), shape.data(), NPY_DOUBLE));
    if (!result.is_valid()) throw nb::python_error();
    return result;
}

// Estimates the time of a knot in nanoseconds.
double price(const LqrJob& job) {
    const double nx = job.nx, nu = job.nu;
    return 200.0 + 0.1 * nx * (nx + nu) * (nx + 0.5 * (nx + nu));
}

// Ends early if a signal handler raises.
void run_lqr(LqrWork& work, int threads) {
    constexpr double noticed = 1e6, seldom = 20e3;  // nanoseconds
    const std::ptrdiff_t count = work.job.count;
    const double knot = price(work.job), each = knot * static_cast<double>(work.job.knots);
    const BatchSplit split = split_batch(each, 1, count, threads);
    ReleasedLock lock;
    work.lock = &lock;
    work.job.stops = lqr_stops, work.job.asked = &work;
    work.job.knots_between_looks = static_cast<std::ptrdiff_t>(seldom / knot) + 1;
    run_parallel({compute, &work, count},
                 {split.threads, split.chunk, lqr_stops, &work, each > noticed});
}

// Returns K, kappa, P, p, s, and the failed knot of every problem. `inputs` are the arrays of
// RiccatiProblem in its order, aligned, of float64; None for zeros. `shape` is that of the batch.
nb::tuple lqr(const std::vector<nb::object>& inputs, const std::vector<npy_intp>& shape,
              std::ptrdiff_t knots, int nx, int nu, double regularization, nb::handle threads) {
    LqrWork work;
    work.solve = lqr_solver();
    LqrJob& job = work.job;
    job.nx = nx, job.nu = nu, job.knots = knots, job.regularization = regularization;
    job.naxes = static_cast<int>(shape.size());
    for (int axis = 0; axis < job.naxes; ++axis) {
        job.shape[axis] = shape[axis];
        job.count *= shape[axis];
    }
    for (int i = 0; i < LqrJob::ninputs; ++i)
        job.inputs[i] = input_of(inputs[i], job.naxes, i < LqrJob::ninputs - 2);
    const int wanted = thread_count(threads);
    const double numbers = static_cast<double>(job.count) * static_cast<double>(knots + 1) *
                           (nx + 1.0) * (nx + nu + 1.0);
    nb::object results[LqrJob::noutputs];
    {
        const KeptMemory memory(8.0 * numbers);
        const auto add = [&](int o, std::vector<npy_intp> core) {
            core.insert(core.begin(), shape.begin(), shape.end());
            results[o] = new_result(core);
            job.outputs[o] = static_cast<double*>(PyArray_DATA(array(results[o])));
        };
        add(0, {knots, nu, nx});
        add(1, {knots, nu});
        add(2, {knots + 1, nx, nx});
        add(3, {knots + 1, nx});
        add(4, {knots + 1});
    }
    std::vector<std::ptrdiff_t> failed(static_cast<std::size_t>(job.count), -1);
    job.failed_knots = failed.data();
    run_lqr(work, wanted);
    if (PyErr_Occurred()) throw nb::python_error();
    const auto first = std::find_if(failed.begin(), failed.end(), [](auto k) { return k >= 0; });
    nb::object failure = nb::none();
    if (first != failed.end()) failure = nb::make_tuple(first - failed.begin(), *first);
    return nb::make_tuple(results[0], results[1], results[2], results[3], results[4], failure);
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
