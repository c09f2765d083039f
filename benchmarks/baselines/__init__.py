"""The papers' other methods in the style of the core, compiled on this machine when called."""
