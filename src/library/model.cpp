// Implements Model of dtau.hpp.
#include "dtau/library/model.hpp"

#include <algorithm>

#include "dtau/mimic.hpp"
#include "library/model_file.hpp"
#include "library/reading.hpp"
#include "registry/dispatch.hpp"

namespace dtau {

Model::Model(std::shared_ptr<const CompiledModel> compiled) : compiled_(std::move(compiled)) {}

Model Model::load(const std::string& path) {
    instruction_set();  // selects one, or throws if this processor has none
    return Model(read_model(path));
}

const std::string& Model::name() const { return compiled_->name; }
int Model::nq() const { return independent_nq(compiled_->tree->tree()); }
int Model::nv() const { return compiled_->tree->tree().independent.n; }
int Model::nbodies() const { return compiled_->tree->tree().nbodies; }
const std::vector<std::string>& Model::joints() const { return compiled_->joints; }
const std::vector<std::string>& Model::bodies() const { return compiled_->bodies; }
const std::vector<std::string>& Model::frames() const { return compiled_->frames; }

const Joint& Model::joint(std::string_view name) const {
    return compiled_->joint_entries[place("joint", name, joints())];
}
int Model::body(std::string_view name) const { return place("body", name, bodies()); }
int Model::frame(std::string_view name) const { return place("frame", name, frames()); }

const std::vector<double>& Model::lower_limits() const { return compiled_->lower_limits; }
const std::vector<double>& Model::upper_limits() const { return compiled_->upper_limits; }
const std::vector<double>& Model::velocity_limits() const { return compiled_->velocity_limits; }
const std::vector<double>& Model::effort_limits() const { return compiled_->effort_limits; }
const std::vector<double>& Model::masses() const { return compiled_->masses; }
const std::array<double, 3>& Model::gravity() const { return compiled_->gravity; }

}  // namespace dtau
