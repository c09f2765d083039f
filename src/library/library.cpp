// Implements Call of dtau.hpp on raw calls.
#include "dtau/library/call.hpp"

#include <algorithm>
#include <cstdio>
#include <stdexcept>

#include "batch/parallel.hpp"
#include "call/contacts.hpp"
#include "call/options.hpp"
#include "call/raw_call.hpp"
#include "dtau/mimic.hpp"
#include "library/model_file.hpp"
#include "library/reading.hpp"
#include "registry/dispatch.hpp"
#include "tree/compiled_contacts.hpp"

namespace dtau {
namespace {

void require_length(const char* argument, const std::vector<bool>& mask, int nv) {
    if (static_cast<int>(mask.size()) != nv)
        refuse(std::string(argument) + ": expected a mask of " + std::to_string(nv) +
               " velocities, got " + std::to_string(mask.size()));
}

void require(const char* argument, const std::string& expected, const std::string& got) {
    if (!expected.empty())
        refuse(std::string(argument) + ": expected " + expected + ", got " + got);
}

// Stands for the model of functions that take none. It has no bodies.
std::shared_ptr<const CompiledModel> no_model() {
    static const auto none = [] {
        const auto model = std::make_shared<CompiledModel>();
        model->tree = std::make_unique<CompiledTree>(
            std::vector<BodyDescription>(), std::vector<std::string>(), std::vector<std::string>(),
            std::vector<double>(), std::vector<double>(), std::array<double, 3>());
        return std::shared_ptr<const CompiledModel>(model);
    }();
    return none;
}

std::vector<std::string> names_of(const FunctionList& list) {
    std::vector<std::string> names;
    for (int g = 0; g < list.ngroups; ++g)
        for (int k = 0; k < list.groups[g]->count; ++k)
            names.push_back(list.function(g, k).signature.name);
    return names;
}

}  // namespace

// Holds what the arguments point into, and the memory of runs.
struct LibraryCall : RawCall {
    LibraryCall(const FunctionList& (*list)(), std::shared_ptr<const CompiledModel> model,
                std::string_view name, const CallArguments& given, std::ptrdiff_t most_states)
        : RawCall(list, *model->tree, name), most_(most_states), model_(std::move(model)) {
        if (most_states < 1)
            refuse("most_states: expected a number of at least 1, got " +
                   std::to_string(most_states));
        const Signature& s = signature();
        read(s, given);
        describe(options_.values, options_.single_frame);
        for (int i = 0; i < s.ninputs; ++i) inputs.push_back(array(input(i)));
        for (int o = 0; o < nresults(); ++o) {
            results.push_back(array(result(o)));
            results.back().entries = entries(o);
        }
        reserve(most_states, given.threads, memory_);
        error_text.reserve(500);
    }

    std::vector<dtau::Array> inputs, results;
    std::string error_text;

    bool run(const double* const* given, double* const* to, std::ptrdiff_t states) noexcept {
        if (states > most_ || states < 0) {
            error_text = signature().name;
            error_text +=
                states < 0 ? ": states: expected a number of at least 0, got a negative one"
                           : ": expected at most the states that the call was made for, got more";
            return false;
        }
        const LentScratch lent(memory_.scratch);
        return RawCall::run(given, to, states, error_text, memory_);
    }

    bool run(std::initializer_list<InputView> given, std::initializer_list<ResultView> to,
             std::ptrdiff_t states) noexcept {
        const double* in[Job::max_inputs] = {};
        double* out[Job::max_outputs] = {};
        return take("inputs", inputs, given, states, in) &&
               take("results", results, to, states, out) && run(in, out, states);
    }

  private:
    // Takes the addresses of arrays, if their shapes fit.
    template <class View, class Pointer>
    bool take(const char* what, const std::vector<dtau::Array>& arrays,
              std::initializer_list<View> given, std::ptrdiff_t states,
              Pointer* addresses) noexcept {
        static double nothing[1];
        std::size_t k = 0;
        for (const View& view : given) {
            if (k >= arrays.size()) {  // such as forces without the option
                if (!view.data) continue;
                return mismatch(what, "no more than the function has");
            }
            const dtau::Array& array = arrays[k];
            const ArrayLayout& layout = view.layout;
            addresses[k++] = view.data || layout.size != 0 ? view.data : nothing;
            if (layout.size == ArrayLayout::scattered().size)
                return mismatch(array.name.c_str(), "contiguous numbers");
            if (layout.size < 0) continue;
            if (layout.size != array.size * states)
                return mismatch(array.name.c_str(), "as many numbers as the states have",
                                layout.size, array.size * states);
            if (layout.row < 0 && -layout.row != array.size)
                return mismatch(array.name.c_str(),
                                "a matrix by rows (Eigen::RowMajor), or a state in each column");
            if (layout.row > 0 && !ends_with(array, layout.row, states))
                return mismatch(array.name.c_str(), "rows of whole axes of the array");
        }
        return true;
    }

