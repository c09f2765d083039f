// Reads the memory limits of containers from Linux control groups: memory_limit().
#pragma once

#include <string>

namespace dtau {

// Bytes; infinite where there is no limit.
struct MemoryLimit {
    double all;   // the lowest limit
    double left;  // lowest rest: limit less use, without caches of files
};

// Reads the limits of the control groups of this process, versions 1 and 2, up to the topmost
// visible one. `root` precedes /proc and /sys, for tests.
MemoryLimit memory_limit(const std::string& root = "");

}  // namespace dtau
