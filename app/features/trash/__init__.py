"""The trash: what was deleted comes back within 30 days, or is purged for good."""