    // Whether the last axes of an array have so many numbers.
    static bool ends_with(const dtau::Array& array, std::ptrdiff_t row, std::ptrdiff_t states) {
        std::ptrdiff_t numbers = 1;
        for (std::size_t axis = array.shape.size(); axis > 0 && numbers < row; --axis)
            numbers *= array.shape[axis - 1];
        return numbers == row || numbers * states == row;
    }

    bool mismatch(const char* name, const char* expected, std::ptrdiff_t got = -1,
                  std::ptrdiff_t size = -1) noexcept {
        char text[400];
        if (got < 0)
            std::snprintf(text, sizeof text, "%s: %s: expected %s", signature().name, name,
                          expected);
        else
            std::snprintf(text, sizeof text, "%s: %s: expected %s, %td, got %td", signature().name,
                          name, expected, size, got);
        error_text = text;
        return false;
    }

    static dtau::Array array(const RawCall::Array& a) {
        return {a.signature.name,
                a.signature.optional,
                {a.shape.size, a.shape.size + a.shape.ndim},
                a.size,
                {}};
    }

    void read(const Signature& s, const CallArguments& given) {
        const int nv = tree().tree().independent.n;
        const auto takes = [&](Option option, bool is_given, const char* name) {
            if (place(s, option) >= 0) return is_given;
            if (is_given) refuse(std::string("does not take the argument ") + name);
            return false;
        };
        const auto read_word = [&](Option option, const char* name, const std::string& word) {
            if (takes(option, !word.empty(), name))
                require(name, options_.set_word(option, word), "'" + word + "'");
        };
        read_word(Option::axes, "axes", given.axes);
        read_word(Option::wrench_axes, "f_ext_axes", given.f_ext_axes);
        read_word(Option::acceleration, "kind", given.kind);
        read_word(Option::integrator, "integrator", given.integrator);
        read_word(Option::layout, "layout", given.layout);
        read_word(Option::coordinates, "coordinates", given.coordinates);
        const auto read_flag = [&](Option option, const char* name, bool flag) {
            if (takes(option, flag, name)) options_.set_flag(option, flag);
        };
        read_flag(Option::symmetric, "symmetric", given.symmetric);
        read_flag(Option::forces, "forces", given.forces);
        if (s.parameters >= 0)
            options_.set_flag(Option::joint_parameters, given.joint_parameters);
        else
            read_flag(Option::joint_parameters, "joint_parameters", given.joint_parameters);
        if (takes(Option::by, !given.by.empty(), "by"))
            for (const std::string& name : given.by)
                require("by", options_.add_variable(s, name), "'" + name + "'");
        if (takes(Option::frames, !given.frames.empty(), "frames")) read_frames(s, given.frames);
        if (place(s, Option::frames) >= 0 && given.frames.empty())
            refuse("expected the argument frames");
        if (takes(Option::prescribed, !given.prescribed.empty(), "prescribed") ||
            place(s, Option::prescribed) >= 0) {
            require_length("prescribed", given.prescribed, nv);
            options_.set_prescribed(nv, [&](int k) { return given.prescribed[k]; });
        }
        options_.values.driven = {tree().tree().nactuated, tree().tree().actuated};
        if (!takes_input_map(s)) takes(Option::driven, !given.inputs.empty(), "inputs");
        if (!given.inputs.empty()) {
            require_length("inputs", given.inputs, nv);
            options_.set_driven(nv, [&](int k) { return given.inputs[k]; });
        }
        if (takes(Option::contacts, !given.contacts.empty(), "contacts")) {
            const FrameOfName named = [&](const std::string& name) -> const Frame& {
                return frame(*model_, "contacts", name);
            };
            contacts_ = std::make_unique<CompiledContacts>(
                tree(),
                describe_contacts(tree(), given.contacts, named, held_at(given.contacts_at)));
            options_.values.contacts = &contacts_->constraints();
        } else if (!given.contacts_at.empty()) {
            refuse("contacts_at: expected contacts with it");
        }
        if (place(s, Option::contacts) >= 0 && !s.optional_contacts && !contacts_)
            refuse("expected the argument contacts");
        if (takes(Option::regularization, given.regularization != 0.0, "regularization"))
            require("regularization", options_.set_regularization(given.regularization),
                    std::to_string(given.regularization));
        if (given.threads < 0 || given.threads > max_threads)
            refuse("threads: expected a number from 0 to " + std::to_string(max_threads) +
                   ", got " + std::to_string(given.threads));
        if (takes(Option::order, given.order != 0, "order")) {
            require("order", options_.set_order(given.order), std::to_string(given.order));
            options_.values.order = options_.order;
        }
        if (const char* problem = options_.conflict(s)) refuse(problem);
    }
    // The poses of frames in a configuration; nothing without one.
    PoseOfFrame held_at(const std::vector<double>& q) const {
        if (q.empty()) return {};
        const int nq = independent_nq(tree().tree());
        if (static_cast<int>(q.size()) != nq)
            refuse("contacts_at: expected " + std::to_string(nq) + " numbers, got " +
                   std::to_string(q.size()));
        return [this, q](const std::string& name) {
            LibraryCall placements(functions, model_, "frame_placements", {.frames = {name}}, 1);
            Pose pose;
            if (!placements.run({q}, {pose.rotation, pose.translation}, 1))
                refuse(placements.error_text);
            return pose;
        };
    }
    void read_frames(const Signature& s, const std::vector<std::string>& names) {
        std::vector<Frame> frames;
        for (const std::string& name : names) frames.push_back(frame(*model_, "frames", name));
        if (std::string_view(s.arguments[place(s, Option::frames)].name) != "frame")
            return require("frames", options_.set_frames(std::move(frames), tree().tree()),
                           std::to_string(names.size()) + " frames");
        if (frames.size() != 1 || frames[0].body < 0)
            refuse("frames: expected one frame of a moving body");
        options_.set_frame(frame(*model_, "frames", names[0]));
    }

