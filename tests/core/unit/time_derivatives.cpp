// Tests algorithms of algorithms/time/ against rnea(), crba(), aba(), idsva() and coriolis_matrix(), unchanged, over Taylor series
// (series.hpp) along a motion q(t). The algorithms share no recursion.
#include <algorithm>

#include "dtau/algorithms/first/idsva.hpp"
#include "dtau/algorithms/time/idsva.hpp"
#include "dtau/algorithms/time/matrices.hpp"
#include "dtau/algorithms/time/mimic.hpp"
#include "dtau/algorithms/values/aba.hpp"
#include "dtau/algorithms/values/coriolis.hpp"
#include "dtau/algorithms/values/crba.hpp"
#include "dtau/algorithms/values/wrench_axes.hpp"
#include "robot.hpp"
#include "series.hpp"

namespace dtau::DTAU_VARIANT {
namespace {

constexpr int length = 9;  // orders to 8: shorter series have the same bits
using Long = Series<double, length>;
using LongArray = std::vector<Long>;

// ---------------------------------------------------------------- robots

// Bodies with joints of these kinds on these parents. mimicked: the body whose joint each one mimics.
Bodies tree_of(const std::vector<JointKind>& kinds, const std::vector<int>& parents,
               const std::vector<int>& mimicked = {}) {
    Bodies bodies;
    for (int i = 0; i < static_cast<int>(kinds.size()); ++i) {
        bodies.push_back(body(kinds[i], parents[i], i, {0.1, -0.2, 0.3}, {0.6, 0.0, 0.8},
                              1.0 + 0.1 * i, {0.1, -0.05, 0.2},
                              {0.10, 0.01, 0, 0.01, 0.12, 0, 0, 0, 0.09}));
        if (mimicked.empty() || mimicked[i] < 0) continue;
        bodies[i].mimicked = mimicked[i], bodies[i].multiplier = -0.5, bodies[i].offset = 0.1;
    }
    return bodies;
}
const Bodies all_joints = tree_of(all_kinds, {-1, 0, 1, 2, 0, 4, 5, 6}),
             forest = tree_of({JointKind::spherical, JointKind::revolute, JointKind::planar,
                               JointKind::spherical, JointKind::cylindrical, JointKind::helical,
                               JointKind::prismatic, JointKind::prismatic, JointKind::revolute},
                              {-1, 0, -1, 2, 2, -1, -1, 6, 7}),
             mimics = tree_of({JointKind::free, JointKind::revolute, JointKind::revolute,
                               JointKind::prismatic, JointKind::revolute, JointKind::spherical},
                              {-1, 0, 1, 0, 3, 4}, {-1, -1, 1, -1, 1, -1});

// With damping, friction, and springs in all joints that can have one.
struct PassiveRobot {
    CompiledTree compiled;
    const Tree& tree = compiled.tree();

    explicit PassiveRobot(const Bodies& bodies)
        : compiled(bodies, std::vector<std::string>(bodies.size(), "joint"), {},
                   of_dofs(bodies, 0.05), of_dofs(bodies, 0.1), {0.5, 0.2, -9.81}, {}, {},
                   of_springs(bodies, 0.7), of_springs(bodies, 0.2), of_dofs(bodies, 0.3),
                   of_dofs(bodies, 0.8)) {}

