"""Answers from stored passages, each statement with a citation that can be opened later."""
