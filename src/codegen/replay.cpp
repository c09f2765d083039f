// Replays a recording node by node, for a few states at once: replay().
#include "codegen/replay.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "batch/interruption.hpp"

namespace dtau {
namespace {

using Complex = std::complex<double>;

constexpr std::size_t together = 8;  // states at most

// Without the tests for infinite numbers that C++'s own product has.
Complex product(Complex a, Complex b) {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

// Computes a node for so many states, from its operands.
void compute(Operation operation, std::size_t states, const Complex* a, const Complex* b,
             const Complex* c, Complex* to) {
    const auto each = [&](auto computed) {
        for (std::size_t s = 0; s < states; ++s) to[s] = computed(s);
    };
    switch (operation) {
        case Operation::input: return;
        case Operation::add: return each([&](std::size_t s) { return a[s] + b[s]; });
        case Operation::subtract: return each([&](std::size_t s) { return a[s] - b[s]; });
        case Operation::multiply: return each([&](std::size_t s) { return product(a[s], b[s]); });
        case Operation::divide: return each([&](std::size_t s) { return a[s] / b[s]; });
        case Operation::multiply_add:
            return each([&](std::size_t s) { return product(a[s], b[s]) + c[s]; });
        case Operation::subtract_product:
            return each([&](std::size_t s) { return c[s] - product(a[s], b[s]); });
        case Operation::square_root: return each([&](std::size_t s) { return std::sqrt(a[s]); });
        case Operation::sine: return each([&](std::size_t s) { return std::sin(a[s]); });
        case Operation::cosine: return each([&](std::size_t s) { return std::cos(a[s]); });
        case Operation::hyperbolic_tangent:
            return each([&](std::size_t s) { return std::tanh(a[s]); });
        case Operation::hyperbolic_secant:
            return each([&](std::size_t s) { return 1.0 / std::cosh(a[s]); });
        case Operation::absolute:
            return each([&](std::size_t s) { return a[s].real() < 0.0 ? -a[s] : a[s]; });
        case Operation::within_half_turn:
            return each([&](std::size_t s) {
                const double turn = 2.0 * 3.14159265358979323846;
                return Complex(std::remainder(a[s].real(), turn), a[s].imag());
            });
        case Operation::less:
            return each([&](std::size_t s) { return Complex(a[s].real() < b[s].real()); });
        case Operation::select:
            return each([&](std::size_t s) { return a[s].real() != 0.0 ? b[s] : c[s]; });
    }
}

// The values of all nodes, for so many states.
struct Values {
    std::size_t states;
    std::unique_ptr<double[]> numbers;  // not initialized: real and imaginary parts

    Values(std::size_t nodes, std::size_t states)
        : states(states), numbers(std::make_unique_for_overwrite<double[]>(2 * nodes * states)) {}

    Complex* of(std::size_t node) const {
        return reinterpret_cast<Complex*>(numbers.get()) + node * states;
    }
    // The values of a recorded number, which fill `room` unless they are a node's own.
    const Complex* of(double number, Complex* room) const {
        if (!is_node(number)) {
            std::fill_n(room, states, Complex(number));
            return room;
        }
        const Complex* const own = of(node_index(number));
        if (!is_negative(number)) return own;
        for (std::size_t s = 0; s < states; ++s) room[s] = -own[s];
        return room;
    }
};

// Which nodes the outputs need.
std::vector<bool> needed(const std::vector<Node>& nodes, const std::vector<double>& outputs) {
    std::vector<bool> result(nodes.size());
    const auto need = [&](double number) {
        if (is_node(number)) result[node_index(number)] = true;
    };
    for (double output : outputs) need(output);
    for (std::size_t n = nodes.size(); n-- > 0;)
        for (int k = 0; result[n] && k < operand_count(nodes[n].operation); ++k)
            need(nodes[n].operand[k]);
    return result;
}

}  // namespace

void replay(const std::vector<Node>& nodes, const std::vector<double>& outputs, std::size_t states,
            const Complex* given, Complex* results) {
    const std::size_t inputs = std::count_if(nodes.begin(), nodes.end(), [](const Node& node) {
        return node.operation == Operation::input;
    });
    const std::vector<bool> computed = needed(nodes, outputs);
    Complex room[3][together];
    const Values values(nodes.size(), std::min(together, states));
    for (std::size_t first = 0; first < states; first += together) {
        check_interruption();
        const std::size_t count = std::min(together, states - first);
        std::size_t input = 0;
        for (std::size_t n = 0; n < nodes.size(); ++n) {
            const Node& node = nodes[n];
            if (node.operation == Operation::input) {
                for (std::size_t s = 0; s < count; ++s)
                    values.of(n)[s] = given[(first + s) * inputs + input];
                ++input;
            } else if (computed[n]) {
                const Complex* operands[3] = {};
                for (int k = 0; k < operand_count(node.operation); ++k)
                    operands[k] = values.of(node.operand[k], room[k]);
                compute(node.operation, count, operands[0], operands[1], operands[2], values.of(n));
            }
        }
        for (std::size_t o = 0; o < outputs.size(); ++o) {
            const Complex* const x = values.of(outputs[o], room[0]);
            for (std::size_t s = 0; s < count; ++s)
                results[(first + s) * outputs.size() + o] = x[s];
        }
    }
}

}  // namespace dtau
