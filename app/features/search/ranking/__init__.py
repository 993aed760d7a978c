"""Ranking items by their words and their meaning, in one statement."""
