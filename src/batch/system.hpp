// Wraps the operating system: memory_in_all(), map_memory(), available_processors(), at_forks().
#pragma once

#include <cstddef>

namespace dtau {

// Bytes of memory of the machine or the container, whichever has less: all of it, and the part
// still available (all of it if the system does not tell).
double memory_in_all();
double available_memory();

// Allocates whole pages of zeros; null: out of memory.
void* map_memory(std::size_t bytes);
void unmap_memory(void* memory, std::size_t bytes);

// The number of processors that this process may use.
int available_processors();

// Registers functions to call at every fork, where the system supports it. It returns a value so
// that a static initializer can call it before main().
int at_forks(void (*before)(), void (*in_parent)(), void (*in_child)());

[[noreturn]] void sleep_forever();

}  // namespace dtau
