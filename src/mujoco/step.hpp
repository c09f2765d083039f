// Describes MuJoCo's solutions at n states as a StepJob, and the functions that differentiate its
// step there: Kernels.
//
// Arrays are contiguous; arrays of Solutions have an axis of states, rows or contacts in front. The
// names are as in dtau/mujoco/plan.py and dtau/mujoco/solved.py.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dtau::mujoco {

using Index = std::ptrdiff_t;

// Values of mjtGeom, mjtConstraint and mjtJoint.
enum Geom { plane = 0, sphere = 2, capsule = 3, ellipsoid = 4, cylinder = 5, box = 6, mesh = 7 };
enum Constraint { equality = 0, friction_of_joint = 1, limit_of_joint = 3, limit_of_tendon = 4 };
enum Joint { ball = 1 };
// What gravity compensation counts as on a degree of freedom.
enum Compensation { no_force, passive, of_actuators };
// How the step goes on from the acceleration.
enum Integrator { explicit_euler, implicit_euler, implicit_fast, stage };

// Lists of indices, one after the other.
struct Lists {
    const Index *starts, *items;

    const Index* begin(Index i) const { return items + starts[i]; }
    const Index* end(Index i) const { return items + starts[i + 1]; }
};

// A force  gain u + bias,  affine in length and velocity, with the curves of a muscle added. The
// activation w, if there is one, becomes  w + span w',  within its range. Its rate w' has constant
// derivatives, or a muscle's with three times.
struct Actuator {
    double ctrl_low, ctrl_high, force_low, force_high, gain[3], bias[3];
    double rate_by_state, rate_by_control, span, act_low, act_high, early, is_muscle, times[3];
    struct {
        double force, origin, scale, low, high, speed_scale, most;
    } active;
    struct {
        double force, origin, scale, high;
    } passive;
};

// A body or geom in a fluid, as in src/mujoco/fluid.hpp. Its frame is relative to the body's center of
// mass and axes; viscous and quadratic drag are [angular, linear].
struct FluidPart {
    double offset[3], rotation[9], is_ellipsoid, viscous[2], quadratic[6];
    double size[3], mass[3], inertia[3], largest, shadow, kutta, magnus;
};

// Lengths that are linear in positions of hinges and slides.
struct Lengths {
    Lists dofs;
    const Index* numbers;  // of q
    const double* arms;

    double at(Index i, const double* q) const {
        double out = 0.0;
        for (Index j = dofs.starts[i]; j < dofs.starts[i + 1]; ++j) out += arms[j] * q[numbers[j]];
        return out;
    }
};

// A spring and a damper along a fixed tendon. The spring is slack in a range.
struct TendonSpring {
    double stiffness, damping, low, high;
};

// An equality constraint. One of bodies has 3 or 6 rows, and points and quaternions of the objects,
// relative to the body's center of mass and axes. One of lengths is a polynomial  x_1 = p(x_2), with
// p'' = bend[0] + bend[1] x_2 + bend[2] x_2^2.
struct Equality {
    double rows, origin, bend[3], torque_scale;
    struct Object {
        double point[3], orientation[4];
    } objects[2];

    bool holds_bodies() const { return rows > 1.0; }
};

// An actuator of a site, whose frame is relative to the body's center of mass and axes.
struct Thruster {
    double offset[3], rotation[9], gear[6];
};

// Parameters of the model that the step is differentiated by. Of each kind the first column, or -1.
struct Parameters {
    Index columns;
    Index inertial, damping, armature, stiffness, loss, gain, bias, friction;
    const double* from_center;  // (nbody, 3): from the body's origin to its center of mass
    const double* compensated;  // (nbody): share of its weight
    const double* gravity;
    const double* dampers;        // 1, or 0: they are disabled
    const Index* joints;          // of degrees of freedom
    const Index *gains, *biases;  // of actuators: coefficients that the force is linear in
};

struct Constants {
    Index integrator, elliptic, nq, nv, na, nu, nactuators, nbody, ngeom, nfree, nturning;
    double timestep;
    const double *damping, *stiffness, *armature;
    const double* implicit;  // (nv, nv): passive part of -df/dv that the integrator is implicit in
    const double* related;   // (nv, nv): 1 where the mass matrix may have entries, else 0
    const Index *dof_roots, *dof_bodies;
    Lists paths;    // of bodies: the degrees of freedom that move them
    Lists still;    // of axes: degrees of freedom that move the body of the axis and not the axis
    Lists carried;  // of axes: degrees of freedom that move the axis
    const Index* coordinates;
    const double* offsets;
    const Index *places, *order, *free, *free_bodies, *angles, *plain;
    Index nplain;
    Lists moments;  // of actuators: the degrees of freedom with a part in the length
    const Index *actuator_columns, *actuator_states;
    const Index* actuator_dofs;  // of actuators of a joint; -1: of a tendon
    const Actuator* actuators;
    Index ncompensated;
    const Index *compensated, *compensation;  // bodies; `Compensation` by degree of freedom
    const double* compensating;               // forces on these bodies
    Index nthrusters;
    const Index *thruster_actuators, *thruster_bodies;
    const Thruster* thrusters;
    Index ntendons;  // fixed ones with a spring or a damper
    Lengths tendons;
    const TendonSpring* tendon_springs;
    Index nequalities;
    const Equality* equalities;
    const Index* equality_bodies;  // (nequalities, 2)
    Lengths seconds;               // x_2, before the origin is subtracted; none of spatial tendons
    Index nfluid;
    const Index* fluid_bodies;
    const FluidPart* fluid;
    const double* wind;
    const double *actuation_low, *actuation_high;  // of the actuators' force on a joint
    const std::int32_t *geom_body, *geom_type, *joint_type, *joint_dof;
    const double *geom_size, *joint_range;
    Parameters parameters;

