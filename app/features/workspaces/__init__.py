"""Workspaces of a user, their members, and invites."""
