// Compiles contacts and loops: CompiledContacts() numbers their rows, and finds the degrees of freedom that
// move each of them (find_dofs).
#include "tree/compiled_contacts.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>

#include "batch/interruption.hpp"
#include "batch/require_memory.hpp"
#include "dtau/mimic.hpp"

namespace dtau {
namespace {

Frame frame(const Tree& tree, const FrameDescription& given) {
    Frame result;
    result.body = given.link < 0 ? -1 : tree.link_body[given.link];
    for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c) result.rotation[3 * c + r] = given.rotation[3 * r + c];
    std::copy_n(given.translation.data(), 3, result.translation);
    return result;
}

// The body at whose origin a body's root frame begins: bodies that only slide are all at the origin.
int origin(const Tree& tree, int body) {
    while (!tree.bodies[body].at_origin) body = tree.bodies[body].parent;
    return body;
}

// Adds the squared angular and linear velocities at unit velocities of a joint.
void add_motion(const Tree& tree, const Body& body, Constraint& c) {
    const auto add = [&](int k, double turns, double slides) {
        const double share = tree.mimic ? tree.mimic->v_scale[body.v + k] : 1.0;
        c.turning += share * share * turns;
        c.sliding += share * share * slides;
    };
    switch (body.kind) {
        case JointKind::revolute:
        case JointKind::spherical:
            for (int k = 0; k < body.nv; ++k) add(k, 1.0, 0.0);
            break;
        case JointKind::prismatic: add(0, 0.0, 1.0); break;
        case JointKind::helical: add(0, 1.0, body.pitch * body.pitch); break;
        case JointKind::free:
        case JointKind::cylindrical:
        case JointKind::planar:
            for (int k = 0; k < body.nv; ++k) add(k, 1.0, 1.0);
            break;
    }
}

}  // namespace

CompiledContacts::CompiledContacts(const CompiledTree& tree,
                                   const std::vector<ContactDescription>& contacts)
    : tree_(tree) {
    const Tree& t = tree.tree();
    long long all_rows = 0;
    for (const ContactDescription& given : contacts) all_rows += given.rows;
    if (all_rows > max_contact_rows)
        throw std::invalid_argument("contacts: expected at most " +
                                    std::to_string(max_contact_rows) + " rows, got " +
                                    std::to_string(all_rows));
    int nrows = 0;
    std::vector<bool> placed(t.nnodes);
    const auto place = [&](int body, bool whole) {
        if (!whole && body >= 0) body = t.bodies[body].root;
        for (; body >= 0; body = t.bodies[body].parent) placed[body] = true;
    };
    for (const ContactDescription& given : contacts) {
        check_interruption();
        Constraint c{};
        c.a = frame(t, given.a), c.b = frame(t, given.b);
        const bool hinged = given.rows == 5, held = given.rows == 6, single = given.rows == 1;
        const bool fixed = c.a.body < 0, moves = c.b.body >= 0;
        c.first = c.first_of_all = nrows, c.count = given.rows, c.hinge = hinged ? given.hinge : -1;
        nrows += c.count;
        for (int k = 0, at = 0; k < 3; ++k)
            if (held || (hinged && k != given.hinge)) c.angular[at++] = k;
        c.positions = given.positions && given.kp != 0.0;
        c.held_by_call = c.positions && !given.loop;
        c.axes = given.axes, c.kp = c.positions ? given.kp : 0.0, c.kd = given.kd;
        c.spatial = given.spatial;
        c.root = t.bodies[fixed ? c.b.body : c.a.body].root;
        c.other_tree = !fixed && moves && t.bodies[c.a.body].root != t.bodies[c.b.body].root;
        c.in_world = c.positions && (fixed || !moves || origin(t, c.a.body) != origin(t, c.b.body));
        if (c.axes == Axes::mixed || c.other_tree || c.in_world) place(c.a.body, c.in_world);
        if (fixed || c.other_tree || (moves && c.in_world)) place(c.b.body, c.in_world);
        for (int body : {c.a.body, c.b.body})
            for (; body >= 0; body = t.bodies[body].parent) add_motion(t, t.bodies[body], c);
        all_.push_back(c);
    }
    for (int i = 0; i < t.nnodes; ++i)
        if (placed[i]) bodies_.push_back(i);
    find_dofs();
    find_common_dofs();
    constraints_ = {.count = static_cast<int>(all_.size()),
                    .nrows = nrows,
                    .at = all_.data(),
                    .common = common_.data(),
                    .bodies = bodies_.data(),
                    .nplaced = static_cast<int>(bodies_.size())};
}