    Index state_and_control() const { return 2 * nv + na + nu; }
    Index width() const { return state_and_control() + parameters.columns; }
    bool is_implicit() const { return integrator == implicit_euler || integrator == implicit_fast; }
};

struct Solutions {
    Index n;
    const double *q, *v, *a, *act, *act_dot, *ctrl, *bias, *torque, *mass;
    const double *length, *velocity, *force;  // of actuators
    const double* actuation;                  // joint forces of all actuators
    const double* moment_arms;                // d length / dq of the lists `moments`
    const double *cdof, *com, *xmat, *xquat, *xipos, *geom_xpos, *geom_xmat;
    const Index* row_starts;  // of the states' rows of constraints
    const double *weight, *parameters;
    const std::int32_t *kind, *id;
    const double *reference, *position, *margin, *loss;
    const Index* plain_starts;  // of the first rows of each state, which are not of contacts
    const double* jacobian;     // of these
    const Index* contact_starts;
    const std::int32_t *address, *geom, *dim;
    const double *pos, *frame, *dist, *includemargin, *friction, *mu;
    // For parameters alone: displacements of springs (n, nv), and derivatives of the contacts' sliding,
    // torsional and rolling friction by their geoms' (ncontacts, 2, 3).
    const double *stretch, *shares;
};

// The sweeps of the noslip solver after the solutions of a stage. They change the accelerations, and their
// derivatives.
struct Sweeps {
    const Index* counts;  // null, or by row of constraints the sweeps that it takes part in
    const double*
        inertias;         // (n, nbody, 10): MuJoCo's, composite, about the trees' centers of mass
    const double* after;  // (n, nv): the accelerations that they lead to
};

struct StepJob {
    Constants model;
    Solutions at;                      // with the accelerations before the sweeps, if there are any
    const double *by_q, *by_v, *mass;  // derivatives of dtau's inverse dynamics
    const double* accelerations;       // (n, nv), as the integrator takes them
    const double* following;           // (n, nv): MuJoCo's velocities after the step
    const double* terms;  // null, or d(J^T lambda)/dq and /dv of spatial tendons: (n, nv, 2 nv)
    const Index* given = nullptr;  // contacts with a motion from Python, ascending
    const double* given_motions;   // (ngiven, 7, 12)
    Index ngiven = 0;

    Sweeps sweeps = {};

    double* out;     // (n, 2 nv + na, width), or (n, nv + na, width) of a stage
    Index* missing;  // contacts that have a force and no motion, room for all
    Index nmissing = 0;
    // A contact and a row of a limit that have a force and whose frame or axis jumps; -1: there is none.
    Index jumping_contact = -1, jumping_limit = -1;
    // MuJoCo's velocities follow from the accelerations, and these from the sweeps.
    bool same = true, swept = true;
};

// The product of weights of the states after the step with its derivatives. The smooth forces take part
// with dtau's product of inverse dynamics, at weights that `pull_back` writes.
struct Pullback {
    StepJob step;           // without by_q, by_v, mass and out
    const double* weights;  // (n, 2 nv + na): of a displacement, v and act
    double* by;             // (n, width)
    // Of the smooth forces at the accelerations of `prepare`: (n, nv), or (2 n, nv) for integrators that
    // are implicit. MuJoCo's, and dtau's.
    double *multipliers, *lam;
};

// dtau's product with the derivatives of inverse dynamics: all as `multipliers`.
struct SmoothProduct {
    const double *by_q, *by_v, *by_a;
};

// The functions of an instruction set.
struct Kernels {
    // Writes configurations, velocities and accelerations of dtau's model for its inverse dynamics.
    // Integrators that are implicit need n more of them with their own accelerations, which also go to
    // `accelerations` (n, nv); else a copy of MuJoCo's goes there. `before`: null, or the accelerations
    // before sweeps (n, nv). They come first then, and for those integrators MuJoCo's last. `by_velocity`
    // (n, nactuators) gets derivatives of the actuators' forces by their velocities.
    void (*prepare)(const Constants& model, const Solutions& at, const double* before, double* q,
                    double* v, double* a, double* accelerations, double* by_velocity);
    // Differentiates the states after the step, or the accelerations and the rates of activations of
    // a stage.
    void (*differentiate)(StepJob& job);
    // Writes all of a product but the part of the smooth forces.
    void (*pull_back)(Pullback& job);
    // Adds that part.
    void (*add_smooth)(const Pullback& job, const SmoothProduct& product);
    // Replaces derivatives (nv, columns) of a displacement by derivatives of  q (+) displacement. The
    // first nv columns are derivatives by q.
    void (*move)(const Constants& model, const double* displacement, double* by, Index columns);
};

}  // namespace dtau::mujoco
