// Checks contacts and loops, check_contact(), and describes them for CompiledContacts, describe_contacts().
#include "call/contacts.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "call/options.hpp"

namespace dtau {
namespace {

using Rotation = std::array<double, 9>;  // by rows

// ---------------------------------------------------------------- poses

Pose composed(const Pose& a, const Pose& b) {
    Pose c;
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            c.rotation[3 * i + j] = 0.0;
            for (int k = 0; k < 3; ++k)
                c.rotation[3 * i + j] += a.rotation[3 * i + k] * b.rotation[3 * k + j];
        }
        c.translation[i] = a.translation[i];
        for (int k = 0; k < 3; ++k) c.translation[i] += a.rotation[3 * i + k] * b.translation[k];
    }
    return c;
}

template <std::size_t n>
void require_finite(const std::string& what, const std::array<double, n>& numbers) {
    for (const double x : numbers)
        if (!std::isfinite(x)) refuse(what + ": expected finite numbers");
}

void require_rotation(const std::string& what, const Rotation& R) {
    constexpr double orthonormal = 1e-6;  // as Python's Pose
    require_finite(what, R);
    double worst = 0.0;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
            double product = i == j ? -1.0 : 0.0;
            for (int k = 0; k < 3; ++k) product += R[3 * i + k] * R[3 * j + k];
            worst = std::max(worst, std::fabs(product));
        }
    const double determinant = R[0] * (R[4] * R[8] - R[5] * R[7]) -
                               R[1] * (R[3] * R[8] - R[5] * R[6]) +
                               R[2] * (R[3] * R[7] - R[4] * R[6]);
    if (worst > orthonormal || determinant < 0.0)
        refuse(what + ": expected a rotation by rows, orthonormal to 1e-6");
}

Vector3 unit(const std::string& what, Vector3 x) {
    constexpr double rounding = 10 * std::numeric_limits<double>::epsilon();
    require_finite(what, x);
    const double largest = std::max({std::fabs(x[0]), std::fabs(x[1]), std::fabs(x[2])});
    if (largest == 0.0) refuse(what + ": expected a nonzero vector");
    if (std::fabs(std::hypot(x[0], x[1], x[2]) - 1.0) <= rounding) return x;
    for (double& component : x) component /= largest;  // no square over- or underflows
    const double norm = std::hypot(x[0], x[1], x[2]);
    for (double& component : x) component /= norm;
    return x;
}

// A rotation that takes the z axis to a unit vector. Its x axis is the coordinate axis furthest from
// that vector, made orthogonal to it.
Pose rotation_to(const Vector3& z) {
    Vector3 x = {1.0, 0.0, 0.0}, y = {0.0, 1.0, 0.0};
    if (z[2] != 1.0) {
        int far = 0;
        for (int k = 1; k < 3; ++k)
            if (std::fabs(z[k]) < std::fabs(z[far])) far = k;
        for (int k = 0; k < 3; ++k) x[k] = (k == far ? 1.0 : 0.0) - z[far] * z[k];
        const double norm = std::sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
        for (double& component : x) component /= norm;
        y = {z[1] * x[2] - z[2] * x[1], z[2] * x[0] - z[0] * x[2], z[0] * x[1] - z[1] * x[0]};
    }
    return {{x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]}, {}};
}

// ---------------------------------------------------------------- words and numbers

std::string name_of(const auto& contact) {
    return "contact '" + (contact.name.empty() ? contact.frame : contact.name) + "'";
}
std::string name_of(const Loop& loop) {
    return "loop '" + (loop.name.empty() ? loop.frame_a + "-" + loop.frame_b : loop.name) + "'";
}

bool is_mixed(const auto& contact) {
    return read_word(name_of(contact) + ": axes", contact.axes, {"body", "mixed"}) == 1;
}
bool is_spatial(const FrameContact& contact) {
    return read_word(name_of(contact) + ": acceleration", contact.acceleration,
                     {"classical", "spatial"}) == 1;
}

void check_gain(const std::string& what, const char* gain, double value) {
    if (value >= 0.0 && std::isfinite(value)) return;
    char got[40];
    std::snprintf(got, sizeof got, "%.17g", value);
    refuse(what + ": " + gain + ": expected a number of at least 0, got " + got);
}
void check_common(const auto& contact) {
    is_mixed(contact);
    check_gain(name_of(contact), "kp", contact.kp);
    check_gain(name_of(contact), "kd", contact.kd);
}

void check(const PointContact& contact) {
    check_common(contact);
    if (contact.position) require_finite(name_of(contact) + ": position", *contact.position);
    if (contact.direction) unit(name_of(contact) + ": direction", *contact.direction);
}

void check_pose(const std::string& what, const Pose& placement) {
    require_rotation(what + ": placement", placement.rotation);
    require_finite(what + ": placement", placement.translation);
}
void check(const FrameContact& contact) {
    check_common(contact);
    is_spatial(contact);
    if (contact.placement) check_pose(name_of(contact), *contact.placement);
}

