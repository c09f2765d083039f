// Contacts and closed loops as flat constant arrays: which rows of relative motion are held, where,
// and what of the tree moves them. Plain data for all instruction sets.
#pragma once

#include "dtau/model.hpp"

namespace dtau {

// Frame a is held where frame b is, in its three linear rows and some angular ones. A frame b of body
// -1 is a placement in the world.
struct Contact {
    Frame a, b;
    int first, count;  // of its rows: 3, and one a component of `angular`
    int angular[3];    // components about a's axes, in ascending order
    int hinge;         // the one that is free of five rows; -1: none
    Axes axes;         // of the forces: body (a's own) or mixed
    double kp, kd;     // of Baumgarte's stabilization
    bool other_tree;   // a and b move in different trees
    // Whether positions enter, and are to be compared in the world: those in ground have another
    // origin.
    bool positions, in_world;
    const int* dofs;  // (ndofs) independent velocities that move its rows, and all on their paths
    int ndofs;        // the last one first
};

struct Contacts {
    int count, nrows;
    const Contact* at;  // (count)
    // Independent velocities that the contacts c and d <= c have in common, the last one first:
    // common[begin] ... common[end - 1] with begin = common_begin[c (c + 1) / 2 + d], and the next one.
    const int *common, *common_begin;
    const int* bodies;  // (nbodies) those whose placements in the world are read, ascending
    int nbodies;
};

}  // namespace dtau
