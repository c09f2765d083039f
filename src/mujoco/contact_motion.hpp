// Computes how a contact moves with its two bodies: ContactMotion.
//
// MuJoCo's contact has the normal n from geom 1 to geom 2, the point p halfway between the surfaces
// and two tangents. With the half distance r_i = (radius of the sphere or capsule i) + dist / 2:
//
// - a plane and a point c of body 2 (of a sphere, capsule, box or mesh):  p = c - r_2 n.  On an
//   ellipsoid or cylinder, c slides: slide_on_plane();
// - two spheres or capsules, whose nearest points on the centers or axes are c_i:
//   p = c_1 + r_1 n,  n = (c_2 - c_1) / (r_1 + r_2).  Inside an axis, c_i slides along it, so that the
//   line between the c_i stays orthogonal to the axis;
// - a sphere and a box or cylinder: likewise, where c_2 is the point of the surface next to the
//   center c_1. It slides with c_1: slide_on_solid();
// - all others: a matrix from the caller.
//
// The frame jumps where a direction that it follows vanishes: the direction between two centers that meet,
// and the direction of an upright capsule across the normal of its plane. An upright capsule has a constant
// frame until it tilts. The contact points of an upright cylinder jump likewise.
#pragma once

#include <cmath>

#include "mujoco/constraint_terms.hpp"

namespace dtau::DTAU_VARIANT::mujoco_step {

// Rows of three numbers, by columns.
DTAU_INLINE Matrix from_rows(const double* m) {
    return {{m[0], m[3], m[6]}, {m[1], m[4], m[7]}, {m[2], m[5], m[8]}};
}

struct GeomPlace {
    int type;
    double radius, half;  // of spheres and capsules; of the axis of capsules
    Vector center, size;
    Matrix frame;

    GeomPlace(const mujoco::Constants& m, const mujoco::Solutions& at, Index state, Index geom)
        : type(m.geom_type[geom]),
          center(vec3(at.geom_xpos + 3 * (state * m.ngeom + geom))),
          size(vec3(m.geom_size + 3 * geom)),
          frame(from_rows(at.geom_xmat + 9 * (state * m.ngeom + geom))) {
        radius = type == mujoco::sphere || type == mujoco::capsule ? size.x : 0.0;
        half = type == mujoco::capsule ? size.y : 0.0;
    }
};

// Displacement of the contact point, rotation of the frame (along the world's axes), and change of
// the distance. MuJoCo measures some distances elsewhere than between nearest points.
struct ContactChange {
    Vector point, turn;
    double distance;
    bool jumps = false;  // the frame does, so that there is no rotation
};

class ContactMotion {
  public:
    // `tangents`: whether the contact has rows along them. `given`: null, or [point, normal, distance]
    // by the twists of both bodies, (7, 12).
    ContactMotion(const GeomPlace& one, const GeomPlace& other, const Vector& pos,
                  const double* frame, double dist, bool tangents, const double* given)
        : n_(vec3(frame)), second_(vec3(frame + 6)), tangents_(tangents), given_(given) {
        seed_ = std::fabs(n_.y) < 0.5 ? Vector{0.0, 1.0, 0.0} : Vector{0.0, 0.0, 1.0};
        reach_[0] = 0.5 * dist + one.radius, reach_[1] = 0.5 * dist + other.radius;
        using namespace mujoco;
        const auto is_round = [](int type) { return type == sphere || type == capsule; };
        if (given) {
            way_ = Way::given;
        } else if (one.type == plane) {
            if (other.type < sphere || other.type > mesh) return;
            way_ = Way::on_plane;
            slide_on_plane(other, pos, dist);
            turns_with_seed_ = other.type == capsule;
            if (turns_with_seed_) seed_ = other.frame.z;
            if (other.type == capsule || other.type == cylinder) {
                const Vector across = fma(-dot(n_, other.frame.z), n_, other.frame.z);
                upright_ = dot(across, across) < indistinct * indistinct;
                axis_ = other.frame.z, rim_ = other.size.x;
            }
            // An upright capsule has the tangents of x, on every plane.
            jumps_ = std::fabs(dot(n_, vec3(frame + 3))) > indistinct;
        } else if (is_round(one.type) && is_round(other.type)) {
            way_ = Way::between_lines;
            slide_on_lines(one, other, pos);
        } else if (one.type == sphere && (other.type == box || other.type == cylinder)) {
            const bool apart = reach_[0] + reach_[1] > indistinct;
            if (apart && slide_on_solid(other, pos)) way_ = Way::on_solid;
        }
        const Vector across = fma(-dot(n_, seed_), n_, seed_);
        across_ = std::sqrt(dot(across, across));
    }
    bool known() const { return way_ != Way::unknown; }
    // Whether the frame jumps, however the bodies move.
    bool jumps() const { return jumps_; }

