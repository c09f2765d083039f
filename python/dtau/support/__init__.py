"""What every layer above uses, and that knows none of them but the core.

================  =================================================================
`arrays`          names of the types of arrays
`checks`          arguments, checked and read as arrays
`foreign_arrays`  arrays of other libraries
`options`         the words that options take
`errors`          the exception and the warning about models
`hints`           the right name for a wrong one
`direct`          public functions that call the core without running their body
`blocks`          large batches in blocks
`patterns`        places of the numbers that can differ from zero
`memory`          the limit of cached result memory
`immutable`       base classes of immutable objects
`locks`           locks that survive a fork
`machine`         cores, load and processor of this machine
`files`           paths, and files written whole or not at all
================  =================================================================
"""
