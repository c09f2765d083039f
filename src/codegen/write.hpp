// Writes a tape as the text of a C function: write_c().
#pragma once

#include <string>
#include <vector>

#include "codegen/plan.hpp"

namespace dtau {

struct CFunction {
    std::string name;
    std::vector<NamedNumbers> inputs, outputs;
    bool single_precision;
    // 0: the function computes one state. Otherwise it computes groups of so many states, into
    // results that are zero before, with memory from the caller: void name(int groups, ..., real
    // *w).
    int lanes;
    int piece;  // operations in each piece, about
    bool is_static;
    // Whether the function runs on a CUDA device. Entry k of its arguments is [k * stride], and its
    // last argument is `size_t stride`.
    bool is_device;
};

struct WrittenC {
    std::string text;
    std::size_t operations;           // without sines and cosines
    std::size_t sines;                // and cosines
    std::size_t memory;               // numbers on the stack, passed from piece to piece
    std::vector<std::string> unused;  // names of inputs that no result depends on
};

// The surrounding file must define the type `real` and the macros of the text (FMA, SELECT ...)
// first.
WrittenC write_c(const Tape& tape, const CFunction& function);

}  // namespace dtau
