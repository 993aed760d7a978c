"""Search as of a time."""
