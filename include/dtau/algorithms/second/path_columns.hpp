// Holds motions and forces of the columns of one path to the world, by depth: PathMotions,
// PathForces. Neighbors on the path are processed together (Pack), for a lone state and for groups of
// states.
#pragma once

#include "dtau/arena.hpp"
#include "dtau/wide.hpp"

namespace dtau::DTAU_VARIANT {

// The room that a row of `count` numbers needs when it is written in whole packs.
template <class T> inline int roomy(int count) { return whole_packs<T>(count) + Pack<T>::width; }

template <class T> inline void store(T* x, const Wide<T>& y) { Pack<T>{y}.store(x); }
// Writes zeros in whole packs, also beyond the end.
template <class T> inline void clear(int from, int to, T* row) {
    for (int f = from; f < to; f += Pack<T>::width) store(row + f, Wide<T>(0.0));
}

// The first `count` numbers of x, then the others of y; count may be negative (none) or large (all).
template <class T> inline Wide<T> first_of(int count, const Wide<T>& x, const Wide<T>& y) {
    if constexpr (Pack<T>::width == 1)
        return count > 0 ? x : y;
    else {
        Lane::Bits place;
        for (int k = 0; k < lanes; ++k) place[k] = k;
        return select(place < count, x, y);
    }
}
template <class T>
inline Force<Wide<T>> first_of(int count, const Force<Wide<T>>& x, const Force<Wide<T>>& y) {
    const auto vector = [&](const Vec3<Wide<T>>& a, const Vec3<Wide<T>>& b) {
        return Vec3<Wide<T>>{first_of<T>(count, a.x, b.x), first_of<T>(count, a.y, b.y),
                             first_of<T>(count, a.z, b.z)};
    };
    return {vector(x.ang, y.ang), vector(x.lin, y.lin)};
}
// Sets one of the neighbors.
template <class T> inline void set_neighbor(Wide<T>& x, int i, const T& y) {
    if constexpr (Pack<T>::width == 1)
        x = y;
    else
        x.value[i] = y;
}
template <class T> inline void set_neighbor(Vec3<Wide<T>>& x, int i, const Vec3<T>& y) {
    set_neighbor<T>(x.x, i, y.x), set_neighbor<T>(x.y, i, y.y), set_neighbor<T>(x.z, i, y.z);
}
template <class T> inline void set_neighbor(Force<Wide<T>>& x, int i, const Force<T>& y) {
    set_neighbor(x.ang, i, y.ang), set_neighbor(x.lin, i, y.lin);
}

// `numbers` for each column of the path. What is used together is adjacent in memory: in lanes the
// numbers of a column, else one component of neighboring columns.
template <class T, int numbers> class PathNumbers {
  public:
    PathNumbers(Arena& arena, int length)
        : stride_(roomy<T>(length)), x_(arena.take_zeros<T>(numbers * roomy<T>(length))) {}

    T& at(int k, int depth) const { return *place(k, depth); }
    Vec3<T> vector(int k, int depth) const {
        return {at(k, depth), at(k + 1, depth), at(k + 2, depth)};
    }
    void set(int k, int depth, const Vec3<T>& a) const {
        at(k, depth) = a.x, at(k + 1, depth) = a.y, at(k + 2, depth) = a.z;
    }
    // Component k of the columns at depth, depth + 1, ...
    Wide<T> load(int k, int depth) const { return Pack<T>::load(place(k, depth)).value; }
    Vec3<Wide<T>> load_vector(int k, int depth) const {
        return {load(k, depth), load(k + 1, depth), load(k + 2, depth)};
    }
    void store(int k, int depth, const Vec3<Wide<T>>& a) const {
        const auto to = [&](int c, Wide<T> y) { Pack<T>{y}.store(place(k + c, depth)); };
        to(0, a.x), to(1, a.y), to(2, a.z);
    }

  private:
    T* place(int k, int depth) const {
        return x_ + (Pack<T>::width == 1 ? depth * numbers + k : k * stride_ + depth);
    }

    int stride_;
    T* x_;
};

// A 3-vector for each column.
template <class T> class PathVectors : PathNumbers<T, 3> {
  public:
    using PathNumbers<T, 3>::PathNumbers;
    Vec3<T> operator[](int depth) const { return this->vector(0, depth); }
    Vec3<Wide<T>> load(int depth) const { return this->load_vector(0, depth); }
    void store(int depth, const Vec3<Wide<T>>& a) const { PathNumbers<T, 3>::store(0, depth, a); }
};

// A Motion or Force for each column.
template <template <class> class Spatial, class T> class PathSpatial : PathNumbers<T, 6> {
  public:
    using PathNumbers<T, 6>::PathNumbers;
    void set(int depth, const Spatial<T>& a) const {
        PathNumbers<T, 6>::set(0, depth, a.ang), PathNumbers<T, 6>::set(3, depth, a.lin);
    }
    Vec3<T> ang(int depth) const { return this->vector(0, depth); }
    Spatial<T> operator[](int depth) const { return {ang(depth), this->vector(3, depth)}; }
    Vec3<Wide<T>> load_ang(int depth) const { return this->load_vector(0, depth); }
    Spatial<Wide<T>> load(int depth) const {
        return {load_ang(depth), this->load_vector(3, depth)};
    }
    void store(int depth, const Spatial<Wide<T>>& a) const {
        PathNumbers<T, 6>::store(0, depth, a.ang), PathNumbers<T, 6>::store(3, depth, a.lin);
    }
};
template <class T> using PathMotions = PathSpatial<Motion, T>;
template <class T> using PathForces = PathSpatial<Force, T>;

}  // namespace dtau::DTAU_VARIANT
