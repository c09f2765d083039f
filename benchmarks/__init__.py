"""The papers' experiments, and the peers: `python -m benchmarks --help`."""
