// Reads what dtau/mujoco/plan.py and dtau/mujoco/solved.py write, in their order: read_constants(),
// read_solutions(), read_job().
#pragma once

#include "python/mujoco_arrays.hpp"

namespace dtau::mujoco {

// Structs of doubles alone.
template <class X> const X* read_structs(ArrayReader& read, Index count) {
    constexpr Index numbers = sizeof(X) / sizeof(double);
    return reinterpret_cast<const X*>(read.take<double>(numbers * count));
}

inline Parameters read_parameters(ArrayReader& read, const Constants& m) {
    const Index* columns = read.take<Index>(9);
    Parameters out = {};
    out.columns = columns[0], out.inertial = columns[1], out.damping = columns[2];
    out.armature = columns[3], out.stiffness = columns[4], out.loss = columns[5];
    out.gain = columns[6], out.bias = columns[7], out.friction = columns[8];
    if (out.columns == 0) return out;
    read.each(3 * m.nbody, out.from_center), read.each(m.nbody, out.compensated);
    read.each(3, out.gravity), read.each(1, out.dampers), read.each(m.nv, out.joints);
    read.each(m.nactuators, out.gains, out.biases);
    return out;
}

inline Constants read_constants(nb::tuple arrays) {
    ArrayReader read(arrays);
    Constants m;
    const Index* sizes = read.take<Index>(15);
    m.integrator = sizes[0], m.elliptic = sizes[1], m.nq = sizes[2], m.nv = sizes[3];
    m.na = sizes[4], m.nu = sizes[5], m.nactuators = sizes[6], m.nbody = sizes[7];
    m.ngeom = sizes[8], m.nfree = sizes[9], m.nturning = sizes[10], m.nplain = sizes[11];
    const Index joints = sizes[12];
    m.timestep = *read.take<double>(1);
    read.each(m.nv, m.damping, m.stiffness, m.armature);
    read.each(m.nv * m.nv, m.implicit, m.related), read.each(m.nv, m.dof_roots, m.dof_bodies);
    m.paths = read.lists(m.nbody), m.still = read.lists(m.nv), m.carried = read.lists(m.nv);
    read.each(m.nq, m.coordinates, m.offsets), read.each(m.nv, m.places, m.order);
    read.each(m.nfree, m.free, m.free_bodies);
    read.each(m.nturning, m.angles), read.each(m.nplain, m.plain);
    m.moments = read.lists(m.nactuators);
    read.each(m.nactuators, m.actuator_columns, m.actuator_states, m.actuator_dofs);
    m.actuators = read_structs<Actuator>(read, m.nactuators);
    m.compensated = read.take_any<Index>(), m.ncompensated = read.size();
    read.each(m.nv, m.compensation), read.each(3 * m.ncompensated, m.compensating);
    m.thruster_actuators = read.take_any<Index>(), m.nthrusters = read.size();
    read.each(m.nthrusters, m.thruster_bodies);
    m.thrusters = read_structs<Thruster>(read, m.nthrusters);
    m.ntendons = sizes[13], m.nequalities = sizes[14];
    m.tendons = read.lengths(m.ntendons);
    m.tendon_springs = read_structs<TendonSpring>(read, m.ntendons);
    m.equalities = read_structs<Equality>(read, m.nequalities);
    read.each(2 * m.nequalities, m.equality_bodies);
    m.seconds = read.lengths(m.nequalities);
    m.fluid_bodies = read.take_any<Index>(), m.nfluid = read.size();
    m.fluid = read_structs<FluidPart>(read, m.nfluid);
    read.each(3, m.wind), read.each(m.nv, m.actuation_low, m.actuation_high);
    read.each(m.ngeom, m.geom_body, m.geom_type), read.each(3 * m.ngeom, m.geom_size);
    read.each(joints, m.joint_type, m.joint_dof), read.each(2 * joints, m.joint_range);
    m.parameters = read_parameters(read, m);
    return m;
}

// Constants with the arrays that they point to, which Python keeps as a capsule.
struct KeptConstants {
    nb::tuple arrays;
    Constants model;
};

inline const Constants& kept_constants(nb::handle given) {
    const auto* kept = nb::cast<nb::capsule>(given).data("dtau.mujoco.constants");
    return static_cast<const KeptConstants*>(kept)->model;
}

inline Solutions read_solutions(ArrayReader& read, const Constants& m) {
    Solutions at;
    at.row_starts = read.take_any<Index>();
    const Index n = at.n = read.size() - 1;
    if (n < 1) throw std::invalid_argument("expected one state or more");
    read.each(n * m.nq, at.q), read.each(n * m.nv, at.v, at.a);
    read.each(n * m.na, at.act, at.act_dot), read.each(n * m.nu, at.ctrl);
    read.each(n * m.nv, at.bias, at.torque), read.each(n * m.nv * m.nv, at.mass);
    read.each(n * m.nactuators, at.length, at.velocity, at.force);
    read.each(n * m.nv, at.actuation);
    read.each(n * m.moments.starts[m.nactuators], at.moment_arms);
    read.each(n * m.nv * 6, at.cdof), read.each(n * m.nbody * 3, at.com);
    read.each(n * m.nbody * 9, at.xmat), read.each(n * m.nbody * 4, at.xquat);
    read.each(n * m.nbody * 3, at.xipos);
    read.each(n * m.ngeom * 3, at.geom_xpos), read.each(n * m.ngeom * 9, at.geom_xmat);
    const Index rows = at.row_starts[n];
    read.each(rows, at.weight), read.each(4 * rows, at.parameters);
    read.each(rows, at.kind, at.id, at.reference, at.position, at.margin, at.loss);
    read.each(n + 1, at.plain_starts), read.each(at.plain_starts[n] * m.nv, at.jacobian);
    read.each(n + 1, at.contact_starts);
    const Index contacts = at.contact_starts[n];
    read.each(contacts, at.address), read.each(2 * contacts, at.geom), read.each(contacts, at.dim);
    read.each(3 * contacts, at.pos), read.each(9 * contacts, at.frame);
    read.each(contacts, at.dist, at.includemargin);
    read.each(5 * contacts, at.friction), read.each(contacts, at.mu);
    if (m.parameters.columns > 0)
        read.each(n * m.nv, at.stretch), read.each(6 * contacts, at.shares);
    return at;
}

// Reads what differentiation and products of it share.
inline StepJob read_job(nb::handle constants, nb::handle solutions, nb::handle accelerations,
                        nb::handle following, nb::handle terms, nb::handle given,
                        nb::handle motions) {
    ArrayReader read(solutions);
    StepJob job;
    job.model = kept_constants(constants);
    const Constants& m = job.model;
    job.at = read_solutions(read, m);
    const Index n = job.at.n, nv = m.nv;
    job.accelerations = numbers(accelerations, n * nv);
    job.following = numbers(following, n * nv);
    job.terms = numbers_or_null(terms, 2 * n * nv * nv);
    if (!given.is_none()) {
        ArrayReader read_given(nb::make_tuple(given));
        job.given = read_given.take_any<Index>();
        job.ngiven = read_given.size();
    }
    job.given_motions = numbers_or_null(motions, 84 * job.ngiven);
    return job;
}

}  // namespace dtau::mujoco
