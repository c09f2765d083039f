// Declares the compiled kinematic tree: Tree, constant flat arrays that every algorithm reads.
//
// Bodies are numbered depth first, so a subtree is a contiguous range of bodies and of degrees of
// freedom, and a parent comes before its children. The frames are canonical: each body's axes are
// rotated once, when the model is compiled, so that the axis of its joint is z. So the algorithms have
// one revolute joint, one prismatic joint and so on. Body::frame leads back to the user's axes.
// [Derivations] §2.
//
// One joint of the user's may be several here: a universal joint is two revolute joints with a massless
// body between them, which has no number of the user's (Body::link is -1). A mimic joint is a joint as
// any other; Mimics gives its coordinates from the independent ones.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dtau {

enum class JointKind : std::int32_t {
    revolute,
    prismatic,
    helical,
    spherical,
    free,
    cylindrical,
    planar
};

// A rotation about a coordinate axis.
struct Turn {
    double sine, cosine;
};

struct Body {
    JointKind kind;
    int parent;  // body, or -1: the world
    int root;    // first body of its tree
    int level;   // number of bodies before it on the path from the world
    int link;    // the user's number of this moving body; -1: the user does not have it
    int q, v;    // first coordinate and first degree of freedom
    int nv;
    int quaternion;                      // first coordinate of its quaternion; -1: there is none
    bool last_child;                     // the last one of the bodies with the same parent
    bool at_origin;                      // a root, or carried by joints that only translate
    bool leads;                          // `lead` is not zero
    Turn lead, tilt, turn;               // the rotation below: about z, about x, about z
    double translation[3], rotation[9];  // joint frame in the parent body's frame, by columns
    double mass, first_moment[3], second_moment[6];  // about the body's origin: xx xy xz yy yz zz
    double own_inertia[6];                           // rotational inertia about the origin
    double com[3], inertia[6];                       // about the center of mass
    double pitch;                                    // helical: meters per radian
    double frame[9];  // canonical axes in the user's body axes, by columns
};

// Degrees of freedom on their paths to the world; numbered so that a subtree is a range.
struct Paths {
    int n;
    const int* parent;  // (n) the degree of freedom before this one on the path to the world
    const int* end;     // (n) one past the last degree of freedom of the subtree
    const int* depth;   // (n) number of degrees of freedom before this one on that path
    int max_depth;      // the largest of them
};

// The coordinates of all joints from the independent ones, with mimic joints:
//   q_joint[k] = q_scale[k] q[q_source[k]] + q_offset[k],   v_joint[k] = v_scale[k] v[v_source[k]]
struct Mimics {
    int nq, nv;                        // independent coordinates and velocities
    const int *q_source, *v_source;    // (Tree::nq), (Tree::nv)
    const double *q_scale, *q_offset;  // (Tree::nq)
    const double* v_scale;             // (Tree::nv)
    const int *q_owner, *v_owner;      // (nq), (nv) the joint coordinate to which this one belongs
};

// A span of entries of a matrix (nv, nv), by rows. Row and column are related only inside spans. Spans begin
// and end at multiples of 8, or with the matrix.
struct Span {
    std::ptrdiff_t begin, end;
};

// A spring of a joint, on one of its coordinates and the velocity that is its rate.
struct Spring {
    int q, v;
    double stiffness, rest;
};

// A spring of a spherical joint, from its quaternion q, q + 1, ... and the rotation at rest.
struct RotationSpring {
    int q, v;  // first of the quaternion, first of the angular velocity
    double stiffness, rest[4];
};

// Coulomb friction of the joints, smoothed: force tanh(rate v), from one degree of freedom to another.
// Degrees of freedom between that have none have zeros.
struct Friction {
    int first, end;       // the same: there is no friction
    const double* force;  // (nv)
    const double* rate;   // (nv) 1 / the smoothing speed
};

// Parameters of joints, in the order in which they follow parameters of bodies: armature, damping, stiffness
// of the spring, Coulomb friction.
enum class JointParameter { armature, damping, stiffness, friction };

struct Tree {
    int nnodes;   // entries of `bodies`; a universal joint has two, the first without mass
    int nbodies;  // the user's moving bodies, as Python counts them
    int nq, nv;
    int depth;  // at least the number of bodies on any path to the world
    const Body* bodies;
    const int* link_body;  // (nbodies)
    Paths dofs;
    Paths independent;       // of independent velocities: the entries of M that are not zero
    const Mimics* mimic;     // null if all joints are independent
    const double* armature;  // (nv)
    const double* damping;   // (nv)
    const Spring* springs;   // (nsprings)
    int nsprings;
    const RotationSpring* rotation_springs;  // (nrotation_springs)
    int nrotation_springs;
    Friction friction;
    double gravity[3];    // in the world
    const Span* related;  // (nrelated)
    std::ptrdiff_t nrelated;
    const Span* state_matrix;  // (nstate_matrix) the same for the A of a linearization
    std::ptrdiff_t nstate_matrix;
    const int* actuated;  // (nactuated) the velocities of all joints but free roots
    int nactuated;
    // This tree with springs in all joints that can have one, and with friction in all joints: for calls that give
    // parameters of joints. Null: it is this tree itself.
    const Tree* every_joint = nullptr;
    // Of the scalar at hand, which replace the constants above: given_parameters.hpp. Null: the constants hold.
    const void* inertias = nullptr;          // (nnodes) Inertia<T>, for inertias in `bodies`
    const void* joint_parameters = nullptr;  // (4, nv), rows in the order of JointParameter
};

// Axes of a frame's Jacobian: the frame's own; the world's, about the world's origin; the world's,
// about the frame's origin.
enum class Axes { body, world, mixed };

// The acceleration of a frame: the body's spatial acceleration, or the classical acceleration of the
// body's point, which has omega x v more.
enum class Acceleration { spatial, classical };

// How a time step is taken: step.hpp.
enum class Integrator { euler, semi_implicit, rk4, implicit };

// The torques that drive a robot: the velocities with a driven torque, or the inputs of a map.
struct DrivenTorques {
    int count = 0;
    const int* columns = nullptr;
};

// A frame that is fixed to a body, in the user's axes of that body; body -1 is the world.
struct Frame {
    int body;
    double rotation[9], translation[3];  // by columns
};

}  // namespace dtau
