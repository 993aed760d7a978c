"""Prompts and collections in the index: one vector and one set of terms each, never passages."""
