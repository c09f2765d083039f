// Defines the Python module dtau._recorder: every function with recorded numbers, and the tape as
// C.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "codegen/adjoint.hpp"
#include "codegen/replay.hpp"
#include "codegen/write.hpp"
#include "python/call.hpp"
#include "python/define.hpp"
#include "python/lock.hpp"
#include "registry/dispatch.hpp"

namespace nb = nanobind;

namespace dtau {

namespace recorded {
extern const FunctionList functions;
}

namespace {

// With the signatures of the library.
const FunctionList& recorded_functions() {
    static const FunctionList described = [] {
        FunctionList list = recorded::functions;
        list.described = functions().described;
        return list;
    }();
    return described;
}

using Numbers = Rows<double>;

std::vector<double> all_numbers(const Numbers& array) {
    return std::vector<double>(array.data(), array.data() + array.size());
}

// Ends recordings of this thread until so many remain.
void end(std::size_t count) {
    interruptible([&] { tapes().resize(std::min(count, tapes().size())); });
}

// Writes new inputs of the tape into the array.
void take_inputs(nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu> to) {
    for (std::size_t k = 0; k < to.size(); ++k) to.data()[k] = tape().input();
}

void set_gravity(const Numbers& gravity) {
    if (gravity.size() != 3) throw nb::value_error("gravity: expected 3 numbers");
    tape().set_gravity(gravity.data());
}

void set_payload(int link, const Numbers& parameters) {
    if (link < 0 || parameters.size() != 10)
        throw nb::value_error("payload: expected a moving body and 10 numbers");
    tape().set_payload(link, parameters.data());
}

// Computes sum_k a[i k] b[k j], with rows contiguous in memory.
void product(const Numbers& a, const Numbers& b, std::size_t inner,
             nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu> to) {
    const std::size_t rows = a.size() / inner, columns = b.size() / inner;
    if (to.size() != rows * columns)
        throw value_error("to: expected " + std::to_string(rows * columns) + " numbers, got " +
                          std::to_string(to.size()));
    interruptible([&] {
        for (std::size_t i = 0; i < rows; ++i)
            for (std::size_t j = 0; j < columns; ++j) {
                double sum = 0.0;
                for (std::size_t k = 0; k < inner; ++k)
                    sum = record(Operation::multiply_add, a.data()[i * inner + k],
                                 b.data()[k * columns + j], sum);
                to.data()[i * columns + j] = sum;
            }
    });
}

// Writes the gradient of seeds . outputs by the inputs into the array.
void take_adjoints(const Numbers& outputs, const Numbers& seeds, const Numbers& inputs,
                   nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu> to) {
    if (outputs.size() != seeds.size() || inputs.size() != to.size())
        throw nb::value_error(
            "adjoints: expected as many seeds as outputs, and as many results as inputs");
    interruptible([&] {
        adjoints(all_numbers(outputs), all_numbers(seeds), all_numbers(inputs), to.data());
    });
}

// Exports the tape: operations as recorded.hpp numbers them, and three operands for each.
void take_nodes(nb::ndarray<std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> operations,
                nb::ndarray<double, nb::shape<-1, 3>, nb::c_contig, nb::device::cpu> operands) {
    const std::vector<Node>& nodes = tape().nodes();
    if (operations.size() != nodes.size() || operands.size() != 3 * nodes.size())
        throw value_error("nodes: expected arrays for " + std::to_string(nodes.size()) +
                          " operations, got " + std::to_string(operations.size()) + " and " +
                          std::to_string(operands.size() / 3));
    for (std::size_t n = 0; n < nodes.size(); ++n) {
        operations.data()[n] = static_cast<std::uint8_t>(nodes[n].operation);
        std::copy_n(nodes[n].operand, 3, operands.data() + 3 * n);
    }
}

// Replays exported nodes: `given` and `to` have a row of complex numbers for each state.
void replay_nodes(
    nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> operations,
    Rows<double, 3> operands, const Numbers& outputs, Rows<double, -1, 2> given,
    nb::ndarray<double, nb::shape<-1, -1, 2>, nb::c_contig, nb::device::cpu> to) {
    std::vector<Node> nodes(operations.size());
    for (std::size_t n = 0; n < nodes.size(); ++n) {
        nodes[n].operation = static_cast<Operation>(operations.data()[n]);
        std::copy_n(operands.data() + 3 * n, 3, nodes[n].operand);
    }
    interruptible([&] {
        replay(nodes, all_numbers(outputs), to.shape(0),
               reinterpret_cast<const std::complex<double>*>(given.data()),
               reinterpret_cast<std::complex<double>*>(to.data()));
    });
}

using Named = std::vector<std::pair<std::string, Numbers>>;

std::vector<NamedNumbers> named(const Named& arrays) {
    std::vector<NamedNumbers> result;
    for (const auto& [name, numbers] : arrays) result.push_back({name, all_numbers(numbers)});
    return result;
}

nb::tuple write_function(const std::string& name, const Named& inputs, const Named& outputs,
                         bool single_precision, int piece, int lanes, bool is_static,
                         bool is_device) {
    const CFunction function = {name,  named(inputs), named(outputs), single_precision,
                                lanes, piece,         is_static,      is_device};
    const WrittenC written = interruptible([&] { return write_c(tape(), function); });
    return nb::make_tuple(written.text, written.operations, written.sines, written.memory,
                          written.unused);
}

}  // namespace
}  // namespace dtau

NB_MODULE(_recorder, m) {
    using namespace dtau;
    import_numpy();
    require_first_import(m);
    nb::set_leak_warnings(false);

    nb::module_ functions = m.def_submodule("functions", "The functions, of recorded numbers.");
    define_functions(functions, recorded_functions, ScalarKind::recorded);
    m.def("tapes", [] { return tapes().size(); });
    m.def("start", [] { tapes().push_back(std::make_unique<Tape>()); });
    m.def("end", &end, nb::arg("tapes"));
    m.def("recorded", [] { return tape().nodes().size(); });
    m.def("asked", [] {
        const Tape::Counts& counts = tape().asked();
        return std::vector<std::uint64_t>(counts.begin(), counts.end());
    });
    m.def("take_inputs", &take_inputs, nb::arg("to"));
    m.def("set_gravity", &set_gravity, nb::arg("gravity"));
    m.def("set_payload", &set_payload, nb::arg("link"), nb::arg("parameters"));
    m.def("product", &product, nb::arg("a"), nb::arg("b"), nb::arg("inner"), nb::arg("to"));
    m.def("take_adjoints", &take_adjoints, nb::arg("outputs"), nb::arg("seeds"), nb::arg("inputs"),
          nb::arg("to"));
    m.def("take_nodes", &take_nodes, nb::arg("operations"), nb::arg("operands"));
    m.def("replay", &replay_nodes, nb::arg("operations"), nb::arg("operands"), nb::arg("outputs"),
          nb::arg("given"), nb::arg("to"));
    m.def("write", &write_function, nb::arg("name"), nb::arg("inputs"), nb::arg("outputs"),
          nb::arg("single_precision"), nb::arg("piece"), nb::arg("lanes") = 0,
          nb::arg("is_static") = false, nb::arg("is_device") = false);
}
