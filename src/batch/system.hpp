// Asks the operating system for memory and its amounts.
#pragma once

#include <cstddef>

namespace dtau {

// Bytes, of the machine or the container, whichever is less: all, and those that can still be taken,
// which are all where the system does not say.
double memory_in_all();
double available_memory();

// Allocates whole pages of zeros; null: out of memory.
void* map_memory(std::size_t bytes);
void unmap_memory(void* memory, std::size_t bytes);

// The number of processors that this process may use.
int available_processors();

// Calls these at every fork, where the system has it. A result, so that it can be asked for before main.
int at_forks(void (*before)(), void (*in_parent)(), void (*in_child)());

[[noreturn]] void sleep_forever();

}  // namespace dtau
