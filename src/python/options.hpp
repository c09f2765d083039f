// What functions take beside their arrays, as Python gives it.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include <nanobind/ndarray.h>

#include "python/arguments.hpp"
#include "python/call.hpp"
#include "tree/compiled_contacts.hpp"

namespace dtau {

template <class X, int... Shape>
using Rows = nanobind::ndarray<const X, nanobind::shape<-1, Shape...>, nanobind::c_contig,
                               nanobind::device::cpu>;

template <std::size_t N, class Array>
std::array<double, N> row(const Array& a, std::size_t i) {
    std::array<double, N> result;
    for (std::size_t k = 0; k < N; ++k) result[k] = a.data()[i * N + k];
    return result;
}

// The options of one call, and what they point into.
class CallOptions {
  public:
    // Numbers and names of frames. May run the arguments' own code.
    void read_first(const Signature& signature, const GivenArguments& given,
                    const CompiledTree& tree);
    // What drives the robot: the map as an array of whatever numbers; or of a mask, which becomes the
    // option, nothing. May run the argument's own code.
    nanobind::object read_inputs(nanobind::handle given, const Tree& tree, bool may_be_map = true);
    // All others. Runs no Python code.
    void read(const Signature& signature, const GivenArguments& given, const CompiledTree& tree);

    Options values;
    nanobind::object contacts;  // the dtau.Contacts
    int order = -1;             // as it is asked for; negative: the stacks say it
    bool single_frame = false;  // results have no axis for frames

  private:
    void read(const Argument& argument, nanobind::handle given, const CompiledTree& tree);
    void read_frames(nanobind::handle model, nanobind::handle given, const CompiledTree& tree);
    void require_moving(nanobind::handle given) const;
    void read_prescribed(nanobind::handle given, const Tree& tree);
    void read_mask(nanobind::handle given, const Tree& tree);
    void require_contacts_of(const Signature& signature, const GivenArguments& given) const;
    void read_contacts(nanobind::handle model, nanobind::handle given, const CompiledTree& tree);

    // What the values point into.
    std::vector<Frame> frames_;  // of several names
    nanobind::object compiled_contacts_;
    // Copies: what these say is checked once, and others could write into the arguments.
    std::unique_ptr<bool[]> prescribed_;
    std::unique_ptr<int[]> columns_;
};

// An int from `least` to `most`; `expected` begins the message of the TypeError or ValueError about
// anything else. May run the argument's own code.
int number(const char* expected, nanobind::handle given, int least, int most);

// The error of an argument that is of no use without contacts.
nanobind::builtin_exception goes_with_contacts(const char* argument);

// What an argument is that is left out, as Python has it.
nanobind::object default_value(const Argument& argument);

}  // namespace dtau
