// Compiles the description of a model into canonical frames and flat arrays: CompiledTree().
#include "tree/compiled_tree.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "dtau/mimic.hpp"

namespace dtau {

namespace {

bool finite(const BodyDescription& body) {
    double sum = body.pitch * 0.0 + body.mass * 0.0;
    for (double x : body.rotation) sum += x * 0.0;
    for (double x : body.translation) sum += x * 0.0;
    for (double x : body.axis) sum += x * 0.0;
    for (double x : body.com) sum += x * 0.0;
    for (double x : body.tensor) sum += x * 0.0;
    return sum == 0.0;
}

using Matrix = std::array<double, 9>;  // by rows
using Vector = std::array<double, 3>;

Matrix transposed(const Matrix& a) {
    return {a[0], a[3], a[6], a[1], a[4], a[7], a[2], a[5], a[8]};
}

Matrix product(const Matrix& a, const Matrix& b) {
    Matrix c{};
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            for (int k = 0; k < 3; ++k) c[3 * i + j] += a[3 * i + k] * b[3 * k + j];
    return c;
}

Vector product(const Matrix& a, const Vector& x) {
    Vector y{};
    for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k) y[i] += a[3 * i + k] * x[k];
    return y;
}

double length(const Vector& a) { return std::sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]); }

Vector cross(const Vector& a, const Vector& b) {
    return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

// A rotation whose third column is the unit vector n, and whose first one is along x if that is any
// length. Coordinate axes give exact permutations.
Matrix frame_with_z(const Vector& n, Vector x) {
    if (length(x) == 0.0) {
        if (n[2] == 1.0) return {1, 0, 0, 0, 1, 0, 0, 0, 1};
        // The coordinate axis furthest from n, made orthogonal to it.
        int far = 0;
        for (int k = 1; k < 3; ++k)
            if (std::fabs(n[k]) < std::fabs(n[far])) far = k;
        for (int k = 0; k < 3; ++k) x[k] = (k == far ? 1.0 : 0.0) - n[far] * n[k];
    }
    const double norm = length(x);
    for (double& c : x) c /= norm;
    const Vector y = cross(n, x);
    return {x[0], y[0], n[0], x[1], y[1], n[1], x[2], y[2], n[2]};
}

Turn turn(double sine, double cosine) {
    const double norm = std::hypot(sine, cosine);
    return {sine / norm, cosine / norm};
}

// Stores R = Rz(lead) Rx(tilt) Rz(turn), with lead = 0 where possible. [Derivations] eq. 2.2
void store_turns(const Matrix& R, Body& body) {
    constexpr double rounding = 4e-16;
    const double side = std::fabs(R[2]) < rounding ? 0.0 : R[2];
    body.leads = side != 0.0;
    body.lead = body.leads ? turn(side, -R[5]) : Turn{0.0, 1.0};
    const auto [s, c] = body.lead;
    body.tilt = turn(s * R[2] - c * R[5], R[8]);
    body.turn = turn(-(c * R[1] + s * R[4]), c * R[0] + s * R[3]);
}

void store_columns(const Matrix& rows, double* columns) {
    const Matrix t = transposed(rows);
    for (int k = 0; k < 9; ++k) columns[k] = t[k];
}

void store_symmetric(const Matrix& m, double* s) {
    s[0] = m[0], s[1] = 0.5 * (m[1] + m[3]), s[2] = 0.5 * (m[2] + m[6]);
    s[3] = m[4], s[4] = 0.5 * (m[5] + m[7]), s[5] = m[8];
}

// The canonical axes of the bodies in the users' body axes: z along the joint's axis. If the joint
// is symmetric about z, x is also orthogonal to the axis of a revolute joint that the body carries,
// which then needs no lead. [Derivations] eq. 2.2
std::vector<Matrix> canonical_frames(const std::vector<BodyDescription>& bodies) {
    constexpr double parallel = 1e-6;
    std::vector<Vector> x(bodies.size(), Vector{});
    for (const BodyDescription& given : bodies) {
        if (given.kind != JointKind::revolute || given.parent < 0) continue;
        const BodyDescription& parent = bodies[given.parent];
        const JointTraits& joint = traits(parent.kind);
        if (!joint.has_axis || !joint.commutes || length(x[given.parent]) > 0.0) continue;
        const Vector normal = cross(parent.axis, product(given.rotation, given.axis));
        if (length(normal) > parallel) x[given.parent] = normal;
    }
    std::vector<Matrix> frames;
    for (std::size_t i = 0; i < bodies.size(); ++i)
        frames.push_back(traits(bodies[i].kind).has_axis ? frame_with_z(bodies[i].axis, x[i])
                                                         : Matrix{1, 0, 0, 0, 1, 0, 0, 0, 1});
    return frames;
}

std::uint64_t next_number() {
    static std::atomic<std::uint64_t> last = 0;
    return ++last;
}

}  // namespace

