"""One module an experiment; those without an `EXPERIMENT` are what several of them share."""
