// Owns the arrays of Contacts: finds out what of a tree moves their rows.
#pragma once

#include <array>
#include <vector>

#include "dtau/contacts.hpp"
#include "tree/compiled_tree.hpp"

namespace dtau {

// A contact in the user's frames, as the Python layer validated it.
struct ContactDescription {
    FrameDescription a, b;  // b of link -1: a placement in the world
    int rows;               // 3, 5 or 6
    int hinge;              // of five rows: the component that is free
    Axes axes;
    double kp, kd;
    bool positions;
};

class CompiledContacts {
  public:
    CompiledContacts(const CompiledTree& tree, const std::vector<ContactDescription>& contacts);
    CompiledContacts(const CompiledContacts&) = delete;
    CompiledContacts& operator=(const CompiledContacts&) = delete;

    const CompiledTree& tree() const { return tree_; }
    const Contacts& contacts() const { return contacts_; }
    // Whether another tree has the places that these name.
    bool fits(const CompiledTree& other) const;

  private:
    std::vector<int> moving_dofs(const Contact& contact) const;
    void share();

    const CompiledTree& tree_;
    std::vector<Contact> rows_;
    std::vector<std::vector<int>> dofs_;
    std::vector<int> common_, common_begin_, bodies_;
    Contacts contacts_;
};

}  // namespace dtau
