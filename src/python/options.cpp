#include "python/options.hpp"

#include <climits>
#include <string>

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
        (std::string(option) + ": expected " + expected + ", got " + nb::repr(given).c_str())
            .c_str());
}

template <class To>
bool take(nb::handle given, To& to) {
    return nb::try_cast<To>(given, to);
}

}  // namespace

const char* name(Option option) {
    switch (option) {
        case Option::frames:
            return "frames";
        case Option::axes:
            return "axes";
        case Option::prescribed:
            return "prescribed";
        case Option::integrator:
            return "integrator";
        case Option::inputs:
            return "inputs";
        case Option::symmetric:
            return "symmetric";
        case Option::packed:
            return "packed";
    }
    return "";
}

FrameList::FrameList(nb::handle model, const Rows<std::int32_t>& bodies,
                     const Rows<double, 3, 3>& rotation, const Rows<double, 3>& translation,
                     bool single)
    : tree_(compiled_tree(model)), single_(single) {
    const Tree& tree = tree_.tree.tree();
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
    if (&tree != &tree_.tree) throw nb::value_error("frames: expected those of this model");
    options.frames = frames_.data();
    options.nframes = static_cast<int>(frames_.size());
}

CallOptions::CallOptions(const Signature& signature, PyObject* const* given,
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
            if (!take(given, frames) || !frames)
                throw nb::type_error("frames: expected a Frames object");
            frames->write(tree, values);
            single_frame = frames->single();
            return;
        }
        case Option::axes:
            values.axes = static_cast<Axes>(word("axes", given, {"body", "world", "mixed"}));
            return;
        case Option::prescribed:
            if (!take(given, prescribed_))
                throw nb::type_error("prescribed: expected an array of bool");
            if (static_cast<int>(prescribed_.shape(0)) != tree.tree().independent.n)
                throw nb::value_error("prescribed: of another length than v");
            values.prescribed = prescribed_.data();
            return;
        case Option::integrator:
            values.integrator = static_cast<Integrator>(
                word("integrator", given, {"euler", "semi_implicit", "rk4"}));
            return;
        case Option::inputs:
            return read_inputs(given, tree);
        case Option::symmetric:
            values.symmetric = nb::cast<bool>(given);
            return;
        case Option::packed:
            values.packed = nb::cast<bool>(given);
            return;
    }
}

// None: the torques of all joints but free roots; indices of torques; or a map (nv, ninputs).
void CallOptions::read_inputs(nb::handle given, const CompiledTree& compiled) {
    const Tree& tree = compiled.tree();
    const int nv = tree.independent.n;
    if (given.is_none()) {
        values.inputs = {tree.nactuated, tree.actuated, nullptr};
    } else if (take(given, columns_)) {
        values.inputs = {static_cast<int>(columns_.shape(0)), columns_.data(), nullptr};
        for (int c = 0; c < values.inputs.count; ++c)
            if (columns_.data()[c] < 0 || columns_.data()[c] >= nv)
                throw nb::value_error("inputs: a torque that does not exist");
    } else if (take(given, map_)) {
        values.inputs = {static_cast<int>(map_.shape(1)), nullptr, map_.data()};
        if (static_cast<int>(map_.shape(0)) != nv)
            throw nb::value_error("inputs: a map of another shape");
    } else {
        throw nb::type_error("inputs: expected None, indices (int32) or a map (float64)");
    }
}

}  // namespace dtau
