"""Load models from files: `load` recognizes the format, and each format has its own reader."""
