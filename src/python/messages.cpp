// Formats objects for messages (shown), and raises the error of a call without results, with the
// names of contacts and joints: require_success().
#include "python/messages.hpp"

#include <cstdio>
#include <string>
#include <string_view>

#include "dtau/mimic.hpp"
#include "python/call.hpp"

namespace nb = nanobind;

namespace dtau {

std::string text(const npy_intp* shape, int ndim, const char* prefix) {
    std::string s = std::string("(") + prefix;
    for (int k = 0; k < ndim; ++k) {
        if (k > 0 || *prefix) s += ", ";
        s += std::to_string(shape[k]);
    }
    return s + (ndim == 1 && !*prefix ? ",)" : ")");
}

std::string str(nb::handle object) {
    const nb::object text = nb::steal(PyObject_Str(object.ptr()));
    if (!text.is_valid()) throw nb::python_error();
    const nb::object bytes =
        nb::steal(PyUnicode_AsEncodedString(text.ptr(), "utf-8", "backslashreplace"));
    if (!bytes.is_valid()) throw nb::python_error();
    return PyBytes_AsString(bytes.ptr());
}

std::string_view utf8(nb::handle object) {
    Py_ssize_t size = 0;
    const char* text =
        PyUnicode_Check(object.ptr()) ? PyUnicode_AsUTF8AndSize(object.ptr(), &size) : nullptr;
    if (text) return {text, static_cast<std::size_t>(size)};
    PyErr_Clear();
    return {};
}

nb::object plain_repr(nb::handle object) {
    const nb::object plain = PyUnicode_Check(object.ptr())
                                 ? nb::steal(PyUnicode_FromObject(object.ptr()))
                                 : nb::borrow(object);
    if (!plain.is_valid()) throw nb::python_error();
    return nb::repr(plain);
}

std::string shown(nb::handle object) {
    const nb::object text = plain_repr(object);
    const nb::object first = nb::steal(PyUnicode_Substring(text.ptr(), 0, 80));
    if (!first.is_valid()) throw nb::python_error();
    return str(first);
}

namespace {

// Quoted names, in the format of the other messages.
std::string listing(const nb::list& names) {
    return str(nb::module_::import_("dtau.support.checks").attr("listing")(names));
}

// The names of the contacts in any call with contacts. May run the argument's own code.
nb::object names(const Work& work) { return work.options.contacts.attr("names"); }

bool is_active(const Work& work, int contact) {
    const Job& job = work.job;
    if (job.active < 0 || !job.inputs[job.active].data) return true;
    const Input& input = job.inputs[job.active];
    return *reinterpret_cast<const double*>(input.data + contact * input.spacing) >= 0.5;
}

// The active contacts before one of them.
nb::list active_names(const Work& work, int before) {
    nb::list result;
    for (int c = 0; c < before; ++c)
        if (is_active(work, c)) result.append(names(work)[c]);
    return result;
}

std::string about_row(const Work& work, const Failure& failure) {
    const Constraints& constraints = *work.options.values.contacts;
    int c = 0, row = failure.places[0];
    while (row >= constraints.at[c].first + constraints.at[c].count) ++c;
    const Constraint& constraint = constraints.at[c];
    row -= constraint.first;
    const char component = "xyz"[row < 3 ? row : constraint.angular[row - 3]];
    nb::list own;
    own.append(names(work)[c]);
    const std::string name = listing(own);
    const std::string what = constraint.count == 1 ? "along its direction"
                             : row < 3             ? component + std::string(", linear")
                                                   : component + std::string(", angular");
    const std::string which = "row " + std::to_string(row) + " (" + what + ") of contact " + name;
    const bool later = failure.stage > 0;
    const std::string when = later ? "at a later stage of this step" : "in this state";
    std::string why = "nothing but rounding errors moves " + which + " " + when + ",";
    if (failure.cause == Failure::Cause::dependent_row) {
        const nb::list before = active_names(work, c);
        const std::string others =
            nb::len(before) ? "the rows of " + listing(before) : "each other";
        why = "rows of " + name + " depend on " + others + " " + when + ", the first is " + which +
              ",";
    }
    const bool damped = work.options.values.regularization > 0.0;
    return why + " so the forces are not unique; " + (later ? "take a shorter dt, " : "") +
           "leave some contacts out with active=, or give " + (damped ? "a larger " : "") +
           "regularization=";
}

std::string about_forces(const Work& work, const Failure& failure) {
    char given[32];
    std::snprintf(given, sizeof given, "%.3g", work.options.values.regularization);
    const std::string when = failure.stage > 0 ? "at a later stage of this step" : "in this state";
    return "rows contradict each other " + when + ", and regularization=" + given +
           " is too small to tell their forces from rounding errors; 1e-6 of the largest "
           "eigenvalue of "
           "J M^-1 J^T works";
}

std::string about_velocities(const Work& work, const Failure& failure) {
    const CompiledTree& compiled = work.tree.compiled;
    const Tree& tree = compiled.tree();
    nb::list joints;
    std::string last;
    for (int k = 0; k < failure.count && k < Failure::most; ++k) {
        const int dof = owning_dof(tree, failure.places[k]);
        int body = 0;
        while (dof >= tree.bodies[body].v + tree.bodies[body].nv) ++body;
        if (k > 0 && compiled.joint_name(body) == last) continue;
        last = compiled.joint_name(body);
        joints.append(last.c_str());
    }
    const nb::list holding = active_names(work, work.options.values.contacts->count);
    const std::string why = nb::len(holding)
                                ? "the forces of " + listing(holding) + " do not act on all"
                                : "no contact is active, so no force acts on the";
    return why + " velocities without an input in this state (joint " + listing(joints) +
           (failure.count > Failure::most ? ", ..." : "") +
           "); add contacts or inputs, or give regularization= for "
           "torques that come nearest";
}

}  // namespace

void require_success(const Work& work, const FirstFailure& first) {
    if (first.state() < 0 || work.job.naxes > 0) return;
    const Failure& failure = first.failure();
    const std::string why =
        failure.cause == Failure::Cause::unreached_velocities ? about_velocities(work, failure)
        : failure.cause == Failure::Cause::lost_forces        ? about_forces(work, failure)
                                                              : about_row(work, failure);
    throw value_error("contacts: " + why);
}

}  // namespace dtau
