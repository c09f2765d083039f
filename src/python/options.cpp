#include "python/options.hpp"

#include <climits>
#include <string>

#include "python/arrays.hpp"
#include "python/lock.hpp"

namespace nb = nanobind;

namespace dtau {
namespace {

// One of a few words: its place among them.
template <std::size_t n>
int word(const char* option, nb::handle given, const char* const (&words)[n]) {
    std::string expected;
    for (std::size_t k = 0; k < n; ++k) {
        if (PyUnicode_Check(given.ptr()) &&
            PyUnicode_CompareWithASCIIString(given.ptr(), words[k]) == 0)
            return static_cast<int>(k);
        expected += (k == 0 ? "'" : k + 1 < n ? ", '" : " or '") + std::string(words[k]) + "'";
    }
    throw nb::value_error(
        (std::string(option) + ": expected " + expected + ", got " + str(nb::repr(given))).c_str());
}

Axes axes(Option option, nb::handle given) {
    return static_cast<Axes>(word(name(option), given, {"body", "world", "mixed"}));
}

// Whether it is an array of so many axes whose numbers lie one after the other.
bool is_array(nb::handle given, int type, int ndim) {
    return PyArray_Check(given.ptr()) && PyArray_TYPE(array(given)) == type &&
           PyArray_NDIM(array(given)) == ndim && PyArray_IS_C_CONTIGUOUS(array(given)) &&
           PyArray_ISBEHAVED_RO(array(given));
}

}  // namespace

const char* name(Option option) {
    switch (option) {
        case Option::frames:
            return "frames";
        case Option::axes:
            return "axes";
        case Option::wrench_axes:
            return "f_ext_axes";
        case Option::prescribed:
            return "prescribed";
        case Option::integrator:
            return "integrator";
        case Option::driven:
            return "driven";
        case Option::symmetric:
            return "symmetric";
        case Option::packed:
            return "packed";
        case Option::joint_parameters:
            return "joint_parameters";
        case Option::order:
            return "order";
    }
    return "";
}

int number(const char* expected, nb::handle given, int least, int most) {
    const bool integer = PyIndex_Check(given.ptr()) && !PyBool_Check(given.ptr());
    const Py_ssize_t value =
        integer ? unless_ended([&] { return PyNumber_AsSsize_t(given.ptr(), nullptr); }) : -1;
    if (!integer || value < least || value > most) {
        PyErr_Clear();
        const std::string message = std::string(expected) + ", got " + str(nb::repr(given));
        if (!integer) throw nb::type_error(message.c_str());
        throw nb::value_error(message.c_str());
    }
    return static_cast<int>(value);
}

FrameList::FrameList(nb::handle model, const Rows<std::int32_t>& bodies,
                     const Rows<double, 3, 3>& rotation, const Rows<double, 3>& translation,
                     bool single)
    : tree_(compiled_tree(model)), single_(single) {
    const Tree& tree = tree_.compiled.tree();
    if (rotation.shape(0) != bodies.shape(0) || translation.shape(0) != bodies.shape(0))
        throw nb::value_error("Frames: arrays of different lengths");
    if (static_cast<double>(bodies.shape(0)) * 6 * tree.nv > INT_MAX)
        throw nb::value_error("frames: too many for one call");
    for (std::size_t f = 0; f < bodies.shape(0); ++f) {
        Frame frame;
        frame.body = bodies.data()[f];
        if (frame.body < -1 || frame.body >= tree.nlinks)
            throw nb::value_error("Frames: a frame of a body that does not exist");
        if (frame.body >= 0) frame.body = tree.link_body[frame.body];
        const auto R = row<9>(rotation, f);
        const auto r = row<3>(translation, f);
        for (int i = 0; i < 3; ++i) {
            frame.translation[i] = r[i];
            for (int j = 0; j < 3; ++j) frame.rotation[3 * j + i] = R[3 * i + j];
        }
        frames_.push_back(frame);
    }
}

void FrameList::write(const CompiledTree& tree, Options& options) const {
    if (&tree != &tree_.compiled) throw nb::value_error("frames: expected those of this model");
    options.frames = frames_.data();
    options.nframes = static_cast<int>(frames_.size());
}

void CallOptions::read_numbers(const Signature& signature, PyObject* const* given) {
    static_assert(Options::max_order == 100, "as the message says");
    for (int k = 0; k < signature.noptions; ++k)
        if (signature.options[k] == Option::order && given[k] != Py_None)
            order = number("order: expected an int from 0 to 100 or None", given[k], 0,
                           Options::max_order);
}

void CallOptions::read(const Signature& signature, PyObject* const* given,
                       const CompiledTree& tree) {
    for (int k = 0; k < signature.noptions; ++k) read(signature.options[k], given[k], tree);
    // Of one wrench at one frame.
    for (int i = 0; i < signature.ninputs; ++i)
        if (signature.inputs[i].quantity == Quantity::wrench &&
            (values.nframes != 1 || values.frames[0].body < 0))
            throw nb::value_error("frame: expected one frame of a moving body");
}

void CallOptions::read(Option option, nb::handle given, const CompiledTree& tree) {
    switch (option) {
        case Option::frames: {
            const FrameList* frames = nullptr;
            if (!nb::try_cast(given, frames) || !frames)
                throw nb::type_error("frames: expected a Frames object");
            frames->write(tree, values);
            single_frame = frames->single();
            frames_ = nb::borrow(given);
            return;
        }
        case Option::axes:
            values.axes = axes(option, given);
            return;
        case Option::wrench_axes:
            values.wrench_axes = axes(option, given);
            return;
        case Option::prescribed:
            return read_prescribed(given, tree.tree());
        case Option::integrator:
            values.integrator = static_cast<Integrator>(
                word("integrator", given, {"euler", "semi_implicit", "rk4"}));
            return;
        case Option::driven:
            return read_driven(given, tree.tree());
        case Option::symmetric:
            values.symmetric = nb::cast<bool>(given);
            return;
        case Option::packed:
            values.packed = nb::cast<bool>(given);
            return;
        case Option::joint_parameters:
            values.joint_parameters = nb::cast<bool>(given);
            return;
        case Option::order:  // a number
            return;
    }
}

void CallOptions::read_prescribed(nb::handle given, const Tree& tree) {
    if (!is_array(given, NPY_BOOL, 1))
        throw nb::type_error("prescribed: expected an array of bool");
    const int nv = tree.independent.n;
    if (PyArray_DIM(array(given), 0) != nv)
        throw nb::value_error("prescribed: of another length than v");
    const npy_bool* numbers = static_cast<const npy_bool*>(PyArray_DATA(array(given)));
    prescribed_ = std::make_unique_for_overwrite<bool[]>(nv);
    for (int k = 0; k < nv; ++k) prescribed_[k] = numbers[k] != 0;
    values.prescribed = prescribed_.get();
}

// None: the torques of all joints but free roots; or indices of torques.
void CallOptions::read_driven(nb::handle given, const Tree& tree) {
    if (given.is_none()) {
        values.driven = {tree.nactuated, tree.actuated};
        return;
    }
    if (!is_array(given, NPY_INT32, 1))
        throw nb::type_error("inputs: expected None or indices (int32)");
    const npy_intp length = PyArray_DIM(array(given), 0);
    if (length > INT_MAX) throw nb::value_error("inputs: too many for one call");
    const int count = static_cast<int>(length);
    const npy_int32* numbers = static_cast<const npy_int32*>(PyArray_DATA(array(given)));
    columns_ = std::make_unique_for_overwrite<int[]>(count);
    for (int c = 0; c < count; ++c) {
        columns_[c] = numbers[c];
        if (columns_[c] < 0 || columns_[c] >= tree.independent.n)
            throw nb::value_error("inputs: a torque that does not exist");
    }
    values.driven = {count, columns_.get()};
}

}  // namespace dtau