int hinge_axis(const Loop& loop) {
    return read_word(name_of(loop) + ": hinge", loop.hinge, {"x", "y", "z"});
}
void check(const Loop& loop) {
    const std::string what = name_of(loop), rows = std::to_string(loop.rows);
    check_common(loop);
    check_pose(what, loop.placement);
    if (loop.rows != 3 && loop.rows != 5 && loop.rows != 6)
        refuse(what + ": rows: expected 6, 5 or 3, got " + rows);
    if (loop.rows != 5 && !loop.hinge.empty())
        refuse(what + ": hinge: expected 5 rows with it, got " + rows);
    if (loop.rows != 5) return;
    if (loop.hinge.empty()) refuse(what + ": hinge: expected 'x', 'y' or 'z', got none");
    hinge_axis(loop);
    if (is_mixed(loop)) refuse(what + ": axes: expected 'body' for a hinge, got 'mixed'");
}

// ---------------------------------------------------------------- contacts and loops of a robot

// A frame in the user's body axes.
struct Side {
    int body = -1, link = -1;
    Pose pose = {};

    FrameDescription described() const { return {link, pose.rotation, pose.translation}; }
};

// Finds the frames of a robot's contacts.
struct Frames {
    const Tree& tree;
    const FrameOfName& of_name;
    const PoseOfFrame& held;

    Side side(const std::string& name) const {
        const Frame& found = of_name(name);
        Side result;
        result.body = found.body;
        if (found.body >= 0) result.link = tree.bodies[found.body].link;
        for (int r = 0; r < 3; ++r)
            for (int c = 0; c < 3; ++c) result.pose.rotation[3 * r + c] = found.rotation[3 * c + r];
        std::copy_n(found.translation, 3, result.pose.translation.data());
        return result;
    }
    Side moving_side(const std::string& what, const std::string& name) const {
        const Side result = side(name);
        if (result.body < 0)
            refuse(what + ": frame '" + name + "' is fixed to the world, expected one that moves");
        return result;
    }
};

ContactDescription described(const auto& contact, const Side& a, const Side& b, int rows) {
    ContactDescription result = {};
    result.a = a.described(), result.b = b.described();
    result.rows = rows;
    result.hinge = -1;
    result.axes = is_mixed(contact) ? Axes::mixed : Axes::body;
    result.kp = contact.kp, result.kd = contact.kd;
    result.positions = contact.kp > 0.0;
    return result;
}

void require_place(const auto& contact, const char* place) {
    if (contact.kp > 0.0)
        refuse(name_of(contact) + ": kp needs a " + place +
               " to hold; give it, or a configuration: at= of dtau.Contacts, contacts_at in C and "
               "C++");
}

ContactDescription describe(const Frames& frames, const PointContact& contact) {
    const Side foot = frames.moving_side(name_of(contact), contact.frame);
    Side world;
    if (contact.position)
        world.pose.translation = *contact.position;
    else if (frames.held)
        world.pose.translation = frames.held(contact.frame).translation;
    else
        require_place(contact, "position");
    if (!contact.direction) return described(contact, foot, world, 3);
    // The row is along the z axis of the first frame. A direction that is fixed in the world puts
    // the world first, which is pushed the other way.
    Vector3 z = unit(name_of(contact) + ": direction", *contact.direction);
    const bool mixed = is_mixed(contact);
    if (mixed)
        for (double& component : z) component = -component;
    Side first = mixed ? world : foot;
    first.pose = mixed ? Pose{rotation_to(z).rotation, first.pose.translation}
                       : composed(first.pose, rotation_to(z));
    ContactDescription result = described(contact, first, mixed ? foot : world, 1);
    result.axes = Axes::body;
    return result;
}

ContactDescription describe(const Frames& frames, const FrameContact& contact) {
    const Side foot = frames.moving_side(name_of(contact), contact.frame);
    Side world;
    if (contact.placement)
        world.pose = *contact.placement;
    else if (frames.held)
        world.pose = frames.held(contact.frame);
    else
        require_place(contact, "placement");
    ContactDescription result = described(contact, foot, world, 6);
    result.spatial = is_spatial(contact);
    return result;
}

ContactDescription describe(const Frames& frames, const Loop& loop) {
    const std::string what = name_of(loop);
    const Side a = frames.moving_side(what, loop.frame_a);
    Side b = frames.side(loop.frame_b);
    if (a.body == b.body)
        refuse(what +
               ": both frames belong to one body, expected frames that move against each other");
    b.pose = composed(b.pose, loop.placement);
    ContactDescription result = described(loop, a, b, loop.rows);
    result.loop = true;
    if (loop.rows == 5) result.hinge = hinge_axis(loop);
    return result;
}

}  // namespace

void check_contact(const Contact& contact) {
    std::visit([](const auto& given) { check(given); }, contact);
}

std::vector<ContactDescription> describe_contacts(const CompiledTree& compiled,
                                                  const std::vector<Contact>& contacts,
                                                  const FrameOfName& frame,
                                                  const PoseOfFrame& held) {
    const Frames frames = {compiled.tree(), frame, held};
    std::vector<ContactDescription> result;
    for (const Contact& contact : contacts) {
        check_contact(contact);
        result.push_back(std::visit([&](const auto& x) { return describe(frames, x); }, contact));
    }
    return result;
}

}  // namespace dtau