// Contacts of the same bodies share a list of degrees of freedom, as do contacts of bodies that the
// same velocities move.
void CompiledContacts::find_dofs() {
    std::map<std::pair<int, int>, int> by_bodies;
    std::map<Dofs, int> by_dofs;
    for (Constraint& constraint : all_) {
        const auto [pair, new_pair] =
            by_bodies.try_emplace({constraint.a.body, constraint.b.body}, 0);
        if (new_pair) {
            const int number = static_cast<int>(by_dofs.size());
            const auto [list, fresh] =
                by_dofs.try_emplace(moving_dofs(constraint.a.body, constraint.b.body), number);
            pair->second = list->second;
            if (fresh) {
                dofs_.push_back(list->first);
                ask_for_list(list->first.size());
            }
        }
        constraint.moved_by = pair->second;
    }
    for (Constraint& constraint : all_) {
        constraint.dofs = dofs_[constraint.moved_by].data();
        constraint.ndofs = static_cast<int>(dofs_[constraint.moved_by].size());
    }
}

// The degrees of freedom that move body a or b, with all others on their paths to the world, last
// first.
CompiledContacts::Dofs CompiledContacts::moving_dofs(int a, int b) const {
    const Tree& t = tree_.tree();
    std::vector<bool> moves(t.independent.n);
    for (int body : {a, b})
        for (; body >= 0; body = t.bodies[body].parent)
            for (int k = t.bodies[body].v; k < t.bodies[body].v + t.bodies[body].nv; ++k)
                for (int j = independent_dof(t, k); j >= 0 && !moves[j];
                     j = t.independent.parent[j])
                    moves[j] = true;
    Dofs dofs;
    for (int k = t.independent.n - 1; k >= 0; --k)
        if (moves[k]) dofs.push_back(k);
    return dofs;
}

void CompiledContacts::find_common_dofs() {
    const std::size_t n = dofs_.size();
    common_.reserve(n * (n + 1) / 2);
    for (std::size_t s = 0; s < n; ++s)
        for (std::size_t t = 0; t <= s; ++t) {
            check_interruption();
            common_.push_back(common_dofs(dofs_[s], dofs_[t]));
        }
}

// Two paths of a tree share their beginning. Where a single path moves each contact, the common
// part is the end of its list and takes no memory.
DofList CompiledContacts::common_dofs(const Dofs& s, const Dofs& t) {
    Dofs both;
    std::set_intersection(s.begin(), s.end(), t.begin(), t.end(), std::back_inserter(both),
                          [](int a, int b) { return a > b; });
    const int count = static_cast<int>(both.size());
    for (const Dofs* list : {&s, &t})
        if (std::equal(both.begin(), both.end(), list->end() - count))
            return {list->data() + list->size() - count, count};
    const auto [own, fresh] = own_lists_.insert(std::move(both));
    if (fresh) ask_for_list(own->size());
    return {own->data(), count};
}

// Requires as much memory again as all lists take, each time that they have doubled.
void CompiledContacts::ask_for_list(std::size_t size) {
    list_bytes_ += static_cast<double>(size * sizeof(int));
    if (list_bytes_ < asked_bytes_) return;
    require_memory("Contacts", list_bytes_, "use fewer contacts");
    asked_bytes_ = 2.0 * list_bytes_;
}

bool CompiledContacts::fits(const CompiledTree& other) const {
    const Tree &a = tree_.tree(), &b = other.tree();
    bool same = a.nnodes == b.nnodes && a.nbodies == b.nbodies && a.nv == b.nv &&
                a.independent.n == b.independent.n;
    for (int i = 0; same && i < a.nnodes; ++i)
        same = a.bodies[i].parent == b.bodies[i].parent && a.bodies[i].kind == b.bodies[i].kind;
    for (int k = 0; same && k < a.independent.n; ++k)
        same = a.independent.parent[k] == b.independent.parent[k];
    for (int k = 0; same && k < a.nv; ++k) same = independent_dof(a, k) == independent_dof(b, k);
    return same;
}

}  // namespace dtau
