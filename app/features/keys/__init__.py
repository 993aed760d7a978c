"""API keys `gm_<publicId>_<secret>`: bound to a workspace, hashed, scoped, with an optional expiry."""
