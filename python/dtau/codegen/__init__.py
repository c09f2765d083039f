"""Generate C or CUDA for one robot: record functions of the core with its model and write them."""
