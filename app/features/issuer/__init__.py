"""Tokens of an external issuer (`AUTH_ISSUER`) in place of the built-in authorization server."""
