"""Functions of `dtau.casadi` as expressions in CasADi's own operations, built once per model."""
