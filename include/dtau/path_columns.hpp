// Motions and forces of the columns of one path to the world, by depth, each component in an array
// of its own: neighbours on the path are processed together in vectors (Pack), a lone state's as well
// as those of a group of states.
#pragma once

#include "dtau/arena.hpp"
#include "dtau/pack.hpp"

namespace dtau::DTAU_VARIANT {

// Neighbouring numbers: a vector of them for a lone state, one in lanes.
template <class T>
using Wide = decltype(Pack<T>::value);

// The same number for all neighbours.
template <class T>
DTAU_INLINE Vec3<Wide<T>> spread(const Vec3<T>& a) {
    return {Wide<T>(a.x), Wide<T>(a.y), Wide<T>(a.z)};
}
template <class T>
DTAU_INLINE Mat3<Wide<T>> spread(const Mat3<T>& a) {
    return {spread(a.x), spread(a.y), spread(a.z)};
}
template <class T>
DTAU_INLINE Sym3<Wide<T>> spread(const Sym3<T>& a) {
    return {Wide<T>(a.xx), Wide<T>(a.xy), Wide<T>(a.xz),
            Wide<T>(a.yy), Wide<T>(a.yz), Wide<T>(a.zz)};
}
template <class T>
DTAU_INLINE Motion<Wide<T>> spread(const Motion<T>& a) {
    return {spread(a.ang), spread(a.lin)};
}
template <class T>
DTAU_INLINE Force<Wide<T>> spread(const Force<T>& a) {
    return {spread(a.ang), spread(a.lin)};
}

// Numbers that a row of `count` may take in memory when it is written in whole packs.
template <class T>
DTAU_INLINE int roomy(int count) {
    return whole_packs<T>(count) + Pack<T>::width;
}

template <class T>
DTAU_INLINE void store(T* x, const Wide<T>& y) {
    Pack<T>{y}.store(x);
}
// Rows of numbers in whole packs: beyond `count` and `to` they are written too.
template <class T>
DTAU_INLINE void copy(const T* from, int count, T* to) {
    for (int f = 0; f < count; f += Pack<T>::width) Pack<T>::load(from + f).store(to + f);
}
template <class T>
DTAU_INLINE void clear(int from, int to, T* row) {
    for (int f = from; f < to; f += Pack<T>::width) store(row + f, Wide<T>(0.0));
}

// Three numbers a column of the path.
template <class T>
class PathVectors {
  public:
    PathVectors(Arena& arena, int length)
        : stride_(roomy<T>(length)), x_(arena.take_zeros<T>(3 * roomy<T>(length))) {}

    DTAU_INLINE void set(int depth, const Vec3<T>& a) const {
        x_[depth] = a.x, x_[stride_ + depth] = a.y, x_[2 * stride_ + depth] = a.z;
    }
    DTAU_INLINE Vec3<T> operator[](int depth) const {
        return {x_[depth], x_[stride_ + depth], x_[2 * stride_ + depth]};
    }
    // Those of depth, depth + 1, ...
    DTAU_INLINE Vec3<Wide<T>> load(int depth) const {
        const auto at = [&](int k) { return Pack<T>::load(x_ + k * stride_ + depth).value; };
        return {at(0), at(1), at(2)};
    }
    DTAU_INLINE void store(int depth, const Vec3<Wide<T>>& a) const {
        const auto to = [&](int k, Wide<T> y) { Pack<T>{y}.store(x_ + k * stride_ + depth); };
        to(0, a.x), to(1, a.y), to(2, a.z);
    }

  private:
    int stride_;
    T* x_;
};

// Motion or Force, one a column of the path.
template <template <class> class Spatial, class T>
struct PathSpatial {
    PathVectors<T> ang, lin;

    PathSpatial(Arena& arena, int length) : ang(arena, length), lin(arena, length) {}
    DTAU_INLINE void set(int depth, const Spatial<T>& a) const {
        ang.set(depth, a.ang), lin.set(depth, a.lin);
    }
    DTAU_INLINE Spatial<T> operator[](int depth) const { return {ang[depth], lin[depth]}; }
    DTAU_INLINE Spatial<Wide<T>> load(int depth) const {
        return {ang.load(depth), lin.load(depth)};
    }
    DTAU_INLINE void store(int depth, const Spatial<Wide<T>>& a) const {
        ang.store(depth, a.ang), lin.store(depth, a.lin);
    }
};
template <class T>
using PathMotions = PathSpatial<Motion, T>;
template <class T>
using PathForces = PathSpatial<Force, T>;

}  // namespace dtau::DTAU_VARIANT
