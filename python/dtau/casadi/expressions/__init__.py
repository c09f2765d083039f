"""Functions of `dtau.casadi` that are expressions in CasADi's own operations, made once a model."""
