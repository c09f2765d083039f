// Tests recorded numbers (recorded.hpp, codegen/tape.hpp, codegen/adjoint.hpp): folded constants, operations
// recorded once, and tapes evaluated against the same algorithms in double.
#include "codegen/tape.hpp"

#include <set>
#include <stdexcept>
#include <tuple>

#include "codegen/adjoint.hpp"
#include "dtau/hyperbolic_tangent.hpp"
#include "dtau/joint.hpp"
#include "support.hpp"

namespace dtau::DTAU_VARIANT {
namespace {

// A tape that records on this thread while it lives.
struct Recording {
    Recording() { tapes().push_back(std::make_unique<Tape>()); }
    ~Recording() { tapes().pop_back(); }
    Recording(const Recording&) = delete;
    Recording& operator=(const Recording&) = delete;

    Recorded input() { return Recorded(tape().input()); }
};

// The numbers of all nodes, and through them of recorded numbers.
class Evaluation {
  public:
    Evaluation(const Tape& tape, const Numbers& inputs) {
        std::size_t input = 0;
        for (const Node& node : tape.nodes()) {
            const double a = known(node, 0), b = known(node, 1), c = known(node, 2);
            nodes_.push_back(node.operation == Operation::input ? inputs.at(input++)
                                                                : apply(node.operation, a, b, c));
        }
    }
    double operator()(double x) const {
        if (!is_node(x)) return x;
        const double value = nodes_.at(node_index(x));
        return is_negative(x) ? -value : value;
    }
    double operator()(Recorded x) const { return (*this)(x.value); }