CompiledTree::CompiledTree(const std::vector<BodyDescription>& bodies,
                           std::vector<std::string> joint_names,
                           std::vector<std::string> massless_joints, std::vector<double> armature,
                           std::vector<double> damping, const std::array<double, 3>& gravity,
                           std::vector<std::string> frame_names,
                           const std::vector<FrameDescription>& named_frames,
                           const std::vector<double>& stiffness, const std::vector<double>& rest,
                           const std::vector<double>& friction,
                           const std::vector<double>& friction_speed)
    : joint_names_(std::move(joint_names)),
      massless_joints_(std::move(massless_joints)),
      armature_(std::move(armature)),
      damping_(std::move(damping)),
      frame_names_(std::move(frame_names)),
      number_(next_number()) {
    const int nnodes = static_cast<int>(bodies.size());
    std::size_t dofs = 0;
    for (const BodyDescription& body : bodies) {
        if (const int kind = static_cast<int>(body.kind); kind < 0 || kind >= joint_kinds)
            throw std::invalid_argument("Tree: expected a joint kind from 0 to " +
                                        std::to_string(joint_kinds - 1) + ", got " +
                                        std::to_string(kind));
        dofs += traits(body.kind).nv;
    }
    if (dofs > max_dofs)
        throw std::invalid_argument("Tree: expected at most " + std::to_string(max_dofs) +
                                    " degrees of freedom, got " + std::to_string(dofs));
    for (int i = 0; i < nnodes; ++i) {
        int ancestor = i - 1;  // depth first: the parent is on the path from the body before
        while (ancestor >= 0 && ancestor != bodies[i].parent) ancestor = bodies[ancestor].parent;
        if (ancestor != bodies[i].parent)
            throw std::invalid_argument("Tree: expected bodies depth first");
    }
    const std::vector<Matrix> frames = canonical_frames(bodies);
    int nq = 0, nv = 0;
    for (int i = 0; i < nnodes; ++i) {
        const BodyDescription& given = bodies[i];
        if (!finite(given)) throw std::invalid_argument("Tree: expected finite numbers");
        const JointTraits& joint = traits(given.kind);
        const Matrix from_user = transposed(frames[i]);

        Body body{};
        body.kind = given.kind;
        body.parent = given.parent;
        body.root = given.parent < 0 ? i : bodies_[given.parent].root;
        body.level = given.parent < 0 ? 0 : bodies_[given.parent].level + 1;
        const Body* parent = given.parent < 0 ? nullptr : &bodies_[given.parent];
        body.at_origin =
            !parent || (parent->at_origin && traits(parent->kind).rotation == Rotation::none);
        body.link = given.link;
        body.q = nq, body.v = nv, body.nv = joint.nv;
        body.quaternion = joint.quaternion < 0 ? -1 : nq + joint.quaternion;
        if (given.link >= 0) link_body_.push_back(i);
        if (given.link >= 0 && given.link != static_cast<int>(link_body_.size()) - 1)
            throw std::invalid_argument("Tree: expected links in order");
        body.pitch = given.pitch;
        body.mass = given.mass;

        Matrix rotation = product(given.rotation, frames[i]);
        Vector translation = given.translation;
        if (given.parent >= 0) {
            const Matrix from_parent = transposed(frames[given.parent]);
            rotation = product(from_parent, rotation);
            translation = product(from_parent, translation);
        }
        store_columns(rotation, body.rotation);
        store_turns(rotation, body);
        store_columns(frames[i], body.frame);
        const Vector com = product(from_user, given.com);
        for (int k = 0; k < 3; ++k) body.translation[k] = translation[k], body.com[k] = com[k];
        Matrix tensor = product(product(from_user, given.tensor), frames[i]);
        store_symmetric(tensor, body.inertia);
        const double cc = com[0] * com[0] + com[1] * com[1] + com[2] * com[2];
        for (int r = 0; r < 3; ++r)  // parallel axis theorem
            for (int c = 0; c < 3; ++c)
                tensor[3 * r + c] += given.mass * ((r == c ? cc : 0.0) - com[r] * com[c]);
        store_symmetric(tensor, body.own_inertia);
        for (int k = 0; k < 3; ++k) body.first_moment[k] = given.mass * com[k];
        const double half = 0.5 * (tensor[0] + tensor[4] + tensor[8]);
        for (int r = 0; r < 3; ++r)
            for (int c = 0; c < 3; ++c)
                tensor[3 * r + c] = (r == c ? half : 0.0) - tensor[3 * r + c];
        store_symmetric(tensor, body.second_moment);

        // The path of a column goes through the earlier columns of its own joint.
        for (int k = 0; k < joint.nv; ++k)
            dofs_.parent.push_back(k > 0 ? nv + k - 1
                                   : given.parent < 0
                                       ? -1
                                       : bodies_[given.parent].v + bodies_[given.parent].nv - 1);
        bodies_.push_back(body);
        nq += joint.nq, nv += joint.nv;
    }
    if (static_cast<int>(armature_.size()) != nv || static_cast<int>(damping_.size()) != nv ||
        static_cast<int>(joint_names_.size()) != nnodes)
        throw std::invalid_argument(
            "Tree: expected armature and damping for each degree of freedom, and a name for each "
            "joint");

    std::vector<bool> seen(nnodes);
    for (int i = nnodes - 1; i >= 0; --i) {
        const int parent = bodies_[i].parent;
        bodies_[i].last_child = parent >= 0 && !seen[parent];
        if (parent >= 0) seen[parent] = true;
    }

    tree_.nnodes = nnodes, tree_.nbodies = static_cast<int>(link_body_.size());
    tree_.nq = nq, tree_.nv = nv;
    tree_.bodies = bodies_.data(), tree_.link_body = link_body_.data();
    tree_.dofs = dofs_.paths();
    tree_.depth = tree_.dofs.max_depth + 1;
    tree_.armature = armature_.data(), tree_.damping = damping_.data();
    std::copy_n(gravity.begin(), 3, tree_.gravity);
    tree_.independent = tree_.dofs;
    set_springs(stiffness, rest);
    set_friction(friction, friction_speed);
    set_mimic_joints(bodies);
    relate();
    for (int i = 0; i < nnodes; ++i)
        if (bodies_[i].quaternion >= 0)
            quaternions_.emplace_back(q_source_[bodies_[i].quaternion], i);
    add_frames(named_frames);
    set_every_joint();
}

