// Implements the C++ library on raw calls: Model and Call of dtau.hpp.
#include <dtau.hpp>

#include <algorithm>
#include <climits>
#include <cmath>
#include <new>
#include <stdexcept>

#include "batch/scratch.hpp"
#include "dtau/mimic.hpp"
#include "interop/raw_call.hpp"
#include "library/model_file.hpp"
#include "registry/dispatch.hpp"
#include "tree/compiled_contacts.hpp"

namespace dtau {
namespace {

[[noreturn]] void fail(const std::string& what) { throw std::invalid_argument(what); }

// Reads one of a few words as its index; no word is the first.
int word(const char* argument, const std::string& given, std::initializer_list<const char*> words) {
    int index = 0;
    std::string expected;
    for (const char* candidate : words) {
        if (given == candidate || given.empty()) return index;
        expected += (index++ > 0 ? ", '" : "'") + std::string(candidate) + "'";
    }
    fail(std::string(argument) + ": expected one of " + expected + ", got '" + given + "'");
}

Axes axes(const char* argument, const std::string& given) {
    return static_cast<Axes>(word(argument, given, {"body", "world", "mixed"}));
}

const Frame& frame(const CompiledTree& tree, const char* argument, const std::string& name) {
    if (const Frame* found = tree.frame(name)) return *found;
    fail(std::string(argument) + ": no frame named '" + name + "'");
}

// The velocities for which a mask is true.
std::vector<int> selected(const char* argument, const std::vector<bool>& mask, int nv) {
    if (static_cast<int>(mask.size()) != nv)
        fail(std::string(argument) + ": expected a mask of " + std::to_string(nv) +
             " velocities, got " + std::to_string(mask.size()));
    std::vector<int> result;
    for (int k = 0; k < nv; ++k)
        if (mask[k]) result.push_back(k);
    return result;
}

ContactDescription description(const CompiledTree& tree, const Contact& given) {
    if (given.rows != 3 && given.rows != 6)
        fail("contacts: expected 3 or 6 rows, got " + std::to_string(given.rows));
    if (!(given.kd >= 0.0 && std::isfinite(given.kd)))
        fail("contacts: expected a finite kd of at least 0, got " + std::to_string(given.kd));
    const Frame& held = frame(tree, "contacts", given.frame);
    if (held.body < 0)
        fail("contacts: expected frames of moving bodies, got '" + given.frame + "'");
    ContactDescription contact = {};
    contact.a.link = tree.tree().bodies[held.body].link;
    for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c) contact.a.rotation[3 * r + c] = held.rotation[3 * c + r];
    std::copy_n(held.translation, 3, contact.a.translation.data());
    contact.b = {-1, {1, 0, 0, 0, 1, 0, 0, 0, 1}, {}};
    contact.rows = given.rows;
    contact.hinge = -1;
    contact.axes = word("contacts", given.axes, {"body", "mixed"}) ? Axes::mixed : Axes::body;
    contact.kd = given.kd;
    return contact;
}

}  // namespace

// ---------------------------------------------------------------- the model

Model::Model(std::shared_ptr<const CompiledModel> compiled) : compiled_(std::move(compiled)) {}

Model Model::load(const std::string& path) {
    instruction_set();  // selects one, or throws if this processor has none
    return Model(read_model(path));
}

const std::string& Model::name() const { return compiled_->name; }
int Model::nq() const { return independent_nq(compiled_->tree->tree()); }
int Model::nv() const { return compiled_->tree->tree().independent.n; }
int Model::nbodies() const { return compiled_->tree->tree().nbodies; }
const std::vector<std::string>& Model::frames() const { return compiled_->frames; }
const std::vector<std::string>& Model::joints() const { return compiled_->joints; }

// ---------------------------------------------------------------- a call

