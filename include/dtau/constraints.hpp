// Constraints (contacts and closed loops) as flat constant arrays: the rows of relative motion that
// are held, their frames, and the degrees of freedom that each constraint depends on. Plain data
// for all instruction sets. MuJoCo's words: rows efc_*, kp and kd of solref.
#pragma once

#include <cstddef>

#include "dtau/model.hpp"

namespace dtau {

// Frame a is held where frame b is, in its three linear rows and some angular ones. A frame b of
// body -1 is a placement in the world.
struct Constraint {
    Frame a, b;
    int first, count;  // of its rows: 3, and one a component of `angular`
    int angular[3];    // components about a's axes, in ascending order
    int hinge;         // the one that is free of five rows; -1: none
    Axes axes;         // of the forces: body (a's own) or mixed
    double kp, kd;     // of Baumgarte's stabilization
    bool other_tree;   // a and b move in different trees
    // Sums of the squares of the angular velocities that unit velocities of the joints give a and
    // b, and of the linear ones of joints that slide: the sizes that rows are compared with to tell
    // rounding errors.
    double turning, sliding;
    // Whether positions enter, and are to be compared in the world: those in the root frame have
    // another origin.
    bool positions, in_world;
    const int* dofs;  // (ndofs) independent velocities that move its rows, and all on their paths
    int ndofs;        // the last one first
    int moved_by;     // number of that list: constraints that the same velocities move share it
};

// The place of the pair of lists s and t in a triangle of all pairs.
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

    // Independent velocities that both move.
    inline __attribute__((always_inline)) DofList common_dofs(const Constraint& c,
                                                              const Constraint& d) const {
        return common[pair_of(c.moved_by, d.moved_by)];
    }
};

}  // namespace dtau
