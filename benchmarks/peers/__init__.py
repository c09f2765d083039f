"""Other packages, each behind the same interface: `benchmarks.peers.cases.Way`."""
