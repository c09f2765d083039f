"""The papers' other methods in the core's own style, compiled on this machine and called from here."""
