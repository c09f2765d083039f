// Differentiates MuJoCo's steps from Python, for dtau/mujoco/steps.py: mujoco_accelerations(),
// mujoco_step_derivatives(), mujoco_move(). Copies MuJoCo's arrays: mujoco_copy_rows(),
// mujoco_copies().
#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "mujoco/step.hpp"
#include "python/call.hpp"
#include "python/lock.hpp"
#include "python/mujoco_steps.hpp"
#include "registry/dispatch.hpp"

namespace nb = nanobind;

namespace dtau {
namespace {

using mujoco::Constants;
using mujoco::Index;
using mujoco::Lists;
using mujoco::Solutions;
using mujoco::StepJob;

template <class X>
constexpr int type_of = NPY_DOUBLE;
template <>
constexpr int type_of<Index> = NPY_INTP;
template <>
constexpr int type_of<std::int32_t> = NPY_INT32;

// Reads arrays from a list, in turn. An array of another type or size is an error of the package.
class ArrayReader {
  public:
    explicit ArrayReader(nb::handle arrays) : arrays_(nb::cast<nb::tuple>(arrays)) {}

    template <class X>
    const X* take(Index size) {
        const X* found = take_any<X>();
        if (size_ != size)
            throw std::invalid_argument("array " + std::to_string(place_ - 1) + ": expected " +
                                        std::to_string(size) + " numbers, got " +
                                        std::to_string(size_));
        return found;
    }
    template <class X>
    const X* take_any() {
        if (place_ == arrays_.size()) throw std::invalid_argument("expected more arrays");
        const nb::handle given = arrays_[place_++];
        if (!PyArray_CheckExact(given.ptr()) || PyArray_TYPE(array(given)) != type_of<X> ||
            !PyArray_IS_C_CONTIGUOUS(array(given)) || !PyArray_ISALIGNED(array(given)))
            throw std::invalid_argument("array " + std::to_string(place_ - 1) +
                                        ": expected a contiguous array of another type");
        size_ = PyArray_SIZE(array(given));
        return static_cast<const X*>(PyArray_DATA(array(given)));
    }
    Lists lists(Index count) {
        const Index* starts = take<Index>(count + 1);
        return {starts, take<Index>(starts[count])};
    }
    Index size() const { return size_; }

