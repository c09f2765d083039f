"""What `dtau check` looks at: each a function of a model that gives findings."""
