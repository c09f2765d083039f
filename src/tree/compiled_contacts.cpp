#include "tree/compiled_contacts.hpp"

#include <algorithm>
#include <climits>
#include <cmath>
#include <iterator>
#include <stdexcept>

#include "batch/interruption.hpp"
#include "dtau/coupling.hpp"

namespace dtau {
namespace {

Frame frame(const Tree& tree, const FrameDescription& given) {
    if (given.link < -1 || given.link >= tree.nlinks)
        throw std::invalid_argument("Contacts: a frame of a body that does not exist");
    Frame result;
    result.body = given.link < 0 ? -1 : tree.link_body[given.link];
    double finite = 0.0;
    for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c) {
            result.rotation[3 * c + r] = given.rotation[3 * r + c];
            finite += given.rotation[3 * r + c] * 0.0;
        }
    for (int k = 0; k < 3; ++k) {
        result.translation[k] = given.translation[k];
        finite += given.translation[k] * 0.0;
    }
    if (finite != 0.0) throw std::invalid_argument("Contacts: expected finite numbers");
    return result;
}

// The body at whose origin a body's ground begins: bodies that only slide are all at the origin.
int origin(const Tree& tree, int body) {
    while (!tree.bodies[body].at_origin) body = tree.bodies[body].parent;
    return body;
}

}  // namespace

CompiledContacts::CompiledContacts(const CompiledTree& tree,
                                   const std::vector<ContactDescription>& contacts)
    : tree_(tree) {
    const Tree& t = tree.tree();
    int nrows = 0;
    std::vector<bool> placed(t.nbodies);
    const auto place = [&](int body, bool whole) {
        if (!whole) body = t.bodies[body].root;
        for (; body >= 0; body = t.bodies[body].parent) placed[body] = true;
    };
    for (const ContactDescription& given : contacts) {
        check_interruption();
        Contact c{};
        c.a = frame(t, given.a), c.b = frame(t, given.b);
        if (c.a.body < 0) throw std::invalid_argument("Contacts: expected a frame that moves");
        const bool hinged = given.rows == 5, held = given.rows == 6;
        if ((!hinged && !held && given.rows != 3) || given.axes == Axes::world ||
            (hinged && (given.hinge < 0 || given.hinge > 2 || given.axes != Axes::body)) ||
            !std::isfinite(given.kp) || !std::isfinite(given.kd))
            throw std::invalid_argument("Contacts: rows, axes or gains that cannot be");
        c.first = nrows, c.count = given.rows, c.hinge = hinged ? given.hinge : -1;
        nrows += c.count;
        for (int k = 0, at = 0; k < 3; ++k)
            if (held || (hinged && k != given.hinge)) c.angular[at++] = k;
        c.positions = given.positions && given.kp != 0.0;
        c.axes = given.axes, c.kp = c.positions ? given.kp : 0.0, c.kd = given.kd;
        const bool moves = c.b.body >= 0;
        c.other_tree = moves && t.bodies[c.a.body].root != t.bodies[c.b.body].root;
        c.in_world = c.positions && (!moves || origin(t, c.a.body) != origin(t, c.b.body));
        if (c.axes == Axes::mixed || c.other_tree || c.in_world) place(c.a.body, c.in_world);
        if (c.other_tree || (moves && c.in_world)) place(c.b.body, c.in_world);
        dofs_.push_back(moving_dofs(c));
        rows_.push_back(c);
    }
    if (static_cast<double>(nrows) * std::max(t.independent.n, nrows) * 8 > INT_MAX)
        throw std::invalid_argument("contacts: too many rows");
    for (std::size_t k = 0; k < rows_.size(); ++k) {
        rows_[k].dofs = dofs_[k].data();
        rows_[k].ndofs = static_cast<int>(dofs_[k].size());
    }
    for (int i = 0; i < t.nbodies; ++i)
        if (placed[i]) bodies_.push_back(i);
    share();
    contacts_ = {.count = static_cast<int>(rows_.size()),
                 .nrows = nrows,
                 .at = rows_.data(),
                 .common = common_.data(),
                 .common_begin = common_begin_.data(),
                 .bodies = bodies_.data(),
                 .nbodies = static_cast<int>(bodies_.size())};
}

// Of both frames, with all that are on their paths to the world.
std::vector<int> CompiledContacts::moving_dofs(const Contact& contact) const {
    const Tree& t = tree_.tree();
    std::vector<bool> moves(t.independent.n);
    for (int body : {contact.a.body, contact.b.body})
        for (; body >= 0; body = t.bodies[body].parent)
            for (int k = t.bodies[body].v; k < t.bodies[body].v + t.bodies[body].nv; ++k)
                for (int j = independent_dof(t, k); j >= 0 && !moves[j];
                     j = t.independent.parent[j])
                    moves[j] = true;
    std::vector<int> dofs;
    for (int k = t.independent.n - 1; k >= 0; --k)
        if (moves[k]) dofs.push_back(k);
    return dofs;
}

void CompiledContacts::share() {
    for (std::size_t c = 0; c < dofs_.size(); ++c)
        for (std::size_t d = 0; d <= c; ++d) {
            check_interruption();
            common_begin_.push_back(static_cast<int>(common_.size()));
            std::set_intersection(dofs_[c].begin(), dofs_[c].end(), dofs_[d].begin(),
                                  dofs_[d].end(), std::back_inserter(common_),
                                  [](int a, int b) { return a > b; });
        }
    common_begin_.push_back(static_cast<int>(common_.size()));
}

bool CompiledContacts::fits(const CompiledTree& other) const {
    const Tree &a = tree_.tree(), &b = other.tree();
    bool same = a.nbodies == b.nbodies && a.nlinks == b.nlinks && a.nv == b.nv &&
                a.independent.n == b.independent.n;
    for (int i = 0; same && i < a.nbodies; ++i)
        same = a.bodies[i].parent == b.bodies[i].parent && a.bodies[i].kind == b.bodies[i].kind;
    for (int k = 0; same && k < a.independent.n; ++k)
        same = a.independent.parent[k] == b.independent.parent[k];
    for (int k = 0; same && k < a.nv; ++k) same = independent_dof(a, k) == independent_dof(b, k);
    return same;
}

}  // namespace dtau
