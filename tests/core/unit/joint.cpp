// Tests joint_traits.hpp and joint.hpp: the table of joints against their kinematics, and motion subspaces
// against complex step of placements.
#include "dtau/joint.hpp"

#include <memory>

#include "support.hpp"

namespace dtau::DTAU_VARIANT {
namespace {

constexpr double tight = 2e-15;

Body body_of(JointKind kind) {
    Body body = {};
    body.kind = kind;
    body.pitch = 0.3;
    return body;
}

// A configuration of one joint with its own memory; all of its coordinates have sines and cosines.
template <class T> struct OneJoint {
    std::unique_ptr<T[]> memory{new T[3 * 16]};
    Configuration<T> x = make();

    explicit OneJoint(const std::vector<T>& q) {
        for (std::size_t k = 0; k < q.size(); ++k) {
            memory[k] = q[k];
            sincos(q[k], x.sine[k], x.cosine[k]);
        }
    }

  private:
    Configuration<T> make() {
        Tree tree = {};
        Arena measure;
        Configuration<T> x(measure, tree);
        x.q = memory.get(), x.sine = memory.get() + 16, x.cosine = memory.get() + 32;
        return x;
    }
};

template <class T>
Placement<T> placed(const Body& body, const Placement<T>& A, const std::vector<T>& q) {
    const OneJoint<T> joint(q);
    return joint_placement(body, A, joint.x);
}

// Coordinates with a unit quaternion.
Numbers coordinates(const JointTraits& kind, Random& random) {
    Numbers q(kind.nq);
    for (double& x : q) x = random.number();
    if (kind.quaternion < 0) return q;
    double norm = 0.0;
    for (int k = 0; k < 4; ++k) norm += q[kind.quaternion + k] * q[kind.quaternion + k];
    for (int k = 0; k < 4; ++k) q[kind.quaternion + k] /= std::sqrt(norm);
    return q;
}

// The derivative of the coordinates at unit velocity k, in body axes; for quaternions by [RBDA] section 4.5.
Numbers coordinate_rates(const JointTraits& kind, const Numbers& q, int k) {
    Numbers rates(kind.nq);
    if (kind.quaternion < 0) {
        // Only planar joints' linear velocities turn with the body.
        if (kind.kind == JointKind::planar && k < 2) {
            const double c = std::cos(q[2]), s = std::sin(q[2]);
            rates[0] = k == 0 ? c : -s, rates[1] = k == 0 ? s : c;
        } else {
            rates[k] = 1.0;
        }
        return rates;
    }
    const int linear = kind.nv - 3;
    const double *p = &q[kind.quaternion], x = p[0], y = p[1], z = p[2], w = p[3];
    if (k < linear) {  // the position's rate is a column of the rotation
        const double columns[3][3] = {
            {1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)},
            {2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)},
            {2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)}};
        for (int i = 0; i < 3; ++i) rates[i] = columns[k][i];
        return rates;
    }
    const double half[3][4] = {{w, z, -y, -x}, {-z, w, x, -y}, {y, -x, w, -z}};  // q (e_k, 0)
    for (int i = 0; i < 4; ++i) rates[kind.quaternion + i] = 0.5 * half[k - linear][i];
    return rates;
}

TEST_SUITE_BEGIN("joint");

TEST_CASE("quaternions turn as handbooks say, whatever their norm") {
    const double turn[4] = {0, 0, std::sqrt(0.5), std::sqrt(0.5)};  // a quarter about z
    CHECK(apart(quaternion_rotation(turn), Mat3<double>{{0, 1, 0}, {-1, 0, 0}, {0, 0, 1}}) < tight);
    const double long_one[4] = {2, 2, 2, 2};  // a third of a turn about (1, 1, 1): x to y to z
    CHECK(apart(quaternion_rotation(long_one), Mat3<double>{{0, 1, 0}, {0, 0, 1}, {1, 0, 0}}) <
          tight);
}

TEST_CASE("S is the derivative of the placement, by complex step") {
    Random random(41);
    for (const JointTraits& kind : joint_traits) {
        INFO(kind.name);
        const Body body = body_of(kind.kind);
        const Placement<double> A = random.placement<double>();
        const Numbers q = coordinates(kind, random);
        const Placement<double> P = placed(body, A, q);
        Motion<double> S[6];
        motion_subspace(body, P, S);
        for (int k = 0; k < kind.nv; ++k) {
            CAPTURE(k);
            const double step = 1e-40;
            const Numbers rates = coordinate_rates(kind, q, k);
            std::vector<Complex> moved;
            for (int i = 0; i < kind.nq; ++i) moved.emplace_back(q[i], step * rates[i]);
            const Placement<Complex> lifted = {lift<Complex>(A.R), lift<Complex>(A.r)};
            const Placement<Complex> X = placed(body, lifted, moved);
            const auto rate = [&](const Vec3<Complex>& a) {
                return Vec3<double>{a.x.imag() / step, a.y.imag() / step, a.z.imag() / step};
            };
            // An axis e of the body moves with omega x e, its origin r with v + omega x r.
            const Vec3<double> omega = S[k].ang;
            CHECK(apart(rate(X.R.x), cross(omega, P.R.x)) < tight);
            CHECK(apart(rate(X.R.y), cross(omega, P.R.y)) < tight);
            CHECK(apart(rate(X.r), S[k].lin + cross(omega, P.r)) < tight);
        }
    }
}