namespace {

// A spring of a spherical joint, at rest after the rotation vector `rest`.
RotationSpring rotation_spring(const Body& body, const double* stiffness, const double* rest) {
    if (stiffness[1] != stiffness[0] || stiffness[2] != stiffness[0])
        throw std::invalid_argument("Tree: expected one stiffness of a spherical joint");
    const double angle = std::hypot(rest[0], rest[1], rest[2]);
    const double scale = angle > 0.0 ? std::sin(0.5 * angle) / angle : 0.5;
    return {body.q,
            body.v,
            stiffness[0],
            {scale * rest[0], scale * rest[1], scale * rest[2], std::cos(0.5 * angle)}};
}

}  // namespace

void CompiledTree::SpringArrays::let_act_in(Tree& tree) const {
    tree.springs = along_axes.data();
    tree.nsprings = static_cast<int>(along_axes.size());
    tree.rotation_springs = of_rotations.data();
    tree.nrotation_springs = static_cast<int>(of_rotations.size());
}

// Empty arrays: there are no springs. The rates of their joints' coordinates are the velocities, or the joints
// are spherical.
void CompiledTree::set_springs(std::vector<double> stiffness, std::vector<double> rest) {
    if (stiffness.empty() && rest.empty()) stiffness.assign(tree_.nv, 0.0), rest = stiffness;
    if (static_cast<int>(stiffness.size()) != tree_.nv || stiffness.size() != rest.size())
        throw std::invalid_argument(
            "Tree: expected stiffness and rest position for each degree of freedom");
    for (const Body& body : bodies_) {
        const bool stiff =
            std::any_of(stiffness.begin() + body.v, stiffness.begin() + body.v + body.nv,
                        [](double k) { return k != 0.0; });
        if (body.kind == JointKind::spherical) {
            const RotationSpring spring =
                rotation_spring(body, stiffness.data() + body.v, rest.data() + body.v);
            all_springs_.of_rotations.push_back(spring);
            if (stiff) springs_.of_rotations.push_back(spring);
            continue;
        }
        if (!traits(body.kind).commutes || traits(body.kind).nq != body.nv) {
            if (stiff)
                throw std::invalid_argument("Tree: expected no stiffness of a joint of this kind");
            continue;
        }
        for (int k = 0; k < body.nv; ++k) {
            const Spring spring = {body.q + k, body.v + k, stiffness[body.v + k], rest[body.v + k]};
            all_springs_.along_axes.push_back(spring);
            if (spring.stiffness != 0.0) springs_.along_axes.push_back(spring);
        }
    }
    springs_.let_act_in(tree_);
}

