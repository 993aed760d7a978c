"""Coordination: the policy of a document, and the lease that a writer of a managed document shows."""
