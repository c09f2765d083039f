// Records operations on a Tape: record() folds constants, moves signs out of operands and finds
// operations recorded before.
#include "codegen/tape.hpp"

#include <cmath>
#include <stdexcept>
#include <utility>

#include "batch/interruption.hpp"
#include "dtau/spatial.hpp"

namespace dtau {
namespace {

using namespace DTAU_VARIANT;

double with_sign(double x, bool negative) { return negative ? dtau::negated(x) : x; }

std::uint64_t mixed(std::uint64_t x) {  // the finalizer of MurmurHash3
    x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdull;
    x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53ull;
    return x ^ (x >> 33);
}
std::uint64_t hash(const Node& node) {
    std::uint64_t h = static_cast<std::uint64_t>(node.operation) + 1;
    for (double x : node.operand) h = mixed(h * 0x9e3779b97f4a7c15ull + bits_of(x));
    return h;
}
bool same(const Node& a, const Node& b) {
    return a.operation == b.operation && bits_of(a.operand[0]) == bits_of(b.operand[0]) &&
           bits_of(a.operand[1]) == bits_of(b.operand[1]) &&
           bits_of(a.operand[2]) == bits_of(b.operand[2]);
}

// Orders the operands of commutative operations: known numbers first.
void sort(double& a, double& b) {
    if (bits_of(magnitude(a)) > bits_of(magnitude(b))) std::swap(a, b);
}

void store(const Sym3<Recorded>& from, double* to) {
    const Recorded entries[6] = {from.xx, from.xy, from.xz, from.yy, from.yz, from.zz};
    for (int k = 0; k < 6; ++k) to[k] = entries[k].value;
}

// Adds the inertia p to a body: see Tape::set_payload.
void load(Body& body, const double* p) {
    const auto number = [&](int k) { return Recorded(p[k]); };
    const Mat3<Recorded> to_canonical = transposed(lift<Recorded>(mat3(body.frame)));
    const Vec3<Recorded> h = to_canonical * Vec3<Recorded>{number(1), number(2), number(3)} +
                             lift<Recorded>(vec3(body.first_moment));
    const Sym3<Recorded> more =
        rotated(to_canonical,
                Sym3<Recorded>{number(4), number(5), number(7), number(6), number(8), number(9)});
    const double* own = body.own_inertia;
    const Sym3<Recorded> J = {Recorded(own[0]) + more.xx, Recorded(own[1]) + more.xy,
                              Recorded(own[2]) + more.xz, Recorded(own[3]) + more.yy,
                              Recorded(own[4]) + more.yz, Recorded(own[5]) + more.zz};
    const Recorded mass = Recorded(body.mass) + number(0);
    const Vec3<Recorded> c = (Recorded(1.0) / mass) * h;
    const Recorded xx = h.x * c.x, yy = h.y * c.y, zz = h.z * c.z;
    const Recorded half = 0.5 * (J.xx + J.yy + J.zz);

    body.mass = mass.value;
    body.first_moment[0] = h.x.value, body.first_moment[1] = h.y.value;
    body.first_moment[2] = h.z.value;
    body.com[0] = c.x.value, body.com[1] = c.y.value, body.com[2] = c.z.value;
    store(J, body.own_inertia);
    store({half - J.xx, -J.xy, -J.xz, half - J.yy, -J.yz, half - J.zz}, body.second_moment);
    store({J.xx - (yy + zz), fma(h.x, c.y, J.xy), fma(h.x, c.z, J.xz), J.yy - (xx + zz),
           fma(h.y, c.z, J.yz), J.zz - (xx + yy)},
          body.inertia);
}

}  // namespace

int operand_count(Operation operation) {
    switch (operation) {
        case Operation::input: return 0;
        case Operation::square_root:
        case Operation::sine:
        case Operation::cosine:
        case Operation::hyperbolic_tangent:
        case Operation::hyperbolic_secant:
        case Operation::absolute:
        case Operation::within_half_turn: return 1;
        case Operation::multiply_add:
        case Operation::subtract_product:
        case Operation::select: return 3;
        default: return 2;
    }
}

double Tape::input() {
    const double x = __builtin_bit_cast(double, node_mark | nodes_.size());
    nodes_.push_back({Operation::input, {x, 0.0, 0.0}});
    return x;
}

void Tape::set_gravity(const double* gravity) {
    gravity_is_input_ = true;
    for (int k = 0; k < 3; ++k) gravity_[k] = gravity[k];
}

void Tape::set_payload(int link, const double* parameters) {
    carrier_ = link;
    for (int k = 0; k < 10; ++k) payload_[k] = parameters[k];
}

Tree Tape::changed(const Tree& tree) {
    Tree changed = tree;
    for (int k = 0; k < 3 && gravity_is_input_; ++k) changed.gravity[k] = gravity_[k];
    if (carrier_ >= 0) {
        bodies_.assign(tree.bodies, tree.bodies + tree.nnodes);
        load(bodies_.at(tree.link_body[carrier_]), payload_);
        changed.bodies = bodies_.data();
    }
    return changed;
}

void* Tape::scratch(std::size_t bytes) {
    constexpr std::size_t alignment =
        64;  // as every vector needs, though a recording has no vectors
    scratch_ = std::make_unique<std::byte[]>(bytes + alignment);
    void* aligned = scratch_.get();
    std::size_t space = bytes + alignment;
    return std::align(alignment, bytes, aligned, space);
}

double Tape::node(Operation operation, double a, double b, double c) {
    const Node node = {operation, {a, b, c}};
    for (double x : node.operand)
        if (is_node(x) && node_index(x) >= nodes_.size())
            throw std::logic_error(
                "expected a number of this tape, got one of another tape or uninitialized memory");
    if (2 * nodes_.size() >= table_.size()) grow();
    const std::size_t mask = table_.size() - 1;
    std::size_t at = hash(node) & mask;
    for (; table_[at]; at = (at + 1) & mask)
        if (same(nodes_[table_[at] - 1], node))
            return __builtin_bit_cast(double, node_mark | (table_[at] - 1));
    if (nodes_.size() > 0xfffffffe)
        throw std::length_error("expected at most 4e9 operations on a tape");
    nodes_.push_back(node);
    table_[at] = static_cast<std::uint32_t>(nodes_.size());
    return __builtin_bit_cast(double, node_mark | (nodes_.size() - 1));
}

void Tape::grow() {
    table_.assign(table_.empty() ? 1 << 12 : 2 * table_.size(), 0);
    const std::size_t mask = table_.size() - 1;
    for (std::size_t k = 0; k < nodes_.size(); ++k) {
        if (nodes_[k].operation == Operation::input) continue;
        std::size_t at = hash(nodes_[k]) & mask;
        while (table_[at]) at = (at + 1) & mask;
        table_[at] = static_cast<std::uint32_t>(k + 1);
    }
}

double Tape::take_constant(double& x) const {
    if (!is_node(x) || node_index(x) >= nodes_.size()) return 1.0;
    const Node& node = nodes_[node_index(x)];
    if (node.operation != Operation::multiply || is_node(node.operand[0])) return 1.0;
    const double constant = with_sign(node.operand[0], is_negative(x));
    x = node.operand[1];
    return constant;
}

// a + b = -((-a) - b): this form gives the first operand no sign.
double Tape::add(double a, double b) {
    if (!is_node(a) && !is_node(b)) return a + b;
    if (a == 0.0) return b;
    if (b == 0.0) return a;
    if (bits_of(a) == bits_of(dtau::negated(b))) return 0.0;
    if (bits_of(a) == bits_of(b)) return multiply(2.0, a);
    sort(a, b);
    const bool negative = is_negative(a), differ = negative != is_negative(b);
    return with_sign(
        node(differ ? Operation::subtract : Operation::add, magnitude(a), magnitude(b)), negative);
}

double Tape::multiply(double a, double b) {
    if (!is_node(a) && !is_node(b)) return a * b;
    sort(a, b);
    if (!is_node(a)) {
        a *= take_constant(b);
        if (a == 0.0) return 0.0;
        if (a == 1.0 || a == -1.0) return with_sign(b, a < 0.0);
    }
    return with_sign(node(Operation::multiply, magnitude(a), magnitude(b)),
                     is_negative(a) != is_negative(b));
}

double Tape::divide(double a, double b) {
    if (!is_node(b)) return is_node(a) ? multiply(1.0 / b, a) : a / b;
    if (a == 0.0) return 0.0;
    const bool negative = is_negative(a) != is_negative(b);
    if (bits_of(magnitude(a)) == bits_of(magnitude(b))) return negative ? -1.0 : 1.0;
    return with_sign(node(Operation::divide, magnitude(a), magnitude(b)), negative);
}

double Tape::multiply_add(double a, double b, double c) {
    sort(a, b);
    if (!is_node(a)) {
        if (is_node(b)) a *= take_constant(b);
        if (!is_node(b) || a == 0.0 || a == 1.0 || a == -1.0) return add(multiply(a, b), c);
    }
    if (c == 0.0) return multiply(a, b);
    const bool negative = is_negative(c), differ = (is_negative(a) != is_negative(b)) != negative;
    return with_sign(node(differ ? Operation::subtract_product : Operation::multiply_add,
                          magnitude(a), magnitude(b), magnitude(c)),
                     negative);
}

double Tape::less(double a, double b) {
    if (!is_node(a) && !is_node(b)) return a < b;
    return node(Operation::less, a, b);
}

double Tape::select(double condition, double a, double b) {
    if (!is_node(condition)) return condition != 0.0 ? a : b;
    if (bits_of(a) == bits_of(b)) return a;
    const bool negative = is_negative(a) && is_negative(b);
    return with_sign(
        node(Operation::select, condition, with_sign(a, negative), with_sign(b, negative)),
        negative);
}

double Tape::record(Operation operation, double a, double b, double c) {
    constexpr std::uint32_t operations_a_check = 64;
    if (++recorded_ % operations_a_check == 0) check_interruption();
    ++asked_[static_cast<int>(operation)];
    switch (operation) {
        case Operation::input: return input();
        case Operation::add: return add(a, b);
        case Operation::subtract: return add(a, dtau::negated(b));
        case Operation::multiply: return multiply(a, b);
        case Operation::divide: return divide(a, b);
        case Operation::multiply_add: return multiply_add(a, b, c);
        case Operation::subtract_product: return multiply_add(dtau::negated(a), b, c);
        case Operation::square_root: return is_node(a) ? node(operation, a) : std::sqrt(a);
        case Operation::sine:
            if (!is_node(a)) return std::sin(a);
            return with_sign(node(operation, magnitude(a)), is_negative(a));
        case Operation::cosine: return is_node(a) ? node(operation, magnitude(a)) : std::cos(a);
        case Operation::hyperbolic_tangent:
            if (!is_node(a)) return std::tanh(a);
            return with_sign(node(operation, magnitude(a)), is_negative(a));
        case Operation::hyperbolic_secant:
            return is_node(a) ? node(operation, magnitude(a)) : 1.0 / std::cosh(a);
        case Operation::absolute: return is_node(a) ? node(operation, magnitude(a)) : std::fabs(a);
        case Operation::within_half_turn:
            if (!is_node(a)) return std::remainder(a, 2.0 * 3.14159265358979323846);
            return with_sign(node(operation, magnitude(a)), is_negative(a));
        case Operation::less: return less(a, b);
        case Operation::select: return select(a, b, c);
    }
    return 0.0;
}

std::vector<std::unique_ptr<Tape>>& tapes() {
    static thread_local std::vector<std::unique_ptr<Tape>> all;
    return all;
}

Tape& tape() {
    if (tapes().empty())
        throw std::logic_error(
            "expected a tape that records on this thread; begin a recording first");
    return *tapes().back();
}

double record(Operation operation, double a, double b, double c) {
    return tape().record(operation, a, b, c);
}

void* recorded_scratch(std::size_t bytes) { return tape().scratch(bytes); }

Tree recorded_tree(const Tree& tree) { return tape().changed(tree); }

}  // namespace dtau
