// Declares constraints (contacts and closed loops) as flat constant arrays, Constraints: their rows, their
// frames, and the degrees of freedom that move each of them. Plain data for all instruction sets. In
// MuJoCo the rows are efc_*, and kp and kd come from solref.
#pragma once

#include <cstddef>

#include "dtau/model.hpp"

namespace dtau {

// Frame a is held where frame b is: in one linear row along a's z axis, or in three linear rows and
// some angular ones. A frame of body -1 is a placement in the world: b of a contact, or a of a single
// row along an axis that is fixed to the world.
struct Constraint {
    Frame a, b;
    int root;          // the root body of a, or of b if a is fixed to the world
    int first, count;  // of its rows: 1, or 3 linear ones and one for each component of `angular`
    int first_of_all;  // `first` where inactive constraints are not left out
    int angular[3];    // components about a's axes, in ascending order
    int hinge;         // with five rows: the free angular component; -1: none is free
    Axes axes;         // of the forces: body (a's own) or mixed
    bool spatial;      // six rows of a contact: the spatial acceleration, and log6 for its error
    double kp, kd;     // of Baumgarte's stabilization
    bool other_tree;   // a and b move in different trees
    // Sums of squares over the joints that move a or b: of their angular velocities, and of the linear
    // velocities of joints that slide, at unit velocity. A row far smaller than these is a rounding
    // error.
    double turning, sliding;
    // Whether the rows use positions (kp is not zero), and whether these are compared in the world,
    // because positions in the two root frames have different origins.
    bool positions, in_world;
    // Whether a call's `positions` say where it is held: a contact with the world that uses positions.
    bool held_by_call;
    const int*
        dofs;   // (ndofs) independent velocities that move its rows, with all others on their paths
    int ndofs;  // the last one first
    int moved_by;  // number of the list `dofs`; constraints that the same velocities move share it
};

// The place of the pair (s, t) in a triangle of all pairs of lists.
inline __attribute__((always_inline)) std::ptrdiff_t pair_of(std::ptrdiff_t s, std::ptrdiff_t t) {
    return s >= t ? s * (s + 1) / 2 + t : t * (t + 1) / 2 + s;
}

// Independent velocities, the last one first.
struct DofList {
    const int* dofs;
    int count;
};

struct Constraints {
    int count, nrows;
    const Constraint* at;   // (count)
    const DofList* common;  // of the lists s and t of two constraints: common[pair_of(s, t)]
    const int* bodies;      // (nplaced) those whose placements in the world are read, ascending
    int nplaced;

    // The number of a row where inactive constraints are not left out.
    int row_of_all(int row) const {
        int c = 0;
        while (row >= at[c].first + at[c].count) ++c;
        return row + at[c].first_of_all - at[c].first;
    }
    // The independent velocities that move both constraints.
    inline __attribute__((always_inline)) DofList common_dofs(const Constraint& c,
                                                              const Constraint& d) const {
        return common[pair_of(c.moved_by, d.moved_by)];
    }
};

}  // namespace dtau
