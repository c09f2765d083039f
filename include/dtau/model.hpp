// The compiled kinematic tree: constant flat arrays that every algorithm reads.
//
// Bodies are numbered depth first, so a subtree is a contiguous range of bodies and of degrees of
// freedom, and a parent comes before its children. The frames are canonical: each body's axes are
// turned, once, when the model is compiled, so that the axis of its joint is z; the kernels then
// know one revolute, one prismatic and one helical joint. Body::frame leads back to the user's
// axes.
#pragma once

#include <cstdint>

namespace dtau {

enum class JointKind : std::int32_t { revolute, prismatic, helical, spherical, free };

struct Body {
    JointKind kind;
    int parent;  // body, or -1: the world
    int root;    // first body of its tree
    int q, v;    // first coordinate and first degree of freedom
    int nv;
    double rotation[9], translation[3];  // joint frame in the parent body's frame, by columns
    double pitch;                        // helical: metres per radian
    double mass, com[3], inertia[6];     // about the centre of mass: xx xy xz yy yz zz
    double own_inertia[6];               // about the body's origin, for body coordinates
    double frame[9];                     // canonical axes in the user's body axes, by columns
};

struct Tree {
    int nbodies, nq, nv;
    const Body* bodies;
    const int* dof_parent;   // (nv) the degree of freedom before this one on the path to the world
    const int* dof_end;      // (nv) one past the last degree of freedom of the subtree
    const int* dof_depth;    // (nv) how many degrees of freedom are before this one on that path
    int max_depth;           // the largest of them
    const double* armature;  // (nv)
    const double* damping;   // (nv)
    double gravity[3];       // in the world
};

// Axes of a frame's Jacobian: the frame's own; the world's, about the world's origin; the world's,
// about the frame's origin.
enum class Axes { body, world, mixed };

// A frame that is fixed to a body, in the user's axes of that body; body -1 is the world.
struct Frame {
    int body;
    double rotation[9], translation[3];  // by columns
};

}  // namespace dtau
