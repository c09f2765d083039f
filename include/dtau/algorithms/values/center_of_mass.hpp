// Centre of mass of all moving bodies in the world, O(N): [RBDA] section 2.13.
//
// Symbols: P[i] placement of body i in the world, m and c its mass and centre of mass in its own axes.
//   centre = sum of m_i P_i c_i / sum of m_i;   NaN for a robot without mass
#pragma once

#include "dtau/algorithms/values/placements.hpp"

namespace dtau::DTAU_VARIANT {

// center: (3), in metres.
template <class T>
void center_of_mass(const Tree& tree, const T* q, T* center, const PlacementsWorkspace<T>& w) {
    place_in_world(tree, q, w);
    double mass = 0.0;
    Vec3<T> moment = zero_vector<T>();
    for (int i = 0; i < tree.nbodies; ++i) {
        const Body& body = tree.bodies[i];
        mass += body.mass;
        moment = fma(body.mass, mul_add(w.P[i].R, vec3(body.com), w.P[i].r), moment);
    }
    const T scale(1.0 / mass);
    center[0] = scale * moment.x, center[1] = scale * moment.y, center[2] = scale * moment.z;
}

}  // namespace dtau::DTAU_VARIANT
