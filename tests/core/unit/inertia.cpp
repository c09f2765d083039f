// Tests inertia.hpp and turns.hpp against handbook inertias, and against the 6x6 matrices that define them.
#include "dtau/inertia.hpp"

#include "dtau/turns.hpp"
#include "support.hpp"

namespace dtau::DTAU_VARIANT {
namespace {

constexpr double tight = 5e-15;

// [RBDA] eq. 2.63, by mass, first moment and inertia about the origin.
Matrix dense(const Inertia<double>& I) {
    return blocks(dense(I.J), hat(I.h), transposed(hat(I.h)), I.m * Matrix::identity(3));
}
Matrix dense(const ArticulatedInertia<double>& I) {
    return blocks(dense(I.J), dense(I.H), transposed(dense(I.H)), dense(I.M));
}
// From motions in the world to motions in P: [RBDA] eq. 2.24 and its rotation.
Matrix motion_transform(const Placement<double>& P) {
    const Matrix E = transposed(dense(P.R));
    return blocks(E, Matrix(3, 3), -1.0 * (E * hat(P.r)), E);
}
// 2B of [IDSVA] eq. 28: 2B m = v x* I m - I (v x m) + m x* (I v).
Matrix twice_coriolis(const Inertia<double>& I, const Motion<double>& v) {
    Matrix B = cross_star_matrix(v) * dense(I) - dense(I) * cross_matrix(v);
    for (int k = 0; k < 6; ++k) {
        double unit[6] = {};
        unit[k] = 1.0;
        const Motion<double> m = {{unit[0], unit[1], unit[2]}, {unit[3], unit[4], unit[5]}};
        const Matrix force = cross_star_matrix(m) * (dense(I) * column(v));
        for (int i = 0; i < 6; ++i) B(i, k) += force(i, 0);
    }
    return B;
}
Matrix moment(const Vec3<double>& a) { return column(a, {0, 0, 0}); }

TEST_SUITE_BEGIN("inertia");

TEST_CASE("a rod about its end") {
    const double m = 3.0, length = 2.0, about_center = m * length * length / 12.0;
    const Inertia<double> I = transformed(Mat3<double>::identity(), Vec3<double>{0, 0, 0}, m,
                                          Vec3<double>{length / 2, 0, 0},
                                          Sym3<double>{0, 0, 0, about_center, 0, about_center});
    CHECK(apart(I.J, Sym3<double>{0, 0, 0, m * length * length / 3.0, 0,
                                  m * length * length / 3.0}) < tight);
    CHECK(apart(I.h, Vec3<double>{m * length / 2, 0, 0}) == 0.0);
}

TEST_CASE("a cuboid that stands turned, away from the origin") {
    // 12 kg, sides 1, 2, 3: J = m (b^2 + c^2) / 12 about its center. A quarter turn about z.
    const Inertia<double> I =
        transformed(Mat3<double>{{0, 1, 0}, {-1, 0, 0}, {0, 0, 1}}, Vec3<double>{0, 0, 5}, 12.0,
                    Vec3<double>{1, 0, 0}, Sym3<double>{13, 0, 0, 10, 0, 5});
    // Center at (0, 1, 5): products of inertia are -m y z, and so on.
    CHECK(apart(I.J, Sym3<double>{10 + 12 * 26, 0, 0, 13 + 12 * 25, -60, 5 + 12}) < 1e-13);
    CHECK(apart(I.h, Vec3<double>{0, 12, 60}) == 0.0);
}

TEST_CASE("the parallel axis theorem, for any center of mass and any axes") {
    Random random(10);
    const Placement<double> P = random.placement<double>();
    const Vec3<double> c = random.vector<double>();
    const Sym3<double> J = random.symmetric<double>();
    const Inertia<double> I = transformed(P.R, P.r, 1.7, c, J);
    const Vec3<double> d = P.R * c + P.r;
    const Matrix R = dense(P.R),
                 about_origin = R * dense(J) * transposed(R) - 1.7 * (hat(d) * hat(d));
    CHECK(apart(dense(I.J), about_origin) < tight);
    CHECK(apart(I.h, 1.7 * d) < tight);
    CHECK(I.m == 1.7);
}

TEST_CASE("an inertia about an origin moves as one about its center of mass does") {
    Random random(12);
    const Placement<double> P = random.placement<double>();
    const Vec3<double> c = random.vector<double>();
    const Sym3<double> J = random.symmetric<double>();
    const Inertia<double> own =
        transformed(Mat3<double>::identity(), Vec3<double>{0, 0, 0}, 1.7, c, J);
    const Inertia<double> I = transformed(P, own), want = transformed(P.R, P.r, 1.7, c, J);
    CHECK(apart(I.J, want.J) < tight);
    CHECK(apart(I.h, want.h) < tight);
    CHECK(I.m == want.m);
    const Inertia<double> any = random.inertia<double>(), moved_any = transformed(P, any);
    const Matrix X = motion_transform(P);
    CHECK(apart(dense(moved_any), transposed(X) * dense(any) * X) < tight);
}

TEST_CASE("inertias apply to motions as their matrices do") {
    Random random(11);
    const Inertia<double> I = random.inertia<double>();
    const ArticulatedInertia<double> A = {random.symmetric<double>(), random.matrix<double>(),
                                          random.symmetric<double>()};
    const Motion<double> v = random.motion<double>();
    CHECK(apart(I * v, dense(I) * column(v)) < tight);
    CHECK(apart(A * v, dense(A) * column(v)) < tight);
    CHECK(apart(dense(articulated(I)), dense(I)) == 0.0);
}

TEST_CASE("articulated inertias move and lose rank as their matrices do") {
    Random random(12);
    const ArticulatedInertia<double> A = {random.symmetric<double>(), random.matrix<double>(),
                                          random.symmetric<double>()};
    const Placement<double> P = random.placement<double>();
    const Matrix X = motion_transform(P);
    CHECK(apart(dense(transformed(P, A)), transposed(X) * dense(A) * X) < tight);

    const Force<double> U = random.force<double>();
    ArticulatedInertia<double> less = A;
    subtract_rank_one(less, U, 0.25);
    CHECK(apart(dense(less), dense(A) - 0.25 * (column(U) * transposed(column(U)))) < tight);
}

TEST_CASE("the Coriolis operator in 12 numbers is the matrix of [IDSVA] eq. 28") {
    Random random(13);
    const Inertia<double> I = random.inertia<double>();
    const Motion<double> v = random.motion<double>(), m = random.motion<double>();
    const Force<double> c = random.force<double>(), momentum = I * v;
    const Matrix B2 = twice_coriolis(I, v);
    const Coriolis<double> B = coriolis(I, v, momentum);
    CHECK(apart(B * m, B2 * column(m)) < tight);
    CHECK(apart(mul_add(B, m, c), B2 * column(m) + column(c)) < tight);
    CHECK(apart(moment(transposed_mul(B, m)), transposed(B2) * column(m)) < tight);
    CHECK(apart(coriolis_mul_add(I, v, momentum, m, c), B2 * column(m) + column(c)) < tight);
    CHECK(apart(moment(coriolis_transposed_mul(I, v, momentum, m)), transposed(B2) * column(m)) <
          tight);
    // The force of a body's own motion: B v = v x* I v.
    CHECK(apart(B * v, 2.0 * column(cross_star(v, momentum))) < tight);
}

TEST_CASE("the dual of the Coriolis operator") {
    Random random(14);
    const Inertia<double> I = random.inertia<double>();
    const Motion<double> u = random.motion<double>(), w = random.motion<double>();
    const Vec3<double> c = random.vector<double>();
    const CoriolisDual<double> D = coriolis_dual(I, w, I * w);
    const Matrix right = transposed(twice_coriolis(I, u)) * column(w);
    CHECK(apart(moment(D * u), right) < tight);
    CHECK(apart(moment(mul_add(D, u, c)), right + moment(c)) < tight);
}

TEST_CASE("rates of moving inertias and Coriolis operators") {
    Random random(15);
    const Inertia<double> I = random.inertia<double>();
    const Motion<double> s = random.motion<double>(), v = random.motion<double>(),
                         u = random.motion<double>(), m = random.motion<double>();
    const auto rate = [&](const Matrix& of_motions) {  // of an operator from motions to forces
        return cross_star_matrix(s) * of_motions - of_motions * cross_matrix(s);
    };
    const Inertia<double> I_rate = moving(s, I);
    CHECK(I_rate.m == 0.0);
    CHECK(apart(dense(I_rate), rate(dense(I))) < tight);

    const Coriolis<double> B_rate = moving(s, coriolis(I, v, I * v), I, u);
    const Matrix expected = rate(twice_coriolis(I, v)) + twice_coriolis(I, u);
    CHECK(apart(B_rate * m, expected * column(m)) < 2 * tight);
    CHECK(apart(moment(transposed_mul(B_rate, m)), transposed(expected) * column(m)) < 2 * tight);
}

TEST_CASE("a joint's turns are the product of its rotation matrices") {
    Random random(16);
    const double lead = 0.4, tilt = -1.1, turn = 2.3, q = 0.7;
    Body body = {};
    body.leads = true;
    body.lead = {std::sin(lead), std::cos(lead)};
    body.tilt = {std::sin(tilt), std::cos(tilt)};
    const auto about_x = [](double s, double c) {
        return Mat3<double>{{1, 0, 0}, {0, c, s}, {0, -s, c}};
    };
    const auto about_z = [](double s, double c) {
        return Mat3<double>{{c, s, 0}, {-s, c, 0}, {0, 0, 1}};
    };
    const SimpleRotation<double> rotation = {std::sin(turn + q), std::cos(turn + q)};
    for (const bool leads : {true, false}) {
        body.leads = leads;
        Mat3<double> R =
            about_x(body.tilt.sine, body.tilt.cosine) * about_z(rotation.sine, rotation.cosine);
        if (leads) R = about_z(body.lead.sine, body.lead.cosine) * R;
        const Vec3<double> a = random.vector<double>(), r = random.vector<double>();
        const ArticulatedInertia<double> A = {random.symmetric<double>(), random.matrix<double>(),
                                              random.symmetric<double>()};
        CHECK(apart(rotation.to_parent(body, a), R * a) < tight);
        CHECK(apart(rotation.from_parent(body, a), transposed_mul(R, a)) < tight);
        CHECK(apart(rotation.to_parent(body, A), transformed({R, {0, 0, 0}}, A)) < tight);
        const Force<double> f = random.force<double>(), sum = random.force<double>();
        CHECK(apart(add_transformed(body, rotation, r, f, sum), transformed({R, r}, f) + sum) <
              tight);
        const Placement<double> shift = {Mat3<double>::identity(), r};
        CHECK(apart(moved(r, A), transformed(shift, A)) < tight);
        const Inertia<double> I = random.inertia<double>();
        CHECK(apart(articulated(moved(r, I)), transformed(shift, articulated(I))) < tight);
    }
}

TEST_SUITE_END();

}  // namespace
}  // namespace dtau::DTAU_VARIANT
