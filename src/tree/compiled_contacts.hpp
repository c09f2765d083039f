// Compiles contacts and loops for a tree: CompiledContacts owns the arrays of Constraints and the
// independent velocities that move each constraint.
#pragma once

#include <array>
#include <set>
#include <vector>

#include "dtau/constraints.hpp"
#include "tree/compiled_tree.hpp"

namespace dtau {

// A contact or loop in the user's frames, as describe_contacts() checked it (call/contacts.hpp).
struct ContactDescription {
    FrameDescription a, b;  // a link of -1: a placement in the world
    int rows;               // 1, 3, 5 or 6
    int hinge;              // with five rows: the free component
    Axes axes;
    bool spatial;
    double kp, kd;
    bool positions;
    bool loop = false;
};

// The kernels count the entries of G, and the entries of Y with padded rows, with an int.
inline constexpr int max_contact_rows = 10000;

class CompiledContacts {
  public:
    CompiledContacts(const CompiledTree& tree, const std::vector<ContactDescription>& contacts);
    CompiledContacts(const CompiledContacts&) = delete;
    CompiledContacts& operator=(const CompiledContacts&) = delete;

    const CompiledTree& tree() const { return tree_; }
    const Constraints& constraints() const { return constraints_; }
    // Whether another tree has all bodies and frames that these contacts use.
    bool fits(const CompiledTree& other) const;

  private:
    using Dofs = std::vector<int>;

    void find_dofs();
    Dofs moving_dofs(int a, int b) const;
    void find_common_dofs();
    DofList common_dofs(const Dofs& s, const Dofs& t);
    void ask_for_list(std::size_t size);

    const CompiledTree& tree_;
    std::vector<Constraint> all_;
    std::vector<Dofs> dofs_;    // by Contact::moved_by
    std::set<Dofs> own_lists_;  // common lists that are not the end of a list in dofs_
    double list_bytes_ = 0.0, asked_bytes_ = 64e6;
    std::vector<DofList> common_;
    std::vector<int> bodies_;
    Constraints constraints_;
};

}  // namespace dtau