TEST_CASE_TEMPLATE("twists are S x in body axes, and torques S^T f", T, double, Lane) {
    Random random(42);
    for (const JointTraits& kind : joint_traits) {
        INFO(kind.name);
        const Body body = body_of(kind.kind);
        const Placement<T> own = {Mat3<T>::identity(), zero_vector<T>()};
        Motion<T> S[6];
        motion_subspace(body, own, S);
        T x[6], tau[6];
        for (T& number : x) number = random.scalar<T>();
        const Force<T> f = random.force<T>();
        Motion<T> sum = zero_motion<T>();
        for (int k = 0; k < kind.nv; ++k) sum = fma(x[k], S[k], sum);
        CHECK(apart(joint_twist(body, x), sum) == 0.0);
        joint_torque(body, f, tau);
        for (int k = 0; k < kind.nv; ++k) CHECK(apart(tau[k], dot(S[k], f)) < tight);
    }
}

TEST_CASE("the table says what the kinematics does") {
    Random random(43);
    for (const JointTraits& kind : joint_traits) {
        INFO(kind.name);
        const Body body = body_of(kind.kind);
        const Placement<double> world = {Mat3<double>::identity(), {0, 0, 0}};
        const Numbers q = coordinates(kind, random), p = coordinates(kind, random);
        const Placement<double> Q = placed(body, world, q), P = placed(body, world, p);

        CHECK(kind.slides == (apart(Q.r, P.r) > 0.01));
        CHECK(apart(joint_offset(body, q.data()), Q.r) < tight);
        const double about_z = apart(Q.R.z, Vec3<double>{0, 0, 1}), any = apart(Q.R, P.R);
        CHECK((kind.rotation == Rotation::none) == (any == 0.0));
        CHECK((kind.rotation == Rotation::any) == (about_z > 0.01));

        // Adding 2 pi to an angle changes nothing but the translation by the pitch; other coordinates are no
        // angles.
        for (int k = 0; k < kind.nq; ++k) {
            Numbers more = q;
            more[k] += 2.0 * 3.14159265358979323846;
            const Placement<double> M = placed(body, world, more);
            const bool quaternion = kind.quaternion >= 0 && k >= kind.quaternion;
            if (k == kind.angle) {
                CHECK(apart(M.R, Q.R) < 1e-14);
                CHECK((apart(M.r, Q.r) > 0.1) == (kind.kind == JointKind::helical));
            } else {
                CHECK((apart(M.R, Q.R) > 0.01) == quaternion);
            }
        }

        // Coordinates add if displacements commute.
        if (kind.quaternion >= 0) continue;
        Numbers both = q;
        for (int k = 0; k < kind.nq; ++k) both[k] += p[k];
        const Placement<double> composed = {Q.R * P.R, mul_add(Q.R, P.r, Q.r)};
        CHECK((apart(placed(body, world, both), composed) < 1e-14) == kind.commutes);
    }
}

TEST_CASE("one joint of each kind by numbers") {
    const double pi = 3.14159265358979323846;
    const Placement<double> A = {Mat3<double>::identity(), {1, 2, 3}};
    const Mat3<double> quarter = {{0, 1, 0}, {-1, 0, 0}, {0, 0, 1}};
    const auto is = [&](JointKind kind, const Numbers& q, const Mat3<double>& R,
                        const Vec3<double>& r) {
        return apart(placed(body_of(kind), A, q), Placement<double>{R, r}) < tight;
    };
    const Mat3<double> same = Mat3<double>::identity();
    CHECK(is(JointKind::revolute, {pi / 2}, quarter, {1, 2, 3}));
    CHECK(is(JointKind::prismatic, {0.5}, same, {1, 2, 3.5}));
    CHECK(is(JointKind::helical, {pi / 2}, quarter, {1, 2, 3 + 0.15 * pi}));
    CHECK(is(JointKind::spherical, {0, 0, 1, 1}, quarter, {1, 2, 3}));
    CHECK(is(JointKind::free, {4, 5, 6, 0, 0, 1, 1}, quarter, {5, 7, 9}));
    CHECK(is(JointKind::cylindrical, {0.5, pi / 2}, quarter, {1, 2, 3.5}));
    CHECK(is(JointKind::planar, {0.5, 0.25, pi / 2}, quarter, {1.5, 2.25, 3}));
}

TEST_CASE("a configuration has the sines and cosines of all angles, in lanes too") {
    std::vector<Body> bodies;
    int nq = 0;
    for (const JointTraits& kind : joint_traits) {
        bodies.push_back(body_of(kind.kind));
        bodies.back().q = nq;
        nq += kind.nq;
    }
    Random random(44);
    Tree tree = {};
    tree.nq = nq, tree.nnodes = static_cast<int>(bodies.size()), tree.bodies = bodies.data();
    const auto check = [&]<class T>(T) {
        std::vector<T> q(nq);
        for (T& x : q) x = random.scalar<T>();
        Arena measure;
        Configuration<T>(measure, tree);
        const std::unique_ptr<Lane[]> block(new Lane[measure.used() / sizeof(Lane) + 1]);
        Arena arena(block.get(), measure.used());
        const Configuration<T> scratch(arena, tree), x = configuration(tree, q.data(), scratch);
        for (const Body& body : bodies) {
            const int k = body.q + traits(body.kind).angle;
            if (k < body.q) continue;
            T one;
            one = x.sine[k] * x.sine[k] + x.cosine[k] * x.cosine[k];
            CHECK(apart(one, T(1.0)) < tight);
            T sine, cosine;
            sincos(q[k], sine, cosine);
            CHECK(apart(x.sine[k], sine) == 0.0);
            CHECK(apart(x.cosine[k], cosine) == 0.0);
        }
    };
    check(0.0);
    check(Lane(0.0));
}

TEST_SUITE_END();

}  // namespace
}  // namespace dtau::DTAU_VARIANT