    std::ptrdiff_t most_;
    std::shared_ptr<const CompiledModel> model_;
    std::unique_ptr<CompiledContacts> contacts_;
    OptionValues options_;
    RawMemory memory_;
};

Call::Call(const Model& model, std::string_view name, const CallArguments& arguments,
           std::ptrdiff_t most_states) try
    : call_(
          std::make_unique<LibraryCall>(functions, model.compiled_, name, arguments, most_states)) {
} catch (const std::invalid_argument& error) {
    throw std::invalid_argument(std::string(name) + ": " + error.what());
}
Call::Call(std::string_view name, const CallArguments& arguments, std::ptrdiff_t most_states) try
    : call_((instruction_set(), std::make_unique<LibraryCall>(pose_functions, no_model(), name,
                                                              arguments, most_states))) {
} catch (const std::invalid_argument& error) {
    const std::vector<std::string> others = function_names();
    const bool of_robot = std::find(others.begin(), others.end(), name) != others.end();
    throw std::invalid_argument(std::string(name) + ": " +
                                (of_robot ? "expected a model, got none" : error.what()));
}
Call::Call(Call&&) noexcept = default;
Call& Call::operator=(Call&&) noexcept = default;
Call::~Call() = default;

const std::vector<Array>& Call::inputs() const { return call_->inputs; }
const std::vector<Array>& Call::results() const { return call_->results; }
const char* Call::error() const noexcept { return call_->error_text.c_str(); }

bool Call::run(const double* const* inputs, double* const* results,
               std::ptrdiff_t states) noexcept {
    return call_->run(inputs, results, states);
}

bool Call::run(std::initializer_list<InputView> inputs, std::initializer_list<ResultView> results,
               std::ptrdiff_t states) noexcept {
    return call_->run(inputs, results, states);
}

std::vector<std::string> function_names() {
    instruction_set();
    return names_of(functions());
}
std::vector<std::string> pose_function_names() {
    instruction_set();
    return names_of(pose_functions());
}

}  // namespace dtau
