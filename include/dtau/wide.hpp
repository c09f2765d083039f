// Processes structs of several bodies or columns together: Wide, spread(), gathered(), scatter(). For a lone
// state a wide struct holds the structs of several neighbors, one number of all of them in each vector. In
// lanes it is the struct itself.
#pragma once

#include "dtau/inertia.hpp"
#include "dtau/pack.hpp"

namespace dtau::DTAU_VARIANT {

// Neighboring numbers: a vector of several for a lone state, one number in lanes.
template <class T> using Wide = decltype(Pack<T>::value);

// The same number for all neighbors.
template <class T> DTAU_INLINE Vec3<Wide<T>> spread(const Vec3<T>& a) {
    return {Wide<T>(a.x), Wide<T>(a.y), Wide<T>(a.z)};
}
template <class T> DTAU_INLINE Mat3<Wide<T>> spread(const Mat3<T>& a) {
    return {spread(a.x), spread(a.y), spread(a.z)};
}
template <class T> DTAU_INLINE Sym3<Wide<T>> spread(const Sym3<T>& a) {
    return {Wide<T>(a.xx), Wide<T>(a.xy), Wide<T>(a.xz),
            Wide<T>(a.yy), Wide<T>(a.yz), Wide<T>(a.zz)};
}
template <class T> DTAU_INLINE Motion<Wide<T>> spread(const Motion<T>& a) {
    return {spread(a.ang), spread(a.lin)};
}
template <class T> DTAU_INLINE Force<Wide<T>> spread(const Force<T>& a) {
    return {spread(a.ang), spread(a.lin)};
}
template <class T> DTAU_INLINE Placement<Wide<T>> spread(const Placement<T>& a) {
    return {spread(a.R), spread(a.r)};
}
template <class T> DTAU_INLINE Inertia<Wide<T>> spread(const Inertia<T>& a) {
    return {Wide<T>(a.m), spread(a.h), spread(a.J)};
}
template <class T> DTAU_INLINE Coriolis<Wide<T>> spread(const Coriolis<T>& a) {
    return {spread(a.A), spread(a.p2)};
}

// Where blocks of `width` numbers of a struct begin. The last block may begin inside the one before.
template <int size, int width> DTAU_INLINE constexpr int block_begin(int block) {
    return size < width || (block + 1) * width <= size ? block * width : size - width;
}

// The structs at the places that place(l) points to, for neighbors l.
template <template <class> class X, class T, class Place>
DTAU_INLINE X<Wide<T>> gathered(const Place& place) {
    if constexpr (Pack<T>::width == 1) {
        return *place(0);
    } else {
        constexpr int width = Pack<T>::width, size = sizeof(X<T>) / sizeof(T);
        X<Wide<T>> all;
        Wide<T>* const to = reinterpret_cast<Wide<T>*>(&all);
        unrolled<(size + width - 1) / width>([&](int block) __attribute__((always_inline)) {
            const int begin = block_begin<size, width>(block);
            Lane::Vector rows[width];
            unrolled<width>([&](int l) __attribute__((always_inline)) {
                const T* const numbers = reinterpret_cast<const T*>(place(l));
                rows[l] = Pack<T>::load(numbers + begin, size).value.value;
            });
            transpose(rows);
            unrolled<width>([&](int j) __attribute__((always_inline)) {
                const int c = begin + j;
                if (c >= block * width && c < size) to[c] = Lane(rows[j]);
            });
        });
        return all;
    }
}

// Stores the structs of the first `count` neighbors at these places.
template <template <class> class X, class T, class Place>
DTAU_INLINE void scatter(const X<Wide<T>>& all, const Place& place, int count) {
    if constexpr (Pack<T>::width == 1) {
        *place(0) = all;
    } else {
        constexpr int width = Pack<T>::width, size = sizeof(X<T>) / sizeof(T);
        const Wide<T>* const from = reinterpret_cast<const Wide<T>*>(&all);
        unrolled<(size + width - 1) / width>([&](int block) __attribute__((always_inline)) {
            const int begin = block_begin<size, width>(block);
            Lane::Vector rows[width];
            unrolled<width>([&](int j) __attribute__((always_inline)) {
                rows[j] = begin + j < size ? from[begin + j].value : Lane::Vector{};
            });
            transpose(rows);
            unrolled<width>([&](int l) __attribute__((always_inline)) {
                if (l >= count) return;
                T* const numbers = reinterpret_cast<T*>(place(l));
                Pack<T>{Lane(rows[l])}.store(numbers + begin, size);
            });
        });
    }
}

}  // namespace dtau::DTAU_VARIANT
