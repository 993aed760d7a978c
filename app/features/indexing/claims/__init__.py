"""Which documents a worker takes next, and for how long."""
