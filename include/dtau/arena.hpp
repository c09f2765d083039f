// Scratch memory: every algorithm's workspace takes its arrays from one block that the caller owns. All
// workspaces are constructed from (Arena&, const Tree&, const Options&).
#pragma once

#include <cstddef>
#include <new>

#include "dtau/lane.hpp"
#include "dtau/options.hpp"

namespace dtau::DTAU_VARIANT {

// Hands out aligned pieces of a block. Without a block it only measures how much would be taken.
class Arena {
  public:
    Arena() = default;
    explicit Arena(void* block) : block_(static_cast<char*>(block)) {}

    template <class X>
    X* take(std::size_t count) {
        char* piece = block_ ? block_ + used_ : nullptr;
        used_ += (count * sizeof(X) + 63) / 64 * 64;  // a cache line, or the widest vector
        return reinterpret_cast<X*>(piece);
    }
    // The same, filled with zeros.
    template <class X>
    X* take_zeros(std::size_t count) {
        X* piece = take<X>(count);
        if (piece)
            for (std::size_t k = 0; k < count; ++k) piece[k] = X(0.0);
        return piece;
    }
    // One object as its own initializers have it.
    template <class X>
    X* make() {
        X* piece = take<X>(1);
        return piece ? new (piece) X() : nullptr;
    }
    std::size_t used() const { return used_; }

  private:
    char* block_ = nullptr;
    std::size_t used_ = 0;
};

}  // namespace dtau::DTAU_VARIANT
