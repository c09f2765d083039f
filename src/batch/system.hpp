// What is asked of the operating system.
#pragma once

#include <cstddef>

namespace dtau {

double memory_in_all();     // bytes
double available_memory();  // bytes that can still be taken; where the system does not say, all

// Memory of whole pages, zero; null: there is none.
void* map_memory(std::size_t bytes);
void unmap_memory(void* memory, std::size_t bytes);

// The number of processors that this process may use.
int available_processors();

// Calls these at every fork, where the system has it. A result, so that it can be asked for before main.
int at_forks(void (*before)(), void (*in_parent)(), void (*in_child)());

[[noreturn]] void sleep_forever();

}  // namespace dtau
