// Caches the memory of released results for later calls: take_block(), give_block(). Fresh pages
// can cost the system several times the time of computing the numbers written to them.
//
// Any thread may take and release blocks at any time, and so may a child process after a fork.
#pragma once

#include <cstddef>

namespace dtau {

// Returns a block of at least so many bytes, aligned for every vector, with arbitrary content.
// Null: out of memory.
void* take_block(std::size_t bytes);

// Releases a block, into the cache or to the system.
void give_block(void* block);

// The capacity of a block, which may exceed the bytes asked for.
std::size_t block_bytes(void* block);

// Sets the limit of the cache in bytes and frees the excess; 0: no cache. Returns the limit before.
std::size_t keep_blocks(std::size_t limit);

// Whether the cache is on.
bool keeps_blocks();

// Frees all cached blocks.
void free_kept_blocks();

}  // namespace dtau
