"""Keeps chunks, postings and vectors in step with documents; all of it is derived state and can be rebuilt.

Truth is `documents.indexed_revision < revision`: jobs only say where to look, and a sweep finds what no job named.
"""
