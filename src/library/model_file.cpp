// Reads the file of Python's Model.save: read_model(). dtau/model/saving.py has the arrays. The core computes
// with the bodies and frames in "core.*"; names, entries and limits of joints come from "links.*".
#include "library/model_file.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "dtau/mimic.hpp"
#include "library/array_file.hpp"

namespace dtau {
namespace {

using Texts = ArrayFile::Texts;

JointKind joint_kind(const std::string& name) {
    for (const JointTraits& joint : joint_traits)
        if (joint.name == name) return joint.kind;
    refuse_file("core.kind: expected a kind of joint, got '" + name + "'");
}

template <std::size_t n>
std::array<double, n> row(const std::vector<double>& numbers, std::size_t index) {
    std::array<double, n> result;
    std::copy_n(numbers.data() + n * index, n, result.data());
    return result;
}

// The numbers of coordinates and velocities of a link's joint. A universal joint is two of the core's.
std::pair<int, int> sizes(const std::string& kind) {
    if (kind == "fixed") return {0, 0};
    if (kind == "universal") return {2, 2};
    for (const JointTraits& joint : joint_traits)
        if (joint.name == kind) return {joint.nq, joint.nv};
    refuse_file("links.joint: expected a kind of joint, got '" + kind + "'");
}

// Sets joints, bodies and limits, as Python counts them, from the links of the file.
void describe_joints(ArrayFile& x, CompiledModel& model) {
    const Texts names = x.texts("links.name"), joint_names = x.texts("links.joint_name");
    const Texts kinds = x.texts("links.joint");
    const std::size_t n = names.size(), nv = x.size("links.velocity");
    const auto mimicked = x.integers("links.mimicked", {n});
    const auto lower = x.reals("links.lower", {n}), upper = x.reals("links.upper", {n});
    const auto velocity = x.reals("links.velocity", {nv}), effort = x.reals("links.effort", {nv});
    if (joint_names.size() != n || kinds.size() != n) refuse_file("expected a joint for each link");
    std::vector<Joint> of_link(n);
    std::size_t row = 0;  // of velocity and effort
    int q = 0, v = 0;
    for (std::size_t i = 0; i < n; ++i) {
        Joint& joint = of_link[i];
        std::tie(joint.nq, joint.nv) = sizes(kinds[i]);
        if (row + joint.nv > nv) refuse_file("links.velocity: expected more numbers, got too few");
        if (mimicked[i] < 0) {
            joint.q = q, joint.v = v;
            q += joint.nq, v += joint.nv;
            model.lower_limits.insert(model.lower_limits.end(), joint.nq, lower[i]);
            model.upper_limits.insert(model.upper_limits.end(), joint.nq, upper[i]);
            for (int k = 0; k < joint.nv; ++k) {
                model.velocity_limits.push_back(velocity[row + k]);
                model.effort_limits.push_back(effort[row + k]);
            }
        }
        row += joint.nv;
    }
    for (std::size_t i = 0; i < n; ++i) {
        if (of_link[i].nv == 0) continue;
        std::size_t source = i;  // mimics mimic others
        for (std::size_t met = 0; mimicked[source] >= 0; ++met) {
            source = mimicked[source];
            if (met == n || source >= n || of_link[source].nv != 1)
                refuse_file("links.mimicked: expected links with joints that move, got others");
        }
        Joint joint = of_link[source];
        joint.index = static_cast<int>(model.joints.size());
        model.joint_entries.push_back(joint);
        model.joints.push_back(joint_names[i]);
        model.bodies.push_back(names[i]);
    }
    const Tree& tree = model.tree->tree();
    if (static_cast<int>(model.joints.size()) != tree.nbodies || q != independent_nq(tree) ||
        v != tree.independent.n)
        refuse_file("links.joint: expected the joints of core.kind, got others");
}

std::shared_ptr<const CompiledModel> model_of(ArrayFile x) {
    const auto model = std::make_shared<CompiledModel>();
    const Texts name = x.texts("name"), kind = x.texts("core.kind");
    if (name.size() != 1)
        refuse_file("name: expected one text, got " + std::to_string(name.size()));
    model->name = name[0];
    const std::size_t n = kind.size();
    const auto integers = [&](const char* array) { return x.integers(array, {n}); };
    const auto reals = [&](const char* array) { return x.reals(array, {n}); };
    const auto vectors = [&](const char* array) { return x.reals(array, {n, 3}); };
    const auto matrices = [&](const char* array) { return x.reals(array, {n, 3, 3}); };
    const auto parent = integers("core.parent"), link = integers("core.link");
    const auto mimicked = integers("core.mimicked");
    const auto multiplier = reals("core.multiplier"), offset = reals("core.offset");
    const auto rotation = matrices("core.rotation"), translation = vectors("core.translation");
    const auto axis = vectors("core.axis"), pitch = reals("core.pitch"), mass = reals("core.mass");
    const auto com = vectors("core.com"), tensor = matrices("core.tensor");
    std::vector<BodyDescription> bodies(n);
    for (std::size_t i = 0; i < n; ++i) {
        const int last = static_cast<int>(n) - 1;
        if (parent[i] < -1 || parent[i] >= static_cast<int>(i) || mimicked[i] < -1 ||
            mimicked[i] > last || link[i] < -1 || link[i] > last)
            refuse_file("expected indices of bodies, got others");
        bodies[i] = {joint_kind(kind[i]),
                     parent[i],
                     link[i],
                     mimicked[i],
                     multiplier[i],
                     offset[i],
                     row<9>(rotation, i),
                     row<3>(translation, i),
                     row<3>(axis, i),
                     pitch[i],
                     mass[i],
                     row<3>(com, i),
                     row<9>(tensor, i)};
    }
    const Texts joints = x.texts("core.joint_names");
    model->frames = x.texts("core.frame_names");
    const std::size_t nframes = model->frames.size();
    const auto carrier = x.integers("core.frame_link", {nframes});
    const auto rotations = x.reals("core.frame_rotation", {nframes, 3, 3});
    const auto translations = x.reals("core.frame_translation", {nframes, 3});
    std::vector<FrameDescription> frames(nframes);
    for (std::size_t f = 0; f < nframes; ++f)
        frames[f] = {carrier[f], row<9>(rotations, f), row<3>(translations, f)};
    const std::uint64_t nv = x.size("core.armature");
    auto armature = x.reals("core.armature", {nv});
    auto damping = x.reals("core.damping", {nv});
    const auto stiffness = x.reals("core.stiffness", {nv});
    const auto rest = x.reals("core.rest_position", {nv});
    const auto friction = x.reals("core.friction", {nv});
    const auto friction_speed = x.reals("core.friction_speed", {nv});
    model->gravity = row<3>(x.reals("gravity", {3}), 0);
    Texts massless = x.texts("core.massless_joints");
    x.require_taken("core.");  // one of a later version may change the dynamics
    if (n == 0) refuse_file("expected a body that moves, got none");
    model->tree = std::make_unique<CompiledTree>(
        bodies, joints, std::move(massless), std::move(armature), std::move(damping),
        model->gravity, model->frames, frames, stiffness, rest, friction, friction_speed);
    const Tree& tree = model->tree->tree();
    for (int k = 0; k < tree.nbodies; ++k) model->masses.push_back(mass[tree.link_body[k]]);
    describe_joints(x, *model);
    return model;
}

}  // namespace

std::shared_ptr<const CompiledModel> read_model(const std::string& path) {
    try {
        return model_of(ArrayFile(path));
    } catch (const std::bad_alloc&) {
        throw;
    } catch (const std::exception& error) {
        throw InvalidFile(path + ": " + error.what());
    }
}

}  // namespace dtau
