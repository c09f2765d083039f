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
    out.from_center = read.take<double>(3 * m.nbody), out.compensated = read.take<double>(m.nbody);
    out.gravity = read.take<double>(3), out.dampers = read.take<double>(1);
    out.joints = read.take<Index>(m.nv);
    out.gains = read.take<Index>(m.nactuators), out.biases = read.take<Index>(m.nactuators);
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
    m.damping = read.take<double>(m.nv), m.stiffness = read.take<double>(m.nv);
    m.armature = read.take<double>(m.nv), m.implicit = read.take<double>(m.nv * m.nv);
    m.related = read.take<double>(m.nv * m.nv);
    m.dof_roots = read.take<Index>(m.nv), m.dof_bodies = read.take<Index>(m.nv);
    m.paths = read.lists(m.nbody), m.still = read.lists(m.nv), m.carried = read.lists(m.nv);
    m.coordinates = read.take<Index>(m.nq), m.offsets = read.take<double>(m.nq);
    m.places = read.take<Index>(m.nv), m.order = read.take<Index>(m.nv);
    m.free = read.take<Index>(m.nfree), m.free_bodies = read.take<Index>(m.nfree);
    m.angles = read.take<Index>(m.nturning), m.plain = read.take<Index>(m.nplain);
    m.moments = read.lists(m.nactuators);
    m.actuator_columns = read.take<Index>(m.nactuators);
    m.actuator_states = read.take<Index>(m.nactuators);
    m.actuator_dofs = read.take<Index>(m.nactuators);
    m.actuators = read_structs<Actuator>(read, m.nactuators);
    m.compensated = read.take_any<Index>(), m.ncompensated = read.size();
    m.compensation = read.take<Index>(m.nv);
    m.compensating = read.take<double>(3 * m.ncompensated);
    m.thruster_actuators = read.take_any<Index>(), m.nthrusters = read.size();
    m.thruster_bodies = read.take<Index>(m.nthrusters);
    m.thrusters = read_structs<Thruster>(read, m.nthrusters);
    m.ntendons = sizes[13], m.nequalities = sizes[14];
    m.tendons = read.lengths(m.ntendons);
    m.tendon_springs = read_structs<TendonSpring>(read, m.ntendons);
    m.equalities = read_structs<Equality>(read, m.nequalities);
    m.equality_bodies = read.take<Index>(2 * m.nequalities);
    m.seconds = read.lengths(m.nequalities);
    m.fluid_bodies = read.take_any<Index>(), m.nfluid = read.size();
    m.fluid = read_structs<FluidPart>(read, m.nfluid);
    m.wind = read.take<double>(3);
    m.actuation_low = read.take<double>(m.nv), m.actuation_high = read.take<double>(m.nv);
    m.geom_body = read.take<std::int32_t>(m.ngeom), m.geom_type = read.take<std::int32_t>(m.ngeom);
    m.geom_size = read.take<double>(3 * m.ngeom);
    m.joint_type = read.take<std::int32_t>(joints), m.joint_dof = read.take<std::int32_t>(joints);
    m.joint_range = read.take<double>(2 * joints);
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
    at.q = read.take<double>(n * m.nq);
    at.v = read.take<double>(n * m.nv), at.a = read.take<double>(n * m.nv);
    at.act = read.take<double>(n * m.na), at.act_dot = read.take<double>(n * m.na);
    at.ctrl = read.take<double>(n * m.nu), at.bias = read.take<double>(n * m.nv);
    at.torque = read.take<double>(n * m.nv), at.mass = read.take<double>(n * m.nv * m.nv);
    at.length = read.take<double>(n * m.nactuators);
    at.velocity = read.take<double>(n * m.nactuators);
    at.force = read.take<double>(n * m.nactuators);
    at.actuation = read.take<double>(n * m.nv);
    at.moment_arms = read.take<double>(n * m.moments.starts[m.nactuators]);
    at.cdof = read.take<double>(n * m.nv * 6), at.com = read.take<double>(n * m.nbody * 3);
    at.xmat = read.take<double>(n * m.nbody * 9);
    at.xquat = read.take<double>(n * m.nbody * 4);
    at.xipos = read.take<double>(n * m.nbody * 3);
    at.geom_xpos = read.take<double>(n * m.ngeom * 3);
    at.geom_xmat = read.take<double>(n * m.ngeom * 9);
    const Index rows = at.row_starts[n];
    at.weight = read.take<double>(rows), at.parameters = read.take<double>(4 * rows);
    at.kind = read.take<std::int32_t>(rows), at.id = read.take<std::int32_t>(rows);
    at.reference = read.take<double>(rows), at.position = read.take<double>(rows);
    at.margin = read.take<double>(rows), at.loss = read.take<double>(rows);
    at.plain_starts = read.take<Index>(n + 1);
    at.jacobian = read.take<double>(at.plain_starts[n] * m.nv);
    at.contact_starts = read.take<Index>(n + 1);
    const Index contacts = at.contact_starts[n];
    at.address = read.take<std::int32_t>(contacts);
    at.geom = read.take<std::int32_t>(2 * contacts), at.dim = read.take<std::int32_t>(contacts);
    at.pos = read.take<double>(3 * contacts), at.frame = read.take<double>(9 * contacts);
    at.dist = read.take<double>(contacts), at.includemargin = read.take<double>(contacts);
    at.friction = read.take<double>(5 * contacts), at.mu = read.take<double>(contacts);
    if (m.parameters.columns > 0) {
        at.stretch = read.take<double>(n * m.nv), at.shares = read.take<double>(6 * contacts);
    }
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
