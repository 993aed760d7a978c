"""Tags over all kinds of items: which are in use, and how often."""