// Holds what the arguments point into, and the memory of runs.
struct LibraryCall : RawCall {
    LibraryCall(std::shared_ptr<const CompiledModel> model, std::string_view name,
                const CallArguments& given, std::ptrdiff_t most_states)
        : RawCall(functions, *model->tree, name), most_(most_states), model_(std::move(model)) {
        if (most_states < 1)
            fail("most_states: expected a number of at least 1, got " +
                 std::to_string(most_states));
        const Signature& s = signature();
        read(s, given);
        if (s.solves) {
            const std::string names = joints_without_inertia(tree(), options_.prescribed);
            if (!names.empty())
                fail(
                    "expected a model in which every joint has inertia to accelerate, got none at "
                    "joints " +
                    names);
        }
        describe(options_, single_frame_);
        for (int i = 0; i < s.ninputs; ++i) inputs.push_back(array(input(i)));
        for (int o = 0; o < nresults(); ++o) {
            results.push_back(array(result(o)));
            results.back().entries = entries(o);
        }
        scratch_size_ = reserve(most_states, memory_);
        const std::align_val_t alignment{scratch_alignment};
        scratch_.reset(::operator new(scratch_size_, alignment));
        error_text.reserve(500);
    }

    std::vector<dtau::Array> inputs, results;
    std::string error_text;

    bool run(const double* const* given, double* const* to, std::ptrdiff_t states) noexcept {
        if (states > most_ || states < 0) {
            error_text = signature().name;
            error_text += ": expected at most the states that the call was made for, got more";
            return false;
        }
        const LentScratch lent(scratch_.get(), scratch_size_);
        return RawCall::run(given, to, states, error_text, memory_);
    }

  private:
    struct Release {
        void operator()(void* block) const {
            ::operator delete(block, std::align_val_t{scratch_alignment});
        }
    };

    static dtau::Array array(const RawCall::Array& a) {
        return {a.name, a.optional, {a.shape, a.shape + a.ndim}, a.size, {}};
    }

