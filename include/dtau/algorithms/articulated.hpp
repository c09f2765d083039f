// Articulated inertias in body coordinates: a body's own, and one as its parent sees it.
#pragma once

#include "dtau/algorithms/aba.hpp"
#include "dtau/algorithms/crba.hpp"
#include "dtau/algorithms/taylor.hpp"

namespace dtau::DTAU_VARIANT {

template <class T>
DTAU_INLINE Inertia<T> own_inertia(const Body& body) {
    const double* J = body.own_inertia;
    return {T(body.mass),
            lift<T>(body.mass * vec3(body.com)),
            {T(J[0]), T(J[1]), T(J[2]), T(J[3]), T(J[4]), T(J[5])}};
}

// In the axes and about the origin in which P is given, of what is given in those of P:
// [RBDA] eq. 2.66 for any symmetric inertia.
template <class T>
DTAU_INLINE ArticulatedInertia<T> transformed(const Placement<T>& P,
                                              const ArticulatedInertia<T>& I) {
    const Mat3<T> r = skew(P.r);
    const Sym3<T> M = rotated(P.R, I.M);
    const Mat3<T> H = P.R * I.H * transpose_of(P.R);
    const Mat3<T> rM = r * Mat3<T>{{M.xx, M.xy, M.xz}, {M.xy, M.yy, M.yz}, {M.xz, M.yz, M.zz}};
    const Mat3<T> moved = {H.x + rM.x, H.y + rM.y, H.z + rM.z};
    const Mat3<T> back = H * r, on = r * transpose_of(moved);
    Sym3<T> J = rotated(P.R, I.J);
    J.xx += on.x.x - back.x.x, J.xy += on.y.x - back.y.x, J.xz += on.z.x - back.z.x;
    J.yy += on.y.y - back.y.y, J.yz += on.z.y - back.z.y, J.zz += on.z.z - back.z.z;
    return {J, moved, M};
}

}  // namespace dtau::DTAU_VARIANT
