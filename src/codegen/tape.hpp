// Records an algorithm as a Tape: the list of operations that it leaves when it runs with recorded
// numbers. Constants are folded, and equal operations are recorded once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "dtau/model.hpp"
#include "dtau/recorded.hpp"

namespace dtau {

// A known recorded number is an ordinary number. Any other is a NaN whose bits 0 to 31 are the
// index of a node and whose sign is the number's sign: 0x7ffd is a NaN that no arithmetic yields.
inline std::uint64_t bits_of(double x) { return __builtin_bit_cast(std::uint64_t, x); }
inline constexpr std::uint64_t node_mark = 0x7ffdull << 48, sign_bit = 1ull << 63;
inline bool is_node(double x) { return (bits_of(x) & (0x7fffull << 48)) == node_mark; }
inline bool is_negative(double x) { return (bits_of(x) & sign_bit) != 0; }
inline double negated(double x) { return __builtin_bit_cast(double, bits_of(x) ^ sign_bit); }
inline double magnitude(double x) { return __builtin_bit_cast(double, bits_of(x) & ~sign_bit); }
inline std::uint32_t node_index(double x) { return static_cast<std::uint32_t>(bits_of(x)); }

struct Node {
    Operation operation;
    double operand[3];  // missing ones are 0
};
int operand_count(Operation operation);

class Tape {
  public:
    double input();  // adds a new input
    double record(Operation operation, double a, double b, double c);

    const std::vector<Node>& nodes() const { return nodes_; }
    // How often each operation was asked for. The core computes as many: also operations that the tape
    // folds or has recorded before.
    using Counts = std::array<std::uint64_t, static_cast<int>(Operation::select) + 1>;
    const Counts& asked() const { return asked_; }
    // Replaces the model's gravity, for generated code that takes gravity as an input.
    void set_gravity(const double* gravity);
    // Adds a payload to the user's body: its ten inertial parameters about the body's origin and
    // along the user's axes (mass, first moment, rotational inertia xx xy yy xz yz zz).
    void set_payload(int link, const double* parameters);
    Tree changed(const Tree& tree);  // valid until the next call, or the tape's end
    // Zeroed memory for one run of an algorithm, valid until the next call. Each tape has its own,
    // as a signal handler may record on another tape meanwhile.
    void* scratch(std::size_t bytes);

  private:
    double add(double a, double b);
    double multiply(double a, double b);
    double divide(double a, double b);
    double multiply_add(double a, double b, double c);
    double less(double a, double b);
    double select(double condition, double a, double b);
    double node(Operation operation, double a, double b = 0.0, double c = 0.0);
    // For a constant times a node: returns the constant and replaces x by the node. Otherwise
    // returns 1.
    double take_constant(double& x) const;
    void grow();

    std::vector<Node> nodes_;
    std::vector<std::uint32_t> table_;  // indices + 1, by hash; the size is a power of two
    Counts asked_ = {};
    std::uint32_t recorded_ = 0;
    bool gravity_is_input_ = false;
    double gravity_[3];
    int carrier_ = -1;  // the user's body with a payload
    double payload_[10];
    std::vector<Body> bodies_;
    std::unique_ptr<std::byte[]> scratch_;
};

// The tapes of this thread; the last one records. There are several when a signal handler generates
// code in the middle of a recording.
std::vector<std::unique_ptr<Tape>>& tapes();
Tape& tape();  // the last one; throws std::logic_error if there is none

}  // namespace dtau
