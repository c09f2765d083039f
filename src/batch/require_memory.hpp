// Refuses work that needs more memory than there is, where the system would only kill the process later.
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

// Whether so many bytes can be had, and how many can. Memory that is kept of earlier results is given
// back before the answer is no.
struct MemoryAnswer {
    bool enough;
    double available;
};
MemoryAnswer ask_for_memory(double bytes);

// OutOfMemory says what needs so many bytes, how many there are, and `advice`.
void require_memory(const std::string& what, double bytes, const std::string& advice);

}  // namespace dtau
