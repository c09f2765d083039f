"""What of the functions is differentiable, and how: for the array libraries' adapters.

Private, and no array library is imported here: `Library` is what an adapter brings. Two tables:

- `blocks.BLOCKS`: a function of the core, by its name. Its derivatives by one of its inputs, in
  tangent coordinates, are arrays made of other functions of these tables and of the library's own
  operations. So they have derivatives themselves, until one is reached that is in no table.
- `compositions.COMPOSITIONS`: functions that are written in the library's own operations and in
  functions of the first table, which the library differentiates.

A derivative by the nq numbers of q is one in tangent coordinates times the tangent map T(q), which
`manifold` writes in the library's own operations: its derivative counts in second derivatives. All
are those of f(normalize(q)), defined for any quaternions but zero; docs/array_libraries.md.
"""

from __future__ import annotations