  private:
    double known(const Node& node, int k) const {
        return node.operation == Operation::input || k >= operand_count(node.operation)
                   ? 0.0
                   : (*this)(node.operand[k]);
    }
    static double apply(Operation operation, double a, double b, double c) {
        switch (operation) {
            case Operation::input: return 0.0;
            case Operation::add: return a + b;
            case Operation::subtract: return a - b;
            case Operation::multiply: return a * b;
            case Operation::divide: return a / b;
            case Operation::multiply_add: return a * b + c;
            case Operation::subtract_product: return c - a * b;
            case Operation::square_root: return std::sqrt(a);
            case Operation::sine: return std::sin(a);
            case Operation::cosine: return std::cos(a);
            case Operation::hyperbolic_tangent: return std::tanh(a);
            case Operation::hyperbolic_secant: return 1.0 / std::cosh(a);
            case Operation::absolute: return std::fabs(a);
            case Operation::within_half_turn:
                return std::remainder(a, 2.0 * 3.14159265358979323846);
            case Operation::less: return a < b;
            case Operation::select: return a != 0.0 ? b : c;
        }
        return std::nan("");
    }
    Numbers nodes_;
};

bool same(Recorded a, Recorded b) { return bits_of(a.value) == bits_of(b.value); }
Recorded number(double x) { return Recorded(x); }

TEST_SUITE_BEGIN("tape");

TEST_CASE("numbers that are known are computed at once") {
    Recording recording;
    CHECK((number(2) + number(3)).value == 5.0);
    CHECK((number(2) - number(3)).value == -1.0);
    CHECK((number(6) / number(4)).value == 1.5);
    CHECK(fma(number(2), number(3), number(4)).value == 10.0);
    CHECK(square_root(number(9)).value == 3.0);
    CHECK(within_half_turn(number(7.0)).value == doctest::Approx(7.0 - 6.283185307179586));
    CHECK(select(less(number(1), 2.0), number(5), number(7)).value == 5.0);
    CHECK(tape().nodes().empty());
}

TEST_CASE("operations with zeros, ones and the same number leave no node") {
    Recording recording;
    const Recorded x = recording.input(), y = recording.input();
    CHECK(same(x + number(0), x));
    CHECK(same(number(0) - x, -x));
    CHECK(same(x * number(1), x));
    CHECK(same(number(-1) * x, -x));
    CHECK(same(x * number(0), number(0)));
    CHECK(same(x - x, number(0)));
    CHECK(same(x / x, number(1)));
    CHECK(same(x / -x, number(-1)));
    CHECK(same(number(0) / x, number(0)));
    CHECK(same(-(-x), x));
    CHECK(same(fma(x, number(0), y), y));
    CHECK(same(fma(number(0), x, number(0)), number(0)));
    CHECK(same(select(less(x, 0.0), y, y), y));
    CHECK(tape().nodes().size() == 3);  // two inputs and the condition
}

TEST_CASE("what is equal is one node") {
    Recording recording;
    const Recorded x = recording.input(), y = recording.input(), z = recording.input();
    CHECK(same(x + y, y + x));
    CHECK(same(x - y, -(y - x)));
    CHECK(same(x + x, number(2) * x));
    CHECK(same(x * y, y * x));
    CHECK(same(x * -y, -(x * y)));
    CHECK(same(-x / y, x / -y));
    CHECK(same(x / number(4), number(0.25) * x));
    CHECK(same(number(2) * (number(3) * x), number(6) * x));
    CHECK(same(number(2) * -(number(3) * x), number(-6) * x));
    CHECK(same(fma(x, y, z), fma(y, x, z)));
    CHECK(same(fma(-x, y, z), z - x * y) == false);  // a node of its own, rounded once
    CHECK(same(fma(-x, y, z), -fma(x, y, -z)));
    CHECK(same(fma(x, y, number(0)), x * y));
    CHECK(same(absolute(-x), absolute(x)));
    Recorded sine, cosine, minus_sine, same_cosine;
    sincos(x, sine, cosine);
    sincos(-x, minus_sine, same_cosine);
    CHECK(same(minus_sine, -sine));
    CHECK(same(same_cosine, cosine));
    CHECK(same(hyperbolic_tangent(-x), -hyperbolic_tangent(x)));
    CHECK(same(tangent_and_slope(-x).slope, tangent_and_slope(x).slope));
    CHECK(same(select(less(x, 0.0), -y, -z), -select(less(x, 0.0), y, z)));
}

TEST_CASE("no operation is there twice, and operands come before") {
    Recording recording;
    Recorded q[8];
    for (Recorded& x : q) x = recording.input();
    for (int repeat = 0; repeat < 2; ++repeat)
        (void)(quaternion_rotation(q) * quaternion_rotation(q + 4));
    std::set<std::tuple<int, std::uint64_t, std::uint64_t, std::uint64_t>> seen;
    const std::vector<Node>& nodes = tape().nodes();
    for (std::size_t k = 8; k < nodes.size(); ++k) {
        const auto& [operation, operand] = nodes[k];
        CHECK(seen.insert({int(operation), bits_of(operand[0]), bits_of(operand[1]),
                           bits_of(operand[2])})
                  .second);
        for (int i = 0; i < operand_count(operation); ++i)
            if (is_node(operand[i])) CHECK(node_index(operand[i]) < k);
    }
    CHECK(nodes.size() > 50);
}

// Every operation, in any scalar.
template <class T> T everything(const T* x) {
    T sine, cosine;
    sincos(x[0] - T(0.5) * x[1], sine, cosine);
    const T root = square_root(fma(x[2], x[2], T(2.0)));
    const T chosen = select(less(x[1], 0.0), sine * x[2], cosine / x[0]);
    const auto [tangent, slope] = tangent_and_slope(x[1] - x[2]);
    const T smooth = tangent + T(2.0) * slope;
    return fma(-root, sine, chosen) / (root + x[0] * x[0]) - x[1] * (T(3.0) * smooth - x[2]);
}

TEST_CASE("a tape computes what the algorithm computes") {
    Random random(61);
    Recording recording;
    Recorded q[4], x[3];
    for (Recorded& input : q) input = recording.input();
    for (Recorded& input : x) input = recording.input();
    const Mat3<Recorded> R = quaternion_rotation(q);
    const Recorded y = everything(x);
    for (int repeat = 0; repeat < 20; ++repeat) {
        Numbers inputs(7);
        for (double& input : inputs) input = random.number();
        const Evaluation value(tape(), inputs);
        const Mat3<double> expected = quaternion_rotation(inputs.data());
        CHECK(apart(Vec3<double>{value(R.x.x), value(R.x.y), value(R.x.z)}, expected.x) < 1e-14);
        CHECK(apart(Vec3<double>{value(R.z.x), value(R.z.y), value(R.z.z)}, expected.z) < 1e-14);
        CHECK(value(y) == doctest::Approx(everything(inputs.data() + 4)).epsilon(1e-13));
    }
}

TEST_CASE("adjoints are derivatives by complex step") {
    Random random(62);
    Recording recording;
    Recorded x[3];
    Numbers names, gradient(3);
    for (Recorded& input : x) input = recording.input(), names.push_back(input.value);
    const Recorded y = everything(x), z = absolute(x[1]) * x[2];
    adjoints({y.value, z.value}, {1.0, -2.0}, names, gradient.data());
    for (int repeat = 0; repeat < 20; ++repeat) {
        Numbers inputs(3);
        for (double& input : inputs) input = random.number();
        const Evaluation value(tape(), inputs);
        const double sign = inputs[1] < 0.0 ? -1.0 : 1.0;
        for (int k = 0; k < 3; ++k) {
            Complex moved[3] = {inputs[0], inputs[1], inputs[2]};
            moved[k] += Complex(0.0, 1e-40);
            double expected = everything(moved).imag() / 1e-40;
            if (k == 1) expected -= 2.0 * sign * inputs[2];
            if (k == 2) expected -= 2.0 * sign * inputs[1];
            CHECK(value(gradient[k]) == doctest::Approx(expected).epsilon(1e-11));
        }
    }
}

TEST_CASE("gravity that is an input takes the place of the model's") {
    Recording recording;
    Tree tree = {};
    tree.gravity[2] = -9.81;
    CHECK(recorded_tree(tree).gravity[2] == -9.81);
    const double gravity[3] = {tape().input(), tape().input(), tape().input()};
    tape().set_gravity(gravity);
    const Tree changed = recorded_tree(tree);
    for (int k = 0; k < 3; ++k) CHECK(bits_of(changed.gravity[k]) == bits_of(gravity[k]));
}

TEST_CASE("scratch memory is aligned and zero, each time") {
    Recording recording;
    for (const std::size_t bytes : {1, 64, 1000}) {
        auto* const at = static_cast<unsigned char*>(recorded_scratch(bytes));
        CHECK(reinterpret_cast<std::uintptr_t>(at) % 64 == 0);
        for (std::size_t k = 0; k < bytes; ++k) REQUIRE(at[k] == 0);
        std::memset(at, 0xff, bytes);
    }
}

TEST_CASE("the last tape records, and numbers of another one are refused") {
    CHECK_THROWS_AS(record(Operation::add, 1.0, 2.0), std::logic_error);
    Recording outer;
    const Recorded x = outer.input(), y = outer.input();
    const std::size_t before = tape().nodes().size();
    {
        Recording inner;
        CHECK_THROWS_AS(x * y, std::logic_error);
        CHECK(tape().nodes().empty());
    }
    (void)(x * y);
    CHECK(tape().nodes().size() == before + 1);
}

TEST_SUITE_END();

}  // namespace
}  // namespace dtau::DTAU_VARIANT