  private:
    nb::tuple arrays_;
    std::size_t place_ = 0;
    Index size_ = 0;
};

// Structs of doubles alone.
template <class X>
const X* read_structs(ArrayReader& read, Index count) {
    constexpr Index numbers = sizeof(X) / sizeof(double);
    return reinterpret_cast<const X*>(read.take<double>(numbers * count));
}

mujoco::Parameters read_parameters(ArrayReader& read, const Constants& m) {
    const Index* columns = read.take<Index>(9);
    mujoco::Parameters out = {};
    out.columns = columns[0], out.inertial = columns[1], out.damping = columns[2];
    out.armature = columns[3], out.stiffness = columns[4], out.loss = columns[5];
    out.gain = columns[6], out.bias = columns[7], out.friction = columns[8];
    if (out.columns == 0) return out;
    out.from_center = read.take<double>(3 * m.nbody), out.compensated = read.take<double>(m.nbody);
    out.gravity = read.take<double>(3), out.dampers = read.take<double>(1);
    out.joints = read.take<Index>(m.nv);
    out.gains = read.take<Index>(m.nactuators), out.biases = read.take<Index>(m.nactuators);
    return out;
}

Constants read_constants(ArrayReader& read) {
    Constants m;
    const Index* sizes = read.take<Index>(13);
    m.integrator = sizes[0], m.elliptic = sizes[1], m.nq = sizes[2], m.nv = sizes[3];
    m.na = sizes[4], m.nu = sizes[5], m.nactuators = sizes[6], m.nbody = sizes[7];
    m.ngeom = sizes[8], m.nfree = sizes[9], m.nturning = sizes[10], m.nplain = sizes[11];
    const Index joints = sizes[12];
    m.timestep = *read.take<double>(1);
    m.damping = read.take<double>(m.nv), m.stiffness = read.take<double>(m.nv);
    m.armature = read.take<double>(m.nv), m.implicit = read.take<double>(m.nv * m.nv);
    m.related = read.take<double>(m.nv * m.nv);
    m.dof_roots = read.take<Index>(m.nv);
    m.paths = read.lists(m.nbody), m.still = read.lists(m.nv), m.carried = read.lists(m.nv);
    m.coordinates = read.take<Index>(m.nq), m.offsets = read.take<double>(m.nq);
    m.places = read.take<Index>(m.nv), m.order = read.take<Index>(m.nv);
    m.free = read.take<Index>(m.nfree), m.free_bodies = read.take<Index>(m.nfree);
    m.angles = read.take<Index>(m.nturning), m.plain = read.take<Index>(m.nplain);
    m.moments = read.lists(m.nactuators);
    m.actuator_columns = read.take<Index>(m.nactuators);
    m.actuator_states = read.take<Index>(m.nactuators);
    m.actuator_dofs = read.take<Index>(m.nactuators);
    m.actuators = read_structs<mujoco::Actuator>(read, m.nactuators);
    m.compensated = read.take_any<Index>(), m.ncompensated = read.size();
    m.compensation = read.take<Index>(m.nv);
    m.compensating = read.take<double>(3 * m.ncompensated);
    m.thruster_actuators = read.take_any<Index>(), m.nthrusters = read.size();
    m.thruster_bodies = read.take<Index>(m.nthrusters);
    m.thrusters = read_structs<mujoco::Thruster>(read, m.nthrusters);
    m.fluid_bodies = read.take_any<Index>(), m.nfluid = read.size();
    m.fluid = read_structs<mujoco::FluidPart>(read, m.nfluid);
    m.wind = read.take<double>(3);
    m.actuation_low = read.take<double>(m.nv), m.actuation_high = read.take<double>(m.nv);
    m.geom_body = read.take<std::int32_t>(m.ngeom), m.geom_type = read.take<std::int32_t>(m.ngeom);
    m.geom_size = read.take<double>(3 * m.ngeom);
    m.joint_type = read.take<std::int32_t>(joints), m.joint_dof = read.take<std::int32_t>(joints);
    m.joint_range = read.take<double>(2 * joints);
    m.parameters = read_parameters(read, m);
    return m;
}

Solutions read_solutions(ArrayReader& read, const Constants& m) {
    Solutions at;
    at.row_starts = read.take_any<Index>();
    const Index n = at.n = read.size() - 1;
    if (n < 1) throw std::invalid_argument("expected one state or more");
    at.q = read.take<double>(n * m.nq);
    at.v = read.take<double>(n * m.nv), at.a = read.take<double>(n * m.nv);
    at.act = read.take<double>(n * m.na), at.act_dot = read.take<double>(n * m.na);
    at.ctrl = read.take<double>(n * m.nu), at.bias = read.take<double>(n * m.nv);
    at.torque = read.take<double>(n * m.nv), at.mass = read.take<double>(n * m.nv * m.nv);
    at.length = read.take<double>(n * m.nactuators);
    at.velocity = read.take<double>(n * m.nactuators);
    at.force = read.take<double>(n * m.nactuators);
    at.actuation = read.take<double>(n * m.nv);
    at.moment_arms = read.take<double>(n * m.moments.starts[m.nactuators]);
    at.cdof = read.take<double>(n * m.nv * 6), at.com = read.take<double>(n * m.nbody * 3);
    at.xmat = read.take<double>(n * m.nbody * 9);
    at.xipos = read.take<double>(n * m.nbody * 3);
    at.geom_xpos = read.take<double>(n * m.ngeom * 3);
    at.geom_xmat = read.take<double>(n * m.ngeom * 9);
    const Index rows = at.row_starts[n];
    at.weight = read.take<double>(rows), at.parameters = read.take<double>(4 * rows);
    at.kind = read.take<std::int32_t>(rows), at.id = read.take<std::int32_t>(rows);
    at.reference = read.take<double>(rows), at.position = read.take<double>(rows);
    at.margin = read.take<double>(rows), at.loss = read.take<double>(rows);
    at.plain_starts = read.take<Index>(n + 1);
    at.jacobian = read.take<double>(at.plain_starts[n] * m.nv);
    at.contact_starts = read.take<Index>(n + 1);
    const Index contacts = at.contact_starts[n];
    at.address = read.take<std::int32_t>(contacts);
    at.geom = read.take<std::int32_t>(2 * contacts), at.dim = read.take<std::int32_t>(contacts);
    at.pos = read.take<double>(3 * contacts), at.frame = read.take<double>(9 * contacts);
    at.dist = read.take<double>(contacts), at.includemargin = read.take<double>(contacts);
    at.friction = read.take<double>(5 * contacts), at.mu = read.take<double>(contacts);
    if (m.parameters.columns > 0) {
        at.stretch = read.take<double>(n * m.nv), at.shares = read.take<double>(6 * contacts);
    }
    return at;
}

template <class X = double>
const X* numbers(nb::handle given, Index size) {
    return ArrayReader(nb::make_tuple(given)).take<X>(size);
}
template <class X = double>
const X* numbers_or_null(nb::handle given, Index size) {
    return given.is_none() ? nullptr : numbers<X>(given, size);
}

nb::object new_array(std::vector<npy_intp> shape, int type = NPY_DOUBLE) {
    nb::object result =
        nb::steal(PyArray_SimpleNew(static_cast<int>(shape.size()), shape.data(), type));
    if (!result.is_valid()) throw nb::python_error();
    return result;
}
template <class X = double>
X* data(nb::handle object) {
    return static_cast<X*>(PyArray_DATA(array(object)));
}

// Returns q, v, a for dtau's inverse dynamics, the accelerations that the integrator takes, and the
// derivatives of the actuators' forces by their velocities.
nb::tuple accelerations(nb::handle constants, nb::handle solutions) {
    ArrayReader read_model(constants), read(solutions);
    const Constants m = read_constants(read_model);
    const Solutions at = read_solutions(read, m);
    const Index n = at.n, all = m.is_implicit() ? 2 * n : n;
    nb::object q = new_array({all, m.nq}), v = new_array({all, m.nv}), a = new_array({all, m.nv});
    nb::object result = new_array({n, m.nv}), by_velocity = new_array({n, m.nactuators});
    {
        const ReleasedLock lock;
        mujoco_kernels().prepare(m, at, data(q), data(v), data(a), data(result), data(by_velocity));
    }
    return nb::make_tuple(q, v, a, result, by_velocity);
}

// The array of numbers to write to, of which this axis must be there.
PyArrayObject* writable(nb::handle given, int axis) {
    ArrayReader(nb::make_tuple(given)).take_any<double>();
    if (PyArray_NDIM(array(given)) <= axis)
        throw std::invalid_argument("expected an array of " + std::to_string(axis + 1) +
                                    " axes or more");
    return array(given);
}

// Reads what differentiation and products of it share.
StepJob read_job(nb::handle constants, nb::handle solutions, nb::handle accelerations,
                 nb::handle following, nb::handle terms, nb::handle wrenches, nb::handle given,
                 nb::handle motions) {
    ArrayReader read_model(constants), read(solutions);
    StepJob job;
    job.model = read_constants(read_model);
    const Constants& m = job.model;
    job.at = read_solutions(read, m);
    const Index n = job.at.n, nv = m.nv;
    job.accelerations = numbers(accelerations, n * nv);
    job.following = numbers(following, n * nv);
    job.terms = numbers_or_null(terms, 3 * n * nv * nv);
    job.wrenches = numbers_or_null(wrenches, 6 * n * nv);
    if (!given.is_none()) {
        ArrayReader read_given(nb::make_tuple(given));
        job.given = read_given.take_any<Index>();
        job.ngiven = read_given.size();
    }
    job.given_motions = numbers_or_null(motions, 84 * job.ngiven);
    return job;
}

// Runs a function of the core. Returns the contacts whose motion is not known, a contact and a row of a
// limit that jump (-1: there is none), and whether MuJoCo's velocities after the step follow from the
// accelerations.
template <class F>
nb::tuple outcome_of(StepJob& job, const F& run) {
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
    return nb::make_tuple(lacking, job.jumping_contact, job.jumping_limit, job.same);
}

// Returns the derivatives, and the outcome.
nb::tuple step_derivatives(nb::handle constants, nb::handle solutions, nb::handle accelerations,
                           nb::handle following, nb::handle terms, nb::handle wrenches,
                           nb::handle given, nb::handle motions, nb::handle smooth) {
    StepJob job =
        read_job(constants, solutions, accelerations, following, terms, wrenches, given, motions);
    const Constants& m = job.model;
    const Index n = job.at.n, nv = m.nv, all = m.is_implicit() ? 2 * n : n;
    ArrayReader read_smooth(smooth);
    job.by_q = read_smooth.take<double>(all * nv * nv);
    job.by_v = read_smooth.take<double>(all * nv * nv);
    job.mass = read_smooth.take<double>(all * nv * nv);
    nb::object out =
        new_array({n, (m.integrator == mujoco::stage ? nv : 2 * nv) + m.na, m.width()});
    job.out = data(out);
    return nb::make_tuple(out, outcome_of(job, [&] { mujoco_kernels().differentiate(job); }));
}

// Returns the gradients without the part of the smooth forces, the multipliers of these and dtau's
// weights for them; and the outcome.
nb::tuple step_pullback(nb::handle constants, nb::handle solutions, nb::handle accelerations,
                        nb::handle following, nb::handle terms, nb::handle wrenches,
                        nb::handle given, nb::handle motions, nb::handle weights) {
    mujoco::Pullback job = {
        read_job(constants, solutions, accelerations, following, terms, wrenches, given, motions),
        nullptr, nullptr, nullptr, nullptr};
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
    ArrayReader read_model(constants), read(solutions), read_product(product);
    mujoco::Pullback job = {};
    Constants& m = job.step.model = read_constants(read_model);
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

// Copies arrays of numbers to row `place` of others.
void copy_rows(nb::tuple from, nb::tuple to, Index place) {
    if (from.size() != to.size()) throw std::invalid_argument("expected an array for every array");
    for (std::size_t i = 0; i < from.size(); ++i) {
        PyArrayObject* const out = writable(to[i], 0);
        const Index rows = PyArray_DIM(out, 0);
        if (place < 0 || place >= rows)
            throw std::invalid_argument("place: expected less than " + std::to_string(rows) +
                                        ", got " + std::to_string(place));
        const Index size = PyArray_SIZE(out) / rows;
        std::copy_n(numbers(from[i], size), size,
                    static_cast<double*>(PyArray_DATA(out)) + place * size);
    }
}

// Returns contiguous copies of attributes of an object, arrays.
nb::tuple copies(nb::handle source, nb::tuple names) {
    nb::object result = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(names.size())));
    for (std::size_t i = 0; i < names.size(); ++i) {
        const nb::object from = nb::getattr(source, names[i]);
        PyObject* copy = PyArray_NewCopy(array(from), NPY_CORDER);
        if (!copy) throw nb::python_error();
        if (PyTuple_SetItem(result.ptr(), static_cast<Py_ssize_t>(i), copy) != 0)  // takes the copy
            throw nb::python_error();
    }
    return nb::cast<nb::tuple>(result);
}

// Returns copies of numbers of contacts. `first` is a view of one number in MuJoCo's array of structs;
// the rows of `layout` have the offset, count and size of numbers by the place of this one.
nb::tuple copy_contacts(nb::handle first, nb::handle layout) {
    if (!PyArray_CheckExact(first.ptr()) || PyArray_NDIM(array(first)) != 1)
        throw std::invalid_argument("expected an array with one axis");
    ArrayReader read_layout(nb::make_tuple(layout));
    const Index* rows = read_layout.take_any<Index>();
    const Index fields = read_layout.size() / 3, n = PyArray_DIM(array(first), 0);
    const npy_intp stride = n > 1 ? PyArray_STRIDE(array(first), 0) : 0;
    const char* const begin = PyArray_BYTES(array(first));
    nb::object result = nb::steal(PyTuple_New(fields));
    for (Index i = 0; i < fields; ++i) {
        const Index offset = rows[3 * i], count = rows[3 * i + 1], size = rows[3 * i + 2];
        std::vector<npy_intp> shape = {n};
        if (count > 1) shape.push_back(count);
        nb::object copy = new_array(shape, size == 4 ? NPY_INT32 : NPY_DOUBLE);
        char* to = PyArray_BYTES(array(copy));
        for (Index k = 0; k < n; ++k, to += count * size)
            std::copy_n(begin + k * stride + offset, count * size, to);
        if (PyTuple_SetItem(result.ptr(), i, copy.release().ptr()) != 0)  // takes the copy
            throw nb::python_error();
    }
    return nb::cast<nb::tuple>(result);
}

// Whether arrays, one behind the other, have these bytes.
bool is_same(nb::tuple arrays, nb::bytes bytes) {
    const char *at = bytes.c_str(), *const end = at + bytes.size();
    for (const nb::handle x : arrays) {
        if (!PyArray_CheckExact(x.ptr()) || !PyArray_IS_C_CONTIGUOUS(array(x)))
            throw std::invalid_argument("expected contiguous arrays");
        const npy_intp size = PyArray_NBYTES(array(x));
        if (end - at < size ||
            std::memcmp(PyArray_BYTES(array(x)), at, static_cast<std::size_t>(size)) != 0)
            return false;
        at += size;
    }
    return at == end;
}

// Moves the first nv rows of every state of `by` (n, rows, columns), in place.
void move(nb::handle constants, nb::handle displacement, nb::handle by) {
    ArrayReader read_model(constants);
    const Constants m = read_constants(read_model);
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
    m.def("mujoco_accelerations", &accelerations, nb::arg("constants"), nb::arg("solutions"),
          nb::sig("def mujoco_accelerations(constants: tuple[Any, ...], solutions: "
                  "tuple[Any, ...]) -> tuple[Any, ...]"));
    m.def("mujoco_step_derivatives", &step_derivatives, nb::arg("constants"), nb::arg("solutions"),
          nb::arg("accelerations"), nb::arg("following"), nb::arg("terms").none(),
          nb::arg("wrenches").none(), nb::arg("given").none(), nb::arg("motions").none(),
          nb::arg("smooth"),
          nb::sig("def mujoco_step_derivatives(constants: tuple[Any, ...], solutions: "
                  "tuple[Any, ...], accelerations: NDArray[numpy.float64], following: "
                  "NDArray[numpy.float64], terms: NDArray[numpy.float64] | None, wrenches: "
                  "NDArray[numpy.float64] | None, given: NDArray[numpy.intp] | None, motions: "
                  "NDArray[numpy.float64] | None, smooth: tuple[Any, ...]) -> "
                  "tuple[Any, tuple[Any, int, int, bool]]"));
    m.def("mujoco_step_pullback", &step_pullback, nb::arg("constants"), nb::arg("solutions"),
          nb::arg("accelerations"), nb::arg("following"), nb::arg("terms").none(),
          nb::arg("wrenches").none(), nb::arg("given").none(), nb::arg("motions").none(),
          nb::arg("weights"),
          nb::sig("def mujoco_step_pullback(constants: tuple[Any, ...], solutions: "
                  "tuple[Any, ...], accelerations: NDArray[numpy.float64], following: "
                  "NDArray[numpy.float64], terms: NDArray[numpy.float64] | None, wrenches: "
                  "NDArray[numpy.float64] | None, given: NDArray[numpy.intp] | None, motions: "
                  "NDArray[numpy.float64] | None, weights: NDArray[numpy.float64]) -> "
                  "tuple[tuple[Any, ...], tuple[Any, int, int, bool]]"));
    m.def("mujoco_add_smooth", &add_smooth, nb::arg("constants"), nb::arg("solutions"),
          nb::arg("accelerations"), nb::arg("multipliers"), nb::arg("product"), nb::arg("by"),
          nb::sig("def mujoco_add_smooth(constants: tuple[Any, ...], solutions: tuple[Any, ...], "
                  "accelerations: NDArray[numpy.float64], multipliers: NDArray[numpy.float64], "
                  "product: tuple[Any, ...], by: NDArray[numpy.float64]) -> None"));
    m.def("mujoco_copy_rows", &copy_rows, nb::arg("from_"), nb::arg("to"), nb::arg("place"),
          nb::sig("def mujoco_copy_rows(from_: tuple[Any, ...], to: tuple[Any, ...], place: int) "
                  "-> None"));
    m.def("mujoco_copy_contacts", &copy_contacts, nb::arg("first"), nb::arg("layout"),
          nb::sig("def mujoco_copy_contacts(first: NDArray[numpy.float64], layout: "
                  "NDArray[numpy.intp]) -> tuple[Any, ...]"));
    m.def("mujoco_is_same", &is_same, nb::arg("arrays"), nb::arg("bytes"),
          nb::sig("def mujoco_is_same(arrays: tuple[Any, ...], bytes: bytes) -> bool"));
    m.def("mujoco_copies", &copies, nb::arg("source"), nb::arg("names"),
          nb::sig("def mujoco_copies(source: object, names: tuple[str, ...]) -> tuple[Any, ...]"));
    m.def("mujoco_move", &move, nb::arg("constants"), nb::arg("displacement"), nb::arg("by"),
          nb::sig("def mujoco_move(constants: tuple[Any, ...], displacement: "
                  "NDArray[numpy.float64], by: NDArray[numpy.float64]) -> None"));
}

}  // namespace dtau
