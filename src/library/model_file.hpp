// Reads the file of Python's Model.save: read_model().
#pragma once

#include <array>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "dtau/library/model.hpp"
#include "tree/compiled_tree.hpp"

namespace dtau {

// What Model has, and the tree.
struct CompiledModel {
    std::string name;
    std::vector<std::string> joints, bodies, frames;
    std::vector<Joint> joint_entries;
    std::vector<double> lower_limits, upper_limits, velocity_limits, effort_limits, masses;
    std::array<double, 3> gravity = {};
    std::unique_ptr<const CompiledTree> tree;
};

// A message that names the file.
struct InvalidFile : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Throws InvalidFile if the file cannot be read, is truncated, damaged or of another version, or holds
// no model.
std::shared_ptr<const CompiledModel> read_model(const std::string& path);

}  // namespace dtau
