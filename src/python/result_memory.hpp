// Allocates new results from cached blocks: KeptMemory.
#pragma once

#include "python/call.hpp"

namespace dtau {

// While this object lives, arrays that NumPy allocates take cached blocks and release them at their
// end, if new results of so many bytes in all gain by it. It does nothing if the cache is off or
// the program has set a memory handler of its own.
class KeptMemory {
  public:
    static constexpr double noticed = 64e3;

    explicit KeptMemory(double bytes) {
        if (bytes >= noticed) begin();
    }
    ~KeptMemory() {
        if (before_.is_valid()) end();
    }
    KeptMemory(const KeptMemory&) = delete;
    KeptMemory& operator=(const KeptMemory&) = delete;

  private:
    void begin();
    void end();

    nanobind::object before_;
};

}  // namespace dtau