    void read(const Signature& s, const CallArguments& given) {
        const int nv = tree().tree().independent.n;
        const auto takes = [&](Option option, bool is_given, const char* name) {
            if (place(s, option) >= 0) return is_given;
            if (is_given) fail(std::string("does not take the argument ") + name);
            return false;
        };
        if (takes(Option::frames, !given.frames.empty(), "frames")) read_frames(s, given.frames);
        if (place(s, Option::frames) >= 0 && given.frames.empty())
            fail("expected the argument frames");
        if (takes(Option::axes, !given.axes.empty(), "axes"))
            options_.axes = axes("axes", given.axes);
        if (takes(Option::wrench_axes, !given.f_ext_axes.empty(), "f_ext_axes"))
            options_.wrench_axes = axes("f_ext_axes", given.f_ext_axes);
        if (takes(Option::acceleration, !given.kind.empty(), "kind"))
            options_.acceleration =
                static_cast<Acceleration>(word("kind", given.kind, {"spatial", "classical"}));
        if (takes(Option::integrator, !given.integrator.empty(), "integrator"))
            options_.integrator = static_cast<Integrator>(
                word("integrator", given.integrator, {"euler", "semi_implicit", "rk4"}));
        if (takes(Option::symmetric, given.symmetric, "symmetric")) options_.symmetric = true;
        if (takes(Option::layout, !given.layout.empty(), "layout"))
            options_.layout =
                static_cast<Layout>(word("layout", given.layout, {"dense", "pattern"}));
        if (takes(Option::joint_parameters, given.joint_parameters, "joint_parameters"))
            options_.joint_parameters = true;
        if (takes(Option::forces, given.forces, "forces")) options_.forces = true;
        if (place(s, Option::prescribed) >= 0 || !given.prescribed.empty()) {
            takes(Option::prescribed, true, "prescribed");
            selected("prescribed", given.prescribed, nv);  // checks the length
            prescribed_ = std::make_unique<bool[]>(nv);
            std::copy(given.prescribed.begin(), given.prescribed.end(), prescribed_.get());
            options_.prescribed = prescribed_.get();
        }
        options_.driven = {tree().tree().nactuated, tree().tree().actuated};
        if (!takes_input_map(s)) takes(Option::driven, !given.inputs.empty(), "inputs");
        if (!given.inputs.empty()) {
            driven_ = selected("inputs", given.inputs, nv);
            options_.driven = {static_cast<int>(driven_.size()), driven_.data()};
        }
        if (takes(Option::contacts, !given.contacts.empty(), "contacts")) {
            std::vector<ContactDescription> contacts;
            for (const Contact& contact : given.contacts)
                contacts.push_back(description(tree(), contact));
            contacts_ = std::make_unique<CompiledContacts>(tree(), contacts);
            options_.contacts = &contacts_->contacts();
        }
        if (place(s, Option::contacts) >= 0 && !s.optional_contacts && !contacts_)
            fail("expected the argument contacts");
        if (takes(Option::regularization, given.regularization != 0.0, "regularization")) {
            if (!(given.regularization > 0.0 && std::isfinite(given.regularization)))
                fail("regularization: expected a finite number of at least 0");
            options_.regularization = given.regularization;
        }
        if (!contacts_ && s.optional_contacts && (options_.forces || options_.regularization > 0.0))
            fail("forces and regularization: expected them with contacts, which are not given");
        if (takes(Option::order, given.order != 0, "order")) {
            if (given.order < 0 || given.order > Options::max_order)
                fail("order: expected a number from 0 to 100, got " + std::to_string(given.order));
            options_.order = given.order;
        }
    }
    void read_frames(const Signature& s, const std::vector<std::string>& names) {
        if (static_cast<double>(names.size()) * 6 * tree().tree().nv > INT_MAX)
            fail("frames: expected Jacobians of fewer than 2**31 numbers");
        for (const std::string& name : names) frames_.push_back(frame(tree(), "frames", name));
        const std::string_view argument = s.arguments[place(s, Option::frames)].name;
        single_frame_ = argument == "frame";
        if (single_frame_ && (names.size() != 1 || frames_[0].body < 0))
            fail("frames: expected one frame of a moving body");
        options_.frames = frames_.data();
        options_.nframes = static_cast<int>(frames_.size());
    }

    std::ptrdiff_t most_;
    std::shared_ptr<const CompiledModel> model_;
    std::vector<Frame> frames_;
    bool single_frame_ = false;
    std::unique_ptr<bool[]> prescribed_;
    std::vector<int> driven_;
    std::unique_ptr<CompiledContacts> contacts_;
    Options options_;
    RawMemory memory_;
    std::size_t scratch_size_ = 0;
    std::unique_ptr<void, Release> scratch_;
};

Call::Call(const Model& model, std::string_view name, const CallArguments& arguments,
           std::ptrdiff_t most_states) try
    : call_(std::make_unique<LibraryCall>(model.compiled_, name, arguments, most_states)) {
} catch (const std::invalid_argument& error) {
    throw std::invalid_argument(std::string(name) + ": " + error.what());
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

bool Call::run(std::initializer_list<const double*> inputs, std::initializer_list<double*> results,
               std::ptrdiff_t states) noexcept {
    const double* given[Job::max_inputs] = {};
    double* to[Job::max_outputs] = {};
    if (inputs.size() > call_->inputs.size() || results.size() > call_->results.size()) {
        call_->error_text = "expected fewer inputs or results: inputs() and results() have them";
        return false;
    }
    std::copy(inputs.begin(), inputs.end(), given);
    std::copy(results.begin(), results.end(), to);
    return call_->run(given, to, states);
}

std::vector<std::string> function_names() {
    instruction_set();
    std::vector<std::string> names;
    for (int g = 0; g < functions().ngroups; ++g)
        for (int k = 0; k < functions().groups[g]->count; ++k)
            names.push_back(functions().groups[g]->functions[k].signature.name);
    return names;
}

}  // namespace dtau