    static Numbers of_dofs(const Bodies& bodies, double x) {
        return Numbers(Robot::dofs(bodies), x);
    }
    static Numbers of_springs(const Bodies& bodies, double x) {
        Numbers all;
        for (const BodyDescription& b : bodies) {
            const bool none = b.kind == JointKind::free || b.kind == JointKind::planar;
            all.insert(all.end(), traits(b.kind).nv, none || b.mimicked >= 0 ? 0.0 : x);
        }
        return all;
    }
};

// ---------------------------------------------------------------- motions

// Random numbers x^(k) of order k, from 0 on, in rows.
Numbers random_rows(int rows, int columns, Random& random) {
    return Robot::random_numbers(rows * columns, random);
}
// The series x of these derivatives, or of x', x'' for `from` = 1, 2.
LongArray series_of(const Numbers& rows, int columns, int from = 0) {
    LongArray x(columns);
    for (int j = 0; j < columns; ++j) {
        double factorial = 1.0;
        x[j] = Long::of([&](int k) {
            factorial *= k > 0 ? k : 1;
            return rows[(k + from) * columns + j] / factorial;
        });
    }
    return x;
}

// The rates of all coordinates for velocities v, which are along body axes.
LongArray rates(const Tree& tree, const LongArray& q, const LongArray& v) {
    LongArray rate(tree.nq);
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        const Long *x = &q[body.q], *u = &v[body.v];
        Long* const to = &rate[body.q];
        for (int c = 0; c < body.nv; ++c) to[c] = u[c];
        if (body.kind == JointKind::planar) {
            Long sine, cosine;
            sincos(x[2], sine, cosine);
            to[0] = cosine * u[0] - sine * u[1], to[1] = sine * u[0] + cosine * u[1];
        }
        if (body.kind == JointKind::free) {
            const Vec3<Long> p = quaternion_rotation(x + 3) * Vec3<Long>{u[0], u[1], u[2]};
            to[0] = p.x, to[1] = p.y, to[2] = p.z;
        }
        if (body.quaternion < 0) continue;
        const int first = body.quaternion - body.q;
        const Long* const omega = u + body.nv - 3;
        const Quaternion<Long> turn = load_quaternion(x + first) *
                                      Quaternion<Long>{{omega[0], omega[1], omega[2]}, Long(0.0)};
        to[first] = 0.5 * turn.v.x, to[first + 1] = 0.5 * turn.v.y;
        to[first + 2] = 0.5 * turn.v.z, to[first + 3] = 0.5 * turn.w;
    }
    return rate;
}

// A random motion of a robot, and the wrenches on its bodies: derivatives by rows, and series.
struct Movement {
    Numbers q, v, f_ext;  // v: to order `length`, which is order length - 1 of a
    LongArray Q, V, A, F;

