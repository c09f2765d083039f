// Divides a block of scratch memory into aligned arrays: Arena. Every workspace of an algorithm takes its
// arrays from one block that the caller owns, and is constructed from (Arena&, const Tree&, const Options&).
// It is constructed twice: an arena without a block measures it, then one with a block that fits makes it.
#pragma once

#include <cstddef>
#include <new>
#include <type_traits>

#include "dtau/lane.hpp"
#include "dtau/options.hpp"

namespace dtau::DTAU_VARIANT {

// Hands out aligned pieces of a block that has room for all of them. Without a block it gives null for every
// piece, and measures the bytes needed. So a constructor sees all of its pieces or none of them.
class Arena {
  public:
    Arena() = default;
    Arena(void* block, std::size_t size) : block_(static_cast<char*>(block)), size_(size) {}

    template <class X> X* take(std::size_t count) {
        const std::size_t begin = used_;
        used_ += (count * sizeof(X) + 63) / 64 * 64;  // a cache line, or the widest vector
        if (!block_) return nullptr;
        if (used_ > size_) __builtin_trap();  // measured with other arguments
        return reinterpret_cast<X*>(block_ + begin);
    }
    // Takes an array of so many for each of these pointers.
    template <class... X> void take_each(std::size_t count, X*&... arrays) {
        ((arrays = take<X>(count)), ...);
    }
    // Takes an array filled with zeros.
    template <class X> X* take_zeros(std::size_t count) {
        X* piece = take<X>(count);
        if (piece)
            for (std::size_t k = 0; k < count; ++k) piece[k] = X(0.0);
        return piece;
    }
    // Takes an object, made from the arena and these arguments where it has such a constructor. An arena that
    // only measures makes it on the stack, to measure what it takes.
    template <class X, class... A> X* make(const A&... arguments) {
        alignas(X) std::byte measured[sizeof(X)];
        X* const piece = take<X>(1);
        void* const at = piece ? static_cast<void*>(piece) : measured;
        if constexpr (std::is_constructible_v<X, Arena&, const A&...>)
            new (at) X(*this, arguments...);
        else
            new (at) X(arguments...);
        return piece;
    }
    std::size_t used() const { return used_; }

  private:
    char* block_ = nullptr;
    std::size_t size_ = 0, used_ = 0;
};

// Moves each of these pointers by so many elements.
template <class... X> DTAU_INLINE void advance(std::ptrdiff_t by, X*&... arrays) {
    ((arrays += by), ...);
}

}  // namespace dtau::DTAU_VARIANT
