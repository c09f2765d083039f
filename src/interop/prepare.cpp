// Prepares raw calls from Python: prepare_call() reads the options and sizes of one function once,
// and hold_call() stores it under a number.
#include "python/bindings.hpp"

#include <memory>
#include <numeric>
#include <string_view>
#include <vector>

#include <nanobind/stl/shared_ptr.h>

#include "call/raw_call.hpp"
#include "python/call.hpp"
#include "python/lock.hpp"
#include "registry/dispatch.hpp"

namespace nb = nanobind;

namespace dtau {
namespace {

// Keeps the Python objects that a call points into. Any thread may release the last reference.
class PreparedCall : public RawCall {
  public:
    PreparedCall(nb::handle model, std::string_view name, const nb::kwargs& options)
        : PreparedCall(std::unique_ptr<Held>(new Held{compiled_tree(model), {}, {}}), name) {
        const Signature& s = signature();
        const bool of_joints = takes_joint_parameters(s, options);
        const GivenArguments given(s, model, options);
        held_->options.read_first(s, given, tree());
        held_->options.read(s, given, tree());
        held_->options.values.joint_parameters |= of_joints;
        held_->options.contacts.reset();  // the compiled ones are enough; these hold the model
        if (s.parameters < 0) require_inertia(s, tree(), held_->options.values);
        read_order(s);
        drive_all(s);
        describe(held_->options.values, held_->options.single_frame);
    }
    ~PreparedCall() override {
        const nb::gil_scoped_acquire lock;
        if (lock.is_valid())
            delete held_;  // else the interpreter has ended, and its objects with it
    }

  private:
    struct Held {
        TreeReference tree;
        CallOptions options;
        std::vector<int> velocities;
    };

    // The object owns what is held as soon as this is done.
    PreparedCall(std::unique_ptr<Held> held, std::string_view name)
        : RawCall(functions, held->tree.compiled, name), held_(held.release()) {}

    // The length of `parameters`, which the shape of an array decides elsewhere, is an option here.
    static bool takes_joint_parameters(const Signature& s, const nb::kwargs& options) {
        constexpr const char* name = "joint_parameters";
        if (s.parameters < 0 || !options.contains(name)) return false;
        const bool given = nb::cast<bool>(options[name]);
        if (place(s, Option::joint_parameters) < 0) nb::del(options[name]);
        return given;
    }
    // Requires the order of time derivatives, which arrays of known shapes do not determine here.
    void read_order(const Signature& s) {
        if (place(s, Option::order) < 0) return;
        if (held_->options.order < 0)
            throw value_error("order: expected an int for " + std::string(s.name) + ", got None");
        held_->options.values.order = held_->options.order;
    }
    // Makes the torques of all velocities inputs, so that a map of inputs is square.
    void drive_all(const Signature& s) {
        if (!takes_input_map(s)) return;
        held_->velocities.resize(tree().tree().independent.n);
        std::iota(held_->velocities.begin(), held_->velocities.end(), 0);
        held_->options.values.driven = {static_cast<int>(held_->velocities.size()),
                                        held_->velocities.data()};
    }

    Held* held_;
};

nb::tuple describe(const RawCall::Array& a) {
    nb::list shape;
    for (int k = 0; k < a.shape.ndim; ++k) shape.append(a.shape.size[k]);
    return nb::make_tuple(a.signature.name, nb::tuple(shape), a.signature.optional);
}

}  // namespace

void define_raw_calls(nb::module_& m) {
    nb::class_<RawCall>(m, "RawCall")
        .def_prop_ro(
            "inputs",
            [](const RawCall& call) {
                nb::list result;
                for (int i = 0; i < call.signature().ninputs; ++i)
                    result.append(describe(call.input(i)));
                return nb::tuple(result);
            },
            nb::sig("def inputs(self) -> tuple[tuple[str, tuple[int, ...], bool], ...]"))
        .def_prop_ro(
            "results",
            [](const RawCall& call) {
                nb::list result;
                for (int o = 0; o < call.nresults(); ++o) result.append(describe(call.result(o)));
                return nb::tuple(result);
            },
            nb::sig("def results(self) -> tuple[tuple[str, tuple[int, ...], bool], ...]"))
        .def_prop_ro(
            "problem", [](const RawCall& call) { return call.problem().c_str(); },
            nb::sig("def problem(self) -> str"));
    m.def(
        "prepare_call",
        [](nb::handle model, const char* name, const nb::kwargs& options) {
            return std::static_pointer_cast<RawCall>(
                std::make_shared<PreparedCall>(model, name, options));
        },
        nb::sig("def prepare_call(model: object, name: str, **options: object) -> RawCall"));
    m.def(
        "hold_call",
        [](std::int64_t number, std::shared_ptr<RawCall> call) {
            hold_raw_call(number, std::move(call));
        },
        nb::arg("number"), nb::arg("call"),
        nb::sig("def hold_call(number: int, call: RawCall) -> None"));
}

}  // namespace dtau