    // The contact points of an upright cylinder jump on its rim if it tilts. This matters if it turns,
    // with `rate` relative to the plane, so that points of the rim have other normal residuals y.
    void compare_points(const Vector& rate, double y) {
        if (!upright_ || turns_with_seed_) return;
        const Vector tilting = cross(n_, rate);
        constexpr double level = 1e-6;
        points_differ_ = rim_ * std::sqrt(dot(tilting, tilting)) > level * std::fabs(y);
    }

    // The change by the twists of the bodies at the contact point.
    DTAU_INLINE ContactChange operator()(const Twist& one, const Twist& other) const {
        if (way_ == Way::on_plane) return on_plane(one, other);
        if (way_ == Way::given) return as_given(one, other);
        // Velocities of c_1 and c_2
        Vector first = one.lin - reach_[0] * cross(one.ang, n_);
        Vector last = cross(reach_[1] * other.ang, n_, other.lin);
        if (way_ == Way::on_solid) {  // by the motion of the center relative to geom 2
            const Vector arm = -reach_[0] * n_;
            last += slide_ * (first - cross(other.ang, arm, other.lin));
        } else if (slides_) {
            // Axis i stays orthogonal to the line: axis_i . d(line) + line . d(axis_i) = 0.
            const Vector apart = last - first;
            const double right = dot(axes_[0], apart, dot(moments_[0], one.ang));
            const double left = dot(axes_[1], apart, dot(moments_[1], other.ang));
            first = fma((right - coupling_ * left) / determinant_, axes_[0], first);
            last = fma((coupling_ * right - left) / determinant_, axes_[1], last);
        }
        const Vector apart = last - first;
        const double nearer = dot(n_, apart), length = reach_[0] + reach_[1];
        const Vector normal = (1.0 / length) * fma(-nearer, n_, apart);
        return {fma(reach_[0], normal, fma(0.5 * nearer, n_, first)),
                turn(normal, zero_vector<double>()), nearer};
    }

    // Shorter lengths, of unit vectors and in meters, give no direction: they are rounding errors.
    static constexpr double indistinct = 1e-10;

  private:
    enum class Way { unknown, on_plane, between_lines, on_solid, given };

    ContactChange on_plane(const Twist& one, const Twist& other) const {
        const Vector apart = other.ang - one.ang, across = cross(n_, apart);
        double nearer = dot(n_, other.lin - one.lin);
        Vector point = fma(-reach_[1], across, other.lin);
        if (slides_) {
            const Vector slid = slide_ * -across;
            point += slid, nearer += dot(n_, slid);
        }
        const Vector seed = turns_with_seed_ ? cross(other.ang, seed_) : zero_vector<double>();
        return {fma(-0.5 * nearer, n_, point), turn(cross(one.ang, n_), seed), nearer,
                upright_ && tilts(apart)};
    }
    ContactChange as_given(const Twist& one, const Twist& other) const {
        double change[7];
        for (int i = 0; i < 7; ++i) {
            const double* row = given_ + 12 * i;
            change[i] = dot(vec3(row), one.lin, dot(vec3(row + 3), one.ang)) +
                        dot(vec3(row + 6), other.lin, dot(vec3(row + 9), other.ang));
        }
        return {vec3(change), turn(vec3(change + 3), zero_vector<double>()), change[6]};
    }

    // The rotation of a frame whose first tangent is along  seed - n (n . seed), by the displacements
    // of the normal and of the seed. Below MuJoCo's mjMINVAL the tangent is constant.
    DTAU_INLINE Vector turn(const Vector& normal, const Vector& seed) const {
        const double along = dot(second_, seed) - dot(n_, seed_) * dot(second_, normal);
        const double spin = tangents_ && across_ >= 1e-15 ? along / across_ : 0.0;
        return cross(n_, normal, spin * n_);
    }
    // Whether an upright capsule or cylinder, which turns by `apart` relative to its plane, gets other
    // tangents or points at once. One that turns about the normal alone does not.
    bool tilts(const Vector& apart) const {
        if (!(turns_with_seed_ ? tangents_ : points_differ_)) return false;
        const Vector moved = cross(apart, axis_);
        const double most = 2.0 * indistinct;
        return dot(moved, moved) > most * most * dot(apart, apart);
    }

