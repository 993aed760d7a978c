"""A multi-tenant context repository for AI agents."""
