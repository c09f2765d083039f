"""Models from files: `load` finds out what a file is, and each format has a reader of its own."""
