// Memory limits of containers: Linux control groups.
#pragma once

#include <string>

namespace dtau {

// Bytes; infinite where there is no limit.
struct MemoryLimit {
    double all;   // the least limit
    double left;  // the least that a limit leaves: less what is in use, but for caches of files
};

// Reads the limits of the groups that this process is in, of both versions of control groups, up to the
// topmost one that can be seen. `root` precedes /proc and /sys, for tests.
MemoryLimit memory_limit(const std::string& root = "");

}  // namespace dtau
