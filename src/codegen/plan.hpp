// Schedules a tape: the live operations, their order, the pieces, and the temporaries passed between them.
#pragma once

#include <string>
#include <vector>

#include "codegen/tape.hpp"

namespace dtau {

// An argument of a function: its recorded numbers. Numbers of an input are inputs of the tape.
struct NamedNumbers {
    std::string name;
    std::vector<double> numbers;
};

struct Plan {
    static constexpr std::uint32_t none = 0xffffffff;

    // Inputs, then outputs; about so many operations a piece.
    Plan(const Tape& tape, const std::vector<NamedNumbers>& inputs,
         const std::vector<NamedNumbers>& outputs, int piece_size);

    // An entry of an argument.
    struct Place {
        int argument;
        std::size_t entry;
    };
    struct Piece {
        std::size_t begin, end;      // of the order
        std::vector<int> arguments;  // that it reads and writes
    };

    bool is_input(std::uint32_t n) const { return nodes[n].operation == Operation::input; }
    // visit(m) for the operands that are nodes. A condition, and a product that is part of a sum, is
    // written where it is used, and is none: its own operands are.
    template <class Visit>
    void operands(const Node& node, const Visit& visit) const {
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
    // visit(place) for the results that a node is.
    template <class Visit>
    void targets(std::uint32_t n, const Visit& visit) const {
        for (std::uint32_t t = first_target[n]; t != none; t = next_target[t]) visit(target[t]);
    }

    const std::vector<Node>& nodes;
    std::vector<bool> live;             // nodes that results need
    std::vector<bool> absorbed;         // products that one sum uses: it is a fused multiply-add
    std::vector<std::uint32_t> origin;  // of inputs, in places
    std::vector<Place> places;
    std::vector<std::uint32_t> order;  // of live operations: the algorithm's
    std::vector<std::uint32_t> piece;  // of a node
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
