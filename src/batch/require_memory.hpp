// Refuses work that needs more memory than is available, before the system would kill the process:
// require_memory().
#pragma once

#include <new>
#include <string>

namespace dtau {

class OutOfMemory : public std::bad_alloc {
  public:
    explicit OutOfMemory(std::string message) : message_(std::move(message)) {}
    const char* what() const noexcept override { return message_.c_str(); }

  private:
    std::string message_;
};

// Whether so many bytes are available, and how many are. Cached results are freed before the answer
// is no.
struct MemoryAnswer {
    bool enough;
    double available;
};
MemoryAnswer ask_for_memory(double bytes);

// Throws OutOfMemory with the work, the bytes it needs, the bytes available, and `advice`.
void require_memory(const std::string& what, double bytes, const std::string& advice);

}  // namespace dtau
