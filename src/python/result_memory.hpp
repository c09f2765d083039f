// The memory of new results.
#pragma once

#include "python/call.hpp"

namespace dtau {

// While this lives, arrays that NumPy makes take kept blocks, and give them back when they go: for new
// results of so many bytes in all, where they gain by it. All is as ever if none are to be kept, and if
// the program has chosen memory for its arrays by itself.
class KeptMemory {
  public:
    explicit KeptMemory(double bytes) {
        if (bytes >= noticed) begin();
    }
    ~KeptMemory() {
        if (before_.is_valid()) end();
    }
    KeptMemory(const KeptMemory&) = delete;
    KeptMemory& operator=(const KeptMemory&) = delete;

  private:
    static constexpr double noticed = 64e3;

    void begin();
    void end();

    nanobind::object before_;
};

}  // namespace dtau
