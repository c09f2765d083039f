// Checks contacts and loops as Python's Contacts does, and describes them for CompiledContacts:
// describe_contacts().
#include "library/contacts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "library/reading.hpp"

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

// ---------------------------------------------------------------- contacts and loops

// A frame in the user's body axes.
struct Side {
    int body = -1, link = -1;
    Pose pose = {};

    FrameDescription described() const { return {link, pose.rotation, pose.translation}; }
};

Side side(const CompiledModel& model, const std::string& what, const std::string& name) {
    const Frame& found = frame(model, what, name);
    Side result;
    result.body = found.body;
    if (found.body >= 0) result.link = model.tree->tree().bodies[found.body].link;
    for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c) result.pose.rotation[3 * r + c] = found.rotation[3 * c + r];
    std::copy_n(found.translation, 3, result.pose.translation.data());
    return result;
}

Side moving_side(const CompiledModel& model, const std::string& what, const std::string& name) {
    const Side result = side(model, what, name);
    if (result.body < 0)
        refuse(what + ": frame '" + name + "' is fixed to the world, expected one that moves");
    return result;
}

ContactDescription described(const std::string& what, const Side& a, const Side& b, int rows,
                             const std::string& axes_word, double kp, double kd) {
    for (const double gain : {kp, kd})
        if (!(gain >= 0.0 && std::isfinite(gain)))
            refuse(what + ": expected finite gains of at least 0, got kp = " + std::to_string(kp) +
                   ", kd = " + std::to_string(kd));
    ContactDescription contact = {};
    contact.a = a.described(), contact.b = b.described();
    contact.rows = rows;
    contact.hinge = -1;
    contact.axes = word(what + ": axes", axes_word, {"body", "mixed"}) ? Axes::mixed : Axes::body;
    contact.kp = kp, contact.kd = kd;
    contact.positions = kp > 0.0;
    return contact;
}

[[noreturn]] void refuse_kp(const std::string& what, const char* where) {
    refuse(what + ": kp needs a " + where + " to hold; give it, or a configuration contacts_at");
}

ContactDescription describe(const CompiledModel& model, const PointContact& given,
                            const PoseOfFrame& held) {
    const std::string what = "contact of '" + given.frame + "'";
    const Side foot = moving_side(model, what, given.frame);
    Side world;
    if (given.position)
        require_finite(what + ": position", world.pose.translation = *given.position);
    else if (held)
        world.pose.translation = held(given.frame).translation;
    else if (given.kp > 0.0)
        refuse_kp(what, "position");
    const int rows = given.direction ? 1 : 3;
    if (!given.direction) return described(what, foot, world, rows, given.axes, given.kp, given.kd);
    // The row is along the z axis of the first frame. A direction that is fixed in the world puts
    // the world first, which is pushed the other way.
    Vector3 z = unit(what + ": direction", *given.direction);
    const bool mixed = word(what + ": axes", given.axes, {"body", "mixed"}) == 1;
    if (mixed)
        for (double& component : z) component = -component;
    Side first = mixed ? world : foot;
    first.pose = mixed ? Pose{rotation_to(z).rotation, first.pose.translation}
                       : composed(first.pose, rotation_to(z));
    return described(what, first, mixed ? foot : world, rows, "body", given.kp, given.kd);
}

ContactDescription describe(const CompiledModel& model, const FrameContact& given,
                            const PoseOfFrame& held) {
    const std::string what = "contact of '" + given.frame + "'";
    const Side foot = moving_side(model, what, given.frame);
    Side world;
    if (given.placement) {
        require_rotation(what + ": placement", given.placement->rotation);
        require_finite(what + ": placement", given.placement->translation);
        world.pose = *given.placement;
    } else if (held)
        world.pose = held(given.frame);
    else if (given.kp > 0.0)
        refuse_kp(what, "placement");
    ContactDescription contact = described(what, foot, world, 6, given.axes, given.kp, given.kd);
    contact.spatial =
        word(what + ": acceleration", given.acceleration, {"classical", "spatial"}) == 1;
    return contact;
}

ContactDescription describe(const CompiledModel& model, const Loop& given, const PoseOfFrame&) {
    const std::string what = "loop '" + given.frame_a + "-" + given.frame_b + "'";
    const Side a = moving_side(model, what, given.frame_a);
    Side b = side(model, what, given.frame_b);
    if (a.body == b.body)
        refuse(what +
               ": both frames belong to one body, expected frames that move against each other");
    if (given.rows != 3 && given.rows != 5 && given.rows != 6)
        refuse(what + ": expected 6, 5 or 3 rows, got " + std::to_string(given.rows));
    const bool hinged = given.rows == 5;
    if (hinged == given.hinge.empty())
        refuse(what + ": expected a hinge with five rows, and with no others");
    if (hinged && given.axes == "mixed") refuse(what + ": expected axes 'body' for a hinge");
    require_rotation(what + ": placement", given.placement.rotation);
    require_finite(what + ": placement", given.placement.translation);
    b.pose = composed(b.pose, given.placement);
    ContactDescription loop = described(what, a, b, given.rows, given.axes, given.kp, given.kd);
    loop.loop = true;
    if (hinged) loop.hinge = word(what + ": hinge", given.hinge, {"x", "y", "z"});
    return loop;
}

}  // namespace

std::vector<ContactDescription> describe_contacts(const CompiledModel& model,
                                                  const std::vector<Contact>& contacts,
                                                  const PoseOfFrame& held) {
    std::vector<ContactDescription> result;
    for (const Contact& contact : contacts)
        result.push_back(
            std::visit([&](const auto& given) { return describe(model, given, held); }, contact));
    return result;
}

}  // namespace dtau
