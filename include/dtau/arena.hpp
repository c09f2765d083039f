// Divides a block of scratch memory into aligned arrays: Arena. Every workspace of an algorithm takes its
// arrays from one block that the caller owns, and is constructed from (Arena&, const Tree&, const Options&).
#pragma once

#include <cstddef>
#include <new>

#include "dtau/lane.hpp"
#include "dtau/options.hpp"

namespace dtau::DTAU_VARIANT {

// Hands out aligned pieces of a block; null for pieces that do not fit. So without a block it only
// measures the bytes needed.
class Arena {
  public:
    Arena() = default;
    Arena(void* block, std::size_t size) : block_(static_cast<char*>(block)), size_(size) {}

    template <class X>
    X* take(std::size_t count) {
        const std::size_t begin = used_;
        used_ += (count * sizeof(X) + 63) / 64 * 64;  // a cache line, or the widest vector
        return used_ <= size_ ? reinterpret_cast<X*>(block_ + begin) : nullptr;
    }
    // Takes an array filled with zeros.
    template <class X>
    X* take_zeros(std::size_t count) {
        X* piece = take<X>(count);
        if (piece)
            for (std::size_t k = 0; k < count; ++k) piece[k] = X(0.0);
        return piece;
    }
    // Takes one object, with its default member initializers.
    template <class X>
    X* make() {
        X* piece = take<X>(1);
        return piece ? new (piece) X() : nullptr;
    }
    std::size_t used() const { return used_; }

  private:
    char* block_ = nullptr;
    std::size_t size_ = 0, used_ = 0;
};

}  // namespace dtau::DTAU_VARIANT