    Movement(const Tree& tree, Random& random)
        : q(Robot::random_numbers(independent_nq(tree), random)),
          v(random_rows(length + 1, tree.independent.n, random)),
          f_ext(random_rows(length, 6 * tree.nbodies, random)) {
        if (tree.mimic) {
            Numbers all_q(tree.nq), all_v(std::size_t(length + 1) * tree.nv);
            expand_q(tree, q.data(), all_q.data());
            for (int k = 0; k <= length; ++k)
                expand_v(tree, &v[k * tree.mimic->nv], &all_v[k * tree.nv]);
            q = all_q, v = all_v;
        }
        V = series_of(v, tree.nv), A = series_of(v, tree.nv, 1);
        F = series_of(f_ext, 6 * tree.nbodies);
        for (const double x : q) Q.push_back(Long(x));
        for (int known = 1; known < length; ++known) extend_q(tree);
    }
    // Integrates the rates of Q. Each time, one coefficient more is right.
    void extend_q(const Tree& tree) {
        const LongArray rate = rates(tree, Q, V);
        for (int k = 0; k < tree.nq; ++k) Q[k] = integral(q[k], rate[k]);
    }
    // Replaces the motion by the one from the same state with the accelerations of accelerate(). Each time,
    // one coefficient more is right.
    template <class F> void follow(const Tree& tree, const F& accelerate) {
        for (int known = 0; known < length; ++known) {
            A = accelerate();
            for (int k = 0; k < tree.nv; ++k) V[k] = integral(v[k], A[k]);
            extend_q(tree);
        }
    }
};

// The largest difference between derivatives (rows, columns) and derivatives of series, in parts of the largest
// number of their order.
double relative(const Numbers& rows, const LongArray& series) {
    const int columns = static_cast<int>(series.size());
    double largest = 0.0;
    for (int k = 0; k * columns < static_cast<int>(rows.size()); ++k) {
        const Numbers row(rows.begin() + k * columns, rows.begin() + (k + 1) * columns);
        Numbers expected;
        double size = 0.0;
        for (const Long& x : series) {
            expected.push_back(derivative(x, k));
            size = std::max(size, std::fabs(expected.back()));
        }
        largest = std::max(largest, apart(row, expected) / size);
    }
    return largest;
}

// The largest difference that counts as rounding. Measured: up to 3.1e-15 times the order, forward dynamics 6.7e-15.
double rounding(const Options& options) { return 5e-15 * options.order; }

// Calls f(tree, motion, options) for random motions, orders and axes of wrenches.
template <class F> void for_motions(const Bodies& bodies, const F& f) {
    Random random(101);
    const PassiveRobot robot(bodies);
    for (const int order : {1, 2, 4, 8})
        for (const Axes axes : {Axes::body, Axes::mixed, Axes::world}) {
            Options options;
            options.order = order, options.wrench_axes = axes;
            CAPTURE(order);
            CAPTURE(static_cast<int>(axes));
            f(robot.tree, Movement(robot.tree, random), options);
        }
}
template <class F> void for_robots(const F& f) {
    for (const Bodies* bodies : {&all_joints, &forest, &mimics}) {
        CAPTURE(bodies->size());
        for_motions(*bodies, f);
    }
}

// ---------------------------------------------------------------- algorithms over series

// The wrenches along body axes; null without wrenches.
LongArray body_wrenches(const Tree& tree, const Movement& x, const Options& options) {
    Scratch scratch;
    const Long* const turned = along_body_axes(
        tree, x.Q.data(), x.F.data(), scratch.make<WrenchAxesWorkspace<Long>>(tree, options));
    return LongArray(turned, turned + x.F.size());
}
// Torques; null a, or null v and a, are zero.
LongArray torques(const Tree& tree, const Movement& x, const Long* v, const Long* a,
                  const Long* f_ext) {
    Scratch scratch;
    LongArray tau(tree.nv);
    rnea<Long>(tree, x.Q.data(), v, a, f_ext, tau.data(),
               scratch.make<RneaWorkspace<Long>>(tree, Options()));
    return tau;
}

TEST_SUITE_BEGIN("time derivatives");

TEST_CASE("inverse dynamics along a motion") {
    for_robots([](const Tree& tree, const Movement& x, const Options& options) {
        Scratch scratch, world_scratch;
        const auto series = scratch.make<InverseSeriesWorkspace<double>>(tree, options);
        const auto world = world_scratch.make<WorldWrenchWorkspace<double>>(tree, options);
        const int order = options.order, n = tree.nv;
        const bool in_world = world.take(x.f_ext.data());
        Numbers tau((order + 1) * n);
        inverse_time_derivatives<double>(Part::all, tree, order, x.q.data(), x.v.data(),
                                         in_world ? nullptr : x.f_ext.data(), tau.data(), series);
        if (in_world)
            world_wrench_torques(tree, 0, order, x.q.data(), x.v.data(), x.f_ext.data(), world,
                                 [&](int k, int j, double torque) { tau[k * n + j] -= torque; });
        const LongArray f_ext = body_wrenches(tree, x, options);
        CHECK(relative(tau, torques(tree, x, x.V.data(), x.A.data(), f_ext.data())) <
              rounding(options));

        inverse_time_derivatives<double>(Part::bias, tree, order, x.q.data(), x.v.data(), nullptr,
                                         tau.data(), series);
        CHECK(relative(tau, torques(tree, x, x.V.data(), nullptr, nullptr)) < rounding(options));
        inverse_time_derivatives<double>(Part::gravity, tree, order, x.q.data(), x.v.data(),
                                         nullptr, tau.data(), series);
        CHECK(relative(tau, torques(tree, x, nullptr, nullptr, nullptr)) < rounding(options));
    });
}

TEST_CASE("the mass matrix along a motion") {
    for_robots([](const Tree& tree, const Movement& x, const Options& options) {
        Scratch scratch, series_scratch;
        Numbers M((options.order + 1) * tree.nv * tree.nv);
        mass_matrix_time_derivatives(tree, options.order, x.q.data(), x.v.data(), M.data(),
                                     scratch.make<MatrixSeriesWorkspace<double>>(tree, options));
        LongArray expected(tree.nv * tree.nv, Long(0.0));
        crba<Long>(tree, x.Q.data(), expected.data(), series_scratch.make<RootFrame<Long>>(tree));
        CHECK(relative(M, expected) < rounding(options));
    });
}

TEST_CASE("the Coriolis matrix along a motion") {
    for_robots([](const Tree& tree, const Movement& x, const Options& options) {
        Scratch scratch, series_scratch;
        Numbers C((options.order + 1) * tree.nv * tree.nv);
        coriolis_matrix_time_derivatives(
            tree, options.order, x.q.data(), x.v.data(), C.data(),
            scratch.make<MatrixSeriesWorkspace<double>>(tree, options));
        LongArray expected(tree.nv * tree.nv, Long(0.0));
        coriolis_matrix<Long>(tree, x.Q.data(), x.V.data(), expected.data(),
                              series_scratch.make<CoriolisWorkspace<Long>>(tree, Options()));
        CHECK(relative(C, expected) < rounding(options));
    });
}

TEST_CASE("first derivatives of inverse dynamics along a motion") {
    for_robots([](const Tree& tree, const Movement& x, const Options& options) {
        if (options.wrench_axes != Axes::body) return;  // idsva() takes wrenches along body axes
        Scratch scratch, series_scratch;
        const int size = tree.nv * tree.nv, rows = options.order + 1;
        Numbers dq(rows * size), dv(rows * size), da(rows * size);
        idsva_time_derivatives(tree, options.order, x.q.data(), x.v.data(), x.f_ext.data(),
                               dq.data(), dv.data(), da.data(),
                               scratch.make<IdsvaSeriesWorkspace<double>>(tree, options));
        LongArray by_q(size, Long(0.0)), by_v = by_q, by_a = by_q;
        idsva<Long>(tree, x.Q.data(), x.V.data(), x.A.data(), x.F.data(), by_q.data(), by_v.data(),
                    by_a.data(), series_scratch.make<IdsvaWorkspace<Long>>(tree, Options()));
        CHECK(relative(dq, by_q) < rounding(options));
        CHECK(relative(dv, by_v) < rounding(options));
        CHECK(relative(da, by_a) < rounding(options));
    });
}

TEST_CASE("forward dynamics along the motion that torques drive") {
    for_robots([](const Tree& tree, Movement x, const Options& options) {
        Random random(102);
        const Numbers tau = random_rows(length, tree.independent.n, random);
        const LongArray drive = series_of(tau, tree.independent.n);
        // aba() takes no mimic joints.
        x.follow(tree, [&] {
            Scratch scratch;
            LongArray a(tree.nv);
            const LongArray f_ext = body_wrenches(tree, x, options);
            const auto solve = [&](const auto& algorithm, const auto& workspace) {
                algorithm(tree, x.Q.data(), x.V.data(), drive.data(), f_ext.data(), a.data(),
                          workspace);
            };
            if (tree.mimic)
                solve(mimic_forward_dynamics<Long>,
                      scratch.make<FactorizedWorkspace<Long>>(tree, Options()));
            else
                solve(aba<Long>, scratch.make<AbaWorkspace<Long>>(tree, Options()));
            return a;
        });

        Scratch scratch;
        Numbers a((options.order + 1) * tree.nv);
        const auto solve = [&](const auto& algorithm, const auto& workspace) {
            algorithm(tree, options.order, x.q.data(), x.v.data(), nullptr, tau.data(),
                      x.f_ext.data(), nullptr, a.data(), nullptr, workspace);
        };
        if (tree.mimic)
            solve(mimic_time_derivatives<double>,
                  scratch.make<MimicSeriesWorkspace<double>>(tree, options));
        else
            solve(hybrid_time_derivatives<double>,
                  scratch.make<HybridSeriesWorkspace<double>>(tree, options));
        CHECK(relative(a, x.A) < 4.0 * rounding(options));
    });
}

TEST_SUITE_END();

}  // namespace
}  // namespace dtau::DTAU_VARIANT
