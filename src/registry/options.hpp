// Describes arguments, and their defaults: Option, Default, Argument.
#pragma once

namespace dtau {

// Arguments that are not arrays.
enum class Option {
    frames,
    axes,
    wrench_axes,
    acceleration,
    prescribed,
    integrator,
    driven,
    symmetric,
    layout,
    joint_parameters,
    contacts,
    regularization,
    order,
    forces,
    by,
    coordinates,
};

// The default of an argument: none at all (required), None, False, 0, or the first of its words.
enum class Default { required, none, no, zero, word };

// An argument of the Python function: an option or an input.
struct Argument {
    const char* name;
    Default by_default;
    int input;  // index of the input; -1: the argument is an option
    Option option;
};

}  // namespace dtau
