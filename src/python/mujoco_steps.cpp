// Differentiates MuJoCo's steps from Python, for dtau/mujoco/steps.py: mujoco_accelerations(),
// mujoco_step_derivatives(), mujoco_step_pullback(), mujoco_move(), mujoco_constants().
#include "python/bindings.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "python/lock.hpp"
#include "python/mujoco_inputs.hpp"
#include "registry/dispatch.hpp"

namespace nb = nanobind;

namespace dtau {
namespace {

using mujoco::ArrayReader;
using mujoco::Constants;
using mujoco::data;
using mujoco::Index;
using mujoco::kept_constants;
using mujoco::KeptConstants;
using mujoco::new_array;
using mujoco::numbers;
using mujoco::numbers_or_null;
using mujoco::read_constants;
using mujoco::read_job;
using mujoco::read_solutions;
using mujoco::Solutions;
using mujoco::StepJob;
using mujoco::writable;

// How often a state needs dtau's inverse dynamics.
Index inverse_dynamics(const Constants& m, bool sweeps) {
    return m.is_implicit() ? (sweeps ? 3 : 2) : 1;
}

// Reads constants once for all calls that take them.
nb::capsule constants(nb::tuple arrays) {
    return nb::capsule(new KeptConstants{arrays, read_constants(arrays)}, "dtau.mujoco.constants",
                       [](void* kept) noexcept { delete static_cast<KeptConstants*>(kept); });
}

// Returns q, v, a for dtau's inverse dynamics, the accelerations that the integrator takes, and the
// derivatives of the actuators' forces by their velocities. `before`: None, or accelerations before
// sweeps.
nb::tuple accelerations(nb::handle constants, nb::handle solutions, nb::handle before) {
    ArrayReader read(solutions);
    const Constants& m = kept_constants(constants);
    const Solutions at = read_solutions(read, m);
    const double* first = numbers_or_null(before, at.n * m.nv);
    const Index n = at.n, all = inverse_dynamics(m, first) * n;
    nb::object q = new_array({all, m.nq}), v = new_array({all, m.nv}), a = new_array({all, m.nv});
    nb::object result = new_array({n, m.nv}), by_velocity = new_array({n, m.nactuators});
    {
        const ReleasedLock lock;
        mujoco_kernels().prepare(m, at, first, data(q), data(v), data(a), data(result),
                                 data(by_velocity));
    }
    return nb::make_tuple(q, v, a, result, by_velocity);
}

// Runs a function of the core. Returns the contacts whose motion is not known, a contact and a row of a
// limit that jump (-1: there is none), whether MuJoCo's velocities after the step follow from the
// accelerations, and whether these follow from the sweeps.
template <class F> nb::tuple outcome_of(StepJob& job, const F& run) {
    std::vector<Index> missing(static_cast<std::size_t>(job.at.contact_starts[job.at.n]));
    job.missing = missing.data();
    {
        const ReleasedLock lock;
        run();
    }
    nb::object lacking = nb::none();
    if (job.nmissing > 0) {
        lacking = new_array({job.nmissing}, NPY_INTP);
        std::copy_n(missing.data(), job.nmissing, data<Index>(lacking));
    }
    return nb::make_tuple(lacking, job.jumping_contact, job.jumping_limit, job.same, job.swept);
}

// Returns the derivatives, and the outcome. `sweeps`: None, or counts, inertias and the accelerations
// before them.
nb::tuple step_derivatives(nb::handle constants, nb::handle solutions, nb::handle accelerations,
                           nb::handle following, nb::handle terms, nb::handle given,
                           nb::handle motions, nb::handle smooth, nb::handle sweeps) {
    StepJob job = read_job(constants, solutions, accelerations, following, terms, given, motions);
    const Constants& m = job.model;
    const Index n = job.at.n, nv = m.nv, all = inverse_dynamics(m, !sweeps.is_none()) * n;
    ArrayReader read_smooth(smooth);
    job.by_q = read_smooth.take<double>(all * nv * nv);
    job.by_v = read_smooth.take<double>(all * nv * nv);
    job.mass = read_smooth.take<double>(all * nv * nv);
    if (!sweeps.is_none()) {
        ArrayReader read(sweeps);
        const Index* counts = read.take<Index>(job.at.row_starts[n]);
        job.sweeps = {counts, read.take<double>(10 * n * m.nbody), job.at.a};
        job.at.a = read.take<double>(n * nv);
    }
    nb::object out =
        new_array({n, (m.integrator == mujoco::stage ? nv : 2 * nv) + m.na, m.width()});
    job.out = data(out);
    return nb::make_tuple(out, outcome_of(job, [&] { mujoco_kernels().differentiate(job); }));
}

// Returns the gradients without the part of the smooth forces, the multipliers of these and dtau's
// weights for them; and the outcome.
nb::tuple step_pullback(nb::handle constants, nb::handle solutions, nb::handle accelerations,
                        nb::handle following, nb::handle terms, nb::handle given,
                        nb::handle motions, nb::handle weights) {
    mujoco::Pullback job = {
        read_job(constants, solutions, accelerations, following, terms, given, motions), nullptr,
        nullptr, nullptr, nullptr};
    const Constants& m = job.step.model;
    if (m.integrator == mujoco::stage) throw std::invalid_argument("expected a whole step");
    const Index n = job.step.at.n, nv = m.nv, all = m.is_implicit() ? 2 * n : n;
    job.weights = numbers(weights, n * (2 * nv + m.na));
    nb::object by = new_array({n, m.width()}), multipliers = new_array({all, nv}),
               lam = new_array({all, nv});
    job.by = data(by), job.multipliers = data(multipliers), job.lam = data(lam);
    return nb::make_tuple(nb::make_tuple(by, multipliers, lam),
                          outcome_of(job.step, [&] { mujoco_kernels().pull_back(job); }));
}

// Adds the part of the smooth forces to gradients.
void add_smooth(nb::handle constants, nb::handle solutions, nb::handle accelerations,
                nb::handle multipliers, nb::handle product, nb::handle by) {
    ArrayReader read(solutions), read_product(product);
    mujoco::Pullback job = {};
    const Constants& m = job.step.model = kept_constants(constants);
    job.step.at = read_solutions(read, m);
    const Index n = job.step.at.n, nv = m.nv, all = m.is_implicit() ? 2 * n : n;
    job.step.accelerations = numbers(accelerations, n * nv);
    job.multipliers = const_cast<double*>(numbers(multipliers, all * nv));
    mujoco::SmoothProduct smooth;
    smooth.by_q = read_product.take<double>(all * nv);
    smooth.by_v = read_product.take<double>(all * nv);
    smooth.by_a = read_product.take<double>(all * nv);
    PyArrayObject* const out = writable(by, 1);
    numbers(by, n * m.width());
    job.by = static_cast<double*>(PyArray_DATA(out));
    const ReleasedLock lock;
    mujoco_kernels().add_smooth(job, smooth);
}

// Moves the first nv rows of every state of `by` (n, rows, columns), in place.
void move(nb::handle constants, nb::handle displacement, nb::handle by) {
    const Constants& m = kept_constants(constants);
    PyArrayObject* const out = writable(by, 2);
    const Index n = PyArray_DIM(out, 0), height = PyArray_DIM(out, 1),
                columns = PyArray_DIM(out, 2);
    if (height < m.nv)
        throw std::invalid_argument("by: expected " + std::to_string(m.nv) + " rows or more, got " +
                                    std::to_string(height));
    const double* moved = numbers(displacement, n * m.nv);
    double* rows = data(by);
    for (Index k = 0; k < n; ++k)
        mujoco_kernels().move(m, moved + k * m.nv, rows + k * height * columns, columns);
}

}  // namespace

void define_mujoco_steps(nb::module_& m) {
    m.def("mujoco_constants", &constants, nb::arg("arrays"),
          nb::sig("def mujoco_constants(arrays: tuple[Any, ...]) -> object"));
    m.def("mujoco_accelerations", &accelerations, nb::arg("constants"), nb::arg("solutions"),
          nb::arg("before").none() = nb::none(),
          nb::sig("def mujoco_accelerations(constants: object, solutions: "
                  "tuple[Any, ...], before: NDArray[numpy.float64] | None = None) -> "
                  "tuple[Any, ...]"));
    m.def("mujoco_step_derivatives", &step_derivatives, nb::arg("constants"), nb::arg("solutions"),
          nb::arg("accelerations"), nb::arg("following"), nb::arg("terms").none(),
          nb::arg("given").none(), nb::arg("motions").none(), nb::arg("smooth"),
          nb::arg("sweeps") = nb::none(),
          nb::sig("def mujoco_step_derivatives(constants: object, solutions: "
                  "tuple[Any, ...], accelerations: NDArray[numpy.float64], following: "
                  "NDArray[numpy.float64], terms: NDArray[numpy.float64] | None, given: "
                  "NDArray[numpy.intp] | None, motions: "
                  "NDArray[numpy.float64] | None, smooth: tuple[Any, ...], sweeps: "
                  "tuple[Any, ...] | None = None) -> "
                  "tuple[Any, tuple[Any, int, int, bool, bool]]"));
    m.def("mujoco_step_pullback", &step_pullback, nb::arg("constants"), nb::arg("solutions"),
          nb::arg("accelerations"), nb::arg("following"), nb::arg("terms").none(),
          nb::arg("given").none(), nb::arg("motions").none(), nb::arg("weights"),
          nb::sig("def mujoco_step_pullback(constants: object, solutions: "
                  "tuple[Any, ...], accelerations: NDArray[numpy.float64], following: "
                  "NDArray[numpy.float64], terms: NDArray[numpy.float64] | None, given: "
                  "NDArray[numpy.intp] | None, motions: "
                  "NDArray[numpy.float64] | None, weights: NDArray[numpy.float64]) -> "
                  "tuple[tuple[Any, ...], tuple[Any, int, int, bool, bool]]"));
    m.def("mujoco_add_smooth", &add_smooth, nb::arg("constants"), nb::arg("solutions"),
          nb::arg("accelerations"), nb::arg("multipliers"), nb::arg("product"), nb::arg("by"),
          nb::sig("def mujoco_add_smooth(constants: object, solutions: tuple[Any, ...], "
                  "accelerations: NDArray[numpy.float64], multipliers: NDArray[numpy.float64], "
                  "product: tuple[Any, ...], by: NDArray[numpy.float64]) -> None"));
    m.def("mujoco_move", &move, nb::arg("constants"), nb::arg("displacement"), nb::arg("by"),
          nb::sig("def mujoco_move(constants: object, displacement: "
                  "NDArray[numpy.float64], by: NDArray[numpy.float64]) -> None"));
}

}  // namespace dtau
