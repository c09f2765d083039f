// Lists the numbers of results that can differ from zero, entries(), and makes the results of a job hold
// these alone, store_patterns().
#pragma once

#include "registry/signature.hpp"
#include "tree/compiled_tree.hpp"

namespace dtau {

// Whether results of this quantity have a pattern.
bool has_pattern(const Quantity& quantity);

// The entries of a quantity with a pattern. Matrices are in the order of CSC, column by column, with
// the axes before the last as rows; tensors in the order of packed.hpp.
Entries entries(const Quantity& quantity, const Sizes& sizes);

// Makes all results with a pattern hold their entries alone, and fills in the shapes. The tree, to
// which `sizes` belong, and `lists`, one for each result, must outlive the job. Call it after
// describe_outputs().
void store_patterns(Job& job, const Signature& signature, const CompiledTree& tree,
                    const Sizes& sizes, Shape* shapes, EntryList* lists);

}  // namespace dtau
