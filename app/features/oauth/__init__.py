"""The authorization server: clients, consent, grants and tokens, and the resolver of access tokens."""
