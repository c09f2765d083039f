// Compiles a model's description into canonical frames: CompiledTree owns the arrays of a Tree.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "batch/job.hpp"
#include "dtau/joint_traits.hpp"
#include "dtau/options.hpp"
#include "tree/entries.hpp"

namespace dtau {

// One moving body in the user's own frames, as the Python layer validated it.
struct BodyDescription {
    JointKind kind;
    int parent;
    int link;      // the user's index of the body, in order; -1: none
    int mimicked;  // the body whose joint this one's joint mimics; -1: none
    double multiplier, offset;
    std::array<double, 9> rotation;  // joint frame in the parent body, by rows
    std::array<double, 3> translation, axis;
    double pitch, mass;
    std::array<double, 3> com;
    std::array<double, 9> tensor;  // about the center of mass
};

// A named frame in the user's axes of the body that carries it.
struct FrameDescription {
    int link;                        // the user's index of the body; -1: the world
    std::array<double, 9> rotation;  // by rows
    std::array<double, 3> translation;
};

// Code for this robot, and the calls that it serves: the function, its options, the number of
// lanes, and the inputs that are given.
struct RobotFunction {
    std::string function;
    Options options;
    int lanes;
    std::array<bool, Job::max_inputs> given;
    RobotCode code;
};

// The kernels count the entries of three padded (nv, nv) matrices side by side with an int.
inline constexpr std::size_t max_dofs = 26000;

class CompiledTree {
  public:
    CompiledTree(const std::vector<BodyDescription>& bodies, std::vector<std::string> joint_names,
                 std::vector<std::string> massless_joints, std::vector<double> armature,
                 std::vector<double> damping, const std::array<double, 3>& gravity,
                 std::vector<std::string> frame_names = {},
                 const std::vector<FrameDescription>& named_frames = {},
                 const std::vector<double>& stiffness = {}, const std::vector<double>& rest = {},
                 const std::vector<double>& friction = {},
                 const std::vector<double>& friction_speed = {});
    CompiledTree(const CompiledTree&) = delete;
    CompiledTree& operator=(const CompiledTree&) = delete;

    const Tree& tree() const { return tree_; }
    // Differs for all trees of the process, in contrast to the address.
    std::uint64_t number() const { return number_; }
    const std::string& joint_name(int body) const { return joint_names_[body]; }
    // Finds a frame by its name; null: there is none.
    const Frame* frame(std::string_view name) const;
    // Names of joints without inertia to accelerate.
    const std::vector<std::string>& massless_joints() const { return massless_joints_; }
    // First coordinates of quaternions, and the bodies that they orient.
    const std::vector<std::pair<int, int>>& quaternions() const { return quaternions_; }

    // Entries that can differ from zero: of torques by velocities; without constraints that join trees,
    // of accelerations by velocities, and of A of a linearization.
    LazyEntries related_entries, acceleration_matrix_entries, state_matrix_entries;

    // Call it before any other thread knows this tree.
    void add_code(RobotFunction code) { codes_.push_back(std::move(code)); }
    // Finds code that serves a job; null: there is none.
    const RobotCode* code(const char* function, int lanes, const Job& job) const;

  private:
    std::vector<Body> bodies_;
    std::vector<std::string> joint_names_, massless_joints_;
    struct PathArrays {
        std::vector<int> parent, end, depth;
        Paths paths();  // derives the other arrays from `parent`
    };
    void add_frames(const std::vector<FrameDescription>& frames);
    void set_mimic_joints(const std::vector<BodyDescription>& bodies);
    void relate();
    void set_springs(std::vector<double> stiffness, std::vector<double> rest);
    void set_friction(std::vector<double> friction, std::vector<double> speed);
    void share_rest_positions();
    void set_every_joint();

    PathArrays dofs_, independent_;
    std::vector<int> link_body_, q_source_, v_source_, q_owner_, v_owner_;
    std::vector<double> q_scale_, q_offset_, v_scale_;
    std::vector<Span> related_, state_matrix_;
    std::vector<int> actuated_;
    Mimics mimic_;
    std::vector<double> armature_, damping_;
    struct SpringArrays {
        std::vector<Spring> along_axes;
        std::vector<RotationSpring> of_rotations;
        void let_act_in(Tree& tree) const;
    };
    SpringArrays springs_,
        all_springs_;  // springs with a stiffness; springs of every joint that can have one
    std::vector<double> friction_force_, friction_rate_, all_friction_rates_;
    Tree every_joint_;  // Tree::every_joint
    std::vector<std::pair<int, int>> quaternions_;
    std::vector<std::string> frame_names_;
    std::vector<Frame> frames_;
    std::unordered_map<std::string_view, int> frame_places_;
    Tree tree_ = {};
    std::uint64_t number_;
    std::vector<RobotFunction> codes_;
};

// Names in quotes of the joints without inertia to accelerate, except those whose motion is
// prescribed: a mask of the independent velocities, or null. Empty: there are none.
std::string joints_without_inertia(const CompiledTree& tree, const bool* prescribed);

}  // namespace dtau
