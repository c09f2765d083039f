// Blocks of memory that results gave back, kept for the results of later calls: fresh pages can cost
// the system several times what it takes to compute what is written to them.
//
// Any thread may take blocks and give them back at any time; a child process after a fork, too.
#pragma once

#include <cstddef>

namespace dtau {

// A block of at least so many bytes, aligned for every vector, that holds anything. Null: there is no
// memory for it.
void* take_block(std::size_t bytes);

// Gives a block back, to be kept or to be freed.
void give_block(void* block);

// What a block holds, which may be more than what was asked for.
std::size_t block_bytes(void* block);

// Keeps no more than so many bytes, and frees what is over; 0: none. Returns what held before.
std::size_t keep_blocks(std::size_t limit);

// Whether any are kept.
bool keeps_blocks();

// Frees all that are kept.
void free_kept_blocks();

}  // namespace dtau
