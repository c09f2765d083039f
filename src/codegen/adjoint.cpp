// Differentiates a tape in reverse: adjoints() passes over its nodes once, from the last to the
// first, and records the derivative on the same tape.
#include "codegen/adjoint.hpp"

namespace dtau {
namespace {

double product(double a, double b) { return record(Operation::multiply, a, b); }
double quotient(double a, double b) { return record(Operation::divide, a, b); }

// Adds the adjoints of a node's operands. It takes a copy of the node, as recording moves the
// tape's nodes.
template <class Add> void pass_on(const Node& node, double self, double g, const Add& add) {
    const double a = node.operand[0], b = node.operand[1], c = node.operand[2];
    switch (node.operation) {
        case Operation::add: return add(a, g), add(b, g);
        case Operation::subtract: return add(a, g), add(b, dtau::negated(g));
        case Operation::multiply: return add(a, product(g, b)), add(b, product(g, a));
        case Operation::divide: {
            const double by_a = quotient(g, b);
            return add(a, by_a), add(b, dtau::negated(product(by_a, self)));
        }
        case Operation::multiply_add:
            return add(a, product(g, b)), add(b, product(g, a)), add(c, g);
        case Operation::subtract_product:
            return add(a, dtau::negated(product(g, b))), add(b, dtau::negated(product(g, a))),
                   add(c, g);
        case Operation::square_root: return add(a, quotient(product(0.5, g), self));
        case Operation::sine: return add(a, product(g, record(Operation::cosine, a)));
        case Operation::cosine:
            return add(a, dtau::negated(product(g, record(Operation::sine, a))));
        case Operation::hyperbolic_tangent: {  // g / cosh^2: 1 - y^2 would cancel
            const double secant = record(Operation::hyperbolic_secant, a);
            return add(a, product(g, product(secant, secant)));
        }
        case Operation::hyperbolic_secant:
            return add(a, dtau::negated(
                              product(g, product(record(Operation::hyperbolic_tangent, a), self))));
        case Operation::absolute:
            return add(
                a, record(Operation::select, record(Operation::less, a, 0.0), dtau::negated(g), g));
        case Operation::within_half_turn: return add(a, g);
        case Operation::select:
            return add(b, record(Operation::select, a, g, 0.0)),
                   add(c, record(Operation::select, a, 0.0, g));
        case Operation::less:
        case Operation::input: return;
    }
}

}  // namespace

void adjoints(const std::vector<double>& outputs, const std::vector<double>& seeds,
              const std::vector<double>& inputs, double* result) {
    const std::size_t count = tape().nodes().size();
    std::vector<double> adjoint(count, 0.0);
    const auto add = [&](double x, double g) {
        if (!is_node(x)) return;
        double& sum = adjoint[node_index(x)];
        sum = record(Operation::add, sum, is_negative(x) ? dtau::negated(g) : g);
    };
    for (std::size_t k = 0; k < outputs.size(); ++k) add(outputs[k], seeds[k]);
    for (std::size_t k = count; k-- > 0;) {
        if (adjoint[k] == 0.0) continue;
        const Node node = tape().nodes()[k];
        const double self = __builtin_bit_cast(double, node_mark | k);
        pass_on(node, self, adjoint[k], [&](double x, double g) {
            if (is_node(x) && node_index(x) < count) add(x, g);
        });
    }
    for (std::size_t k = 0; k < inputs.size(); ++k) result[k] = adjoint[node_index(inputs[k])];
}

}  // namespace dtau