// Empty arrays: there is no friction.
void CompiledTree::set_friction(std::vector<double> friction, std::vector<double> speed) {
    if (friction.empty() && speed.empty()) friction.assign(tree_.nv, 0.0), speed = friction;
    if (static_cast<int>(friction.size()) != tree_.nv || friction.size() != speed.size())
        throw std::invalid_argument(
            "Tree: expected friction and its smoothing speed for each degree of freedom");
    int first = tree_.nv, end = 0;
    friction_force_ = std::move(friction), friction_rate_.assign(tree_.nv, 0.0);
    all_friction_rates_ = friction_rate_;
    for (int k = 0; k < tree_.nv; ++k) {
        const double rate = 1.0 / speed[k];
        if (speed[k] > 0.0 && std::isfinite(rate)) all_friction_rates_[k] = rate;
        if (friction_force_[k] == 0.0) continue;
        if (!(speed[k] > 0.0))
            throw std::invalid_argument("Tree: expected smoothing speeds of friction above 0");
        friction_rate_[k] = all_friction_rates_[k] = rate;
        first = std::min(first, k), end = k + 1;
    }
    tree_.friction = {std::min(first, end), end, friction_force_.data(), friction_rate_.data()};
}

// A call gives one stiffness for each independent velocity. Its spring rests where the joint's own spring and
// the springs of its mimic joints together give no torque, as Model.rest_position does.
void CompiledTree::share_rest_positions() {
    std::vector<double> stiffness(tree_.independent.n, 0.0), torque = stiffness;  // torque at zero
    for (const Spring& spring : springs_.along_axes) {
        const int k = v_source_[spring.v];
        const double pull = v_scale_[spring.v] * spring.stiffness;
        stiffness[k] += v_scale_[spring.v] * pull;
        torque[k] += pull * (spring.rest - q_offset_[spring.q]);
    }
    for (Spring& spring : all_springs_.along_axes) {
        const int k = v_source_[spring.v];
        if (v_owner_[k] == spring.v && stiffness[k] > spring.stiffness)
            spring.rest = torque[k] / stiffness[k];
    }
}

// For calls that give parameters of joints. Call it when the tree is complete.
void CompiledTree::set_every_joint() {
    if (tree_.mimic) share_rest_positions();
    every_joint_ = tree_;
    all_springs_.let_act_in(every_joint_);
    every_joint_.friction = {0, tree_.nv, friction_force_.data(), all_friction_rates_.data()};
    tree_.every_joint = &every_joint_;
}

void CompiledTree::add_frames(const std::vector<FrameDescription>& frames) {
    if (frames.size() != frame_names_.size())
        throw std::invalid_argument("Tree: expected a name for each frame");
    for (const FrameDescription& given : frames) {
        if (given.link < -1 || given.link >= tree_.nbodies)
            throw std::invalid_argument(
                "Tree: expected frames of existing bodies, got a frame of a body that does not "
                "exist");
        Frame frame;
        frame.body = given.link < 0 ? -1 : link_body_[given.link];
        store_columns(given.rotation, frame.rotation);
        for (int k = 0; k < 3; ++k) frame.translation[k] = given.translation[k];
        frame_places_.emplace(frame_names_[frames_.size()], static_cast<int>(frames_.size()));
        frames_.push_back(frame);
    }
}

const Frame* CompiledTree::frame(std::string_view name) const {
    const auto found = frame_places_.find(name);
    return found == frame_places_.end() ? nullptr : &frames_[found->second];
}

std::string joints_without_inertia(const CompiledTree& compiled, const bool* prescribed) {
    const Tree& tree = compiled.tree();
    const auto is_prescribed = [&](const std::string& name) {
        for (int i = 0; prescribed && i < tree.nnodes; ++i)
            if (compiled.joint_name(i) == name &&
                prescribed[independent_dof(tree, tree.bodies[i].v)])
                return true;
        return false;
    };
    std::string names;
    for (const std::string& name : compiled.massless_joints())
        if (!is_prescribed(name)) names += (names.empty() ? "'" : ", '") + name + "'";
    return names;
}

}  // namespace dtau