    // How the lowest point of an ellipsoid or cylinder moves on it with the direction d = -n to the
    // plane. With the half axes of an ellipsoid in the matrix S, it is  S^2 d / |S d|.  The points of
    // the caps of a cylinder turn about its axis with the direction to the lowest one.
    void slide_on_plane(const GeomPlace& geom, const Vector& pos, double dist) {
        const Vector down = -n_;
        if (geom.type == mujoco::ellipsoid) {
            const Vector local = transposed_mul(geom.frame, down), &s = geom.size;
            const Vector square = {s.x * s.x, s.y * s.y, s.z * s.z};
            const Vector scaled = {square.x * local.x, square.y * local.y, square.z * local.z};
            const double inverse = 1.0 / std::sqrt(dot(scaled, local));
            Matrix bend = {{square.x, 0.0, 0.0}, {0.0, square.y, 0.0}, {0.0, 0.0, square.z}};
            bend += outer(-inverse * scaled, inverse * scaled);
            slides_ = true;
            slide_ = inverse * (geom.frame * (bend * transposed(geom.frame)));
        } else if (geom.type == mujoco::cylinder) {
            const Vector& axis = geom.frame.z;
            const Vector lowest = fma(-dot(axis, down), axis, down);
            const double length = std::sqrt(dot(lowest, lowest));
            if (length < indistinct) return;  // upright: the points stay on it
            const Vector arm = fma(-0.5 * dist, down, pos) - geom.center;
            slides_ = true;
            slide_ = outer(cross(axis, arm), (1.0 / (length * length)) * cross(axis, lowest));
        }
    }

    void slide_on_lines(const GeomPlace& one, const GeomPlace& other, const Vector& pos) {
        constexpr double end = 1e-9;  // how close to its end, by its length, a point counts as it
        const GeomPlace* geoms[2] = {&one, &other};
        for (int i = 0; i < 2; ++i) {
            const Vector center = fma(i ? reach_[1] : -reach_[0], n_, pos);
            const Vector& axis = geoms[i]->frame.z;
            const double along = dot(center - geoms[i]->center, axis);
            const bool inside = std::fabs(along) < geoms[i]->half * (1.0 - end);
            axes_[i] = inside ? axis : zero_vector<double>();
            moments_[i] = (reach_[0] + reach_[1]) * cross(axes_[i], n_);
            slides_ = slides_ || inside;
        }
        jumps_ = reach_[0] + reach_[1] <= indistinct;
        coupling_ = dot(axes_[0], axes_[1]);
        if (coupling_ == 0.0) return;
        const Vector across = cross(axes_[0], axes_[1]);
        determinant_ = dot(across, across);
        jumps_ = jumps_ || determinant_ <= indistinct * indistinct;
    }

    // How the nearest point follows the center of the sphere; false if that is inside of the box or
    // cylinder. The point on a box follows along the axes that have the center between their faces.
    // On the side or the rim of a cylinder it turns about the axis with the center, at the ratio of
    // their distances from it.
    bool slide_on_solid(const GeomPlace& geom, const Vector& pos) {
        const Vector place = transposed_mul(geom.frame, fma(-reach_[0], n_, pos) - geom.center);
        Matrix slide = zero_matrix<double>();
        bool within[3];
        const double x = place.x, y = place.y;
        if (geom.type == mujoco::cylinder) {
            const double distance = std::hypot(x, y);
            within[0] = within[1] = distance < geom.size.x;
            within[2] = std::fabs(place.z) < geom.size.y;
            if (!within[0]) {
                const double ratio = geom.size.x / (distance * distance * distance);
                slide.x = {ratio * y * y, -ratio * x * y, 0.0};
                slide.y = {-ratio * x * y, ratio * x * x, 0.0};
            }
        } else {
            within[0] = std::fabs(x) < geom.size.x, within[1] = std::fabs(y) < geom.size.y;
            within[2] = std::fabs(place.z) < geom.size.z;
        }
        if (within[0]) slide.x.x = 1.0;
        if (within[1]) slide.y.y = 1.0;
        if (within[2]) slide.z.z = 1.0;
        slide_ = geom.frame * (slide * transposed(geom.frame));
        return !(within[0] && within[1] && within[2]);
    }

    Way way_ = Way::unknown;
    Vector n_, second_, seed_;
    Vector axis_;  // of a capsule or cylinder on a plane
    double rim_;
    bool tangents_, jumps_ = false, upright_ = false, points_differ_ = false;
    const double* given_;
    double across_ = 1.0;  // length of the seed across the normal
    double reach_[2];      // from the c_i to the point
    bool slides_ = false, turns_with_seed_ = false;
    Matrix slide_ = zero_matrix<double>();
    Vector axes_[2], moments_[2];
    double coupling_ = 0.0, determinant_ = 1.0;
};

}  // namespace dtau::DTAU_VARIANT::mujoco_step
