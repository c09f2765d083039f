"""The checks of `dtau check`: functions of a model that yield findings."""
