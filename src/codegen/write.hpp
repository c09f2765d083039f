// A tape as the text of a C function.
#pragma once

#include <string>
#include <vector>

#include "codegen/plan.hpp"

namespace dtau {

struct CFunction {
    std::string name;
    std::vector<NamedNumbers> inputs, outputs;
    bool single_precision;
    // 0: for one state. Else for groups of so many, whose results are zeros before, with memory that
    // is given: void name(int groups, ..., real *w).
    int lanes;
    int piece;  // about how many operations a compiler gets at once
    bool is_static;
};

struct WrittenC {
    std::string text;
    std::size_t operations;           // without sines and cosines
    std::size_t sines;                // and cosines
    std::size_t memory;               // numbers on the stack that go from piece to piece
    std::vector<std::string> unused;  // names of inputs on which the results do not depend
};

// The type `real` and what the text calls (FMA, SELECT ...) are to be defined before it.
WrittenC write_c(const Tape& tape, const CFunction& function);

}  // namespace dtau
