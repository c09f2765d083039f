// From Python arguments to a Job: conversion, shapes, broadcasting, errors that name the argument.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>

#include "tree/compiled_tree.hpp"
#include "functions/table.hpp"

namespace dtau {

// What one state's numbers are, for an input or an output.
enum class Core {
    q,                // (nq)
    v,                // (nv)
    torque,           // (nv)
    matrix,           // (nv, nv)
    torque_matrix,    // (nv, nv), zero where row and column are not related
    wrenches,         // (nbodies, 6), as the user counts bodies
    rotations,        // (nbodies, 3, 3)
    positions,        // (nbodies, 3)
    frame_rotations,  // (nframes, 3, 3)
    frame_positions,  // (nframes, 3)
    jacobians,        // (nframes, 6, nv)
    tensor,           // (nv, nv, nv)
    packed_tensor,    // (the entries whose indices lie on one path)
    wrench,           // (6)
    twists,           // (nbodies, 6)
    scalar,           // ()
    state_matrix,     // (2 nv, 2 nv)
    input_matrix,     // (2 nv, ninputs)
};

// What the numbers of an input and of an output mean where joints mimic others.
Meaning input_meaning(Core core);
Meaning output_meaning(Core core);

// Time derivatives are stacked along an axis before the core's, of length order + rows; the first
// stack among the inputs says what the order is.
inline constexpr int not_stacked = -1;

struct Parameter {
    const char* name;
    Core core;
    bool optional = false;  // None is accepted
    int rows = not_stacked;
};

struct Result {
    Core core;
    int rows = not_stacked;
    Result(Core what, int stacked = not_stacked) : core(what), rows(stacked) {}
};

struct Signature {
    const char* name;
    Kernel KernelTable::* kernel;
    std::vector<Parameter> inputs;
    std::vector<Result> outputs;
    const char* named_tuple = nullptr;  // in dtau.results, for several outputs
    // The class without the last output, if there is one only where the last input is given.
    const char* shorter_tuple = nullptr;
    bool needs_inertia = false;     // refuses models with massless joints
    bool real_only = false;         // no scalars for tests
    bool asks_symmetric = false;    // takes `symmetric`, for second derivatives by q
    const char* smaller = nullptr;  // what to ask for where results do not fit into memory
    // The classes of those named tuples, once they are imported.
    nanobind::handle results = {}, shorter_results = {};
};

struct FrameList {
    std::vector<Frame> frames;
    Axes axes = Axes::body;
    bool single = false;  // results have no axis for frames
};

// What a function takes before its arrays.
struct Choices {
    const FrameList* frames = nullptr;
    Integrator integrator = Integrator::euler;
    InputMap inputs = {};
    bool actuated = true;              // the inputs are the torques of all joints but free roots
    const bool* prescribed = nullptr;  // hybrid dynamics: whose motion is given
    bool symmetric = false;            // second derivatives by q in the exponential chart
};

// The compiled tree of a model, kept alive.
struct TreeReference {
    nanobind::object owner;
    const CompiledTree& tree;
};

// TypeError unless it is a dtau.Model.
TreeReference compiled_tree(nanobind::handle model);

// Where results go and who computes them, as the caller said; None for the default.
struct Options {
    nanobind::handle out, threads;
};

// Runs a function: one array, or a named tuple of arrays if there are several outputs.
nanobind::object call(const Signature& signature, nanobind::handle model,
                      std::initializer_list<nanobind::handle> inputs, Options options,
                      Element element, const Choices& choices = {});

// The function's signature as Python's type checkers read it.
std::string type_signature(const Signature& signature, Element element, const char* choices);

// Rows i, j, k: the indices of the entries of a packed tensor, (3, entries), in their order.
nanobind::object packed_indices(nanobind::handle model);

// Makes NumPy's C interface ready; once, when the module is imported.
void import_numpy();

}  // namespace dtau
