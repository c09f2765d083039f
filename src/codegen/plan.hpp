// Schedules a tape: a Plan has the live operations, their order, the pieces, and the temporaries
// passed between them.
#pragma once

#include <string>
#include <vector>

#include "codegen/tape.hpp"

namespace dtau {

// An argument of a function as recorded numbers. The numbers of an input are inputs of the tape.
struct NamedNumbers {
    std::string name;
    std::vector<double> numbers;
};

struct Plan {
    static constexpr std::uint32_t none = 0xffffffff;

    // Arguments are inputs, then outputs; a piece has about so many operations.
    Plan(const Tape& tape, const std::vector<NamedNumbers>& inputs,
         const std::vector<NamedNumbers>& outputs, int piece_size);

    // One entry of an argument.
    struct Place {
        int argument;
        std::size_t entry;
    };
    struct Piece {
        std::size_t begin, end;      // indices into `order`
        std::vector<int> arguments;  // that the piece reads and writes
    };

    bool is_input(std::uint32_t n) const { return nodes[n].operation == Operation::input; }
    // Calls visit(m) for the operands that are nodes. A condition, and a product absorbed by a sum,
    // are written where they are used: visit their operands instead.
    template <class Visit> void operands(const Node& node, const Visit& visit) const {
        for (int k = 0; k < operand_count(node.operation); ++k) {
            const double x = node.operand[k];
            if (!is_node(x)) continue;
            const std::uint32_t n = node_index(x);
            if (nodes[n].operation == Operation::less || absorbed[n])
                operands(nodes[n], visit);
            else
                visit(n);
        }
    }
    // Calls visit(place) for the results that equal a node.
    template <class Visit> void targets(std::uint32_t n, const Visit& visit) const {
        for (std::uint32_t t = first_target[n]; t != none; t = next_target[t]) visit(target[t]);
    }

    const std::vector<Node>& nodes;
    std::vector<bool> live;             // nodes that some result needs
    std::vector<bool> absorbed;         // products that a single sum uses, as a fused multiply-add
    std::vector<std::uint32_t> origin;  // of an input, as an index into `places`
    std::vector<Place> places;
    std::vector<std::uint32_t> order;  // live operations, in the algorithm's order
    std::vector<std::uint32_t> piece;  // of each node
    std::vector<Piece> pieces;
    std::vector<std::uint32_t>
        slot;                // of a node in the memory that pieces share; none: it has none
    std::size_t memory = 0;  // numbers

  private:
    void mark(const std::vector<NamedNumbers>& outputs);
    void absorb();
    void cut(std::size_t size);
    void allot();

    int ninputs_, noutputs_;
    std::vector<std::uint32_t> first_target, next_target;
    std::vector<Place> target;
};

}  // namespace dtau
